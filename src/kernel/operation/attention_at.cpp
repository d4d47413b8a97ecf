#include "kernel/operation/attention_at.h"

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

struct Rows {
  at::Tensor places, q, k, v, lambda, sinks;  // the latter two perhaps undefined
};

template <class T>
void attend_at(const Rows& in, const HeadMap& heads, const at::Tensor& out) {
  const Kept<T> keys(in.k), values(in.v);
  const auto width = in.q.size(2), q_heads = in.q.size(1), tokens = in.k.size(1);
  const HeadShape whole{.width = size(width),
                        .value_width = size(values.width),
                        .k_stride = size(keys.of_token),
                        .v_stride = size(values.of_token)};
  const auto* places = in.places.const_data_ptr<std::int64_t>();
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
      const auto row = item / count, b = places[row] / tokens;
      TORCH_CHECK(places[row] >= 0 && b < in.k.size(0), "attention_at: no such place");
      auto shape = whole;
      shape.tokens = size(places[row] % tokens + 1);
      const auto& members = groups[size(item % count)];
      const auto map = [&](std::int64_t q_head, std::int64_t k_head) {
        return SoftmaxMap<T>{.q = q + (row * q_heads + q_head) * width,
                             .k = keys.at(b, k_head),
                             .sink = sinks == nullptr ? nullptr : sinks + q_head};
      };
      HeadGroup<T> group;
      group.v = values.at(b, heads.v[members.front()]);
      for (const auto i : members) {
        const auto place = row * outputs + static_cast<std::int64_t>(i);
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

at::Tensor attention_at(const at::Tensor& places, const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& v, const at::Tensor& lambda, const HeadMap& heads,
                        const at::Tensor& sinks) {
  TORCH_CHECK(q.dim() == 3 && q.device().is_cpu() && q.scalar_type() == k.scalar_type() &&
                  q.scalar_type() == v.scalar_type() && q.size(2) == k.size(3) &&
                  k.size(1) == v.size(1) && k.size(0) == v.size(0),
              "attention_at: q, k and v of another kind than expected");
  TORCH_CHECK(places.numel() == q.size(0) && places.scalar_type() == at::kLong,
              "attention_at: expected a place for each row of q");
  TORCH_CHECK(!lambda.defined() || lambda.numel() == q.size(0) * heads_of(heads),
              "attention_at: expected a λ for each output head of a row");
  TORCH_CHECK(heads.q2.empty() != lambda.defined(), "attention_at: second maps need a λ");
  TORCH_CHECK(!sinks.defined() || sinks.numel() == q.size(1),
              "attention_at: expected a sink for each head of q");
  const Rows in{.places = places.contiguous(),
                .q = q.contiguous(),
                .k = with_channels_together(k),
                .v = with_channels_together(v),
                .lambda = lambda.defined() ? lambda.contiguous() : lambda,
                .sinks = sinks.defined() ? sinks.contiguous() : sinks};
  const auto out = at::empty({q.size(0), heads_of(heads), v.size(3)}, q.options());
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attention_at",
                             [&] { attend_at<scalar_t>(in, heads, out); });
  return out;
}

}  // namespace difflab::kernel
