#include "report/figure/style_config.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "config/schema/traits.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool is_hex_color(const std::string& text) {
  return text.size() == 7 && text[0] == '#' &&
         std::all_of(text.begin() + 1, text.end(),
                     [](unsigned char digit) { return std::isxdigit(digit) != 0; });
}

Json placed(const Json& legend, LegendPlace place) {
  if (place == LegendPlace::kNone || legend.is_null()) return nullptr;
  Json moved = legend;
  moved["orient"] = config::name_of(place);
  if (place == LegendPlace::kRight) {
    moved.erase("columns");
  } else if (!moved.contains("columns")) {
    moved["columns"] = 3;
  }
  return moved;
}

// Rectangles keep their edges: those of a heat map are gaps.
void restyle(Json& part, const StyleConfig& style) {
  if (part.is_array()) {
    for (Json& inner : part) restyle(inner, style);
  }
  if (!part.is_object()) return;
  const bool is_rect = part.contains("type") && part["type"] == "rect";
  for (auto& [key, value] : part.items()) {
    if (key == "data" || key == "datasets") continue;
    if (key.ends_with("ontSize") && value.is_number()) {
      value = value.get<double>() * style.text_scale();
    } else if (key == "strokeWidth" && value.is_number() && !is_rect) {
      value = value.get<double>() * style.line_width;
    } else if (key == "legend" && style.legend != LegendPlace::kOwn) {
      value = placed(value, style.legend);
    } else {
      restyle(value, style);
    }
  }
}

}  // namespace

void StyleConfig::validate(config::Check& check) const {
  for (std::size_t i = 0; i < palette.size(); ++i) {
    if (is_hex_color(palette[i])) continue;
    check.problem(concat("palette[", i, "]"),
                  concat("is '", palette[i], "'; expected a colour such as #0072B2"));
  }
}

void StyleConfig::apply(Json& spec) const {
  if (*this == StyleConfig{}) return;
  Json theme = std::exchange(spec["config"], nullptr);  // its legend is no place of one
  restyle(spec, *this);
  StyleConfig letters = *this;
  letters.legend = LegendPlace::kOwn;
  restyle(theme, letters);
  if (!font.empty()) theme["font"] = font;
  spec["config"] = std::move(theme);
}

}  // namespace difflab::report
