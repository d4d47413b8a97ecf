#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "util/random.h"

namespace difflab {

/// How noise is named in a task with keys.
enum class NoiseNames {
  kOwn,   ///< by symbols that are always noise
  kKeys,  ///< by those that other sequences have as keys, so that no name tells what is noise
};

constexpr std::string_view kAboutNoiseNames =
    "own: noise has symbols of its own; keys: those that are no keys in this sequence";

/// Which symbols are the keys of a sequence, and which its noise. With names of its own, noise i is
/// symbol i of the noise and key i symbol i of the keys. Else there are keys + noise symbols of
/// keys, and each sequence draws which of them are keys.
class SequenceNames {
 public:
  SequenceNames(Random& random, NoiseNames names, std::int64_t keys, std::int64_t noise)
      : keys_(keys) {
    const auto all = names == NoiseNames::kOwn ? 0 : keys + noise;
    roles_ = random.distinct(all, all);
  }

  bool noise_is_own() const { return roles_.empty(); }
  std::int64_t key(std::int64_t i) const { return roles_.empty() ? i : role(i); }
  /// Index of noise i among the keys' symbols, or among its own if it has any.
  std::int64_t noise(std::int64_t i) const { return roles_.empty() ? i : role(keys_ + i); }

 private:
  std::int64_t role(std::int64_t i) const { return roles_[static_cast<std::size_t>(i)]; }

  std::int64_t keys_;
  std::vector<std::int64_t> roles_;
};

}  // namespace difflab

template <>
inline constexpr auto difflab::config::kNames<difflab::NoiseNames> = names("own", "keys");
