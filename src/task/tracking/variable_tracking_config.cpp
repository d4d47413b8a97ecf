#include "task/needle/recall.h"
#include "task/tracking/variable_tracking.h"

namespace difflab {

void VariableTrackingConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, shortest_of(lengths, length), check);
  if (assignments() > names) {
    check.problem("names", concat("is ", names, "; expected at least chains · (hops + 1), ",
                                  assignments(), ", because names are distinct"));
  }
  if (chains > values) {
    check.problem("values", concat("is ", values, "; expected at least chains, ", chains,
                                   ", because values are distinct"));
  }
  if (length < smallest_length()) {
    check.problem("length", concat("is ", length, ", too short for ", assignments(),
                                   " assignments, a question and its answers; the smallest that "
                                   "fits is ",
                                   smallest_length()));
  }
  check_lengths(lengths, length, smallest_length(), check);
}

}  // namespace difflab
