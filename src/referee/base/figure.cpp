#include "referee/base/figure.h"

#include <algorithm>

#include "util/text.h"

namespace difflab::referee {
namespace {

const Json* member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

const Json* values_in(const Json& view) {
  const Json* data = member(view, "data");
  const Json* values = data == nullptr ? nullptr : member(*data, "values");
  return values != nullptr && values->is_array() ? values : nullptr;
}

void collect(const Json& view, const Json* values, std::vector<Layer>& layers) {
  if (const Json* own = values_in(view)) values = own;
  if (const Json* mark = member(view, "mark")) {
    layers.push_back({mark, member(view, "encoding"), values});
  }
  if (const Json* inner = member(view, "spec")) collect(*inner, values, layers);
  for (const char* views : {"layer", "vconcat", "hconcat", "concat"}) {
    const Json* list = member(view, views);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& one : *list) collect(one, values, layers);
  }
}

}  // namespace

std::string Layer::mark_type() const {
  if (mark->is_string()) return mark->get<std::string>();
  const Json* type = member(*mark, "type");
  return type != nullptr && type->is_string() ? type->get<std::string>() : "";
}

bool Layer::is_clipped() const {
  const Json* clip = member(*mark, "clip");
  return clip != nullptr && *clip == true;
}

const Json* Layer::channel(const char* name) const {
  return encoding == nullptr ? nullptr : member(*encoding, name);
}

std::vector<Layer> layers_of(const Json& spec) {
  std::vector<Layer> layers;
  collect(spec, nullptr, layers);
  return layers;
}

std::optional<std::pair<double, double>> domain_of(const Json& channel) {
  const Json* scale = member(channel, "scale");
  const Json* domain = scale == nullptr ? nullptr : member(*scale, "domain");
  if (domain == nullptr || !domain->is_array() || domain->size() != 2) return std::nullopt;
  if (!domain->at(0).is_number() || !domain->at(1).is_number()) return std::nullopt;
  return std::pair(domain->at(0).get<double>(), domain->at(1).get<double>());
}

std::string measured(const FigureFile& figure) {
  for (const auto& column : figure.data.columns) {
    if (column.starts_with("mean_")) return column.substr(5);
  }
  return "";
}

std::vector<std::string> panel_titles(const Json& spec) {
  std::vector<std::string> titles;
  const Json* facet = member(spec, "facet");
  const Json* values = values_in(spec);
  const Json* field = facet == nullptr ? nullptr : member(*facet, "field");
  if (field == nullptr || values == nullptr) return titles;
  // A field that is calculated stands in no row; the order of the panels has what is printed.
  if (const Json* sort = member(*facet, "sort"); *field != "panel" && sort && sort->is_array()) {
    for (const Json& title : *sort) titles.push_back(title.get<std::string>());
    return titles;
  }
  for (const Json& row : *values) {
    const Json* panel = member(row, "panel");
    if (panel == nullptr || !panel->is_string()) continue;
    const auto title = panel->get<std::string>();
    if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
  }
  return titles;
}

std::string spec_file(const FigureFile& figure) {
  return concat("figures/", figure.name, ".vl.json");
}

}  // namespace difflab::referee
