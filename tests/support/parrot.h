#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "model/language_model.h"

namespace difflab::testing {

/// A model that says the same token wherever it is asked: every embedding is the vector of ones,
/// the blocks add nothing, and only that token's row of the head is not zero.
inline LanguageModel parrot(std::int64_t token, std::int64_t vocab_size, double strength) {
  const at::NoGradGuard no_grad;
  LanguageModel model({.d_model = 8, .layers = 1, .attention = SoftmaxAttentionConfig{.heads = 2}},
                      vocab_size);
  for (const auto& parameter : model.named_parameters()) parameter.value().zero_();
  auto parameters = model.named_parameters();
  parameters["tok_embeddings.weight"].fill_(1);
  parameters["norm.weight"].fill_(1);
  parameters["output.weight"][token].fill_(strength / 8);
  return model;
}

}  // namespace difflab::testing
