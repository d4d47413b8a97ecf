#include "model/init_config.h"

#include <cmath>

namespace difflab {
namespace {

constexpr std::string_view kSqrtWidth = "sqrt_width";

}  // namespace

double EmbeddingScale::of(std::int64_t d_model) const {
  return factor_ ? *factor_ : std::sqrt(static_cast<double>(d_model));
}

std::optional<EmbeddingScale> EmbeddingScale::from_value(const config::Value& value) {
  if (value.is_string() && value.as_string() == kSqrtWidth) return sqrt_width();
  if (!value.is_number()) return std::nullopt;
  const double factor = value.as_double();
  if (!(factor > 0) || !std::isfinite(factor)) return std::nullopt;
  return EmbeddingScale(factor);
}

config::Value EmbeddingScale::to_value() const {
  return factor_ ? config::Value(*factor_) : config::Value(std::string(kSqrtWidth));
}

}  // namespace difflab
