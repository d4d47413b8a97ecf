#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace difflab {

/// The keys and values that one layer has computed for the tokens so far, so that decoding computes
/// only the new ones. No gradients flow through what is kept. A copy goes on by itself: what one
/// appends, the other does not see.
class KeyValueCache {
 public:
  /// Appends new tokens and gives all back: k, v [B, T_new, heads, width] -> [B, T, heads, width].
  /// Memory grows by doubling, so a token costs what it adds, not a copy of all before it.
  std::pair<at::Tensor, at::Tensor> append(const at::Tensor& k, const at::Tensor& v);

  /// Forgets all but the first `tokens`.
  void keep(std::int64_t tokens);

  /// Memory of what is held, keys and values together.
  std::int64_t bytes() const;

  std::int64_t tokens() const { return tokens_; }

 private:
  /// Perhaps of several copies of a cache, which have their first tokens in common.
  struct Memory {
    at::Tensor keys, values;  // [B, heads, room, width]: a head is read from one end to the other
    std::int64_t used;        // tokens that some copy has written
  };

  void grow(std::int64_t room);

  std::shared_ptr<Memory> memory_;
  std::int64_t tokens_ = 0;
};

}  // namespace difflab
