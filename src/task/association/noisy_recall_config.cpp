#include <cmath>
#include <vector>

#include "task/association/noisy_recall.h"
#include "task/needle/recall.h"
#include "util/text.h"

namespace difflab {

std::int64_t NoisyRecallConfig::pairs() const {
  constexpr double kRounding = 1e-9;  // 0.1 · 20 is a pair less than 2 by its last bit
  return static_cast<std::int64_t>(
      std::floor((1 - noise) * static_cast<double>(length) / 2 + kRounding));
}

std::int64_t NoisyRecallConfig::smallest_length() const {
  auto shortest = *this;
  shortest.length = 4;
  while (shortest.pairs() < 2) ++shortest.length;
  return shortest.length;
}

void NoisyRecallConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, length, check);
  if (keys > values) {
    check.problem("values", concat("is ", values, "; expected at least keys, ", keys,
                                   ", because the values of a sequence are distinct"));
  }
  if (pairs() < 2) {
    check.problem("length", concat("is ", length, ", too short for two pairs at noise ", noise,
                                   "; the smallest that fits is ", smallest_length()));
  }
}

// shown[m] is the probability that m distinct keys were shown before the pair. Each key is as
// likely as any other, so a pair is a question in m/K of all cases and a guess right in 1/m of
// those; the last pair is always a question.
double NoisyRecallConfig::chance() const {
  const auto K = static_cast<double>(keys);
  std::vector<double> shown(static_cast<std::size_t>(keys) + 1);
  shown[0] = 1;
  double questions = 0, right = 0;
  for (std::int64_t pair = 0; pair < pairs(); ++pair) {
    const bool last = pair + 1 == pairs();
    std::vector<double> next(shown.size());
    for (std::size_t m = 0; m < shown.size(); ++m) {
      const double old = static_cast<double>(m) / K;
      next[m] += shown[m] * old;
      if (m + 1 < shown.size()) next[m + 1] += shown[m] * (1 - old);
      if (m == 0) continue;
      const double asked = shown[m] * (last ? 1 : old);
      questions += asked;
      right += asked / static_cast<double>(m);
    }
    shown = next;
  }
  return right / questions;
}

}  // namespace difflab
