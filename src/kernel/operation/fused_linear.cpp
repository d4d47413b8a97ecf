#include "kernel/operation/fused_linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

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

// Rows that several products take before the next ones come, while they are in the second-level
// cache.
constexpr std::int64_t kRowsTogether = 20 * kStripRows;

// C = or += A · B.
template <class T>
struct Product {
  Strided<const T> a;
  Panels<T> b;
  Strided<T> c;
  std::int64_t depth = 0, columns = 0;
  Into into = Into::kWritten;
};

// Products of as many rows, one after the other of some rows; the rows among the threads.
template <class T>
void multiply_rows(const std::vector<Product<T>>& products, std::int64_t rows) {
  const auto parts = (rows + kStripRows - 1) / kStripRows;
  std::int64_t work = 0;
  for (const auto& one : products) work += kStripRows * one.depth * one.columns;
  at::parallel_for(0, parts, kProductGrain / work + 1, [&](std::int64_t begin, std::int64_t end) {
    const auto last = std::min(rows, end * kStripRows);
    const auto together = products.size() > 1 ? kRowsTogether : rows;
    for (auto row = begin * kStripRows; row < last; row += together) {
      const auto count = std::min(together, last - row);
      for (const auto& [a, b, c, depth, columns, into] : products) {
        multiply({a.data + size(row) * a.row, a.row, a.column}, b,
                 {c.data + size(row) * c.row, c.row}, size(count), size(depth), size(columns),
                 into);
      }
    }
  });
}

// x times the transpose of each weight, plus its bias.
template <class T>
variable_list outputs_of(const at::Tensor& x, at::TensorList weights, at::TensorList biases) {
  const auto in = x.size(-1);
  variable_list outputs;
  std::vector<Packed<T>> turned;
  std::vector<Product<T>> products;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto out = weights[i].size(0);
    auto sizes = x.sizes().vec();
    sizes.back() = out;
    auto& y = outputs.emplace_back(at::empty(sizes, x.options()));
    if (!biases.empty()) y.copy_(biases[i].expand_as(y));
    const auto w = matrix<T>(weights[i]);
    turned.emplace_back(Strided<const T>{w.data, 1, w.row}, in, out, x.options());
    products.push_back({matrix<T>(x),
                        turned.back().panels(),
                        {y.template mutable_data_ptr<T>(), size(out)},
                        in,
                        out,
                        biases.empty() ? Into::kWritten : Into::kAddedTo});
  }
  multiply_rows(products, x.numel() / in);
  return outputs;
}

template <class T>
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& dy) {
  const auto in = weight.size(1), out = weight.size(0);
  auto d_weight = at::empty_like(weight);
  const auto d = matrix<T>(dy);
  multiply_rows<T>({{{d.data, 1, d.row},
                     as_panels(x.const_data_ptr<T>(), size(in)),
                     {d_weight.template mutable_data_ptr<T>(), size(in)},
                     x.numel() / in,
                     in}},
                   out);
  return d_weight;
}

// Σ dy · weight over the outputs.
template <class T>
at::Tensor input_gradient(const at::Tensor& x, at::TensorList weights, at::TensorList d_outputs) {
  auto dx = at::empty_like(x);
  std::vector<Packed<T>> packed;
  std::vector<Product<T>> products;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto in = weights[i].size(1), out = weights[i].size(0);
    packed.emplace_back(matrix<T>(weights[i]), out, in, x.options());
    products.push_back({matrix<T>(d_outputs[i]),
                        packed.back().panels(),
                        {dx.template mutable_data_ptr<T>(), size(in)},
                        out,
                        in,
                        i > 0 ? Into::kAddedTo : Into::kWritten});
  }
  multiply_rows(products, x.numel() / x.size(-1));
  return dx;
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
    variable_list saved{x_in.contiguous()}, outputs;
    for (const auto& weight : weights) saved.push_back(weight.contiguous());
    AT_DISPATCH_FLOATING_TYPES(x_in.scalar_type(), "linears", [&] {
      outputs = outputs_of<scalar_t>(saved[0], at::TensorList(saved).slice(1), biases);
    });
    context->save_for_backward(saved);
    context->saved_data["biases"] = !biases.empty();
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto weights = at::TensorList(saved).slice(1);
    const auto count = weights.size();  // and of biases behind them
    variable_list gradients(1 + count * (context->saved_data["biases"].toBool() ? 2 : 1)), dy;
    for (const auto& d : d_outputs) dy.push_back(d.contiguous());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "linears_backward", [&] {
      if (context->needs_input_grad(0)) gradients[0] = input_gradient<scalar_t>(x, weights, dy);
      for (std::size_t i = 0; i < count; ++i) {
        if (context->needs_input_grad(i + 1)) {
          gradients[i + 1] = weight_gradient<scalar_t>(x, weights[i], dy[i]);
        }
        if (const auto bias = i + 1 + count;
            bias < gradients.size() && context->needs_input_grad(bias)) {
          gradients[bias] = column_sums<scalar_t>(dy[i]);
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
