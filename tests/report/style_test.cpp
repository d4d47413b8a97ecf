// A report's style: what it changes in every kind of figure, and what it leaves.
#include "config/value/yaml.h"
#include "report/every_figure.h"
#include "report/settings/report_config.h"

namespace difflab::report {
namespace {

/// Calls visit(key, value) for every member of every object in a specification but its data.
template <class Visit>
void for_members(const Json& part, const Visit& visit) {
  if (part.is_array()) {
    for (const auto& inner : part) for_members(inner, visit);
  }
  if (!part.is_object()) return;
  for (const auto& [key, value] : part.items()) {
    if (key == "data" || key == "datasets") continue;
    visit(key, value, part);
    for_members(value, visit);
  }
}

std::vector<double> numbers_of(const Json& spec, std::string_view end) {
  std::vector<double> numbers;
  for_members(spec, [&](const std::string& key, const Json& value, const Json& owner) {
    const bool is_rect = owner.contains("type") && owner["type"] == "rect";
    if (key.ends_with(end) && value.is_number() && !is_rect) numbers.push_back(value);
  });
  return numbers;
}

void check_scaled(const std::vector<double>& before, const std::vector<double>& after,
                  double factor) {
  CATCH_REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CATCH_CHECK(after[i] == Approx(factor * before[i]));
  }
}

int legends_at(const Json& spec, const Json& place) {
  int count = 0;
  for_members(spec, [&](const std::string& key, const Json& value, const Json& owner) {
    if (key != "legend" || owner.contains("axis")) return;  // the theme's
    if (!value.is_object()) return;
    count += place.is_null() || value.value("orient", "") == place ? 1 : 0;
  });
  return count;
}

CATCH_TEST_CASE("a style changes text, lines, legends, colours and heights of every figure") {
  SmallStudy study;
  for_every_kind([&](const auto& figure) {
    const auto plain = study.draw(figure).spec;
    CATCH_CHECK(study.draw(figure, {.size = 7.5, .line_width = 1}).spec == plain);

    const auto large = study.draw(figure, {.font = "DejaVu Serif", .size = 11.25}).spec;
    CATCH_CHECK(large["config"]["font"] == "DejaVu Serif");
    CATCH_CHECK(numbers_of(plain, "ontSize").size() > 6);
    check_scaled(numbers_of(plain, "ontSize"), numbers_of(large, "ontSize"), 1.5);
    check_scaled(numbers_of(plain, "strokeWidth"), numbers_of(large, "strokeWidth"), 1);

    const auto bold = study.draw(figure, {.line_width = 3}).spec;
    check_scaled(numbers_of(plain, "strokeWidth"), numbers_of(bold, "strokeWidth"), 3);
    check_scaled(numbers_of(plain, "ontSize"), numbers_of(bold, "ontSize"), 1);

    CATCH_CHECK(legends_at(study.draw(figure, {.legend = LegendPlace::kNone}).spec, nullptr) == 0);
    const auto top = study.draw(figure, {.legend = LegendPlace::kTop}).spec;
    CATCH_CHECK(legends_at(top, "top") == legends_at(plain, nullptr));
  });
}

CATCH_TEST_CASE("a palette colours the variants in their order, and a height is a panel's") {
  SmallStudy study;
  const StyleConfig style = {.height = 333, .palette = {"#123456", "#abcdef"}};
  int tall = 0, colored = 0;
  for_every_kind([&](const auto& figure) {
    const auto spec = study.draw(figure, style).spec;
    for_members(spec, [&](const std::string& key, const Json& value, const Json&) {
      if (key == "height" && value.is_number() && value >= 333) ++tall;
      if (key == "range" && value == Json::array({"#123456", "#abcdef"})) ++colored;
    });
  });
  CATCH_CHECK(tall == 4);  // line, histogram, scatter and survival; the others follow their rows
  CATCH_CHECK(colored > 0);
}

CATCH_TEST_CASE("a style that cannot be is refused at its key") {
  const auto refusal = [](const char* yaml) {
    return testing::error_of(
        [&] { config::read<ReportConfig>(config::parse_yaml(yaml, "a.yaml"), ""); });
  };
  CATCH_CHECK(refusal("{style: {size: 8, palette: ['#000000']}}").empty());
  CATCH_CHECK_THAT(refusal("{style: {palette: ['#000000', blue]}}"),
                   Contains("style.palette[1] is 'blue'; expected a colour such as #0072B2"));
  CATCH_CHECK_THAT(refusal("{style: {size: 0}}"), Contains("style.size"));
  CATCH_CHECK_THAT(refusal("{style: {legend: inside}}"), Contains("style.legend"));
}

}  // namespace
}  // namespace difflab::report
