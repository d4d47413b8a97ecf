// What an experiment's own file says, beside what suites, presets and options of groups say.
#include <string>
#include <vector>

#include "config/composed.h"
#include "config/support.h"
#include "support/catch.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Catch::Contains;
using studies::compose;
using studies::Composed;
using studies::labels;
using studies::project;
using studies::run;
using testing::Folder;

CATCH_TEST_CASE("study keys in options of a group that is swept over are refused") {
  const auto problems = [](const std::string& a, const std::string& b,
                           const std::vector<std::string>& overrides = {}) {
    auto files = project("# @package _global_\nsweep: {+lam: [a, b]}\n");
    files.back().second =
        "# @package _global_\ndefaults: [/lam: a, _self_]\nsweep: {lam: [a, b]}\n";
    files.emplace_back("configs/lam/a.yaml", "# @package _global_\n" + a);
    files.emplace_back("configs/lam/b.yaml", "# @package _global_\n" + b);
    const Folder folder(files);
    return compose(overrides).problems;
  };
  const std::string rest =
      " differs between the options that are swept over, and belongs to the study, not to a run; "
      "expected it in the experiment's file";
  CATCH_CHECK(problems("train: {lr: 1.0}\n", "train: {lr: 2.0}\n") == "");
  CATCH_CHECK(problems("sweep: {seed: [1]}\n", "sweep: {seed: [2]}\n") ==
              "configs/lam/b.yaml:2:8: sweep" + rest);
  CATCH_CHECK(problems("", "tables: [{rows: lam}]\n") == "configs/lam/b.yaml:2:9: tables" + rest);
  CATCH_CHECK(problems("title: one\n", "title: two\n") == "configs/lam/b.yaml:2:8: title" + rest);
  CATCH_CHECK(problems("title: one\n", "") == "configs/lam/a.yaml:2:8: title" + rest);
  CATCH_CHECK(problems("presets: {x: {}}\n", "") == "configs/lam/a.yaml:2:10: presets" + rest);
  CATCH_CHECK(problems("title: one\n", "title: one\n") == "");  // of all runs
}

}  // namespace
}  // namespace difflab::config
