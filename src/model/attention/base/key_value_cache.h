#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace difflab {

/// The keys and values that one layer has computed for the tokens so far, so that decoding computes
/// only the new ones.
class KeyValueCache {
 public:
  /// Appends new tokens and gives all back: k, v [B, T_new, heads, width] -> [B, T, heads, width].
  std::pair<at::Tensor, at::Tensor> append(const at::Tensor& k, const at::Tensor& v);

  /// Numbers held, keys and values together.
  std::int64_t numbers() const { return keys_.defined() ? keys_.numel() + values_.numel() : 0; }

  std::int64_t tokens() const { return keys_.defined() ? keys_.size(1) : 0; }

 private:
  at::Tensor keys_, values_;
};

/// k and v with those of earlier tokens before them, or as they are if there is no cache.
std::pair<at::Tensor, at::Tensor> with_earlier(KeyValueCache* cache, const at::Tensor& k,
                                               const at::Tensor& v);

}  // namespace difflab
