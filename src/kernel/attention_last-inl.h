// The last query of a group of heads, included once per instruction set (Highway's manner, hence
// the guard that toggles).
#if defined(DIFFLAB_KERNEL_ATTENTION_LAST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DIFFLAB_KERNEL_ATTENTION_LAST_INL_H_
#undef DIFFLAB_KERNEL_ATTENTION_LAST_INL_H_
#else
#define DIFFLAB_KERNEL_ATTENTION_LAST_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "kernel/attention_head.h"
#include "kernel/attention_pack-inl.h"
#include "kernel/attention_rows-inl.h"
#include "kernel/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace difflab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keys and values are read where they lie, each once for a map or an output: to pack them, as
/// Forward does for many queries, would cost more than what is computed from them.
template <class T>
class LastQuery {
 public:
  LastQuery(const HeadShape& shape, const HeadGroup<T>& group, Scratch<T>& scratch)
      : shape_(shape),
        group_(group),
        columns_(Sizes<T>::round_up(shape.tokens, hn::Lanes(Tag<T>()))),
        weights_(scratch.take(columns_)) {
    if (group.has_noise()) noise_ = scratch.take(columns_);
  }

  void run() {
    T noise_factor = 0;
    if (group_.has_noise()) noise_factor = take_exponentials(group_.noise, noise_);
    for (const auto& signal : group_.signals) {
      const T factor = take_exponentials(signal.map, weights_);
      const T less = group_.has_noise() ? *signal.lambda * noise_factor : T{0};
      combine<T>(weights_, noise_, factor, less, columns_);
      sum_values(signal.out);
    }
  }

 private:
  // exp(score − largest) of every key, zero behind the last; what makes weights of them.
  T take_exponentials(const SoftmaxMap<T>& map, T* scores) const {
    const T scale = T(1) / std::sqrt(static_cast<T>(shape_.width));
    for (std::size_t t = 0; t < shape_.tokens; ++t) {
      scores[t] = scale * product(map.q, map.k + t * shape_.k_stride);
    }
    T log_sum;  // nobody asks for gradients
    return weigh(exponentials(scores, shape_.tokens, columns_), map.sink, &log_sum);
  }

  T product(const T* a, const T* b) const {
    const Tag<T> tag;
    const std::size_t lanes = hn::Lanes(tag);
    auto sum = hn::Zero(tag);
    std::size_t c = 0;
    for (; c + lanes <= shape_.width; c += lanes) {
      sum = hn::MulAdd(hn::LoadU(tag, a + c), hn::LoadU(tag, b + c), sum);
    }
    if (c < shape_.width) {
      sum =
          hn::MulAdd(load_first(a + c, shape_.width - c), load_first(b + c, shape_.width - c), sum);
    }
    return hn::GetLane(hn::SumOfLanes(tag, sum));
  }

  void sum_values(T* out) const {
    const Tag<T> tag;
    const std::size_t lanes = hn::Lanes(tag);
    for (std::size_t c = 0; c < shape_.value_width; c += lanes) {
      const std::size_t left = shape_.value_width - c;
      if (left >= lanes) {
        hn::StoreU(weighted([&](const T* v) HWY_ATTR { return hn::LoadU(tag, v + c); }), tag,
                   out + c);
      } else {
        store_first(weighted([&](const T* v) HWY_ATTR { return load_first(v + c, left); }), out + c,
                    left);
      }
    }
  }

  // Σ weight · value over all tokens. Four sums at once, so that none waits for the one before.
  template <class Load>
  HWY_INLINE hn::Vec<Tag<T>> weighted(Load load) const {
    const Tag<T> tag;
    auto first = hn::Zero(tag), second = first, third = first, fourth = first;
    const T* v = group_.v;
    const std::size_t stride = shape_.v_stride;
    std::size_t t = 0;
    for (; t + 4 <= shape_.tokens; t += 4, v += 4 * stride) {
      first = hn::MulAdd(hn::Set(tag, weights_[t]), load(v), first);
      second = hn::MulAdd(hn::Set(tag, weights_[t + 1]), load(v + stride), second);
      third = hn::MulAdd(hn::Set(tag, weights_[t + 2]), load(v + 2 * stride), third);
      fourth = hn::MulAdd(hn::Set(tag, weights_[t + 3]), load(v + 3 * stride), fourth);
    }
    for (; t < shape_.tokens; ++t, v += stride) {
      first = hn::MulAdd(hn::Set(tag, weights_[t]), load(v), first);
    }
    return hn::Add(hn::Add(first, second), hn::Add(third, fourth));
  }

  const HeadShape& shape_;
  const HeadGroup<T>& group_;
  const std::size_t columns_;  // tokens, in whole vectors
  T *weights_, *noise_ = nullptr;
};

}  // namespace difflab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
