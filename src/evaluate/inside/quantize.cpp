#include "evaluate/inside/quantize.h"

#include <ATen/ATen.h>

#include <limits>

namespace difflab {

at::Tensor quantize(const at::Tensor& given, std::int64_t bits) {
  // Of a model in bfloat16, which has 8 bits, the levels would be rounded once more.
  const auto logits = given.to(at::promote_types(given.scalar_type(), at::kFloat));
  const auto hidden = logits.isinf();
  const auto seen = logits.masked_fill(hidden, 0);
  const auto levels = static_cast<double>((std::int64_t{1} << (bits - 1)) - 1);
  const auto step =
      (seen.abs().amax({-2, -1}, true) / levels).clamp_min(std::numeric_limits<float>::min());
  return at::where(hidden, logits, (seen / step).round() * step);
}

}  // namespace difflab
