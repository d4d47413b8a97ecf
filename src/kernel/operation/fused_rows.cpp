#include "kernel/operation/fused_rows.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "kernel/parallel.h"
#include "kernel/rows.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Numbers that are worth a thread.
constexpr std::int64_t kRowGrain = 32'768;

// RMSNorm of x, or of the sum of x and delta, which is then written to `sum`.
struct NormTensors {
  at::Tensor x, weight;
  at::Tensor delta = {}, sum = {}, inverse = {};

  const at::Tensor& input() const { return delta.defined() ? sum : x; }
};

at::Tensor norm_forward(NormTensors& in, double eps) {
  const auto width = in.weight.numel(), rows = in.x.numel() / width;
  const auto y = at::empty_like(in.x);
  in.inverse = at::empty({rows}, in.x.options());
  if (in.delta.defined()) in.sum = at::empty_like(in.x);
  AT_DISPATCH_FLOATING_TYPES(in.x.scalar_type(), "rms_norm", [&] {
    const auto* from = in.x.const_data_ptr<scalar_t>();
    const auto* gain = in.weight.const_data_ptr<scalar_t>();
    const auto* delta = in.delta.defined() ? in.delta.const_data_ptr<scalar_t>() : nullptr;
    auto* sum = in.delta.defined() ? in.sum.mutable_data_ptr<scalar_t>() : nullptr;
    auto* to = y.mutable_data_ptr<scalar_t>();
    auto* r = in.inverse.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, kRowGrain / width + 1, [&](std::int64_t begin, std::int64_t end) {
      const auto at = begin * width;
      Added<scalar_t> added;
      if (delta != nullptr) added = {delta + at, sum + at};
      norm_rows(NormRows<scalar_t>{from + at, gain, size(end - begin), size(width), r + begin},
                added, eps, to + at);
    });
  });
  return y;
}

// The gradients of the input, plus d_sum if that is defined, and of the weight.
std::pair<at::Tensor, at::Tensor> norm_backward(const at::Tensor& x, const at::Tensor& weight,
                                                const at::Tensor& inverse, const at::Tensor& dy,
                                                const at::Tensor& d_sum) {
  const auto width = weight.numel(), rows = x.numel() / width;
  const auto chunks = (rows + kChunk - 1) / kChunk;
  const auto dx = at::empty_like(x);
  const auto parts = at::zeros({chunks, width}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_backward", [&] {
    const auto* from = x.const_data_ptr<scalar_t>();
    const auto* gain = weight.const_data_ptr<scalar_t>();
    const auto* d = dy.const_data_ptr<scalar_t>();
    const auto* more = d_sum.defined() ? d_sum.const_data_ptr<scalar_t>() : nullptr;
    auto* r = const_cast<scalar_t*>(inverse.const_data_ptr<scalar_t>());
    auto* to = dx.mutable_data_ptr<scalar_t>();
    auto* d_weight = parts.mutable_data_ptr<scalar_t>();
    at::parallel_for(
        0, chunks, kRowGrain / (kChunk * width) + 1, [&](std::int64_t begin, std::int64_t end) {
          for (auto chunk = begin; chunk < end; ++chunk) {
            const auto row = chunk * kChunk, at = row * width;
            const auto count = std::min(kChunk, rows - row);
            norm_rows_backward(
                NormRows<scalar_t>{from + at, gain, size(count), size(width), r + row}, d + at,
                more == nullptr ? nullptr : more + at, to + at, d_weight + chunk * width);
          }
        });
  });
  return {dx, parts.sum(0)};
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            double eps) {
    NormTensors in{.x = x.contiguous(), .weight = weight.contiguous()};
    const auto y = norm_forward(in, eps);
    context->save_for_backward({in.x, in.weight, in.inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto [dx, d_weight] =
        norm_backward(saved[0], saved[1], saved[2], d_outputs[0].contiguous(), {});
    return {dx, d_weight, at::Tensor()};
  }
};

struct AddRmsNorm : torch::autograd::Function<AddRmsNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const at::Tensor& delta, const at::Tensor& weight, double eps) {
    NormTensors in{.x = x.contiguous(), .weight = weight.contiguous(), .delta = delta.contiguous()};
    const auto y = norm_forward(in, eps);
    context->save_for_backward({in.sum, in.weight, in.inverse});
    context->set_materialize_grads(false);
    return {in.sum, y};
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto &d_sum = d_outputs[0], &dy = d_outputs[1];
    if (!dy.defined()) return {d_sum, d_sum, at::Tensor(), at::Tensor()};
    const auto [ds, d_weight] = norm_backward(saved[0], saved[1], saved[2], dy.contiguous(),
                                              d_sum.defined() ? d_sum.contiguous() : at::Tensor());
    return {ds, ds, d_weight, at::Tensor()};
  }
};

// Calls work(chunk of rows, its number, where its first logit lies).
template <class T, class Work>
void for_each_answer(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& weights,
                     const at::Tensor& log_sum, Work work) {
  const auto rows = logits.size(0), classes = logits.size(1);
  const auto* from = logits.const_data_ptr<T>();
  const auto* wanted = targets.const_data_ptr<std::int64_t>();
  auto* sums = const_cast<T*>(log_sum.const_data_ptr<T>());
  const auto* weighs = weights.defined() ? weights.const_data_ptr<double>() : nullptr;
  at::parallel_for(
      0, (rows + kChunk - 1) / kChunk, kRowGrain / (kChunk * classes) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (auto chunk = begin; chunk < end; ++chunk) {
          const auto row = chunk * kChunk, at = row * classes;
          work(AnswerRows<T>{from + at, wanted + row, size(std::min(kChunk, rows - row)),
                             size(classes), sums + row, weighs == nullptr ? nullptr : weighs + row},
               size(chunk), at);
        }
      });
}

struct MeanCrossEntropy : torch::autograd::Function<MeanCrossEntropy> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits_in,
                            const at::Tensor& targets_in,
                            const std::optional<at::Tensor>& weights_in) {
    const auto logits = logits_in.contiguous(), targets = targets_in.contiguous();
    const auto weights = weights_in ? weights_in->contiguous() : at::Tensor();
    const auto log_sum = at::empty({logits.size(0)}, logits.options());
    std::vector<double> losses(size((logits.size(0) + kChunk - 1) / kChunk));
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "mean_cross_entropy", [&] {
      for_each_answer<scalar_t>(logits, targets, weights, log_sum,
                                [&](const auto& rows, std::size_t chunk, std::int64_t) {
                                  losses[chunk] = answer_rows(rows);
                                });
    });
    context->save_for_backward({logits, targets, weights, log_sum});
    const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
    return at::scalar_tensor(loss / static_cast<double>(logits.size(0)), logits.options());
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto& logits = saved[0];
    const double scale = d_outputs[0].item<double>() / static_cast<double>(logits.size(0));
    const auto d_logits = at::empty_like(logits);
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "mean_cross_entropy_backward", [&] {
      auto* to = d_logits.mutable_data_ptr<scalar_t>();
      for_each_answer<scalar_t>(logits, saved[1], saved[2], saved[3],
                                [&](const auto& rows, std::size_t, std::int64_t at) {
                                  answer_rows_backward(rows, scale, to + at);
                                });
    });
    return {d_logits, at::Tensor(), at::Tensor()};
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
    const auto grain = kRowGrain / (heads * width) + 1;
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

Normed add_rms_norm(const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight,
                    double eps) {
  TORCH_CHECK(takes_rows(x) && weight.dim() == 1 && x.dim() > 0 && x.size(-1) == weight.size(0) &&
                  x.sizes() == delta.sizes() && x.scalar_type() == delta.scalar_type() &&
                  x.scalar_type() == weight.scalar_type(),
              "add_rms_norm: x, delta and weight of another kind than expected");
  const auto both = AddRmsNorm::apply(x, delta, weight, eps);
  return {both[0], both[1]};
}

at::Tensor mean_cross_entropy(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& weights) {
  TORCH_CHECK(takes_rows(logits) && logits.dim() == 2 && targets.dim() == 1 &&
                  targets.scalar_type() == at::kLong && targets.size(0) == logits.size(0),
              "mean_cross_entropy: logits and targets of another kind than expected");
  TORCH_CHECK(!weights.defined() ||
                  (weights.sizes() == targets.sizes() && weights.scalar_type() == at::kDouble),
              "mean_cross_entropy: weights of another kind than expected");
  const auto classes = logits.size(1);
  TORCH_CHECK(targets.numel() == 0 || (targets.min().item<std::int64_t>() >= 0 &&
                                       targets.max().item<std::int64_t>() < classes),
              "mean_cross_entropy: a target is no class");
  return MeanCrossEntropy::apply(logits, targets,
                                 weights.defined() ? std::optional(weights) : std::nullopt);
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
