#include <algorithm>
#include <cctype>
#include <utility>

#include "train/settings/train_config.h"
#include "util/text.h"

namespace difflab {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

}  // namespace

void TrainEvent::validate(config::Check& check) const {
  if (!is_name(name)) {
    check.problem("name", concat("is '", name, "'; expected letters, digits and _"));
  }
  if (at_least.has_value() == at_most.has_value()) {
    check.problem("at_least", "and at_most say when it happens; expected one of the two");
  }
}

void TrainConfig::validate(config::Check& check) const {
  if (steps > 0 && warmup_steps >= steps) {
    check.problem("warmup_steps",
                  concat("is ", warmup_steps, "; expected less than steps, which is ", steps));
  }
  for (const auto& [key, beta] : {std::pair("beta1", beta1), std::pair("beta2", beta2)}) {
    if (beta == 1) check.problem(key, "is 1, which keeps the moment at 0; expected less");
  }
  for (const auto& group : groups) {
    if (group.lr && lr == 0) {
      check.problem("groups", concat("give ", group.match, " a rate of its own, ", *group.lr,
                                     ", of an lr of 0; expected an lr above 0"));
    }
  }
  std::vector<std::string> names;
  for (const auto& event : events) {
    const auto name = event.name;
    if (name == "90_accuracy" || is_among(name, names)) {
      check.problem("events", concat("have two named ", name, "; give each its own name"));
    }
    if (name == "learn") {
      check.problem("events",
                    "have one named learn, but reports write steps_to_learn themselves (learned); "
                    "expected another name");
    }
    if (event.is_of_training() && event_every != eval_every) {
      check.problem("event_every",
                    concat("is ", event_every, " with an event of train_loss, which is ",
                           "a mean over eval_every steps; expected as many, ", eval_every));
    }
    names.push_back(name);
    const bool are_counts =
        steps > 0 && event_every > 0 && event.in_a_row > 0;  // else refused elsewhere
    if (are_counts && event.in_a_row > steps / event_every) {
      check.problem("event_every",
                    concat("is ", event_every, ", so that ", name, " cannot be met ",
                           event.in_a_row, event.in_a_row == 1 ? " time" : " times in a row",
                           " in ", steps, " steps; expected at most ", steps / event.in_a_row));
    }
  }
  if (!stop_at.empty() && !is_among(stop_at, names)) {
    check.problem("stop_at",
                  concat("is '", stop_at, "', which is no event", suggestion(stop_at, names)));
  }
}

}  // namespace difflab
