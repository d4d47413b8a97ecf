#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

namespace difflab {

/// SplitMix64, Steele et al. 2014: small, fast, and the same stream on every machine, which the
/// distributions of <random> do not promise. A stream is named by the numbers it is made from, so
/// whoever asks for the same numbers gets the same draws and nobody shares a generator.
class Random {
 public:
  /// The stream that belongs to these numbers, e.g. {seed, split, index}.
  Random(std::initializer_list<std::uint64_t> key) {
    for (const std::uint64_t part : key) state_ = next() ^ part;
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// A whole number in [0, bound), bound > 0; the bias is below bound / 2^64.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }

  /// A number in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// A standard normal number (Box and Muller 1958, one of the pair).
  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// `count` distinct whole numbers from [0, bound) in random order (partial Fisher-Yates);
  /// 0 <= count <= bound.
  std::vector<std::int64_t> distinct(std::int64_t count, std::int64_t bound) {
    std::vector<std::int64_t> pool(static_cast<std::size_t>(bound));
    for (std::int64_t i = 0; i < bound; ++i) pool[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = 0; i < count; ++i) {
      std::swap(pool[static_cast<std::size_t>(i)],
                pool[static_cast<std::size_t>(i + below(bound - i))]);
    }
    pool.resize(static_cast<std::size_t>(count));
    return pool;
  }

 private:
  std::uint64_t state_ = 0;
};

/// A number for a name, to key a stream with (FNV-1a, 64 bits).
constexpr std::uint64_t stream_key(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace difflab
