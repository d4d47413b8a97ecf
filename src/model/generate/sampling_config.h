#pragma once

#include <cstdint>

#include "config/schema/fields.h"

namespace difflab {

/// How a text is continued.
struct Sampling {
  std::int64_t tokens = 200;
  double temperature = 0.8;
  std::int64_t top_k = 0;
  std::int64_t seed = 0;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("tokens", tokens, "tokens to write", config::between(1, 1'000'000));
    visit("temperature", temperature,
          "logits are divided by it; 0 always takes the most likely token", config::at_least(0));
    visit("top_k", top_k, "only the k most likely tokens are drawn from; 0 means all",
          config::at_least(0));
    visit("seed", seed, "names the stream of draws", config::at_least(0));
  }
};

}  // namespace difflab
