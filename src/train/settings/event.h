#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/schema/fields.h"

namespace difflab {

/// Something that training is watched for, e.g. that the model finds needles: a held-out metric, or
/// the mean training loss since the last line of metrics.jsonl, on one side of a bound, several
/// looks in a row.
struct TrainEvent {
  static constexpr const char* kTrainLoss = "train_loss";

  std::string name = {};
  std::string metric = "valid_accuracy";
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::int64_t in_a_row = 2;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "letters, digits and _; the run's metric is steps_to_NAME");
    visit("metric", metric, "of metrics.jsonl, on the validation split; or train_loss");
    visit("at_least", at_least, "what the metric has to reach");
    visit("at_most", at_most, "or what it has to fall to");
    visit("in_a_row", in_a_row, "looks in a row that find it so", config::at_least(1));
  }
  void validate(config::Check& check) const;

  bool met_by(double value) const { return at_least ? value >= *at_least : value <= *at_most; }
  bool is_of_training() const { return metric == kTrainLoss; }
  std::string steps_key() const { return "steps_to_" + name; }
  std::string seconds_key() const { return "time_to_" + name + "_seconds"; }
};

}  // namespace difflab
