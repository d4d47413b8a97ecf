#include "model/layer/rotary.h"

#include <ATen/ATen.h>

#include <cmath>

#include "kernel/operation/fused_rows.h"

namespace difflab {

Rotary Rotary::table(std::int64_t tokens, std::int64_t head_dim, double base,
                     const at::Tensor& like, RotaryLayout layout) {
  const auto pairs = at::arange(head_dim / 2, at::kDouble);
  const auto frequency = at::exp(pairs * (-2 * std::log(base) / static_cast<double>(head_dim)));
  const auto angle = at::outer(at::arange(tokens, at::kDouble), frequency);  // [T, d/2]
  return from(angle.cos().to(like.options()), angle.sin().to(like.options()), layout);
}

Rotary Rotary::from(const at::Tensor& cosine, const at::Tensor& sine, RotaryLayout layout) {
  const bool pairs = layout == RotaryLayout::kInterleaved;
  const auto of_channels = [&](const at::Tensor& first, const at::Tensor& second) {
    return pairs ? at::stack({first, second}, -1).flatten(-2) : at::cat({first, second}, -1);
  };
  return {at::complex(cosine, sine), of_channels(cosine, cosine), of_channels(-sine, sine), layout};
}

Rotary Rotary::slice(std::int64_t begin, std::int64_t tokens) const {
  if (!rotation.defined()) return *this;
  const auto part = [&](const at::Tensor& table) { return table.narrow(0, begin, tokens); };
  return {part(rotation), part(cosine), part(sine), layout};
}

at::Tensor Rotary::apply(const at::Tensor& x, Kernels kernels) const {
  if (!rotation.defined()) return x;
  if (uses_kernels(kernels) && kernel::takes_rows(x)) {
    return kernel::turn_pairs(x, cosine, sine, layout == RotaryLayout::kHalves);
  }
  // A pair of reals is one complex number, and turning it is one multiplication. Angles keep their
  // digits where x has fewer.
  const auto wide = x.to(cosine.scalar_type());
  if (layout == RotaryLayout::kInterleaved) {
    const auto pairs = at::view_as_complex(wide.unflatten(-1, {-1, 2}));  // [B, T, heads, d/2]
    return at::view_as_real(pairs * rotation.unsqueeze(1)).flatten(-2);
  }
  const auto halves = wide.unflatten(-1, {2, -1}).unbind(-2);  // 2 × [B, T, heads, d/2]
  const auto turned = at::view_as_real(at::complex(halves[0], halves[1]) * rotation.unsqueeze(1));
  return turned.transpose(-1, -2).flatten(-2);
}

}  // namespace difflab
