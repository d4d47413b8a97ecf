#include "kernel/operation/fused_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernel/attention_head.h"
#include "kernel/parallel.h"

namespace difflab::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Pointers into contiguous tensors of one type T.
template <class T>
struct Arrays {
  const HeadMap& heads;
  std::int64_t tokens, outputs;  // T, H
  std::int64_t width, value_width;
  std::int64_t q_heads, k_heads, v_heads;
  const T *q, *k, *v, *lambda, *sinks;
  T* log_sums;  // [B, heads of q, T]

  Arrays(const HeadMap& map, const at::Tensor& q_tensor, const at::Tensor& k_tensor,
         const at::Tensor& v_tensor, const at::Tensor& lambda_tensor,
         const at::Tensor& sinks_tensor, const at::Tensor& sums)
      : heads(map),
        tokens(q_tensor.size(1)),
        outputs(static_cast<std::int64_t>(map.v.size())),
        width(q_tensor.size(3)),
        value_width(v_tensor.size(3)),
        q_heads(q_tensor.size(2)),
        k_heads(k_tensor.size(2)),
        v_heads(v_tensor.size(2)),
        q(q_tensor.const_data_ptr<T>()),
        k(k_tensor.const_data_ptr<T>()),
        v(v_tensor.const_data_ptr<T>()),
        lambda(map.q2.empty() ? nullptr : lambda_tensor.const_data_ptr<T>()),
        sinks(sinks_tensor.numel() == 0 ? nullptr : sinks_tensor.const_data_ptr<T>()),
        log_sums(sums.mutable_data_ptr<T>()) {}

  bool two() const { return !heads.q2.empty(); }
  HeadShape shape() const {
    return {size(tokens),
            size(width),
            size(value_width),
            size(q_heads * width),
            size(k_heads * width),
            size(v_heads * value_width),
            size(outputs * value_width)};
  }
  std::int64_t q_at(std::int64_t b, std::int64_t head) const {
    return (b * tokens * q_heads + head) * width;
  }
  std::int64_t k_at(std::int64_t b, std::int64_t head) const {
    return (b * tokens * k_heads + head) * width;
  }
  std::int64_t v_at(std::int64_t b, std::int64_t head) const {
    return (b * tokens * v_heads + head) * value_width;
  }
  std::int64_t out_at(std::int64_t b, std::size_t i) const {
    return (b * tokens * outputs + static_cast<std::int64_t>(i)) * value_width;
  }
  std::int64_t row_at(std::int64_t b, std::size_t i) const {  // in λ [B, H, T]
    return (b * outputs + static_cast<std::int64_t>(i)) * tokens;
  }
  SoftmaxMap<T> map(std::int64_t b, std::int64_t q_head, std::int64_t k_head) const {
    return {.q = q + q_at(b, q_head),
            .k = k + k_at(b, k_head),
            .sink = sinks == nullptr ? nullptr : sinks + q_head,
            .log_sum = log_sums + (b * q_heads + q_head) * tokens};
  }
  HeadGroup<T> group(std::int64_t b, const Outputs& members, T* out = nullptr) const {
    HeadGroup<T> group;
    group.v = v + v_at(b, heads.v[members.front()]);
    for (const auto i : members) {
      group.signals.push_back({.map = map(b, heads.q1[i], heads.k1[i]),
                               .lambda = two() ? lambda + row_at(b, i) : nullptr,
                               .out = out == nullptr ? nullptr : out + out_at(b, i)});
    }
    if (two()) group.noise = map(b, heads.q2[members.front()], heads.k2[members.front()]);
    return group;
  }
};

/// Calls work(batch, outputs, scratch), the groups that read the same values one after the other.
template <class T, class Work>
void for_each_group(std::int64_t batch, const HeadMap& heads, Work work) {
  std::vector<std::vector<Outputs>> groups;
  for (auto& [v, readers] : groups_of(heads)) groups.push_back(std::move(readers));
  const auto count = static_cast<std::int64_t>(groups.size());
  at::parallel_for(0, batch * count, 1, [&](std::int64_t begin, std::int64_t end) {
    static thread_local Scratch<T> scratch;
    for (std::int64_t item = begin; item < end; ++item) {
      for (const auto& outputs : groups[static_cast<std::size_t>(item % count)]) {
        work(item / count, outputs, scratch);
      }
    }
  });
}

template <class T>
void run_forward(const Arrays<T>& arrays, std::int64_t batch, T* out) {
  for_each_group<T>(batch, arrays.heads,
                    [&](std::int64_t b, const Outputs& members, Scratch<T>& scratch) {
                      forward_group(arrays.shape(), arrays.group(b, members, out), scratch);
                    });
}

/// dq, dk, dv like q, k, v, d_lambda like λ and d_sinks [B, heads of q], all zero at the start.
template <class T>
void run_backward(const Arrays<T>& arrays, std::int64_t batch, const at::Tensor& d_out,
                  const variable_list& gradients) {
  const auto* d = d_out.const_data_ptr<T>();
  auto* dq = gradients[0].mutable_data_ptr<T>();
  auto* dk = gradients[1].mutable_data_ptr<T>();
  auto* dv = gradients[2].mutable_data_ptr<T>();
  auto* d_lambda = arrays.two() ? gradients[3].mutable_data_ptr<T>() : nullptr;
  auto* d_sinks = arrays.sinks ? gradients[4].mutable_data_ptr<T>() : nullptr;
  const auto& heads = arrays.heads;
  const auto of_map = [&](std::int64_t b, std::int64_t q_head, std::int64_t k_head) {
    return MapGradients<T>{
        .dq = dq + arrays.q_at(b, q_head),
        .dk = dk + arrays.k_at(b, k_head),
        .d_sink = d_sinks == nullptr ? nullptr : d_sinks + b * arrays.q_heads + q_head};
  };
  for_each_group<T>(batch, heads, [&](std::int64_t b, const Outputs& members, Scratch<T>& scratch) {
    const auto first = members.front();
    GroupGradients<T> to;
    to.dv = dv + arrays.v_at(b, heads.v[first]);
    for (const auto i : members) {
      to.signals.push_back({.d_out = d + arrays.out_at(b, i),
                            .map = of_map(b, heads.q1[i], heads.k1[i]),
                            .d_lambda = arrays.two() ? d_lambda + arrays.row_at(b, i) : nullptr});
    }
    if (arrays.two()) to.noise = of_map(b, heads.q2[first], heads.k2[first]);
    backward_group(arrays.shape(), arrays.group(b, members), to, scratch);
  });
}

HeadMap saved_map(AutogradContext* context) {
  const auto list = [&](const char* name) { return context->saved_data[name].toIntVector(); };
  return {list("q1"), list("q2"), list("k1"), list("k2"), list("v")};
}

struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q_in,
                            const at::Tensor& k_in, const at::Tensor& v_in,
                            const at::Tensor& lambda_in, const at::Tensor& sinks_in,
                            const HeadMap& heads) {
    const auto q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
    const auto lambda = lambda_in.contiguous(), sinks = sinks_in.contiguous();
    const auto batch = q.size(0), tokens = q.size(1);
    const auto outputs = static_cast<std::int64_t>(heads.v.size());
    const auto out = at::empty({batch, tokens, outputs, v.size(3)}, q.options());
    const auto sums = at::empty({batch, q.size(2), tokens}, q.options());
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "fused_attention", [&] {
      run_forward(Arrays<scalar_t>(heads, q, k, v, lambda, sinks, sums), batch,
                  out.mutable_data_ptr<scalar_t>());
    });
    context->save_for_backward({q, k, v, lambda, sinks, sums});
    context->saved_data["q1"] = heads.q1;
    context->saved_data["q2"] = heads.q2;
    context->saved_data["k1"] = heads.k1;
    context->saved_data["k2"] = heads.k2;
    context->saved_data["v"] = heads.v;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& d_outputs) {
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2], &lambda = saved[3], &sinks = saved[4];
    const auto heads = saved_map(context);
    const auto d_out = d_outputs[0].contiguous();
    const variable_list gradients{
        at::zeros_like(q), at::zeros_like(k), at::zeros_like(v),
        heads.q2.empty() ? at::Tensor() : at::zeros_like(lambda),
        sinks.numel() == 0 ? at::Tensor() : at::zeros({q.size(0), q.size(2)}, sinks.options())};
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "fused_attention_backward", [&] {
      run_backward(Arrays<scalar_t>(heads, q, k, v, lambda, sinks, saved[5]), q.size(0), d_out,
                   gradients);
    });
    const auto d_sinks = gradients[4].defined() ? gradients[4].sum(0) : at::Tensor();
    return {gradients[0], gradients[1], gradients[2], gradients[3], d_sinks, at::Tensor()};
  }
};

}  // namespace

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& lambda, const HeadMap& heads,
                           const at::Tensor& sinks) {
  TORCH_CHECK(q.dim() == 4 && q.device().is_cpu() && q.scalar_type() == k.scalar_type() &&
                  q.scalar_type() == v.scalar_type() && q.size(3) == k.size(3),
              "fused_attention: q, k and v of another kind than expected");
  TORCH_CHECK(heads.q2.empty() != lambda.defined(), "fused_attention: second maps need a λ");
  TORCH_CHECK(!sinks.defined() || sinks.numel() == q.size(2),
              "fused_attention: expected a sink for each head of q");
  // The library wants a tensor in every place, also where there is nothing to say.
  const auto stated = [&](const at::Tensor& x) {
    return x.defined() ? x : at::empty({0}, q.options());
  };
  return FusedAttention::apply(q, k, v, stated(lambda), stated(sinks), heads);
}

}  // namespace difflab::kernel
