#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "model/generate/sampling_config.h"

namespace difflab {

class LanguageModel;
struct DecodingState;

enum class Decoding {
  kCached,  ///< keys and values of earlier tokens are kept
  kFull,    ///< every token recomputes all (the oracle of the other)
};

/// Continues a prompt of at least one token; the new tokens. The model sees at most the last
/// `window` tokens; once the text is longer, each token recomputes its window. The draws depend on
/// the logits, the seed and the token's number alone. `on_token`, if given, is called with each
/// token as it is drawn.
std::vector<std::int64_t> generate(LanguageModel& model, const std::vector<std::int64_t>& prompt,
                                   const Sampling& sampling, std::int64_t window,
                                   Decoding decoding = Decoding::kCached,
                                   const std::function<void(std::int64_t)>& on_token = {});

/// The most likely continuation of many prompts of equal length at once, with cached keys and
/// values: prompts [B, P] -> [B, tokens], on the CPU. The same tokens as `generate` at temperature
/// 0, but for ties and rounding.
at::Tensor generate_greedily(LanguageModel& model, const at::Tensor& prompts, std::int64_t tokens);

/// The same from tokens [B, new] on that come behind what `state` has seen; they and all but the
/// last of the answer are added to it.
at::Tensor continue_greedily(LanguageModel& model, const at::Tensor& next, DecodingState& state,
                             std::int64_t tokens);

}  // namespace difflab
