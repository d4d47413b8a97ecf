#include "task/needle/needle.h"

namespace difflab {

Symbols NeedleConfig::vocabulary() const {
  // Without symbols of its own noise has those of keys, which are as many more.
  const auto own_noise = noise_names == NoiseNames::kOwn ? noise_tokens : 0;
  return {
      {"B", 1}, {"?", 1}, {"n", own_noise}, {"k", keys + noise_tokens - own_noise}, {"v", values}};
}

void NeedleConfig::validate(config::Check& check) const {
  check_at_most({"queries", queries}, {"needles", needles}, check);
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
