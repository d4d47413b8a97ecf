#include "experiment/verify/reference_case.h"

#include "support/catch.h"

namespace difflab {
namespace {

const fs::path kCases = fs::path(DIFFLAB_ROOT) / "tests/model/reference";

// Each of these changes to the formulas was tried once, and makes this test fail (beside others):
//   λ with + between the maps; λ without λ_init; λ with one exponential's sign turned;
//   scale 1/d or 1/√2d; pairs (i, i+H) for (2i, 2i+1) in V1 and V2; no post-scale, or 1 − λ for
//   1 − λ_init; head norm eps 1e-6 (v1_naive_n1) or none; rotary halves for interleaved;
//   mask diagonal 0 or 2; naive for group keys; V2's sigmoid left out.
// Of the controls these are in bench/mutations/model.txt.
CATCH_TEST_CASE("all reference cases are met, in float64 and float32") {
  const auto reports = verify_folder(kCases);
  CATCH_CHECK(reports.size() == 35);
  std::size_t errors = 0;
  std::map<std::string, std::set<std::string>> kernels;  // by case
  for (const auto& report : reports) {
    for (const auto& error : report.errors) kernels[report.name].insert(error.kernels);
    for (const auto& error : report.errors) {
      CATCH_INFO(report.name << " " << error.tensor << " " << error.precision << " "
                             << error.error);
      CATCH_CHECK(error.passed());
      ++errors;
    }
  }
  // 33 modules: y, x and 4 to 9 parameters in two precisions; 2 language models: 6 numbers, and
  // gradients and values of every parameter.
  CATCH_CHECK(errors > 33 * 2 * 6 + 2 * (6 + 2 * 20));
  // DIFF is checked in its official forms, too, which other models have none of.
  const std::set<std::string> two{"plain", "fused"}, four{"plain", "fused", "flash_1", "flash_2"};
  for (const auto* name : {"flashdiff_1_gqa4_e32_d3", "flashdiff_2_mha_e32_d3", "v1_naive_n1",
                           "v2_gqa2_e32_n33", "diffllama_gqa2_e32_d3", "lm_diff_naive"}) {
    CATCH_INFO(name);
    CATCH_CHECK(kernels[name] == four);
  }
  CATCH_CHECK(kernels["baseline_mha_e32"] == two);
  CATCH_CHECK(kernels["xsa_e32"] == two);
  CATCH_CHECK(kernels["lm_baseline"] == two);
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

CATCH_TEST_CASE(
    "a parameter that a variant does not know is a failure, as is one that is missing") {
  const testing::TemporaryFolder folder;
  const auto original = Safetensors::read(kCases / "v1_naive_mha_e32_d3.safetensors");
  auto tensors = original.tensors();
  const auto find = [&](const char* name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](auto& t) { return t.name == name; });
  };
  auto parameter = find("param.lambda_q2"), gradient = find("grad.lambda_q2");
  parameter.name = "param.lambda_q3";
  gradient.name = "grad.lambda_q3";
  tensors.push_back(parameter);
  tensors.push_back(gradient);
  write_file_atomically(folder.path() / "case.safetensors",
                        to_safetensors(tensors, original.metadata()));
  const auto reports = verify_folder(folder.path());
  for (const auto& error : reports.at(0).errors) {
    CATCH_INFO(error.tensor);
    CATCH_CHECK(error.passed() == (error.tensor != "grad.lambda_q3"));
  }
  std::erase_if(tensors, [](const auto& t) { return t.name == "param.lambda_q2"; });
  write_file_atomically(folder.path() / "case.safetensors",
                        to_safetensors(tensors, original.metadata()));
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path()), Contains("no parameter lambda_q2"));
}

CATCH_TEST_CASE("a folder that holds no reference cases is refused with words") {
  const testing::TemporaryFolder folder;
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path() / "none"), Contains("is not a folder"));
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path()), Contains("no *.safetensors file"));
  write_file_atomically(folder.path() / "a.safetensors", to_safetensors({}, {{"peer", "{}"}}));
  CATCH_CHECK_THROWS_WITH(verify_folder(folder.path()), Contains("is not a reference case"));
  write_file_atomically(folder.path() / "a.safetensors",
                        to_safetensors({}, {{"peer", R"({"variant": "v2"})"}}));
  CATCH_CHECK_THROWS_AS(verify_folder(folder.path()), UserError);
}

CATCH_TEST_CASE("a case of an unknown variant has failed, wherever in the folder it lies") {
  const testing::TemporaryFolder folder;
  make_directories(folder.path() / "below");
  write_file_atomically(folder.path() / "below/a.safetensors",
                        to_safetensors({}, {{"peer", R"({"variant": "v3"})"}}));
  const auto reports = verify_folder(folder.path());
  CATCH_REQUIRE(reports.size() == 1);
  CATCH_CHECK(reports[0].name == "a");
  CATCH_CHECK_FALSE(reports[0].passed());
  CATCH_REQUIRE(reports[0].errors.size() == 1);
  CATCH_CHECK(reports[0].errors[0].tensor.starts_with("variant v3 is unknown; expected baseline"));
}

// A case with another gate, gain or sink than its own is told apart: the fixtures are no accident.
CATCH_TEST_CASE("gates, gains and sinks of the official files lie where they are looked for") {
  const auto failed = [](const char* name, const std::function<void(Json&)>& change) {
    const auto original = Safetensors::read(kCases / "controls" / name);
    auto peer = Json::parse(original.metadata().at("peer"));
    change(peer);
    const testing::TemporaryFolder folder;
    write_file_atomically(folder.path() / "a.safetensors",
                          to_safetensors(original.tensors(), {{"peer", peer.dump()}}));
    return !verify_folder(folder.path()).at(0).passed();
  };
  CATCH_CHECK_FALSE(failed("gated_head_gqa2_e32.safetensors", [](Json&) {}));
  CATCH_CHECK(
      failed("gated_head_gqa2_e32.safetensors", [](Json& peer) { peer["gate_layout"] = "head"; }));
  CATCH_CHECK(failed("gated_next_gqa2_e32.safetensors",
                     [](Json& peer) { peer["gate_layout"] = "kv_group"; }));
  CATCH_CHECK(
      failed("gated_next_gqa2_e32.safetensors", [](Json& peer) { peer.erase("qk_norm_gain"); }));
  CATCH_CHECK(failed("diffllama_gqa2_e32_d3.safetensors", [](Json& peer) { peer["depth"] = 2; }));
  CATCH_CHECK(failed("gda_g3_e32_d0.safetensors", [](Json& peer) { peer["depth"] = 1; }));
  CATCH_CHECK_FALSE(failed("xsa_nanogpt_e32.safetensors", [](Json&) {}));
  CATCH_CHECK(failed("xsa_nanogpt_e32.safetensors", [](Json& peer) { peer["norm_eps"] = 1e-6; }));
  CATCH_CHECK(failed("xsa_nanogpt_e32.safetensors", [](Json& peer) { peer["scale"] = 0.35; }));
  CATCH_CHECK(failed("xsa_nanogpt_e32.safetensors", [](Json& peer) { peer["variant"] = "xsa"; }));
  CATCH_CHECK(
      failed("qk_norm_gqa2_e32.safetensors", [](Json& peer) { peer["rope"] = "interleaved"; }));
}

}  // namespace
}  // namespace difflab
