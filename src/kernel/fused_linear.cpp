#include "kernel/fused_linear.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernel/fused_rows.h"
#include "kernel/product.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Below this the weight's transposition and the call cost more than they gain.
constexpr std::int64_t kFewRows = 64;
// Multiplications that are worth a thread.
constexpr std::int64_t kGrain = 1 << 20;
// Rows of a thread's part: whole strips of the product, so that none is cut.
constexpr std::int64_t kRows = 120;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

template <class T>
Strided<const T> matrix(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), size(tensor.size(-1)), 1};
}

// C = A · B with the rows of C among the threads.
template <class T>
void multiply_rows(const Strided<const T>& a, const Panels<T>& b, const Strided<T>& c,
                   std::int64_t rows, std::int64_t depth, std::int64_t columns) {
  const auto parts = (rows + kRows - 1) / kRows;
  at::parallel_for(
      0, parts, kGrain / (kRows * depth * columns) + 1, [&](std::int64_t begin, std::int64_t end) {
        const auto row = begin * kRows, count = std::min(rows, end * kRows) - row;
        multiply({a.data + size(row) * a.row, a.row, a.column}, b,
                 {c.data + size(row) * c.row, c.row}, size(count), size(depth), size(columns));
      });
}

// A weight as the right side of products, copied into panels that lie in one piece.
template <class T>
class Packed {
 public:
  // The matrix [depth, columns] whose entry (p, j) is at from[p · row + j · column].
  Packed(const Strided<const T>& from, std::int64_t depth, std::int64_t columns,
         const at::TensorOptions& options)
      : width_(static_cast<std::int64_t>(panel_width<T>())),
        depth_(depth),
        numbers_(at::empty({(columns + width_ - 1) / width_ * width_ * depth}, options)) {
    auto* to = numbers_.template mutable_data_ptr<T>();
    for (std::int64_t j = 0; j < columns; ++j) {
      const T* source = from.data + size(j) * from.column;
      T* target = to + j / width_ * width_ * depth + j % width_;
      for (std::int64_t p = 0; p < depth; ++p) target[p * width_] = source[size(p) * from.row];
    }
  }
  Panels<T> panels() const {
    return {numbers_.template const_data_ptr<T>(), size(width_), size(width_ * depth_)};
  }

 private:
  std::int64_t width_, depth_;
  at::Tensor numbers_;
};

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& weight_in) {
    const auto x = x_in.contiguous(), weight = weight_in.contiguous();
    const auto in = weight.size(1), out = weight.size(0), rows = x.numel() / in;
    auto sizes = x.sizes().vec();
    sizes.back() = out;
    const auto y = at::empty(sizes, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "linear", [&] {
      const auto w = matrix<scalar_t>(weight);
      const Packed<scalar_t> turned({w.data, 1, w.row}, in, out, x.options());
      multiply_rows<scalar_t>(matrix<scalar_t>(x), turned.panels(),
                              {y.mutable_data_ptr<scalar_t>(), size(out)}, rows, in, out);
    });
    context->save_for_backward({x, weight});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1];
    const auto dy = d_outputs[0].contiguous();
    const auto in = weight.size(1), out = weight.size(0), rows = x.numel() / in;
    at::Tensor dx, d_weight;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "linear_backward", [&] {
      const auto d = matrix<scalar_t>(dy);
      if (context->needs_input_grad(0)) {
        dx = at::empty_like(x);
        const Packed<scalar_t> packed(matrix<scalar_t>(weight), out, in, x.options());
        multiply_rows<scalar_t>(d, packed.panels(), {dx.mutable_data_ptr<scalar_t>(), size(in)},
                                rows, out, in);
      }
      if (context->needs_input_grad(1)) {
        d_weight = at::empty_like(weight);
        multiply_rows<scalar_t>({d.data, 1, d.row},
                                as_panels(x.const_data_ptr<scalar_t>(), size(in)),
                                {d_weight.mutable_data_ptr<scalar_t>(), size(in)}, out, rows, in);
      }
    });
    return {dx, d_weight};
  }
};

}  // namespace

bool takes_linear(const at::Tensor& x, const at::Tensor& weight) {
  return takes_rows(x) && weight.scalar_type() == x.scalar_type() &&
         x.numel() >= kFewRows * weight.size(1);
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(takes_rows(x) && weight.dim() == 2 && x.dim() > 0 && x.size(-1) == weight.size(1) &&
                  x.scalar_type() == weight.scalar_type(),
              "linear: x and weight of another kind than expected");
  return Linear::apply(x, weight);
}

}  // namespace difflab::kernel
