#include "experiment/verify/reference_case.h"

#include <algorithm>

#include "support/catch.h"
#include "support/temporary_folder.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(DIFFLAB_ROOT) / "tests/model/reference";

// Each of these changes to the formulas was tried once, and makes this test fail (beside others):
//   λ with + between the maps; λ without λ_init; λ with one exponential's sign turned;
//   scale 1/d or 1/√2d; pairs (i, i+H) for (2i, 2i+1) in V1 and V2; no post-scale, or 1 − λ for
//   1 − λ_init; head norm eps 1e-6 (v1_naive_n1) or none; rotary halves for interleaved;
//   mask diagonal 0 or 2; naive for group keys; V2's sigmoid left out.
CATCH_TEST_CASE("all reference cases are met, in float64 and float32") {
  const auto reports = verify_folder(kCases);
  CATCH_CHECK(reports.size() == 16);
  std::size_t errors = 0;
  for (const auto& report : reports) {
    for (const auto& error : report.errors) {
      CATCH_INFO(report.name << " " << error.tensor << " " << error.precision << " "
                             << error.error);
      CATCH_CHECK(error.passed());
      ++errors;
    }
  }
  // 14 modules: y, x and 4 to 9 parameters in two precisions; 2 language models: 6 numbers, and
  // gradients and values of every parameter.
  CATCH_CHECK(errors > 14 * 2 * 6 + 2 * (6 + 2 * 20));
}

CATCH_TEST_CASE("a reference that differs in one tensor is reported there and nowhere else") {
  const testing::TemporaryFolder folder;
  const auto original = Safetensors::read(kCases / "v1_naive_mha_e32_d3.safetensors");
  std::vector<TensorBytes> tensors = original.tensors();
  const auto changed = std::find_if(tensors.begin(), tensors.end(),
                                    [](const auto& t) { return t.name == "grad.lambda_q2"; });
  std::string bytes(changed->bytes);
  bytes[7] = static_cast<char>(bytes[7] ^ 0x80);  // the sign of its first number (F64)
  changed->bytes = bytes;
  write_file_atomically(folder.path() / "case.safetensors",
                        to_safetensors(tensors, original.metadata()));
  const auto report = verify_folder(folder.path()).at(0);
  CATCH_CHECK_FALSE(report.passed());
  for (const auto& error : report.errors) {
    CATCH_INFO(error.tensor);
    CATCH_CHECK(error.passed() == (error.tensor != "grad.lambda_q2"));
  }
}

CATCH_TEST_CASE("a folder that holds no reference cases is refused with words") {
  const testing::TemporaryFolder folder;
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path() / "none"), Catch::Contains("is no folder"));
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path()), Catch::Contains("no *.safetensors file"));
  write_file_atomically(folder.path() / "a.safetensors", to_safetensors({}, {{"peer", "{}"}}));
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path()), Catch::Contains("is no reference case"));
  write_file_atomically(folder.path() / "a.safetensors",
                        to_safetensors({}, {{"peer", R"({"variant": "v3"})"}}));
  CATCH_CHECK_THROWS_AS(verify_folder(folder.path()), UserError);
}

}  // namespace
}  // namespace difflab
