#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/attention/base/attention_cost.h"
#include "model/model_config.h"

namespace difflab {

/// Parameters, operations and cache of the attention of a layer (from 0).
AttentionCost attention_cost(const ModelConfig& config, std::int64_t layer);

/// Every parameter of a model under its full name, worked out from the configuration alone.
std::vector<ParameterShape> parameter_shapes(const ModelConfig& config, std::int64_t vocab_size);

struct ParameterCounts {
  std::int64_t embedding = 0;  ///< tokens
  std::int64_t positions = 0;
  std::int64_t attention = 0;  ///< all layers, λ and head norms included
  std::int64_t feed_forward = 0;
  std::int64_t norms = 0;
  std::int64_t head = 0;

  std::int64_t total() const {
    return embedding + positions + attention + feed_forward + norms + head;
  }
};
ParameterCounts count_parameters(const ModelConfig& config, std::int64_t vocab_size);

/// Floating-point operations of one forward pass over one sequence, multiplication and addition
/// counted apart; norms, softmax, biases and embedding look-ups are left out.
struct ForwardFlops {
  std::int64_t projections = 0;   ///< q, k, v, out and W_λ
  std::int64_t scores = 0;        ///< QKᵀ of all softmax maps
  std::int64_t values = 0;        ///< maps times values
  std::int64_t feed_forward = 0;  ///< for SwiGLU with the product of the gate
  std::int64_t head = 0;

  std::int64_t total() const { return projections + scores + values + feed_forward + head; }
};

enum class Masking {
  kFull,    ///< as if every position read every other
  kCausal,  ///< T(T+1)/2 of the T² pairs, what a kernel that skips the future computes
};

/// A product of matrices in one forward pass over one sequence, m × k times k × n, done `times`
/// over: for heads of a layer, each with its own matrices.
struct Product {
  enum class Part { kProjection, kScores, kValues, kFeedForward, kHead };

  std::string name;  ///< "q_proj", "QK^T", "AV", "ffn.gate", "output" …
  Part part;
  std::int64_t m, k, n;  ///< k = 0: m · n numbers are multiplied one by one, as SwiGLU's gate does
  std::int64_t times = 1;

  /// 2mkn of each; causal: of QK^T and AV only what belongs to the pairs that are read.
  std::int64_t operations(Masking masking) const;
  bool operator==(const Product&) const = default;
};

/// All products of one layer (from 0), in the order in which they are done.
std::vector<Product> layer_products(const ModelConfig& config, std::int64_t layer,
                                    std::int64_t tokens);
/// The product of the output head.
Product head_product(const ModelConfig& config, std::int64_t vocab_size, std::int64_t tokens);

/// The sums of all products.
ForwardFlops count_flops(const ModelConfig& config, std::int64_t vocab_size, std::int64_t tokens,
                         Masking masking);

/// Bytes that decoding keeps per sequence of `tokens` tokens in all layers.
std::int64_t cache_bytes(const ModelConfig& config, std::int64_t tokens,
                         std::int64_t bytes_per_number);

}  // namespace difflab
