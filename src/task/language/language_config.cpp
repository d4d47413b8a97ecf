#include <cmath>

#include "task/language/language.h"
#include "util/random.h"
#include "util/text.h"

namespace difflab {

void LanguageConfig::validate(config::Check& check) const {
  check_lengths(lengths, length, 1, check);
  check_at_most({"followers", followers}, {"words", words}, check);
  check_at_most({"shortest", shortest}, {"longest", longest}, check);
  if (copy + mention >= 1) {
    check.problem("mention", concat("is ", mention, " beside copy ", copy,
                                    "; expected less than 1 together, because the rest are "
                                    "clauses"));
  }
}

std::vector<double> LanguageConfig::ranks() const {
  std::vector<double> ranks;
  double sum = 0;
  for (std::int64_t r = 1; r <= followers; ++r) {
    ranks.push_back(std::pow(static_cast<double>(r), -alpha));
    sum += ranks.back();
  }
  for (auto& p : ranks) p /= sum;
  return ranks;
}

std::vector<std::vector<std::int64_t>> followers_of_words(const LanguageConfig& config) {
  std::vector<std::vector<std::int64_t>> followers;
  for (std::int64_t word = 0; word <= config.words; ++word) {
    Random random{config.world, stream_key("followers"), static_cast<std::uint64_t>(word)};
    followers.push_back(random.distinct(config.followers, config.words));
  }
  return followers;
}

}  // namespace difflab
