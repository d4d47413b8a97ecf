#include "kernel/operation/last_attention.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "kernel/attention_head.h"
#include "kernel/parallel.h"

namespace difflab::kernel {
namespace {

/// Keys or values: channels side by side; heads, tokens and sequences wherever they lie.
template <class T>
struct Kept {
  const T* numbers;
  std::int64_t of_sequence, of_token, of_head, width;

  explicit Kept(const at::Tensor& x)
      : numbers(x.const_data_ptr<T>()),
        of_sequence(x.stride(0)),
        of_token(x.stride(1)),
        of_head(x.stride(2)),
        width(x.size(3)) {}

  const T* at(std::int64_t b, std::int64_t head) const {
    return numbers + b * of_sequence + head * of_head;
  }
};

at::Tensor with_channels_together(const at::Tensor& x) {
  return x.stride(3) == 1 ? x : x.contiguous();
}

std::int64_t heads_of(const HeadMap& heads) { return static_cast<std::int64_t>(heads.v.size()); }

struct Query {
  at::Tensor q, k, v, lambda, sinks;  // the latter two perhaps undefined
};

template <class T>
void attend_last(const Query& in, const HeadMap& heads, const at::Tensor& out) {
  const Kept<T> keys(in.k), values(in.v);
  const auto width = in.q.size(3), q_heads = in.q.size(2);
  const HeadShape shape{.tokens = size(in.k.size(1)),
                        .width = size(width),
                        .value_width = size(values.width),
                        .k_stride = size(keys.of_token),
                        .v_stride = size(values.of_token)};
  const auto* q = in.q.const_data_ptr<T>();
  const auto* lambda = in.lambda.defined() ? in.lambda.const_data_ptr<T>() : nullptr;
  const auto* sinks = in.sinks.defined() ? in.sinks.const_data_ptr<T>() : nullptr;
  auto* to = out.mutable_data_ptr<T>();
  const auto outputs = heads_of(heads);

  std::vector<Outputs> groups;
  for (auto& [v, readers] : groups_of(heads)) {
    for (auto& one : readers) groups.push_back(std::move(one));
  }
  const auto count = static_cast<std::int64_t>(groups.size());
  at::parallel_for(0, in.q.size(0) * count, 1, [&](std::int64_t begin, std::int64_t end) {
    static thread_local Scratch<T> scratch;
    for (std::int64_t item = begin; item < end; ++item) {
      const auto b = item / count;
      const auto& members = groups[size(item % count)];
      const auto map = [&](std::int64_t q_head, std::int64_t k_head) {
        return SoftmaxMap<T>{.q = q + (b * q_heads + q_head) * width,
                             .k = keys.at(b, k_head),
                             .sink = sinks == nullptr ? nullptr : sinks + q_head};
      };
      HeadGroup<T> group;
      group.v = values.at(b, heads.v[members.front()]);
      for (const auto i : members) {
        const auto place = b * outputs + static_cast<std::int64_t>(i);
        group.signals.push_back({.map = map(heads.q1[i], heads.k1[i]),
                                 .lambda = lambda == nullptr ? nullptr : lambda + place,
                                 .out = to + place * values.width});
      }
      if (lambda != nullptr)
        group.noise = map(heads.q2[members.front()], heads.k2[members.front()]);
      last_query(shape, group, scratch);
    }
  });
}

}  // namespace

at::Tensor last_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& lambda, const HeadMap& heads, const at::Tensor& sinks) {
  TORCH_CHECK(q.dim() == 4 && q.size(1) == 1 && q.device().is_cpu() &&
                  q.scalar_type() == k.scalar_type() && q.scalar_type() == v.scalar_type() &&
                  q.size(3) == k.size(3) && k.size(1) == v.size(1) && q.size(0) == k.size(0) &&
                  q.size(0) == v.size(0),
              "last_attention: q, k and v of another kind than expected");
  TORCH_CHECK(!lambda.defined() || lambda.numel() == q.size(0) * heads_of(heads),
              "last_attention: expected a λ for each output head of a sequence");
  TORCH_CHECK(heads.q2.empty() != lambda.defined(), "last_attention: second maps need a λ");
  TORCH_CHECK(!sinks.defined() || sinks.numel() == q.size(2),
              "last_attention: expected a sink for each head of q");
  const Query in{.q = q.contiguous(),
                 .k = with_channels_together(k),
                 .v = with_channels_together(v),
                 .lambda = lambda.defined() ? lambda.contiguous() : lambda,
                 .sinks = sinks.defined() ? sinks.contiguous() : sinks};
  const auto out = at::empty({q.size(0), 1, heads_of(heads), v.size(3)}, q.options());
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "last_attention",
                             [&] { attend_last<scalar_t>(in, heads, out); });
  return out;
}

}  // namespace difflab::kernel
