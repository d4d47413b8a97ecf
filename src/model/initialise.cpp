#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "model/layer/fill.h"
#include "util/random.h"

namespace difflab {
namespace {

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

/// Draws what every model has, by its rules.
class Draw {
 public:
  explicit Draw(const ModelConfig& config)
      : config_(config), inverse_sqrt_width_(1 / std::sqrt(static_cast<double>(config.d_model))) {}

  void operator()(std::string_view name, const at::Tensor& value, Random random) const {
    if (name == "tok_embeddings.weight" || name == "positions.weight") {
      const bool unit = config_.init.embedding == EmbeddingInit::kUnit;
      fill_normal(value, config_.embedding_std.value_or(unit ? 1 : inverse_sqrt_width_), random);
    } else if (name == "output.weight" && config_.init.output != OutputInit::kMatrices) {
      const bool zero = config_.init.output == OutputInit::kZero;
      fill_normal(value, zero ? 0 : inverse_sqrt_width_, random);
    } else if (value.dim() == 2) {
      fill_matrix(value, gain(name), random);
    } else {
      value.fill_(name.ends_with(".bias") ? 0 : 1);
    }
  }

 private:
  double gain(std::string_view name) const {
    if (ends_with_any(name, {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"})) {
      return config_.init.qkv_gain;
    }
    const bool writes = ends_with_any(  // o_proj is DIFF V2's name for it
        name, {".out_proj.weight", ".o_proj.weight", ".ffn.down.weight", ".ffn.proj.weight"});
    const bool scaled = writes && config_.init.residual == ResidualInit::kDepth;
    return scaled ? 1 / std::sqrt(2 * static_cast<double>(config_.layers)) : 1;
  }

  void fill_matrix(const at::Tensor& weight, double gain, Random random) const {
    if (config_.init_std) return fill_normal(weight, gain * *config_.init_std, random);
    const auto in = static_cast<double>(weight.size(1)), out = static_cast<double>(weight.size(0));
    const double bound = config_.init.matrices == MatrixInit::kXavier ? std::sqrt(6 / (in + out))
                                                                      : 1 / std::sqrt(in);
    fill_uniform(weight, gain * bound, random);
  }

  const ModelConfig& config_;
  double inverse_sqrt_width_;
};

}  // namespace

void initialise(LanguageModel& model, const ModelConfig& config, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  const Draw draw(config);
  for (const auto& parameter : model.named_parameters()) {
    const std::string_view name = parameter.key();
    const auto& value = parameter.value();
    Random random{seed, stream_key("init"), stream_key(name)};
    if (!ends_with_any(name, {".weight", ".bias"})) continue;  // its attention's own, see below
    draw(name, value, random);
  }
  model.for_each_attention([&](const std::string& prefix, Attention& attention) {
    attention.initialise([&](const std::string& name) {
      return Random{seed, stream_key("init"), stream_key(prefix + name)};
    });
  });
}

}  // namespace difflab
