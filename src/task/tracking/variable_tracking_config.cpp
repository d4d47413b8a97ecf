#include "task/needle/recall.h"
#include "task/tracking/variable_tracking.h"

namespace difflab {

void VariableTrackingConfig::validate(config::Check& check) const {
  check_recall_share(recall_share, shortest_of(lengths, length), check);
  check_at_least({"names", names}, {"chains · (hops + 1)", assignments()},
                 "because names are distinct", check);
  check_at_least({"values", values}, {"chains", chains}, "because values are distinct", check);
  if (length < smallest_length()) {
    check.problem("length", concat("is ", length, ", too short for ", assignments(),
                                   " assignments, a question and its answers; the smallest that "
                                   "fits is ",
                                   smallest_length()));
  }
  check_lengths(lengths, length, smallest_length(), check);
}

}  // namespace difflab
