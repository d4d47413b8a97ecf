
#include "task/needle/needle.h"

namespace difflab {

Symbols NeedleConfig::vocabulary() const {
  // Without symbols of its own noise has those of keys, which are as many more.
  const auto own_noise = noise_names == NoiseNames::kOwn ? noise_tokens : 0;
  return {
      {"B", 1}, {"?", 1}, {"n", own_noise}, {"k", keys + noise_tokens - own_noise}, {"v", values}};
}

namespace {

void check_largest(const char* list, const std::vector<std::int64_t>& counts, const char* key,
                   std::int64_t largest, config::Check& check) {
  if (counts.empty() || std::ranges::max(counts) == largest) return;
  check.problem(list, concat("has ", std::ranges::max(counts),
                             " as the largest; expected that to be ", key, ", ", largest));
}

}  // namespace

std::vector<NeedleConfig> NeedleConfig::batch_kinds() const {
  const auto all = [](const auto& list, std::int64_t one) {
    return list.empty() ? std::vector{one} : list;
  };
  std::vector<NeedleConfig> kinds;
  for (const auto T : all(lengths, length)) {
    for (const auto N : all(needle_counts, needles)) {
      for (const auto R : all(query_counts, queries)) {
        if (R > N) continue;
        auto& kind = kinds.emplace_back(with_length(*this, T));
        kind.needles = N;
        kind.queries = R;
      }
    }
  }
  return kinds;
}

void NeedleConfig::validate(config::Check& check) const {
  check_at_most({"queries", queries}, {"needles", needles}, check);
  check_largest("needle_counts", needle_counts, "needles", needles, check);
  check_largest("query_counts", query_counts, "queries", queries, check);
  const bool alone = pairs() == needles;
  check_at_least(
      {"keys", keys},
      {alone ? "needles" : "needles and distractors.same_value", needles + distractors.same_value},
      "because keys are distinct", check);
  check_at_least({"values", values},
                 {alone ? "needles" : "needles, near and stale distractors", distinct_values()},
                 "because values are distinct", check);
  if (distractors.near > 0 && key_tokens == 1) {
    check.problem("distractors.near", concat("is ", distractors.near,
                                             " with key_tokens 1; expected keys of at least two "
                                             "tokens, of which they share all but the last"));
  } else if (distractors.near >= keys) {
    check.problem("distractors.near",
                  concat("is ", distractors.near, "; expected less than keys, ", keys));
  }
  if (length < smallest_length()) {
    check.problem("length",
                  concat("is ", length, ", too short for ", needles, " needles",
                         alone ? "" : concat(", ", pairs() - needles, " distractors"), " and ",
                         queries, " queries; the smallest that fits is ", smallest_length()));
  }
  check_lengths(lengths, length, smallest_length(), check);
}

}  // namespace difflab
