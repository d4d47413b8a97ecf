#include "cli/driver.h"
#include "text/data_set.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

// FIPS 180-4's example.
const DataSet kAbc = {.name = "abc",
                      .url = "https://example.org/abc",
                      .bytes = 3,
                      .sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                      .alphabet = "abc",
                      .source = "a test",
                      .licence = "none"};

CATCH_TEST_CASE("a data set is known by its bytes") {
  CATCH_CHECK_NOTHROW(check_data_set(kAbc, "abc", "a copy"));
  CATCH_CHECK_THROWS_AS(check_data_set(kAbc, "abd", "a copy"), UserError);
  CATCH_CHECK_THROWS_WITH(check_data_set(kAbc, "abc\n", "copy.txt"),
                          Contains("copy.txt is not abc: expected 3 bytes with SHA-256 ba7816bf") &&
                              Contains("found 4 bytes with SHA-256 edeaaff3"));
}

CATCH_TEST_CASE("a data set's file is missing, wrong or correct") {
  const testing::TemporaryFolder folder;
  const fs::path file = folder.path() / kAbc.file_name();
  CATCH_CHECK(file.filename() == "abc.txt");
  CATCH_CHECK(data_state(kAbc, file) == DataState::kMissing);
  write_file_atomically(file, "ab");
  CATCH_CHECK(data_state(kAbc, file) == DataState::kWrong);
  write_file_atomically(file, "abc");
  CATCH_CHECK(data_state(kAbc, file) == DataState::kCorrect);
}

CATCH_TEST_CASE("Tiny Shakespeare is the file that everybody means") {
  const DataSet& set = find_data_set("tinyshakespeare");
  CATCH_CHECK(set.bytes == 1'115'394);
  CATCH_CHECK(set.sha256 == "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed");
  CATCH_CHECK_THAT(how_to_get("somewhere/tinyshakespeare.txt"),
                   Contains("./difflab data tinyshakespeare --from download"));
  CATCH_CHECK(how_to_get("somewhere/else.txt").empty());
  CATCH_CHECK(data_set_of("somewhere/tinyshakespeare.txt") == &set);
  CATCH_CHECK(data_set_of("somewhere/else.txt") == nullptr);
  // 26 letters twice, 10 marks, "3", the blank and the end of a line, in the order of their codes
  CATCH_CHECK(set.alphabet.size() == 2 * 26 + 10 + 3);
  CATCH_CHECK(std::is_sorted(set.alphabet.begin(), set.alphabet.end(), std::less_equal<>()));
}

CATCH_TEST_CASE("data lists what there is and whether it is there") {
  const Driver driver;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"data"}, {"data", "list"}}) {
    CATCH_CHECK_THAT(driver.call(arguments, 0).out, Contains("tinyshakespeare") &&
                                                        Contains("not there") &&
                                                        Contains("--from download"));
  }
  driver.write("data/tinyshakespeare.txt", "To be");
  CATCH_CHECK_THAT(driver.call({"data"}).out, Contains("there, but not this data set"));
}

CATCH_TEST_CASE("a file that is not the data set is refused, and nothing is written") {
  const Driver driver;
  driver.write("copy.txt", "First Citizen:\n");
  const Answer wrong =
      driver.call({"data", "tinyshakespeare", "--from", driver.project() / "copy.txt"}, 2);
  CATCH_CHECK_THAT(wrong.err, Contains("copy.txt is not tinyshakespeare: expected 1115394 bytes") &&
                                  Contains("found 15 bytes"));
  CATCH_CHECK_FALSE(fs::exists(driver.project() / "data"));

  const std::map<std::string, std::vector<std::string>> mistakes = {
      {"No such file", {"data", "tinyshakespeare", "--from", "/nowhere/x.txt"}},
      {"did you mean tinyshakespeare?", {"data", "tinyshakespear", "--from", "x"}},
      {"--from download or --from FILE", {"data", "tinyshakespeare"}}};
  for (const auto& [expected, arguments] : mistakes) {
    CATCH_CHECK_THAT(driver.call(arguments, 2).err, Contains(expected));
    CATCH_CHECK_FALSE(fs::exists(driver.project() / "data"));
  }
}

CATCH_TEST_CASE("a wrong file that is there already stays when its replacement is wrong, too") {
  const Driver driver;
  driver.write("data/tinyshakespeare.txt", "mine");
  driver.write("copy.txt", "other");
  CATCH_CHECK(
      driver.call({"data", "tinyshakespeare", "--from", driver.project() / "copy.txt"}).code == 2);
  CATCH_CHECK(read_file(driver.project() / "data" / "tinyshakespeare.txt") == "mine");
}

/// An environment variable for as long as the object lives.
class Environment {
 public:
  Environment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    value != nullptr ? ::setenv(name_.c_str(), value, 1) : ::unsetenv(name_.c_str());
  }
  ~Environment() {
    before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

CATCH_TEST_CASE("without a network the download says so, and what else can be done") {
  const Driver driver;
  // A proxy at a port where nobody listens (discard, RFC 863, needs root) is as good as no network.
  const Environment proxy("https_proxy", "http://127.0.0.1:9"), upper("HTTPS_PROXY", nullptr),
      exceptions("no_proxy", nullptr), more("NO_PROXY", nullptr);
  CATCH_CHECK_THAT(driver.call({"data", "tinyshakespeare", "--from", "download"}, 2).err,
                   Contains("cannot download tinyshakespeare from https://raw.") &&
                       Contains("refused") && Contains("There is no network") &&
                       Contains("./difflab data tinyshakespeare --from FILE"));
  CATCH_CHECK_FALSE(fs::exists(driver.project() / "data"));
}

}  // namespace
}  // namespace difflab
