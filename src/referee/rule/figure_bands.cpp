// Bands stay in the domain, and a chance line is that of the metric drawn.
#include "referee/base/figure.h"
#include "referee/rule/rules.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// How many of a field's values lie outside the domain of its axis.
std::size_t outside(const Layer& layer, const Json& channel,
                    const std::pair<double, double>& domain) {
  const auto field = channel.value("field", "");
  std::size_t count = 0;
  for (const Json& row : *layer.values) {
    const auto value = row.find(field);
    if (value == row.end() || !value->is_number()) continue;
    const double number = value->get<double>();
    if (number < domain.first - 1e-9 || number > domain.second + 1e-9) ++count;
  }
  return count;
}

bool draws_chance(const Layer& layer) {
  return layer.values != nullptr && !layer.values->empty() &&
         layer.values->front().contains("chance");
}

// Only answers that are right or wrong have a chance level; a metric can also bring its own.
bool has_chance(const Reference& one, const std::string& metric) {
  if (one.measures(metric + "_chance")) return true;
  const bool is_accuracy = metric.find("accuracy") != metric.npos || metric == "all_correct";
  return is_accuracy && report::metric_of(metric).is_share;
}

}  // namespace

void check_bands(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    std::size_t cut = 0;
    for (const auto& layer : layers_of(figure.spec)) {
      if (layer.values == nullptr) continue;
      for (const auto& [name, end] : {std::pair("x", "x2"), std::pair("y", "y2")}) {
        const Json* from = layer.channel(name);
        const Json* to = layer.channel(end);
        const auto domain = from == nullptr ? std::nullopt : domain_of(*from);
        if (to == nullptr || !domain) continue;
        cut += outside(layer, *from, *domain) + outside(layer, *to, *domain);
      }
    }
    if (cut == 0) continue;
    objections.object(one, spec_file(figure),
                      concat(cut, " ends of bands or intervals lie outside the axis's domain"));
  }
}

void check_chance_line(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    const auto metric = measured(figure);
    for (const auto& layer : layers_of(figure.spec)) {
      if (!draws_chance(layer) || has_chance(one, metric)) continue;
      objections.object(one, spec_file(figure),
                        concat("a chance line at ", layer.values->front().at("chance").dump(),
                               " on ", metric, ", which has no chance level"));
    }
  }
}

}  // namespace difflab::referee
