#include "kernel/operation/fused_swiglu.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "kernel/attention_head.h"
#include "kernel/operation/fused_rows.h"
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

/// Intermediate values of a group of rows, from which the weights' gradients are computed.
template <class T>
struct Group {
  T *inner, *d_gate, *d_up;  // [kGroup, padded]
};

template <class T>
class SwiGluBackward {
 public:
  SwiGluBackward(const Sizes& s, const variable_list& saved, const at::Tensor& dy,
                 const at::Tensor& dx, const variable_list& d_weights)
      : s_(s),
        width_(size(s.width)),
        padded_(size(s.padded)),
        in_(saved[0].const_data_ptr<T>()),
        gates_(saved[4].const_data_ptr<T>()),
        ups_(saved[5].const_data_ptr<T>()),
        d_out_(dy.const_data_ptr<T>()),
        to_inner_(matrix<T>(saved[3]), s.width, s.hidden, saved[0].options()),
        from_gate_(matrix<T>(saved[1]), s.hidden, s.width, saved[0].options()),
        from_up_(matrix<T>(saved[2]), s.hidden, s.width, saved[0].options()),
        d_x_(dx.mutable_data_ptr<T>()),
        d_gate_weight_(d_weights[0].mutable_data_ptr<T>()),
        d_up_weight_(d_weights[1].mutable_data_ptr<T>()),
        d_down_weight_(d_weights[2].mutable_data_ptr<T>()) {}

  // As many groups at a time as there are threads; sums run over the groups in their order.
  void run() const {
    const auto wave = std::min<std::int64_t>(at::get_num_threads(), s_.groups());
    const auto area = size(kGroup * s_.padded);
    static thread_local Scratch<T> scratch;
    std::vector<Group<T>> found(size(wave));
    for (auto& one : found) {
      one = {scratch.take(area), scratch.take(area), scratch.take(area)};
    }
    for (std::int64_t first = 0; first < s_.groups(); first += wave) {
      const auto groups = std::min(wave, s_.groups() - first);
      at::parallel_for(0, groups, 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) compute(first + i, found[size(i)]);
      });
      at::parallel_for(0, wave, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = 0; i < groups; ++i) {
          for (auto share = begin; share < end; ++share) {
            add(first + i, found[size(i)], share, wave);
          }
        }
      });
    }
    scratch.release();
  }

 private:
  void compute(std::int64_t group, const Group<T>& found) const {
    const auto row = size(s_.begin(group)), rows = size(s_.count(group));
    const auto hidden = size(s_.hidden);
    auto* d_rows = d_x_ + row * width_;
    // The gradient of `inner` first lies where that of the gate will.
    multiply({d_out_ + row * width_, width_}, to_inner_.panels(), {found.d_gate, padded_}, rows,
             width_, padded_, Into::kWritten);
    gate_rows_backward(gates_ + row * padded_, ups_ + row * padded_, found.d_gate, rows * padded_,
                       found.inner, found.d_gate, found.d_up);
    multiply({found.d_gate, padded_}, from_gate_.panels(), {d_rows, width_}, rows, hidden, width_,
             Into::kWritten);
    multiply({found.d_up, padded_}, from_up_.panels(), {d_rows, width_}, rows, hidden, width_,
             Into::kAddedTo);
  }

  // One of so many shares of the three gradients: of each the same, since their strips cost not.
  void add(std::int64_t group, const Group<T>& found, std::int64_t share,
           std::int64_t shares) const {
    const auto row = size(s_.begin(group)), depth = size(s_.count(group));
    const auto into = group == 0 ? Into::kWritten : Into::kAddedTo;
    const auto part = [&](std::int64_t of, auto work) {
      const auto strips = (of + kStripRows - 1) / kStripRows;
      const auto begin = strips * share / shares * kStripRows,
                 end = std::min(of, strips * (share + 1) / shares * kStripRows);
      if (begin < end) work(size(begin), size(end - begin));
    };
    const auto of_hidden = [&](const T* d, T* sum) {
      return [&, d, sum](std::size_t begin, std::size_t count) {
        multiply({d + begin, 1, padded_}, as_panels(in_ + row * width_, width_),
                 {sum + begin * width_, width_}, count, depth, width_, into);
      };
    };
    part(s_.hidden, of_hidden(found.d_gate, d_gate_weight_));
    part(s_.hidden, of_hidden(found.d_up, d_up_weight_));
    part(s_.width, [&](std::size_t begin, std::size_t count) {
      multiply({d_out_ + row * width_ + begin, 1, width_}, as_panels<T>(found.inner, padded_),
               {d_down_weight_ + begin * padded_, padded_}, count, depth, padded_, into);
    });
  }

  const Sizes& s_;
  const std::size_t width_, padded_;
  const T *in_, *gates_, *ups_, *d_out_;
  const Packed<T> to_inner_, from_gate_, from_up_;
  T *d_x_, *d_gate_weight_, *d_up_weight_, *d_down_weight_;
};

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
      SwiGluBackward<scalar_t>(s, saved, d_outputs[0].contiguous(), dx, d_weights).run();
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
