// The intervals that figures show: both ends of every bar and band, and those of fitted laws.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/data/frame.h"
#include "report/example_study.h"
#include "report/figure/style.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

using Catch::Contains;
using Ends = std::multiset<std::pair<std::string, std::string>>;

// Which fields each mark with two ends in a direction reaches from and to.
void collect_ends(const Json& spec, Ends& ends) {
  if (spec.is_object()) {
    for (const auto& [from, to] : {std::pair("x", "x2"), std::pair("y", "y2")}) {
      const auto first = spec.find(from), second = spec.find(to);
      if (first == spec.end() || second == spec.end()) continue;
      ends.insert({first->value("field", "a constant"), second->value("field", "a constant")});
    }
  }
  if (!spec.is_structured()) return;
  for (const auto& child : spec) collect_ends(child, ends);
}

Ends ends_of(const StudyBuilder& builder, const FigureConfig& figure) {
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  const auto drawing =
      std::visit([&](const auto& kind) { return kind.draw(frame, Style{labels}); }, figure);
  Ends ends;
  collect_ends(drawing.spec, ends);
  return ends;
}

CATCH_TEST_CASE("bars and bands reach from the lower end of an interval to its upper one") {
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  fill_like_headline(builder);
  auto figures = headline_report().figures;
  for (auto& figure : other_figures()) figures.push_back(std::move(figure));
  int bars = 0, lines = 0, survivals = 0;
  for (const auto& figure : figures) {
    const auto ends = ends_of(builder, figure);
    const auto intervals = ends.count({"low", "high"});
    for (const auto& [from, to] : ends) {
      CATCH_INFO("from " << from << " to " << to);
      CATCH_CHECK((from == "low") == (to == "high"));
    }
    const bool is_bar = std::holds_alternative<BarConfig>(figure);
    const auto* line = std::get_if<LineConfig>(&figure);
    const bool is_survival = std::holds_alternative<SurvivalConfig>(figure);
    const bool is_interval = std::holds_alternative<IntervalConfig>(figure);
    if (is_bar || is_survival || is_interval || (line != nullptr && line->band == Band::kCi95)) {
      CATCH_CHECK(intervals >= 1);
    }
    bars += is_bar ? 1 : 0;
    lines += line != nullptr ? 1 : 0;
    survivals += is_survival ? 1 : 0;
  }
  CATCH_CHECK(bars >= 2);  // standing and lying
  CATCH_CHECK(lines >= 1);
  CATCH_CHECK(survivals >= 1);
}

ScatterConfig scaling() {
  ScatterConfig scatter;
  scatter.name = "scaling";
  scatter.x = "parameters";
  scatter.y = "test_loss";
  scatter.color = "model";
  return scatter;
}

void add_sizes(StudyBuilder& builder, const std::string& model, const std::vector<double>& x,
               const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    builder.finished(model, static_cast<int>(i), {{"parameters", x[i]}, {"test_loss", y[i]}});
  }
}

Drawing draw_scaling(const StudyBuilder& builder) {
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  return scaling().draw(frame, Style{labels});
}

CATCH_TEST_CASE("a fitted law is said and listed with its own interval") {
  TemporaryFolder folder;
  StudyBuilder builder(folder.path());
  // scipy.stats.linregress of the logarithms: a 8.576182, b 0.110744 ± 0.033731.
  add_sizes(builder, "diff", {1e4, 3e4, 1e5, 3e5}, {3.1, 2.7, 2.45, 2.1});
  const auto drawing = draw_scaling(builder);
  CATCH_CHECK_THAT(drawing.spec["description"].get<std::string>(),
                   Contains("diff: 8.576·x^−0.111 ± 0.034"));
  CATCH_REQUIRE(drawing.rows.size() == 4);
  const auto column = [&](const char* name) {
    const auto& names = drawing.columns;
    const auto at = std::find(names.begin(), names.end(), name) - names.begin();
    return std::stod(drawing.rows[0].at(static_cast<std::size_t>(at)));
  };
  CATCH_CHECK(column("fit_b") == Approx(0.110744).epsilon(1e-5));
  CATCH_CHECK(column("fit_b_low") == Approx(0.110744 - 0.033731).epsilon(1e-4));
  CATCH_CHECK(column("fit_b_high") == Approx(0.110744 + 0.033731).epsilon(1e-4));
}

CATCH_TEST_CASE("a share of parameters beyond the sizes that were trained is called extrapolated") {
  // The baseline's best is that of its 1e6 parameters; of diff half as many are needed.
  const auto law = [](std::vector<double> x, double share) {
    for (auto& one : x) one = 8 * std::pow(one / share, -0.25);
    return x;
  };
  const std::vector<double> trained{1e4, 1e5, 1e6};
  struct Example {
    std::vector<double> sizes;
    bool outside;
  };
  for (const auto& [sizes, outside] :
       {Example{{1e4, 1e5, 1e6}, false}, Example{{1e4, 2e4, 4e5}, true},
        Example{{6e5, 8e5, 1e6}, true}}) {
    TemporaryFolder folder;
    StudyBuilder builder(folder.path());
    add_sizes(builder, "transformer", trained, law(trained, 1));
    add_sizes(builder, "diff", sizes, law(sizes, 0.5));
    const std::string said = draw_scaling(builder).spec["description"];
    CATCH_INFO(said);
    CATCH_CHECK_THAT(said, Contains("; 50 % of transformer's parameters at equal test loss"));
    CATCH_CHECK((said.find("(extrapolated)") != said.npos) == outside);
  }
}

}  // namespace
}  // namespace difflab::report
