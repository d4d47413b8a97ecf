// An axis, a cell or one value more on the command line, and no other override: Hydra's daily use.
#include "cli/driver.h"
#include "config/compose/library.h"
#include "config/schema/writer.h"
#include "study/study.h"
#include "support/dose.h"

namespace difflab {
namespace {

using study::load_study;
using testing::Answer, testing::Driver;

std::vector<std::string> experiments() {
  return config::Library(config::SearchPath::of_project(DIFFLAB_ROOT)).options("experiment");
}

// The axes of a point as somebody types them.
std::vector<std::string> cell_of(const Axes& axes) {
  std::vector<std::string> words{"preset=smoke"};
  for (const auto& [axis, value] : axes) {
    const bool is_text = value.find(' ') != value.npos && value.find_first_of("[{") != 0;
    words.push_back(is_text ? concat(axis, "='", value, "'") : concat(axis, "=", value));
  }
  return words;
}

CATCH_TEST_CASE("every experiment takes a further axis and runs one of its cells alone") {
  ::setenv("DIFFLAB_ROOT", DIFFLAB_ROOT, 1);
  int unions = 0, seen = 0;
  for (const auto& name : experiments()) {
    if (seen++ % testing::kEvery != 0) continue;
    CATCH_INFO(name);
    const auto whole = load_study(name, {"preset=smoke", "tune.key=''", "tune.values=[]"});
    const auto wider = load_study(name, {"preset=smoke", "train.weight_decay=0,0.1"});
    CATCH_CHECK(wider.points.size() == 2 * whole.points.size());
    for (const auto& table : wider.config.report.tables) {
      const auto& rows = table.rows.names;
      CATCH_CHECK((rows.empty() || rows.back() == "train.weight_decay"));
    }
    CATCH_CHECK(wider.config.report.claims.size() == 2 * whole.config.report.claims.size());
    for (const auto* point : {&whole.points.front(), &whole.points.back()}) {
      const bool lacks_key = std::any_of(point->axes.begin(), point->axes.end(),
                                         [](const auto& axis) { return axis.second == "none"; });
      if (lacks_key) continue;
      CATCH_CHECK(load_study(name, cell_of(point->axes)).points.size() == 1);
    }
    try {
      const auto alone = load_study(name, {"preset=smoke", "~sweep.union"});
      ++unions;
      CATCH_CHECK(!alone.points.empty());
    } catch (const UserError& error) {  // it has none
      CATCH_CHECK_THAT(error.what(), Contains("no key sweep"));
    }
  }
  CATCH_CHECK(unions >= 15 / testing::kEvery);
}

constexpr const char* kAblation = R"(# @package _global_
title: Ablation
baseline: transformer
unmatched: they need not be
sweep:
  union: [{model: [transformer, diff, diff_v2], init: [llama, yoco]}]
  seed: range(2)
claims:
  - {text: DIFF is lower, metric: valid_loss, variant: diff, expect: lower, where: {init: yoco}}
  - {text: V2 is lower, metric: valid_loss, variant: diff_v2, expect: lower, where: {init: llama}}
tables:
  - {name: table, rows: [model, init], columns: [valid_loss]}
figures:
  - {mark: line, name: faceted, x: step, y: valid_loss, color: model, where: {init: yoco}}
  - {mark: line, name: full, x: step, y: valid_loss, color: model, facet: init}
  - {mark: interval, name: rows, y: model, x: valid_loss, where: {init: llama}}
thumbnail: full
answer: Yes ({claims.0-1.verdict}).
)";

// Tables, claims and figures that a study asks for: "figures: name facet {where}".
std::string asked(const std::vector<std::string>& overrides) {
  const auto study = load_study("ablation", overrides);
  const auto& report = study.config.report;
  std::vector<std::string> parts{concat("rows ", join(report.tables.at(0).rows.names, ","))};
  const auto where_of = [](const report::TextMap& where) {
    std::vector<std::string> words;
    for (const auto& [axis, value] : where.entries) words.push_back(concat(axis, "=", value));
    return join(words, ",");
  };
  for (const auto& claim : report.claims) {
    parts.push_back(concat(claim.text, " {", where_of(claim.where), "}"));
  }
  for (const auto& figure : report.figures) {
    report::ReportConfig alone;
    alone.figures = {figure};
    const Json one = config::to_json(config::write(alone)).at("figures").at(0);
    parts.push_back(concat(one.at("name").get<std::string>(), " ", one.value("facet", "-"), " {",
                           std::visit([&](const auto& f) { return where_of(f.where); }, figure),
                           "}"));
  }
  return join(parts, "; ");
}

CATCH_TEST_CASE("rows, facets and claims follow the axes that are typed") {
  const Driver driver;
  driver.write("experiments/ablation.yaml", kAblation);
  CATCH_CHECK(asked({}) ==
              "rows model,init; DIFF is lower {init=yoco}; V2 is lower {init=llama}; "
              "faceted  {init=yoco}; full init {}; rows  {init=llama}");
  // An axis more: in a free facet, or one figure for each of its values.
  CATCH_CHECK(
      asked({"train.lr=1e-3,1e-2"}) ==
      "rows model,init,train.lr; DIFF is lower (train.lr = 0.001) {init=yoco,train.lr=0.001};"
      " DIFF is lower (train.lr = 0.01) {init=yoco,train.lr=0.01}; V2 is lower (train.lr = "
      "0.001) {init=llama,train.lr=0.001}; V2 is lower (train.lr = 0.01) "
      "{init=llama,train.lr=0.01}; faceted train.lr {init=yoco}; full init "
      "{train.lr=0.001}; full_2 init {train.lr=0.01}; rows train.lr {init=llama}");
  // One value of an axis, and one cell.
  CATCH_CHECK(asked({"init=yoco"}) ==
              "rows model,init; DIFF is lower {init=yoco}; faceted  {init=yoco}; full init {}");
  CATCH_CHECK(asked({"model=diff", "init=llama"}) ==
              "rows model,init; full init {}; rows  {init=llama}");
  CATCH_CHECK(load_study("ablation", {"model=diff"}).config.baseline == "");
  CATCH_CHECK(asked({"sweep.where=\"init == 'yoco'\""}) ==
              "rows model,init; DIFF is lower {init=yoco}; faceted  {init=yoco}; full init {}");
  // An axis less: what asks for the value that all runs have stays.
  CATCH_CHECK(asked({"~sweep.union", "+sweep.model=[transformer,diff]", "init=yoco"}) ==
              "rows model; DIFF is lower {}; faceted  {}; full  {}");
  CATCH_CHECK(asked({"~sweep.union", "+sweep.init=[llama,yoco]"}) ==
              "rows init; faceted  {init=yoco}; full init {}");
  // An answer is of the claims and runs of the file.
  const auto answer = [](const std::vector<std::string>& overrides) {
    return load_study("ablation", overrides).config.report.answer;
  };
  CATCH_CHECK(answer({"launcher.workers=1"}) == "Yes ({claims.0-1.verdict}).");
  CATCH_CHECK(answer({"train.steps=700"}) == "");
  CATCH_CHECK(answer({"claims=[]"}) == "");
  CATCH_CHECK(answer({"train.steps=700", "answer='No.'"}) == "No.");
  CATCH_CHECK_THAT(driver.call({"sweep", "ablation", "init=yoco", "--dry-run"}).out,
                   Contains("note: 1 of 2 claims are left out"));
  // A wrong name is none of these.
  CATCH_CHECK_THAT(driver.call({"sweep", "ablation", "baseline=dif", "init=yoco"}).err,
                   Contains("baseline is dif, which is not a value of model"));
}

CATCH_TEST_CASE("an ad hoc axis is trained and reported") {
  const Driver driver;
  driver.write("experiments/ablation.yaml", kAblation);
  CATCH_CHECK_THAT(driver.call({"sweep", "ablation", "train.lr=1e-3,1e-2", "init=yoco"}, 0).out,
                   Contains("DIFF is lower (train.lr = 0.001)"));
}

CATCH_TEST_CASE("an override that says what the file says makes no folder of its own") {
  const Driver driver;
  driver.write("experiments/ablation.yaml", concat(kAblation, "train: {steps: 500}\n"));
  const auto folder = [](const std::vector<std::string>& overrides) {
    return load_study("ablation", overrides).output.filename().string();
  };
  for (const auto& same : std::vector<std::vector<std::string>>{{"train.steps=500"},
                                                                {"seed=0,1"},
                                                                {"baseline=transformer"},
                                                                {"device=cpu", "train.steps=500"},
                                                                {"launcher.workers=2"}}) {
    CATCH_INFO(same.front());
    CATCH_CHECK(folder(same) == "default");
  }
  const auto other = folder({"train.steps=700"});
  CATCH_CHECK(other != "default");
  CATCH_CHECK(folder({"train.steps=700", "seed=0,1"}) == other);
  CATCH_CHECK(folder({"train.steps=500", "train.steps=700"}) == other);
  CATCH_CHECK(folder({"train.steps=700", "train.steps=500"}) == "default");
  CATCH_CHECK(folder({"title=x"}) != "default");
}

CATCH_TEST_CASE("an experiment in a subfolder is one for every command") {
  const Driver driver;
  driver.write("experiments/sub/deep/mine.yaml",
               read_file(driver.project() / "experiments/tiny.yaml"));
  const char* kName = "sub/deep/mine";
  CATCH_CHECK_THAT(driver.call({"list", "experiments"}).out, Contains(kName));
  CATCH_CHECK_THAT(driver.call({"sweep", "all", "--dry-run"}).out, Contains(kName));
  CATCH_REQUIRE(driver.call({"sweep", kName}).code == 0);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"watch", kName, "--once"}, {"plot", kName}, {"config", kName}}) {
    CATCH_INFO(words[0]);
    driver.call(words, 0);
  }
  CATCH_CHECK(driver.call({"evaluate", kName, "evaluate=[{kind: heldout, name: x}]"}).code == 0);
  CATCH_CHECK_THAT(driver.call({"needle", "sub/deep/min"}).err,
                   Contains("did you mean " + std::string(kName)));
}

#ifndef DIFFLAB_TORCH_HAS_CUDA
CATCH_TEST_CASE("a device that the build does not have is refused once, before anything runs") {
  const Driver driver;
  for (const auto& more : std::vector<std::vector<std::string>>{
           {}, {"--dry-run"}, {"preset=more"}, {"launcher.workers=2"}}) {
    auto words = std::vector<std::string>{"sweep", "tiny", "device=cuda"};
    words.insert(words.end(), more.begin(), more.end());
    const Answer answer = driver.call(words, 2);
    CATCH_CHECK_THAT(answer.err, Contains("device is cuda, but difflab was built"));
    CATCH_CHECK(std::count(answer.err.begin(), answer.err.end(), '\n') == 1);
    CATCH_CHECK_FALSE(fs::exists(driver.results()));
  }
}
#endif

}  // namespace
}  // namespace difflab
