#include "model/initialise.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "model/layer/fill.h"
#include "util/random.h"

namespace difflab {
namespace {

void fill_matrix(const at::Tensor& tensor, std::optional<double> std, Random random) {
  if (std) return fill_normal(tensor, *std, random);
  const double bound = 1 / std::sqrt(static_cast<double>(tensor.size(1)));
  fill_uniform(tensor, bound, random);
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

}  // namespace

void initialise(LanguageModel& model, const ModelConfig& config, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : model.named_parameters()) {
    const std::string_view name = parameter.key();
    const auto& value = parameter.value();
    Random random{seed, stream_key("init"), stream_key(name)};
    if (!ends_with_any(name, {".weight", ".bias"})) continue;  // its attention's own, see below
    if (name == "tok_embeddings.weight" || name == "positions.weight") {
      const double by_width = 1 / std::sqrt(static_cast<double>(config.d_model));
      fill_normal(value, config.embedding_std.value_or(by_width), random);
    } else if (value.dim() == 2) {
      fill_matrix(value, config.init_std, random);
    } else {
      value.fill_(name.ends_with(".bias") ? 0 : 1);
    }
  }
  model.for_each_attention([&](const std::string& prefix, Attention& attention) {
    attention.initialise([&](const std::string& name) {
      return Random{seed, stream_key("init"), stream_key(prefix + name)};
    });
  });
}

}  // namespace difflab
