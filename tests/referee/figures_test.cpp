// Rules about figures, on specifications as small as they can be.
#include "referee/base/figure.h"
#include "referee/rule/rules.h"
#include "support/catch.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// What a rule says of one figure.
std::string against(void (*check)(const Reference&, Objections&), const Json& spec,
                    const std::string& csv, const std::string& paired = "") {
  Reference one;
  one.figures.push_back({"drawn", spec, parse_csv(csv, "figures/drawn.csv")});
  if (!paired.empty()) one.comparisons.push_back(parse_csv(paired, "table.paired.csv"));
  Objections objections("rule");
  check(one, objections);
  std::string text;
  for (const auto& found : objections.list()) text += concat(found.where, ": ", found.what, "\n");
  return text;
}

Json with_values(const Json& rows) { return {{"values", rows}}; }

Json band(double high, const Json& domain) {
  return {{"data", with_values({{{"x", 1}, {"low", 0.5}, {"high", high}}})},
          {"layer",
           {{{"mark", {{"type", "area"}, {"clip", true}}},
             {"encoding",
              {{"y", {{"field", "low"}, {"scale", {{"domain", domain}}}}},
               {"y2", {{"field", "high"}}}}}}}}};
}

CATCH_TEST_CASE("bands: ends outside the domain") {
  CATCH_CHECK(against(check_bands, band(0.9, {0, 1}), "mean_accuracy\n") == "");
  CATCH_CHECK(against(check_bands, band(1, {0, 1}), "mean_accuracy\n") == "");
  CATCH_CHECK_THAT(against(check_bands, band(1.2, {0, 1}), "mean_accuracy\n"),
                   Contains("figures/drawn.vl.json: 1 ends of bands"));
  // A domain of names is none, and one that grows with the data cuts nothing.
  CATCH_CHECK(against(check_bands, band(1.2, {"a", "b"}), "mean_accuracy\n") == "");
  Json panels = {{"data", band(1.2, {0, 1})["data"]}, {"spec", band(1.2, {0, 1})}};
  panels["spec"].erase("data");
  CATCH_CHECK_THAT(against(check_bands, panels, "mean_accuracy\n"), Contains("1 ends"));
  const Json below = {{"vconcat", {band(1.2, {0, 1}), band(0.9, {0, 1})}}};
  CATCH_CHECK_THAT(against(check_bands, below, "mean_accuracy\n"), Contains("1 ends"));
}

CATCH_TEST_CASE("chance_line: on a metric that has none") {
  const Json spec = {{"layer",
                      {{{"data", with_values({{{"chance", 0.25}}})},
                        {"mark", {{"type", "rule"}}},
                        {"encoding", {{"y", {{"field", "chance"}, {"type", "quantitative"}}}}}}}}};
  CATCH_CHECK(against(check_chance_line, spec, "model,mean_accuracy\n") == "");
  CATCH_CHECK_THAT(against(check_chance_line, spec, "model,mean_margin\n"),
                   Contains("a chance line at 0.25 on margin"));
}

// What a scatter figure writes: every run, and the share of x of its series.
std::string shared(double ratio) {
  return concat("model,run,steps,test_loss,ratio_at_equal_test_loss,ratio_low,ratio_high\n",
                "transformer,a,1,1,,,\ndiff,b,1,0.9,", ratio, ",0.9,1\n");
}

CATCH_TEST_CASE("fits: shares that contradict the pairs, or formulas") {
  const auto pairs = [](double first, double second) {
    return concat("model,steps,metric,difference\ndiff,1,test_loss,", first, "\ndiff,10,test_loss,",
                  second, "\n");
  };
  const Json plain = {{"title", {{"text", {"Loss"}}, {"subtitle", {"0.92 times the tokens"}}}}};
  CATCH_CHECK(against(check_fits, plain, shared(0.92), pairs(-0.1, 0.1)) == "");
  CATCH_CHECK_THAT(against(check_fits, plain, shared(0.92), pairs(0.1, 0.1)),
                   Contains("diff needs 92 % of the baseline's; it is better in 0 of 2"));
  CATCH_CHECK_THAT(against(check_fits, plain, shared(1.2), pairs(-0.1, -0.1)),
                   Contains("120 %") && Contains("better in 2 of 2"));
  CATCH_CHECK_THAT(against(check_fits, plain, shared(0.92)),
                   Contains("cannot be checked: no paired differences of test_loss for diff"));
  const Json formula = {{"title", {{"subtitle", {"DIFF: 0.8371·x^−0.115 ± 0.037"}}}}};
  CATCH_CHECK_THAT(against(check_fits, formula, shared(0.92), pairs(-0.1, 0.1)),
                   Contains("printed as its formula"));
}

CATCH_TEST_CASE("categories: what is not quantised at 0 bits") {
  const auto drawn = [](double bits, const char* type) {
    return Json{
        {"data", with_values({{{"x", bits}, {"mean", 0.9}}})},
        {"layer", {{{"mark", {{"type", "line"}}}, {"encoding", {{"x", {{"type", type}}}}}}}}};
  };
  const std::string csv = "model,bits,mean_accuracy\n";
  CATCH_CHECK(against(check_categories, drawn(2, "quantitative"), csv) == "");
  CATCH_CHECK(against(check_categories, drawn(0, "ordinal"), csv) == "");
  CATCH_CHECK(against(check_categories, drawn(0, "quantitative"), "model,step,mean_accuracy\n") ==
              "");
  CATCH_CHECK_THAT(against(check_categories, drawn(0, "quantitative"), csv),
                   Contains("is drawn at 0 bits"));
}

CATCH_TEST_CASE("labels: bare titles, lone panels, ticks that collide") {
  const auto panels = [](const std::vector<std::string>& names, int columns) {
    Json rows = Json::array();
    for (const auto& name : names) rows.push_back({{"panel", name}});
    return Json{{"data", with_values(rows)}, {"facet", {{"field", "panel"}}}, {"columns", columns}};
  };
  const std::string csv = "model,mean_accuracy\n";
  CATCH_CHECK(against(check_labels, panels({"DIFF", "Transformer"}, 2), csv) == "");
  CATCH_CHECK_THAT(against(check_labels, panels({"yes", "no"}, 2), csv),
                   Contains("panels are titled \"yes\", \"no\" without"));
  CATCH_CHECK_THAT(against(check_labels, panels({"0.5"}, 2), csv), Contains("titled \"0.5\""));
  CATCH_CHECK_THAT(against(check_labels, panels({"a", "b", "c"}, 2), csv),
                   Contains("one panel of 3 stands alone in its row of 2"));
  CATCH_CHECK(against(check_labels, panels({"a", "b", "c"}, 3), csv) == "");
  CATCH_CHECK(against(check_labels, panels({"a", "b", "c", "d"}, 2), csv) == "");
  // Titles that are put together are in the order of the panels.
  Json named = panels({"yes", "no"}, 2);
  named["facet"] = {{"field", "heading"}, {"sort", {"norm: yes", "norm: no"}}};
  CATCH_CHECK(against(check_labels, named, csv) == "");

  const auto ticks = [](const std::vector<double>& values, bool log) {
    Json scale = Json::object();
    if (log) scale["type"] = "log";
    const Json x = {{"axis", {{"values", values}}}, {"scale", scale}};
    return Json{{"width", 317}, {"layer", {{{"mark", "line"}, {"encoding", {{"x", x}}}}}}};
  };
  CATCH_CHECK(against(check_labels, ticks({64, 512, 1024}, true), csv) == "");
  CATCH_CHECK_THAT(against(check_labels, ticks({64, 96, 128, 4096, 65536}, false), csv),
                   Contains("the tick labels 64 and 96 collide"));
  CATCH_CHECK_THAT(against(check_labels, ticks({1, 2, 1e30}, true), csv), Contains("1 and 2"));
}

CATCH_TEST_CASE("axes: bars that hide the effect, axes that go on behind the data") {
  const Json bars = {{"layer", {{{"mark", {{"type", "bar"}}}, {"encoding", Json::object()}}}}};
  CATCH_CHECK(against(check_axes, bars, "model,mean_test_loss\na,1\nb,2\n") == "");
  CATCH_CHECK_THAT(against(check_axes, bars, "model,mean_test_loss\na,2.41\nb,2.48\n"),
                   Contains("bars from zero hide differences of 2.8 % of their length"));
  CATCH_CHECK(against(check_axes, bars, "model,mean_accuracy\na,0.98\nb,0.99\n") == "");
  const Json lines = {{"layer", {{{"mark", "line"}}}}};
  CATCH_CHECK(against(check_axes, lines, "model,mean_test_loss\na,2.41\nb,2.48\n") == "");

  const std::string head = "model,bin_from,bin_to,mean_share\n";
  CATCH_CHECK(against(check_axes, lines, head + "a,0,10,0.5\na,10,20,0.5\n") == "");
  CATCH_CHECK_THAT(against(check_axes, lines, head + "a,0,30,0.999\na,30,5000,0.0001\n"),
                   Contains("the axis goes to 5,000") && Contains("beyond 30"));
}

CATCH_TEST_CASE("CSV is read as RFC 4180 has it, and refused where it is torn") {
  const auto table = parse_csv("a,b\n\"1,5\",\"say \"\"x\"\"\nagain\"\n,2\n", "t.csv");
  CATCH_CHECK(table.columns == std::vector<std::string>{"a", "b"});
  CATCH_REQUIRE(table.rows.size() == 2);
  CATCH_CHECK(table.rows[0] == std::vector<std::string>{"1,5", "say \"x\"\nagain"});
  CATCH_CHECK(table.number(1, "b") == 2);
  CATCH_CHECK_FALSE(table.number(1, "a"));
  CATCH_CHECK_THROWS_WITH(parse_csv("a,b\n1\n", "t.csv"), Contains("t.csv:2: 1 cells; expected 2"));
  CATCH_CHECK_THROWS_WITH(parse_csv("a\n\"1\n", "t.csv"), Contains("a quote is not closed"));
  CATCH_CHECK(parse_csv("", "t.csv").rows.empty());
}

}  // namespace
}  // namespace difflab::referee
