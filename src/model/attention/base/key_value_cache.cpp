#include "model/attention/base/key_value_cache.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace difflab {
namespace {

// [B, T, heads, width] -> [B, heads, T, width] and back.
at::Tensor by_head(const at::Tensor& x) { return x.transpose(1, 2); }

void check_goes_on(const at::Tensor& memory, const at::Tensor& x) {  // a copy would broadcast
  TORCH_CHECK(memory.size(0) == x.size(0) && memory.size(1) == x.size(2) &&
                  memory.size(3) == x.size(3) && memory.scalar_type() == x.scalar_type(),
              "a cache of ", memory.sizes(), " (batch, heads, room, width) cannot go on with ",
              x.sizes(), " (batch, tokens, heads, width)");
}

}  // namespace

std::pair<at::Tensor, at::Tensor> KeyValueCache::append(const at::Tensor& k, const at::Tensor& v) {
  const auto begin = tokens_, end = tokens_ + k.size(1);
  TORCH_CHECK(k.size(1) == v.size(1), "a cache needs as many keys as values");
  if (!memory_) {
    const auto copied = [](const at::Tensor& x) {
      return by_head(x.detach()).clone(at::MemoryFormat::Contiguous);
    };
    memory_ = std::make_shared<Memory>(Memory{copied(k), copied(v), end});
    tokens_ = end;
    return {k, v};
  }
  check_goes_on(memory_->keys, k);
  check_goes_on(memory_->values, v);
  const bool is_free = memory_->used == begin && end <= memory_->keys.size(2);
  if (!is_free) grow(std::max(end, 2 * begin));
  memory_->used = tokens_ = end;
  const auto stored = [&](const at::Tensor& memory, const at::Tensor& x) {
    memory.narrow(2, begin, x.size(1)).copy_(by_head(x.detach()));
    return by_head(memory.narrow(2, 0, end));
  };
  return {stored(memory_->keys, k), stored(memory_->values, v)};
}

void KeyValueCache::keep(std::int64_t tokens) {
  TORCH_CHECK(tokens >= 0 && tokens <= tokens_, "a cache of ", tokens_, " tokens cannot keep ",
              tokens);
  tokens_ = tokens;
  if (memory_ && memory_.use_count() == 1) memory_->used = tokens;
}

std::int64_t KeyValueCache::bytes() const {
  if (!memory_) return 0;
  const auto of_token = [](const at::Tensor& x) {
    return x.size(0) * x.size(1) * x.size(3) * static_cast<std::int64_t>(x.element_size());
  };
  return tokens_ * (of_token(memory_->keys) + of_token(memory_->values));
}

void KeyValueCache::grow(std::int64_t room) {
  const auto larger = [&](const at::Tensor& x) {
    auto to = at::empty({x.size(0), x.size(1), room, x.size(3)}, x.options());
    to.narrow(2, 0, tokens_).copy_(x.narrow(2, 0, tokens_));
    return to;
  };
  memory_ =
      std::make_shared<Memory>(Memory{larger(memory_->keys), larger(memory_->values), tokens_});
}

}  // namespace difflab
