#include <cmath>

#include "task/association/mqar.h"
#include "task/needle/recall.h"
#include "util/text.h"

namespace difflab {

std::int64_t MqarConfig::reassigned() const {
  return std::llround(reassign * static_cast<double>(pairs));
}

void MqarConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, shortest_of(lengths, length), check);
  if (pairs > keys()) {
    check.problem("vocab_size",
                  concat("is ", tokens, ", which has ", keys(), " keys; expected at least ",
                         2 * (pairs + 1), " for ", pairs, " pairs, because keys are distinct"));
  } else if (shown() > values()) {
    check.problem("vocab_size", concat("is ", tokens, ", which has ", values(),
                                       " values; expected at least ", 2 * shown(), " for ", shown(),
                                       " pairs shown, because values are distinct"));
  }
  if (length < smallest_length()) {
    check.problem("length", concat("is ", length, ", too short for ", shown(), " pairs and ",
                                   shown() == pairs ? "as many" : concat(pairs),
                                   " queries; the smallest that fits is ", smallest_length()));
  }
  check_lengths(lengths, length, smallest_length(), check);
}

}  // namespace difflab
