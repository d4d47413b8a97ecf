#include "kernel/fused_swiglu.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "kernel/attention_head.h"
#include "kernel/fused_rows.h"
#include "kernel/packed.h"
#include "kernel/parallel.h"
#include "kernel/product.h"
#include "kernel/rows.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows that go through all products before the next ones come, at most; whole strips.
constexpr std::int64_t kGroup = 120;
// Where there are more groups than this, their number is a multiple of it, so that two or four
// threads have equally many. It must not depend on the threads: sums run group by group.
constexpr std::int64_t kGroupsAtOnce = 4;

/// N rows of width D through hidden rows of width H, stored with `padded` numbers.
struct Sizes {
  std::int64_t rows, width, hidden, padded, group_rows;

  Sizes(const at::Tensor& x, const at::Tensor& gate, std::size_t panel)
      : rows(x.numel() / gate.size(1)),
        width(gate.size(1)),
        hidden(gate.size(0)),
        padded(round_up(hidden, static_cast<std::int64_t>(panel) / 2)) {
    const auto fewest = (rows + kGroup - 1) / kGroup;
    const auto wanted = fewest > kGroupsAtOnce ? round_up(fewest, kGroupsAtOnce) : fewest;
    group_rows = round_up((rows + wanted - 1) / wanted, kStripRows);
  }

  std::int64_t groups() const { return (rows + group_rows - 1) / group_rows; }
  std::int64_t begin(std::int64_t group) const { return group * group_rows; }
  std::int64_t count(std::int64_t group) const { return std::min(group_rows, rows - begin(group)); }
};

template <class T>
void run_forward(const Sizes& s, const at::Tensor& x, const variable_list& weights,
                 const at::Tensor& gate, const at::Tensor& up, const at::Tensor& y) {
  const auto options = x.options();
  const auto g = matrix<T>(weights[0]), u = matrix<T>(weights[1]), d = matrix<T>(weights[2]);
  const Packed<T> to_gate({g.data, 1, g.row}, s.width, s.hidden, options),
      to_up({u.data, 1, u.row}, s.width, s.hidden, options),
      to_y({d.data, 1, d.row}, s.hidden, s.width, options);
  const auto* from = x.const_data_ptr<T>();
  auto *gates = gate.mutable_data_ptr<T>(), *ups = up.mutable_data_ptr<T>(),
       *out = y.mutable_data_ptr<T>();
  const auto width = size(s.width), padded = size(s.padded);
  at::parallel_for(0, s.groups(), 1, [&](std::int64_t first, std::int64_t last) {
    static thread_local Scratch<T> scratch;
    T* inner = scratch.take(size(kGroup * s.padded));
    for (auto group = first; group < last; ++group) {
      const auto row = size(s.begin(group)), rows = size(s.count(group));
      const Strided<const T> in{from + row * width, width};
      multiply(in, to_gate.panels(), {gates + row * padded, padded}, rows, width, padded,
               Into::kWritten);
      multiply(in, to_up.panels(), {ups + row * padded, padded}, rows, width, padded,
               Into::kWritten);
      gate_rows(gates + row * padded, ups + row * padded, rows * padded, inner);
      multiply({inner, padded}, to_y.panels(), {out + row * width, width}, rows, size(s.hidden),
               width, Into::kWritten);
    }
    scratch.release();
  });
}

/// What a group of rows contributes to the gradients of the weights.
template <class T>
struct Group {
  T *inner, *d_gate, *d_up;  // [kGroup, padded]
};

template <class T>
void run_backward(const Sizes& s, const variable_list& saved, const at::Tensor& dy,
                  const at::Tensor& dx, const variable_list& d_weights) {
  const auto &x = saved[0], &gate = saved[4], &up = saved[5];
  const auto options = x.options();
  const Packed<T> to_inner(matrix<T>(saved[3]), s.width, s.hidden, options),
      from_gate(matrix<T>(saved[1]), s.hidden, s.width, options),
      from_up(matrix<T>(saved[2]), s.hidden, s.width, options);
  const auto *in = x.const_data_ptr<T>(), *gates = gate.const_data_ptr<T>(),
             *ups = up.const_data_ptr<T>(), *d_out = dy.const_data_ptr<T>();
  auto* to = dx.mutable_data_ptr<T>();
  const auto width = size(s.width), padded = size(s.padded), hidden = size(s.hidden);

  const auto compute = [&](std::int64_t group, const Group<T>& found) {
    const auto row = size(s.begin(group)), rows = size(s.count(group));
    // The gradient of `inner` first lies where that of the gate will.
    multiply({d_out + row * width, width}, to_inner.panels(), {found.d_gate, padded}, rows, width,
             padded, Into::kWritten);
    gate_rows(gates + row * padded, ups + row * padded, rows * padded, found.inner);
    gate_rows_backward(gates + row * padded, ups + row * padded, found.d_gate, rows * padded,
                       found.d_gate, found.d_up);
    multiply({found.d_gate, padded}, from_gate.panels(), {to + row * width, width}, rows, hidden,
             width, Into::kWritten);
    multiply({found.d_up, padded}, from_up.panels(), {to + row * width, width}, rows, hidden, width,
             Into::kAddedTo);
  };

  auto *d_wg = d_weights[0].mutable_data_ptr<T>(), *d_wu = d_weights[1].mutable_data_ptr<T>(),
       *d_wd = d_weights[2].mutable_data_ptr<T>();
  // One of so many shares of the three gradients: of each the same, since their strips cost not.
  const auto add = [&](std::int64_t group, const Group<T>& found, std::int64_t share,
                       std::int64_t shares) {
    const auto row = size(s.begin(group)), depth = size(s.count(group));
    const auto into = group == 0 ? Into::kWritten : Into::kAddedTo;
    const auto part = [&](std::int64_t of, auto work) {
      const auto strips = (of + kStripRows - 1) / kStripRows;
      const auto begin = strips * share / shares * kStripRows,
                 end = std::min(of, strips * (share + 1) / shares * kStripRows);
      if (begin < end) work(size(begin), size(end - begin));
    };
    const auto of_hidden = [&](const T* d, T* sum) {
      return [&, d, sum](std::size_t begin, std::size_t count) {
        multiply({d + begin, 1, padded}, as_panels(in + row * width, width),
                 {sum + begin * width, width}, count, depth, width, into);
      };
    };
    part(s.hidden, of_hidden(found.d_gate, d_wg));
    part(s.hidden, of_hidden(found.d_up, d_wu));
    part(s.width, [&](std::size_t begin, std::size_t count) {
      multiply({d_out + row * width + begin, 1, width}, as_panels<T>(found.inner, padded),
               {d_wd + begin * padded, padded}, count, depth, padded, into);
    });
  };

  // As many groups at a time as there are threads; sums run over the groups in their order.
  const auto wave = std::min<std::int64_t>(at::get_num_threads(), s.groups());
  const auto area = size(kGroup * s.padded);
  static thread_local Scratch<T> scratch;
  std::vector<Group<T>> found(size(wave));
  for (auto& one : found) {
    one = {scratch.take(area), scratch.take(area), scratch.take(area)};
  }
  for (std::int64_t first = 0; first < s.groups(); first += wave) {
    const auto groups = std::min(wave, s.groups() - first);
    at::parallel_for(0, groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) compute(first + i, found[size(i)]);
    });
    at::parallel_for(0, wave, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < groups; ++i) {
        for (auto share = begin; share < end; ++share) add(first + i, found[size(i)], share, wave);
      }
    });
  }
  scratch.release();
}

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& gate_weight, const at::Tensor& up_weight,
                            const at::Tensor& down_weight) {
    const auto x = x_in.contiguous();
    const variable_list weights{gate_weight.contiguous(), up_weight.contiguous(),
                                down_weight.contiguous()};
    const auto y = at::empty_like(x);
    at::Tensor gate, up;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "swiglu", [&] {
      const Sizes s(x, weights[0], panel_width<scalar_t>());
      gate = at::empty({s.rows, s.padded}, x.options());
      up = at::empty({s.rows, s.padded}, x.options());
      run_forward<scalar_t>(s, x, weights, gate, up, y);
    });
    context->save_for_backward({x, weights[0], weights[1], weights[2], gate, up});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto dx = at::empty_like(x);
    variable_list d_weights;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "swiglu_backward", [&] {
      const Sizes s(x, saved[1], panel_width<scalar_t>());
      d_weights = {at::empty_like(saved[1]), at::empty_like(saved[2]),
                   at::empty({s.width, s.padded}, x.options())};
      run_backward<scalar_t>(s, saved, d_outputs[0].contiguous(), dx, d_weights);
      d_weights[2] = d_weights[2].narrow(1, 0, s.hidden).contiguous();
    });
    return {dx, d_weights[0], d_weights[1], d_weights[2]};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                  const at::Tensor& down) {
  TORCH_CHECK(takes_rows(x) && x.numel() > 0 && gate.dim() == 2 && x.size(-1) == gate.size(1) &&
                  gate.sizes() == up.sizes() && down.dim() == 2 && down.size(0) == gate.size(1) &&
                  down.size(1) == gate.size(0) && x.scalar_type() == gate.scalar_type() &&
                  x.scalar_type() == up.scalar_type() && x.scalar_type() == down.scalar_type(),
              "swiglu: x and weights of another kind than expected");
  return SwiGlu::apply(x, gate, up, down);
}

}  // namespace difflab::kernel
