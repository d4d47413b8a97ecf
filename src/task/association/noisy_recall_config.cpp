
#include "task/association/noisy_recall.h"
#include "task/needle/recall.h"

namespace difflab {

namespace {
constexpr double kRounding = 1e-9;  // 0.1 · 20 is a pair less than 2 by its last bit
}

std::int64_t NoisyRecallConfig::sequence_length() const {
  if (!pairs) return length;
  return static_cast<std::int64_t>(
      std::ceil(2 * static_cast<double>(*pairs) / (1 - noise) - kRounding));
}

Symbols NoisyRecallConfig::vocabulary() const {
  // Without symbols of its own noise has those of keys, which are as many more.
  const bool own = noise_names == NoiseNames::kOwn;
  return {{"B", 1},
          {"n", own ? noise_tokens : 0},
          {"k", own ? keys : keys + noise_tokens},
          {"v", values}};
}

std::int64_t NoisyRecallConfig::shown() const {
  if (pairs) return *pairs;
  return static_cast<std::int64_t>(
      std::floor((1 - noise) * static_cast<double>(length) / 2 + kRounding));
}

std::int64_t NoisyRecallConfig::smallest_length() const {
  auto shortest = *this;
  shortest.length = 4;
  while (shortest.shown() < 2) ++shortest.length;
  return shortest.length;
}

void NoisyRecallConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, shortest_of(lengths, sequence_length()), check);
  check_at_least({"values", values}, {"keys", keys},
                 "because the values of a sequence are distinct", check);
  if (shown() < 2) {
    check.problem("length", concat("is ", length, ", too short for two pairs at noise ", noise,
                                   "; the smallest that fits is ", smallest_length()));
  }
  if (pairs && !lengths.empty()) {
    check.problem("lengths", "is given beside pairs, from which the length follows; expected one");
  } else {
    check_lengths(lengths, length, smallest_length(), check);
  }
}

// distinct[m] is the probability that m distinct keys were shown before the pair. Each key is as
// likely as any other, so a pair is a question in m/K of all cases and a guess right in 1/m of
// those; the last pair is always a question.
NoisyRecallConfig::Questions NoisyRecallConfig::questions() const {
  const auto K = static_cast<double>(keys);
  std::vector<double> distinct(static_cast<std::size_t>(keys) + 1);
  distinct[0] = 1;
  Questions questions;
  for (std::int64_t pair = 0; pair < shown(); ++pair) {
    const bool last = pair + 1 == shown();
    std::vector<double> next(distinct.size());
    for (std::size_t m = 0; m < distinct.size(); ++m) {
      const double old = static_cast<double>(m) / K;
      next[m] += distinct[m] * old;
      if (m + 1 < distinct.size()) next[m + 1] += distinct[m] * (1 - old);
      if (m == 0) continue;
      const double asked = distinct[m] * (last ? 1 : old);
      questions.asked += asked;
      questions.right += asked / static_cast<double>(m);
    }
    distinct = next;
  }
  return questions;
}

}  // namespace difflab
