#include <cmath>

#include "task/association/fuzzy_recall.h"
#include "task/needle/recall.h"

namespace difflab {

void FuzzyRecallConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, sequence_length(), check);
  check_at_most({"queries", queries}, {"pairs", pairs}, check);
  check_at_least({"value_tokens", value_tokens}, {"longest", longest},
                 "because the tokens of a value are distinct", check);
  check_at_least({"key_tokens", key_tokens}, {"longest", longest},
                 "because the tokens of a key are distinct", check);
  if (longest > key_tokens) return;
  // All pairs may have a key of one size, the shortest of which are the fewest.
  check_at_least({"key_tokens", key_tokens}, {"pairs", pairs},
                 "because the keys of a sequence are distinct", check);
}

// A value of size j or more exists with probability P(j) = (M − j + 1)/M. Another pair's value has
// that size and begins with the j − 1 tokens told with probability p; m of N − 1 do (binomial), and
// a guess among the 1 + m is the asked value in E[1/(1 + m)] = (1 − (1 − p)^N)/(N p) of all cases,
// else one that goes on with the same token in 1/(V − j + 1) of them.
double FuzzyRecallConfig::chance() const {
  const auto M = static_cast<double>(longest), N = static_cast<double>(pairs);
  double asked = 0, right = 0, same_beginning = 1;
  for (std::int64_t j = 1; j <= longest; ++j) {
    const auto fresh = static_cast<double>(value_tokens - j + 1);
    const double exists = (M - static_cast<double>(j) + 1) / M;
    const double p = exists * same_beginning;
    const double own = (1 - std::pow(1 - p, N)) / (N * p);
    right += exists * (own + (1 - own) / fresh);
    asked += exists;
    same_beginning /= fresh;
  }
  return right / asked;
}

}  // namespace difflab
