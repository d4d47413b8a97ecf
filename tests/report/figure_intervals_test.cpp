// The intervals that figures show: both ends of every bar and band.
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

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
  StudyBuilder builder;
  fill_like_headline(builder);
  auto figures = headline_report().figures;
  for (auto& figure : other_figures()) figures.push_back(std::move(figure));
  int rows = 0, lines = 0, survivals = 0;
  for (const auto& figure : figures) {
    const auto ends = ends_of(builder, figure);
    const auto intervals = ends.count({"low", "high"});
    for (const auto& [from, to] : ends) {
      CATCH_INFO("from " << from << " to " << to);
      CATCH_CHECK((from == "low") == (to == "high"));
    }
    const auto* line = std::get_if<LineConfig>(&figure);
    const bool is_survival = std::holds_alternative<SurvivalConfig>(figure);
    const bool is_interval = std::holds_alternative<IntervalConfig>(figure);
    if (is_survival || is_interval || (line != nullptr && line->band == Band::kCi95)) {
      CATCH_CHECK(intervals >= 1);
    }
    rows += is_interval ? 1 : 0;
    lines += line != nullptr ? 1 : 0;
    survivals += is_survival ? 1 : 0;
  }
  CATCH_CHECK(rows >= 2);
  CATCH_CHECK(lines >= 1);
  CATCH_CHECK(survivals >= 1);
}

}  // namespace
}  // namespace difflab::report
