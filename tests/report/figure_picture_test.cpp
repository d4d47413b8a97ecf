// What the picture of every kind of figure must show. A new kind is covered by being in the
// variant.

#include "report/every_figure.h"
#include "report/figure/style.h"

namespace difflab::report {
namespace {

using Visit = std::function<void(const std::string& key, const Json& value)>;

// Every entry of every object inside, outer ones first.
void for_every_entry(const Json& spec, const Visit& visit) {
  if (!spec.is_structured()) return;
  for (const auto& [key, value] : spec.items()) {
    if (spec.is_object()) visit(key, value);
    for_every_entry(value, visit);
  }
}

struct Channel {
  std::string name;  // x, y, color …
  Json content;
  bool clipped;  // its mark shows nothing outside of the panel
};

void collect_channels(const Json& spec, std::vector<Channel>& found) {
  if (!spec.is_structured()) return;
  if (spec.is_object() && spec.contains("encoding")) {
    const bool clipped =
        spec.contains("mark") && spec["mark"].is_object() && spec["mark"].value("clip", false);
    for (const auto& [name, content] : spec["encoding"].items()) {
      found.push_back({name, content, clipped});
    }
  }
  for (const Json& inner : spec) collect_channels(inner, found);
}

std::vector<Channel> channels_of(const Json& spec) {
  std::vector<Channel> found;
  collect_channels(spec, found);
  return found;
}

CATCH_TEST_CASE("the axes of numbers in a figure of every kind have titles") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    std::map<std::string, bool> has_title;
    for (const auto& [name, channel, clipped] : channels_of(study.draw(figure).spec)) {
      if ((name != "x" && name != "y") || channel.value("type", "") != "quantitative") continue;
      const Json title = channel.value("title", Json());
      has_title[name] |= title.is_string() && title != "";
    }
    for (const auto& [axis, has] : has_title) {
      CATCH_INFO(axis);
      CATCH_CHECK(has);
    }
  });
}

CATCH_TEST_CASE("a variant has its own colour of the palette in a figure of every kind") {
  const SmallStudy study;
  const Labels labels(study.builder.study.report.labels);
  const auto looks = Style{labels}.series(frame_of(study.builder.study), "model");
  CATCH_REQUIRE(looks.size() == 2);
  for_every_kind([&](auto figure) {
    for (const auto& [name, channel, clipped] : channels_of(study.draw(figure).spec)) {
      if (name != "color" && name != "fill" && name != "stroke") continue;
      CATCH_INFO(channel.dump());
      if (channel.contains("value")) {
        const Json plain = channel["value"];
        CATCH_CHECK((plain == kInk || plain == kMutedInk || plain == kPaper));
        continue;
      }
      CATCH_REQUIRE(channel.contains("scale"));
      const Json& scale = channel["scale"];
      CATCH_CHECK((!scale.contains("scheme") || channel["type"] == "quantitative"));
      if (!scale.contains("range")) continue;
      for (std::size_t i = 0; i < scale["domain"].size(); ++i) {
        for (const auto& look : looks) {
          if (scale["domain"][i] == look.label) CATCH_CHECK(scale["range"][i] == look.color);
        }
      }
    }
  });
}

// What a table has beside the numbers that are drawn: edges, fits and summaries.
bool is_beside_the_picture(const std::string& column) {
  return column.starts_with("bin_") || column.starts_with("fit_") || column == "median" ||
         column.starts_with("median_") || column.starts_with("restricted_mean");
}

CATCH_TEST_CASE("the picture of every kind shows each variant and each number of its table") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    for (const char* source : {"", kCells}) {
      if (figure.source == kCells && *source == '\0') continue;  // it needs cells
      CATCH_INFO("source '" << source << "'");
      figure.source = source;
      const Drawing drawing = study.draw(figure);
      std::string data;
      std::vector<double> shown;
      for_every_entry(drawing.spec, [&](const std::string& key, const Json& value) {
        if (key == "values") data += value.dump();
        if (value.is_number()) shown.push_back(value);
        if (!value.is_array()) return;
        for (const Json& item : value) {
          if (item.is_number()) shown.push_back(item);
        }
      });
      CATCH_CHECK_THAT(data, Contains("diff") && Contains("transformer"));
      for (const auto& row : drawing.rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
          if (is_beside_the_picture(drawing.columns[column])) continue;
          for (const auto& word : split(row[column], ' ')) {
            const auto number = parse_number(word);
            if (!number) continue;
            CATCH_INFO(drawing.columns[column] << " " << word);
            CATCH_CHECK(std::any_of(shown.begin(), shown.end(), [&](double one) {
              return std::abs(one - *number) <= 1e-9 * (1 + std::abs(one));
            }));
          }
        }
      }
    }
  });
}

CATCH_TEST_CASE("what a figure of every kind shows lies within the domains that it states") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    const Json spec = study.draw(figure).spec;
    for (const auto& [name, channel, clipped] : channels_of(spec)) {
      if ((name != "x" && name != "y") || clipped) continue;
      const Json domain = channel.value("scale", Json::object()).value("domain", Json());
      if (!domain.is_array() || domain.size() != 2 || !domain[0].is_number()) continue;
      const std::string field = channel.value("field", "");
      for_every_entry(spec, [&, &name = name](const std::string& key, const Json& value) {
        if (key != field || !value.is_number()) return;
        CATCH_INFO(name << " " << field << " " << domain.dump());
        CATCH_CHECK(value >= domain[0]);
        CATCH_CHECK(value <= domain[1]);
      });
    }
  });
}

CATCH_TEST_CASE("the panels of a figure of every kind hold data and fit into its width") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    for_own_texts(figure, [&](const std::string& key, std::string& axis, std::string_view) {
      if (key != "facet") return;
      const std::string before = std::exchange(axis, "seed");
      const Json spec = study.draw(figure).spec;
      axis = before;
      CATCH_REQUIRE(spec.contains("facet"));
      CATCH_CHECK(spec["facet"]["sort"].size() == 2);
      for (const Json& sorted : spec["facet"]["sort"]) {
        const std::string heading = sorted;
        const std::string panel = heading.substr(heading.find(": ") + 2);
        bool has_data = false;
        for_every_entry(spec, [&](const std::string& field, const Json& value) {
          has_data |= field == "panel" && value == panel;
        });
        CATCH_INFO(heading);
        CATCH_CHECK(has_data);
      }
      const int width = spec.value("columns", 1) * spec["spec"].value("width", 0);
      CATCH_CHECK((width > 0 && width <= pixels(figure.width)));
    });
  });
}

}  // namespace
}  // namespace difflab::report
