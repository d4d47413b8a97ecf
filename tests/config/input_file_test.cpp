#include "config/schema/input_file.h"

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "support/catch.h"

namespace difflab {
namespace {

// FIPS 180-4's example: SHA-256 of "abc".
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

InputFile parse(const std::string& yaml) {
  return config::read<InputFile>(config::parse_yaml(yaml, "x.yaml"), "file");
}

CATCH_TEST_CASE("a file is read whole, bytes as they are") {
  const testing::TemporaryFolder folder;
  const std::string bytes("a\0\r\n\xFF", 5);
  write_file_atomically(folder.path() / "f", bytes);
  CATCH_CHECK(InputFile{.path = folder.path() / "f"}.read() == bytes);
}

CATCH_TEST_CASE("a file with the SHA-256 that was planned is read, a changed one is refused") {
  const testing::TemporaryFolder folder;
  const InputFile file{.path = folder.path() / "f", .sha256 = kAbc};
  write_file_atomically(file.path, "abc");
  CATCH_CHECK(file.read() == "abc");
  write_file_atomically(file.path, "abd");
  CATCH_CHECK_THROWS_AS(file.read(), UserError);
  CATCH_CHECK_THROWS_WITH(
      file.read(),
      Contains(file.path + " has changed since the sweep was planned: expected SHA-256 " + kAbc +
               ", found ") &&
          Contains("a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"));
}

CATCH_TEST_CASE("a file that is not there is the user's error") {
  const testing::TemporaryFolder folder;
  const InputFile file{.path = folder.path() / "none"};
  CATCH_CHECK_THROWS_AS(file.read(), UserError);
  CATCH_CHECK_THROWS_WITH(file.read(), Contains(file.path) && Contains("No such file"));
}

CATCH_TEST_CASE("an input file comes from YAML and goes back") {
  CATCH_CHECK_FALSE(InputFile{}.given());
  const InputFile planned = parse("{path: data/x.txt}");
  CATCH_CHECK(planned.given());
  CATCH_CHECK(planned.path == "data/x.txt");
  CATCH_CHECK(planned.sha256.empty());
  const InputFile filled = parse(std::string("{path: x, sha256: ") + kAbc + "}");
  CATCH_CHECK(config::read<InputFile>(config::write(filled)).sha256 == kAbc);
}

CATCH_TEST_CASE("a SHA-256 is 64 lower-case hexadecimal digits of a file that is given") {
  const std::string upper = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
  for (const std::string& wrong : {std::string("abc"), upper, std::string(63, 'a') + "g"}) {
    CATCH_CHECK_THROWS_WITH(parse("{path: x, sha256: '" + wrong + "'}"),
                            Contains("file.sha256") && Contains("expected 64 digits"));
  }
  CATCH_CHECK_THROWS_WITH(parse(std::string("{sha256: ") + kAbc + "}"), Contains("without a path"));
}

}  // namespace
}  // namespace difflab
