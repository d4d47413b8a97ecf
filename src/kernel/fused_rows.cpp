#include "kernel/fused_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernel/rows.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows whose part of the weight's gradient is summed by itself, whatever the number of threads.
constexpr std::int64_t kChunk = 256;
// Numbers that are worth a thread.
constexpr std::int64_t kGrain = 32'768;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& weight_in, double eps) {
    const auto x = x_in.contiguous(), weight = weight_in.contiguous();
    const auto width = weight.numel(), rows = x.numel() / width;
    const auto y = at::empty_like(x);
    const auto inverse = at::empty({rows}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      const auto* from = x.const_data_ptr<scalar_t>();
      const auto* gain = weight.const_data_ptr<scalar_t>();
      auto* to = y.mutable_data_ptr<scalar_t>();
      auto* r = inverse.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, rows, kGrain / width + 1, [&](std::int64_t begin, std::int64_t end) {
        norm_rows(NormRows<scalar_t>{from + begin * width, gain, size(end - begin), size(width),
                                     r + begin},
                  eps, to + begin * width);
      });
    });
    context->save_for_backward({x, weight, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &inverse = saved[2];
    const auto dy = d_outputs[0].contiguous();
    const auto width = weight.numel(), rows = x.numel() / width;
    const auto chunks = (rows + kChunk - 1) / kChunk;
    const auto dx = at::empty_like(x);
    const auto parts = at::zeros({chunks, width}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_backward", [&] {
      const auto* from = x.const_data_ptr<scalar_t>();
      const auto* gain = weight.const_data_ptr<scalar_t>();
      const auto* d = dy.const_data_ptr<scalar_t>();
      auto* r = inverse.mutable_data_ptr<scalar_t>();
      auto* to = dx.mutable_data_ptr<scalar_t>();
      auto* d_weight = parts.mutable_data_ptr<scalar_t>();
      at::parallel_for(
          0, chunks, kGrain / (kChunk * width) + 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto chunk = begin; chunk < end; ++chunk) {
              const auto row = chunk * kChunk;
              const auto count = std::min(kChunk, rows - row);
              norm_rows_backward(
                  NormRows<scalar_t>{from + row * width, gain, size(count), size(width), r + row},
                  d + row * width, to + row * width, d_weight + chunk * width);
            }
          });
    });
    return {dx, parts.sum(0), at::Tensor()};
  }
};

struct SiluGate : torch::autograd::Function<SiluGate> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate_in,
                            const at::Tensor& up_in) {
    const auto gate = gate_in.contiguous(), up = up_in.contiguous();
    const auto y = at::empty_like(gate);
    AT_DISPATCH_FLOATING_TYPES(gate.scalar_type(), "silu_gate", [&] {
      const auto* g = gate.const_data_ptr<scalar_t>();
      const auto* u = up.const_data_ptr<scalar_t>();
      auto* to = y.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, gate.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        gate_rows(g + begin, u + begin, size(end - begin), to + begin);
      });
    });
    context->save_for_backward({gate, up});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto &gate = saved[0], &up = saved[1];
    const auto dy = d_outputs[0].contiguous();
    const auto d_gate = at::empty_like(gate), d_up = at::empty_like(up);
    AT_DISPATCH_FLOATING_TYPES(gate.scalar_type(), "silu_gate_backward", [&] {
      const auto* g = gate.const_data_ptr<scalar_t>();
      const auto* u = up.const_data_ptr<scalar_t>();
      const auto* d = dy.const_data_ptr<scalar_t>();
      auto* to_gate = d_gate.mutable_data_ptr<scalar_t>();
      auto* to_up = d_up.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, gate.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        gate_rows_backward(g + begin, u + begin, d + begin, size(end - begin), to_gate + begin,
                           to_up + begin);
      });
    });
    return {d_gate, d_up};
  }
};

// Turned, or turned back.
at::Tensor turned(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                  bool halves, bool inverse) {
  const auto y = at::empty_like(x);
  const auto heads = x.size(2), width = x.size(3), tokens = x.size(0) * x.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "turn_pairs", [&] {
    const auto* from = x.const_data_ptr<scalar_t>();
    auto* to = y.mutable_data_ptr<scalar_t>();
    const auto grain = kGrain / (heads * width) + 1;
    at::parallel_for(0, tokens, grain, [&](std::int64_t begin, std::int64_t end) {
      turn_rows(TurnRows<scalar_t>{.x = from + begin * heads * width,
                                   .cosine = cosine.const_data_ptr<scalar_t>(),
                                   .sine = sine.const_data_ptr<scalar_t>(),
                                   .first = size(begin),
                                   .tokens = size(end - begin),
                                   .positions = size(cosine.size(0)),
                                   .heads = size(heads),
                                   .width = size(width),
                                   .halves = halves,
                                   .inverse = inverse},
                to + begin * heads * width);
    });
  });
  return y;
}

struct TurnPairs : torch::autograd::Function<TurnPairs> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& cosine,
                            const at::Tensor& sine, bool halves) {
    context->save_for_backward({cosine, sine});
    context->saved_data["halves"] = halves;
    return turned(x.contiguous(), cosine, sine, halves, /*inverse=*/false);
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const bool halves = context->saved_data["halves"].toBool();
    return {turned(d_outputs[0].contiguous(), saved[0], saved[1], halves, /*inverse=*/true),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

bool takes_rows(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  TORCH_CHECK(takes_rows(x) && weight.dim() == 1 && x.dim() > 0 && x.size(-1) == weight.size(0) &&
                  x.scalar_type() == weight.scalar_type(),
              "rms_norm: x and weight of another kind than expected");
  return RmsNorm::apply(x, weight, eps);
}

at::Tensor silu_gate(const at::Tensor& gate, const at::Tensor& up) {
  TORCH_CHECK(
      takes_rows(gate) && gate.sizes() == up.sizes() && gate.scalar_type() == up.scalar_type(),
      "silu_gate: gate and up of another kind than expected");
  return SiluGate::apply(gate, up);
}

at::Tensor turn_pairs(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                      bool halves) {
  TORCH_CHECK(takes_rows(x) && x.dim() == 4 && cosine.dim() == 2 && x.size(1) == cosine.size(0) &&
                  x.size(3) == cosine.size(1) && x.size(3) % 2 == 0 &&
                  cosine.sizes() == sine.sizes() && x.scalar_type() == cosine.scalar_type() &&
                  x.scalar_type() == sine.scalar_type(),
              "turn_pairs: x and tables of another kind than expected");
  return TurnPairs::apply(x, cosine.contiguous(), sine.contiguous(), halves);
}

}  // namespace difflab::kernel
