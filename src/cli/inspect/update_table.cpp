#include "cli/inspect/update_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "model/cost.h"
#include "run/run_config.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

// Which optimiser updates a parameter: some leave a part of them to AdamW.
std::string updated_by(const OptimizerConfig& optimizer, const ParameterShape& parameter) {
  return std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.takes(parameter.name, std::size_t{}); }) {
          if (!kind.takes(parameter.name, parameter.shape.size())) {
            return std::string(AdamWConfig::kKind);
          }
        }
        return std::string(kind.kKind);
      },
      optimizer);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return join(sizes, " x ");
}

}  // namespace

std::string update_table(const std::vector<const RunConfig*>& runs, bool json) {
  Json list = Json::array();
  std::string text;
  for (const auto* run : runs) {
    const auto& [name, train] = std::tie(run->model.name, run->train);
    auto parameters = parameter_shapes(run->model, /*vocab_size=*/1);
    std::size_t widest = name.size();
    for (const auto& parameter : parameters) widest = std::max(widest, parameter.name.size());
    text += fmt::format("{}{:<{}}  {:>11}  {:<9}  {:>5}  {:>5}\n", text.empty() ? "" : "\n", name,
                        widest, "shape", "optimizer", "lr", "decay");
    Json rows = Json::array();
    for (const auto& parameter : parameters) {
      const auto how =
          update_settings(parameter.name, parameter.shape.size(), train.groups, train.weight_decay);
      auto shape = shape_text(parameter.shape);
      // The vocabulary is the task's.
      if (parameter.name == "tok_embeddings.weight" || parameter.name.starts_with("output.")) {
        shape.replace(0, 1, "V");
      }
      const auto by = updated_by(train.optimizer, parameter);
      text +=
          fmt::format("{:<{}}  {:>11}  {:<9}  {:>5}  {:>5}\n", parameter.name, widest, shape, by,
                      fmt::format("x {:g}", how.lr_scale), fmt::format("{:g}", how.weight_decay));
      rows.push_back({{"name", parameter.name},
                      {"optimizer", by},
                      {"lr_scale", how.lr_scale},
                      {"weight_decay", how.weight_decay}});
    }
    list.push_back({{"model", name}, {"parameters", std::move(rows)}});
  }
  return json ? list.dump(1) + "\n" : text;
}

}  // namespace difflab::cli
