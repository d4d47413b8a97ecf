#include "cli/driver.h"

namespace difflab {
namespace {

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
  CATCH_CHECK(complete(driver, {"compare", "bcd2", "ab"}) == "abc1 ");
  CATCH_CHECK(complete(driver, {"list", "ta"}) == "tasks ");
  CATCH_CHECK(complete(driver, {"watch", "ti"}) == "tiny ");
  CATCH_CHECK(complete(driver, {"watch", "tiny", "preset=m"}) == "preset=more ");
  CATCH_CHECK(complete(driver, {"logs", ""}) == "tiny ");
  CATCH_CHECK(complete(driver, {"referee", "tiny", "t"}) == "tiny ");
  CATCH_CHECK(complete(driver, {"export", ""}) == "abc1 bcd2 csv hf tensorboard ");
  CATCH_CHECK(complete(driver, {"export", "csv", "t"}) == "tiny ");
  CATCH_CHECK(complete(driver, {"nonsense", "x"}).empty());
}

CATCH_TEST_CASE("the Tab key offers no name that a shell would execute") {
  const Driver driver;
  for (const char* name : {"$(touch x)", "a;b", "a b", "plain-1.5"}) {
    driver.write(concat("experiments/", name, ".yaml"), "{}");
  }
  CATCH_CHECK(complete(driver, {"sweep", ""}) == "plain-1.5 tiny ");
}

CATCH_TEST_CASE("the Tab key offers keys, groups, options and the values of a key") {
  const Driver driver;
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "mo"}) == "model. model= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "train.warm"}) == "train.warmup_steps= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "+model.attention.lambda_f"}) ==
              "+model.attention.lambda_form= ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model=transformer_off"}) ==
              "model=transformer_off_by_one ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model=diff,transformer_off"}) ==
              "model=diff,transformer_off_by_one ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "device="}) == "device=cpu device=cuda ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "model.tied_head=t"}) == "model.tied_head=true ");
  CATCH_CHECK(complete(driver, {"sweep", "tiny", "preset="}) == "preset=default preset=more ");
  CATCH_CHECK(complete(driver, {"config", "devi"}) == "device= ");
  CATCH_CHECK(complete(driver, {"show", "task=k_"}) == "task=k_hop ");
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
  CATCH_CHECK(tab("difflab sweep tiny seed=1 model=transformer_off") == "transformer_off_by_one\n");
  CATCH_CHECK(tab("difflab sweep tiny model=diff,transformer_off") ==
              "diff,transformer_off_by_one\n");
}

/// What a shell prints for a script; nothing if this machine does not have the shell.
std::optional<std::string> said(const std::string& shell, const std::string& flags,
                                const std::string& script) {
  for (const char* folder : {"/bin/", "/usr/bin/", "/usr/local/bin/"}) {
    if (!std::filesystem::exists(folder + shell)) continue;
    Process process({folder + shell, flags, script});
    return Driver::finish(process).out;
  }
  CATCH_WARN("SKIPPED: there is no " << shell << " here");
  return std::nullopt;
}

CATCH_TEST_CASE("the script for zsh offers finished words and keys that go on") {
  const Driver driver;
  const auto tab = [](const std::string& line) {
    // Stands in for zsh's own function, which works only while the Tab key is being handled.
    return said("zsh", "-fc",
                "compdef() { : }; source <('" DIFFLAB_BUILD
                "/difflab' completion zsh); compadd() { print -r -- \"$@\" }; words=(" +
                    line + "); CURRENT=$#words; _difflab");
  };
  const auto is = [&](const std::string& line, const std::string& expected) {
    const auto answer = tab(line);
    if (answer) CATCH_CHECK(*answer == expected);
  };
  is("difflab sw", "-- sweep\n");
  is("difflab sweep tiny mo", "-S  -- model. model=\n");
  is("difflab sweep tiny seed=1 model=diff,transformer_off",
     "-- model=diff,transformer_off_by_one\n");
  is("difflab sweep tiny nothing", "");
}

CATCH_TEST_CASE("the script for fish offers what the driver offers") {
  const Driver driver;
  const auto is = [](const std::string& line, const std::string& expected) {
    const auto answer =
        said("fish", "-c",
             "'" DIFFLAB_BUILD "/difflab' completion fish | source; complete -C '" + line + "'");
    if (answer) CATCH_CHECK(*answer == expected);
  };
  is("difflab sw", "sweep\n");
  is("difflab sweep tiny train.warm", "train.warmup_steps=\n");
  is("difflab sweep tiny seed=1 model=transformer_off", "model=transformer_off_by_one\n");
}

}  // namespace
}  // namespace difflab
