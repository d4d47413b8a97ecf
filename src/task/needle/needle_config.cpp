#include "task/needle/needle.h"
#include "task/needle/vocabulary.h"

namespace difflab {

Symbols NeedleConfig::vocabulary() const { return Vocabulary(*this).symbols(); }

std::int64_t NeedleConfig::vocab_size() const { return Vocabulary(*this).size(); }

void NeedleConfig::validate(config::Check& check) const {
  if (queries > needles) {
    check.problem("queries", concat("is ", queries, "; expected at most needles, ", needles));
  }
  const bool alone = pairs() == needles;
  const auto first_keys = needles + distractors.same_value;
  if (first_keys > keys) {
    check.problem("keys", concat("is ", keys, "; expected at least needles",
                                 alone ? "" : " and distractors.same_value", ", ", first_keys,
                                 ", because keys are distinct"));
  }
  if (distinct_values() > values) {
    check.problem("values", concat("is ", values, "; expected at least needles",
                                   alone ? "" : ", near and stale distractors", ", ",
                                   distinct_values(), ", because values are distinct"));
  }
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
