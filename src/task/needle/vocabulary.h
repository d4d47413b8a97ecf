#pragma once

#include <cstdint>

#include "task/base/symbols.h"
#include "task/needle/needle.h"

namespace difflab {

/// Token numbers of the symbol tasks: begin, question mark, then noise, keys and values. Noise
/// without names of its own has no tokens, and there are as many more keys.
class Vocabulary {
 public:
  static constexpr std::int64_t kBegin = 0;
  static constexpr std::int64_t kQuestion = 1;
  static constexpr std::int64_t kFirstSymbol = 2;

  explicit Vocabulary(const NeedleConfig& config)
      : noise_(config.noise_names == NoiseNames::kOwn ? config.noise_tokens : 0),
        keys_(config.keys + config.noise_tokens - noise_),
        values_(config.values) {}

  std::int64_t noise(std::int64_t i) const { return kFirstSymbol + i; }
  std::int64_t key(std::int64_t i) const { return kFirstSymbol + noise_ + i; }
  std::int64_t value(std::int64_t i) const { return kFirstSymbol + noise_ + keys_ + i; }
  std::int64_t size() const { return kFirstSymbol + noise_ + keys_ + values_; }

  /// The same tokens with names to read them by.
  Symbols symbols() const {
    return {{"B", 1}, {"?", 1}, {"n", noise_}, {"k", keys_}, {"v", values_}};
  }

 private:
  std::int64_t noise_, keys_, values_;
};

}  // namespace difflab
