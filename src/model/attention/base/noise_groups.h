#pragma once

#include <cstdint>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab {

/// H signal heads in groups of G, each group with one noise head behind its signal heads: the order
/// in which query heads and maps lie (MotifTechnologies/vllm; G = 1: the pairs of DIFF).
struct NoiseGroups {
  std::int64_t heads;      ///< H, which are the outputs
  std::int64_t per_noise;  ///< G

  std::int64_t noise_heads() const { return heads / per_noise; }
  std::int64_t maps() const { return heads + noise_heads(); }

  /// The query head of output i, and the one that it is differed by.
  std::int64_t signal(std::int64_t i) const { return i + i / per_noise; }
  std::int64_t noise(std::int64_t i) const { return (i / per_noise + 1) * (per_noise + 1) - 1; }

  /// Keys and values belong to whole groups: N = H/G noise heads, a multiple of `kv_heads`.
  void validate(std::int64_t kv_heads, config::Check& check) const {
    if (heads % per_noise != 0) {
      check.problem("signal_per_noise", concat("is ", per_noise, "; expected a divisor of heads, ",
                                               heads, ", so that noise heads are whole"));
    } else if (noise_heads() % kv_heads != 0) {
      check.problem("kv_heads", concat("is ", kv_heads, "; expected a divisor of ",
                                       per_noise == 1 ? "heads, " : "heads / signal_per_noise, ",
                                       noise_heads()));
    }
  }
};

}  // namespace difflab
