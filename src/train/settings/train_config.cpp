#include "train/settings/train_config.h"

#include <fnmatch.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <numbers>
#include <string_view>

#include "util/text.h"

namespace difflab {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

}  // namespace

void ParameterGroup::validate(config::Check& check) const {
  if (match.empty()) {
    check.problem("match", "is empty; expected a pattern of names, such as *.lambda_*");
  }
  if (!lr_scale && !lr && !weight_decay) {
    check.problem(
        "match",
        concat("is ", match, " with nothing to change; expected lr_scale, lr or weight_decay"));
  }
  if (lr_scale && lr) {
    check.problem("lr", concat("is ", *lr, " beside an lr_scale of ", *lr_scale,
                               "; expected one of the two"));
  }
}

bool ParameterGroup::matches(const std::string& parameter, std::size_t dimensions) const {
  const auto found = dimensions >= 2 ? ParameterShapes::kMatrices : ParameterShapes::kVectors;
  if (shapes != ParameterShapes::kAny && shapes != found) return false;
  return fnmatch(match.c_str(), parameter.c_str(), /*flags=*/0) == 0;
}

void TrainEvent::validate(config::Check& check) const {
  if (!is_name(name)) {
    check.problem("name", concat("is '", name, "'; expected letters, digits and _"));
  }
  if (at_least.has_value() == at_most.has_value()) {
    check.problem("at_least", "and at_most are both set or unset; expected exactly one");
  }
}

bool KeptSteps::keeps(std::int64_t step) const {
  if (every_ > 0) return step > 0 && step % every_ == 0;
  if (powers_) return step > 0 && std::has_single_bit(static_cast<std::uint64_t>(step));
  return is_among(step, listed_);
}

std::string KeptSteps::text(std::int64_t steps) const {
  constexpr std::size_t kMost = 12;
  auto kept = listed_;
  std::ranges::sort(kept);
  const bool are_many = every_ > 0 || powers_;
  for (auto step = powers_ ? 1 : every_; are_many && kept.size() <= kMost && step <= steps;) {
    kept.push_back(step);
    step += powers_ ? step : every_;
  }
  std::erase_if(kept, [&](std::int64_t step) { return step > steps; });
  std::vector<std::string> words;
  for (const auto step : kept) {
    words.push_back(words.size() < kMost ? std::to_string(step) : "…");
    if (words.size() > kMost) break;
  }
  return words.empty() ? "none" : join(words);
}

std::optional<KeptSteps> KeptSteps::from_value(const config::Value& value) {
  KeptSteps kept;
  if (value.is_string()) {
    constexpr std::string_view kEvery = "every ";
    const auto text = value.as_string();
    if (text.starts_with(kEvery)) {
      kept.every_ = parse_whole<std::int64_t>(text.substr(kEvery.size())).value_or(0);
    }
    kept.powers_ = text == "powers";
    const bool is_known = text == "none" || kept.powers_ || kept.every_ >= 1;
    return is_known ? std::optional(kept) : std::nullopt;
  }
  if (!value.is_list()) return std::nullopt;
  for (const auto& item : value.items()) {
    if (!item.is_int() || item.as_int() < 0) return std::nullopt;
    kept.listed_.push_back(item.as_int());
  }
  return kept;
}

config::Value KeptSteps::to_value() const {
  if (every_ > 0) return config::Value(concat("every ", every_));
  if (powers_) return config::Value("powers");
  if (listed_.empty()) return config::Value("none");
  auto values = config::Value::list();
  for (const auto step : listed_) values.push_back(config::Value(step));
  return values;
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
                  concat("is '", stop_at, "', which is not an event", suggestion(stop_at, names)));
  }
}

UpdateSettings update_settings(const std::string& parameter, std::size_t dimensions,
                               const std::vector<ParameterGroup>& groups, double lr,
                               double weight_decay) {
  UpdateSettings settings{.lr_scale = 1, .weight_decay = weight_decay};
  for (const auto& group : groups) {
    if (!group.matches(parameter, dimensions)) continue;
    settings.lr_scale = group.lr ? *group.lr / lr : group.lr_scale.value_or(settings.lr_scale);
    settings.weight_decay = group.weight_decay.value_or(settings.weight_decay);
  }
  return settings;
}

double learning_rate(const TrainConfig& config, std::int64_t step) {
  if (step < config.warmup_steps) {
    return config.lr * static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  }
  const double floor = config.final_lr_ratio;
  const auto share_of = [&](std::int64_t begin) {  // of the way from there to the last step
    const auto steps = std::max<std::int64_t>(config.steps - begin - 1, 1);
    return static_cast<double>(step - begin) / static_cast<double>(steps);
  };
  const auto line = [&](double share) { return config.lr * (1 - (1 - floor) * share); };
  switch (config.schedule) {
    case LrSchedule::kCosine: {
      const double progress = share_of(config.warmup_steps);
      return config.lr * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
    }
    case LrSchedule::kLinear:
      return line(share_of(config.warmup_steps));
    case LrSchedule::kConstant:
      return config.lr;
    case LrSchedule::kStable: {
      const std::int64_t decay =
          std::llround(config.decay_share * static_cast<double>(config.steps));
      const auto begin = std::max(config.warmup_steps, config.steps - decay);
      return step < begin ? config.lr : line(share_of(begin));
    }
  }
  return config.lr;
}

}  // namespace difflab
