#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

using Catch::Contains;
using testing::Driver;

std::string complete(const Driver& driver, std::vector<std::string> words) {
  words.insert(words.begin(), {"complete", "--"});
  std::string text;
  for (const char c : driver.call(words).out) text += c == '\n' ? ' ' : c;
  return text;
}

CATCH_TEST_CASE("the Tab key offers commands, experiments, flags and run ids") {
  const Driver driver;
  driver.write("results/runs/abc1/config.yaml", "");
  driver.write("results/runs/bcd2/config.yaml", "");
  CATCH_CHECK(complete(driver, {"ve"}) == "verify ");
  CATCH_CHECK_THAT(complete(driver, {""}), !Contains("complete "));
  CATCH_CHECK(complete(driver, {"sweep", ""}) == "tiny ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "--dr"}) == "--dry-run ");
  CATCH_CHECK(complete(driver, {"diff", "bcd2", "ab"}) == "abc1 ");
  CATCH_CHECK(complete(driver, {"list", "ta"}) == "tasks ");
  CATCH_CHECK(complete(driver, {"nonsense", "x"}).empty());
}

CATCH_TEST_CASE("the Tab key offers keys, groups, options and the values of a key") {
  const Driver driver;
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "mo"}) == "model. model= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "train.warm"}) == "train.warmup_steps= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "+model.attention.lambda_f"}) ==
              "+model.attention.lambda_form= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model=diff_s"}) == "model=diff_symmetry ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model=diff,diff_s"}) == "model=diff,diff_symmetry ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "device="}) == "device=cpu device=cuda ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model.tied_head=t"}) == "model.tied_head=true ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "preset="}) == "preset=default preset=more ");
  CATCH_CHECK(complete(driver, {"config", "devi"}) == "device= ");
  CATCH_CHECK(complete(driver, {"show", "task=mq"}) == "task=mqar ");
}

CATCH_TEST_CASE("the script for bash answers although bash cuts words at =") {
  const Driver driver;
  const auto tab = [](const std::string& line) {
    Process bash({"/bin/bash", "-c",
                  "source <('" DIFFLAB_BUILD "/difflab' completion bash); COMP_LINE='" + line +
                      "' COMP_POINT=" + std::to_string(line.size()) +
                      "; COMP_WORDBREAKS=' =:'; _difflab 2>/dev/null; echo \"${COMPREPLY[*]}\""});
    return Driver::finish(bash).out;
  };
  CATCH_CHECK(tab("difflab sw") == "sweep\n");
  CATCH_CHECK(tab("difflab sweep ") == "tiny\n");
  CATCH_CHECK(tab("difflab sweep tiny seed=1 model=diff_s") == "diff_symmetry\n");
  CATCH_CHECK(tab("difflab sweep tiny model=diff,diff_s") == "diff,diff_symmetry\n");
}

}  // namespace
}  // namespace difflab
