#include "kernel/operation/fused_linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernel/operation/fused_rows.h"
#include "kernel/packed.h"
#include "kernel/parallel.h"
#include "kernel/product.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Below this the weight's transposition and the call cost more than they gain.
constexpr std::int64_t kFewRows = 64;
// Multiplications that are worth a thread.
constexpr std::int64_t kProductGrain = 1 << 20;

// C = or += A · B with the rows of C among the threads.
template <class T>
void multiply_rows(const Strided<const T>& a, const Panels<T>& b, const Strided<T>& c,
                   std::int64_t rows, std::int64_t depth, std::int64_t columns,
                   Into into = Into::kWritten) {
  const auto parts = (rows + kStripRows - 1) / kStripRows;
  at::parallel_for(0, parts, kProductGrain / (kStripRows * depth * columns) + 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     const auto row = begin * kStripRows,
                                count = std::min(rows, end * kStripRows) - row;
                     multiply({a.data + size(row) * a.row, a.row, a.column}, b,
                              {c.data + size(row) * c.row, c.row}, size(count), size(depth),
                              size(columns), into);
                   });
}

template <class T>
at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto in = weight.size(1), out = weight.size(0);
  auto sizes = x.sizes().vec();
  sizes.back() = out;
  const auto y = at::empty(sizes, x.options());
  if (bias.defined()) y.copy_(bias.expand_as(y));
  const auto w = matrix<T>(weight);
  const Packed<T> turned({w.data, 1, w.row}, in, out, x.options());
  multiply_rows<T>(matrix<T>(x), turned.panels(), {y.mutable_data_ptr<T>(), size(out)},
                   x.numel() / in, in, out, bias.defined() ? Into::kAddedTo : Into::kWritten);
  return y;
}

template <class T>
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& dy) {
  const auto in = weight.size(1), out = weight.size(0);
  auto d_weight = at::empty_like(weight);
  const auto d = matrix<T>(dy);
  multiply_rows<T>({d.data, 1, d.row}, as_panels(x.const_data_ptr<T>(), size(in)),
                   {d_weight.mutable_data_ptr<T>(), size(in)}, out, x.numel() / in, in);
  return d_weight;
}

// Writes or adds dy · weight.
template <class T>
void input_gradient(const at::Tensor& weight, const at::Tensor& dy, const at::Tensor& dx,
                    Into into) {
  const auto in = weight.size(1), out = weight.size(0);
  const Packed<T> packed(matrix<T>(weight), out, in, dx.options());
  multiply_rows<T>(matrix<T>(dy), packed.panels(), {dx.mutable_data_ptr<T>(), size(in)},
                   dx.numel() / in, out, in, into);
}

// Over all rows, part by part, so that the number of threads changes no bit.
template <class T>
at::Tensor column_sums(const at::Tensor& dy) {
  const auto columns = dy.size(-1), rows = dy.numel() / columns;
  const auto parts = (rows + kChunk - 1) / kChunk;
  const auto sums = at::zeros({parts, columns}, dy.options());
  const auto* from = dy.const_data_ptr<T>();
  auto* to = sums.mutable_data_ptr<T>();
  at::parallel_for(0, parts, kProductGrain / (kChunk * columns) + 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (auto row = begin * kChunk; row < std::min(rows, end * kChunk); ++row) {
                       T* sum = to + row / kChunk * columns;
                       for (std::int64_t j = 0; j < columns; ++j) sum[j] += from[row * columns + j];
                     }
                   });
  return sums.sum(0);
}

struct Linears : torch::autograd::Function<Linears> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x_in,
                               at::TensorList weights, at::TensorList biases) {
    const auto x = x_in.contiguous();
    variable_list saved{x}, outputs;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "linears", [&] {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        saved.push_back(weights[i].contiguous());
        outputs.push_back(
            product<scalar_t>(x, saved.back(), biases.empty() ? at::Tensor() : biases[i]));
      }
    });
    context->save_for_backward(saved);
    context->saved_data["biases"] = !biases.empty();
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto count = saved.size() - 1;  // of weights, and of biases behind them
    variable_list gradients(1 + count * (context->saved_data["biases"].toBool() ? 2 : 1));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "linears_backward", [&] {
      auto& dx = gradients[0];
      for (std::size_t i = 1; i < saved.size(); ++i) {
        const auto dy = d_outputs[i - 1].contiguous();
        if (context->needs_input_grad(0)) {
          const auto into = dx.defined() ? Into::kAddedTo : Into::kWritten;
          if (!dx.defined()) dx = at::empty_like(x);
          input_gradient<scalar_t>(saved[i], dy, dx, into);
        }
        if (context->needs_input_grad(i)) {
          gradients[i] = weight_gradient<scalar_t>(x, saved[i], dy);
        }
        if (const auto bias = i + count;
            bias < gradients.size() && context->needs_input_grad(bias)) {
          gradients[bias] = column_sums<scalar_t>(dy);
        }
      }
    });
    return gradients;
  }
};

}  // namespace

bool takes_linear(const at::Tensor& x, const at::Tensor& weight) {
  return takes_rows(x) && weight.scalar_type() == x.scalar_type() &&
         x.numel() >= kFewRows * weight.size(1);
}

std::vector<at::Tensor> linears(const at::Tensor& x, at::TensorList weights,
                                at::TensorList biases) {
  TORCH_CHECK(takes_rows(x) && x.dim() > 0 && !weights.empty(),
              "linears: x of another kind than expected");
  for (const auto& weight : weights) {
    TORCH_CHECK(weight.dim() == 2 && x.size(-1) == weight.size(1) &&
                    x.scalar_type() == weight.scalar_type(),
                "linears: a weight of another kind than expected");
  }
  TORCH_CHECK(biases.empty() || biases.size() == weights.size(), "linears: too few biases");
  for (std::size_t i = 0; i < biases.size(); ++i) {
    TORCH_CHECK(biases[i].dim() == 1 && biases[i].size(0) == weights[i].size(0) &&
                    biases[i].scalar_type() == x.scalar_type(),
                "linears: a bias of another kind than expected");
  }
  return Linears::apply(x, weights, biases);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return linears(x, weight, bias.defined() ? at::TensorList(bias) : at::TensorList()).front();
}

}  // namespace difflab::kernel
