#include "evaluate/quantize.h"

#include <ATen/ATen.h>

#include <limits>

namespace difflab {

at::Tensor quantize(const at::Tensor& logits, std::int64_t bits) {
  const auto hidden = logits.isinf();
  const auto seen = logits.masked_fill(hidden, 0);
  const auto levels = static_cast<double>((std::int64_t{1} << (bits - 1)) - 1);
  const auto step =
      (seen.abs().amax({-2, -1}, true) / levels).clamp_min(std::numeric_limits<float>::min());
  return at::where(hidden, logits, (seen / step).round() * step);
}

}  // namespace difflab
