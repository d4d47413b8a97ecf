#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/sampling_config.h"

namespace difflab {

class LanguageModel;

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

}  // namespace difflab
