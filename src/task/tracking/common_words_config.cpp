#include <cmath>
#include <vector>

#include "task/needle/recall.h"
#include "task/tracking/common_words.h"
#include "util/text.h"

namespace difflab {

std::vector<std::int64_t> CommonWordsConfig::counts() const {
  const auto W = listed();
  if (W < 1) return {};
  double sum = 0;
  for (std::int64_t r = 1; r <= words; ++r) sum += std::pow(static_cast<double>(r), -alpha);
  std::vector<std::int64_t> counts;
  std::int64_t left = W;
  for (std::int64_t r = 1; r <= words && left > 0; ++r) {
    const double share = std::pow(static_cast<double>(r), -alpha) / sum;
    const auto count = static_cast<std::int64_t>(std::floor(static_cast<double>(W) * share));
    counts.push_back(std::max<std::int64_t>(count, 1));
    left -= counts.back();
  }
  counts.front() += left;  // what is left when every word was used
  return counts;
}

bool CommonWordsConfig::is_long_enough() const {
  const auto often = counts();
  const auto K = static_cast<std::size_t>(asked);
  bool differ = often.size() > K;
  for (std::size_t r = 0; differ && r < K; ++r) differ = often[r] > often[r + 1];
  return differ;
}

void CommonWordsConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, shortest_of(lengths, length), check);
  if (asked >= words) {
    check.problem("asked", concat("is ", asked, "; expected less than words, ", words));
    return;
  }
  if (!is_long_enough()) {
    check.problem("length", concat("is ", length, ", too short for the ", asked + 1,
                                   " most frequent of ", words,
                                   " words to occur differently often; expected a longer list, "
                                   "fewer asked or another alpha"));
  }
  check_lengths(lengths, length, 1, check);
  for (const auto T : lengths) {
    if (with_length(*this, T).is_long_enough()) continue;
    check.problem("lengths", concat("has ", T, ", too short for the ", asked + 1,
                                    " most frequent words to occur differently often"));
  }
}

}  // namespace difflab
