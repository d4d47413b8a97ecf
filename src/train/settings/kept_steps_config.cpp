#include <algorithm>
#include <bit>

#include "train/settings/kept_steps.h"
#include "util/text.h"

namespace difflab {

KeptSteps KeptSteps::every(std::int64_t steps) {
  KeptSteps kept;
  kept.choice_ = Every{steps};
  return kept;
}

KeptSteps KeptSteps::powers() {
  KeptSteps kept;
  kept.choice_ = Powers{};
  return kept;
}

bool KeptSteps::keeps(std::int64_t step) const {
  if (const auto* every = std::get_if<Every>(&choice_)) return step > 0 && step % every->steps == 0;
  if (std::holds_alternative<Powers>(choice_)) {
    return step > 0 && std::has_single_bit(static_cast<std::uint64_t>(step));
  }
  const auto& list = std::get<std::vector<std::int64_t>>(choice_);
  return is_among(step, list);
}

std::string KeptSteps::text(std::int64_t steps) const {
  constexpr std::size_t kMost = 12;
  std::vector<std::int64_t> kept;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&choice_)) {
    kept = *list;
    std::sort(kept.begin(), kept.end());
  } else {
    const auto* every = std::get_if<Every>(&choice_);
    for (auto step = every ? every->steps : 1; kept.size() <= kMost && step <= steps;) {
      kept.push_back(step);
      step += every ? every->steps : step;
    }
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
  if (value.is_string()) {
    const auto word = value.as_string();
    std::string_view text = word;
    if (text == "none") return KeptSteps();
    if (text == "powers") return powers();
    constexpr std::string_view kEvery = "every ";
    if (!text.starts_with(kEvery)) return std::nullopt;
    text.remove_prefix(kEvery.size());
    const auto steps = parse_whole<std::int64_t>(text);
    return steps && *steps >= 1 ? std::optional(every(*steps)) : std::nullopt;
  }
  if (!value.is_list()) return std::nullopt;
  std::vector<std::int64_t> list;
  for (const auto& item : value.items()) {
    if (!item.is_int() || item.as_int() < 0) return std::nullopt;
    list.push_back(item.as_int());
  }
  return KeptSteps(std::move(list));
}

config::Value KeptSteps::to_value() const {
  if (const auto* every = std::get_if<Every>(&choice_)) {
    return config::Value(concat("every ", every->steps));
  }
  if (std::holds_alternative<Powers>(choice_)) return config::Value("powers");
  const auto& list = std::get<std::vector<std::int64_t>>(choice_);
  if (list.empty()) return config::Value("none");
  auto values = config::Value::list();
  for (const auto step : list) values.push_back(config::Value(step));
  return values;
}

}  // namespace difflab
