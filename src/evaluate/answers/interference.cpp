#include "evaluate/answers/interference.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "evaluate/base/answerer.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"
#include "task/needle/vocabulary.h"

namespace difflab {
namespace {

constexpr std::array<const char*, 6> kAnswers{"right",    "near",   "stale",
                                              "repeated", "needle", "other"};
enum Answer : std::size_t { kRight, kNear, kStale, kRepeated, kNeedle, kOther };

using Tokens = std::span<const std::int64_t>;

struct ShownPair {
  Tokens key;
  std::int64_t value;
};

// The pairs of a context: whatever stands before a value is its key.
std::vector<ShownPair> pairs_in(Tokens context, const NeedleConfig& task) {
  const Vocabulary vocabulary(task);
  const auto M = static_cast<std::size_t>(task.key_tokens);
  std::vector<ShownPair> pairs;
  for (std::size_t t = 0; t < context.size(); ++t) {
    if (vocabulary.is_value(context[t])) pairs.push_back({context.subspan(t - M, M), context[t]});
  }
  return pairs;
}

// What was said instead of the right value.
Answer wrong_answer(std::int64_t said, Tokens asked, const std::vector<ShownPair>& pairs) {
  Answer answer = kOther;
  std::size_t times = 0;
  for (const auto& pair : pairs) {
    if (pair.value != said) continue;
    const auto same = std::mismatch(asked.begin(), asked.end(), pair.key.begin()).first;
    if (same == asked.end()) return kStale;
    const bool is_near = asked.size() > 1 && same + 1 == asked.end();
    if (is_near) return kNear;
    answer = ++times > 1 ? kRepeated : kNeedle;
  }
  return answer;
}

}  // namespace

EvaluationResult InterferenceConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  return ask(answerer(context.model, context.lanes), *needles_of(context.task_config),
             context.seed);
}

EvaluationResult InterferenceConfig::ask(const Answerer& answerer, const NeedleConfig& task,
                                         std::uint64_t seed) const {
  const auto config = with_length(task, task.length);
  const auto batch = config.build()->batch(seed, Split::kTest, 0, samples);
  const auto answers = answerer.answer(batch).contiguous();
  const auto M = static_cast<std::size_t>(config.key_tokens);
  const auto questions = static_cast<std::size_t>((config.key_tokens + 1) * config.queries);
  std::array<std::int64_t, kAnswers.size()> counts{};
  for (std::int64_t row = 0; row < samples; ++row) {
    const Tokens input(batch.inputs[row].const_data_ptr<std::int64_t>(),
                       static_cast<std::size_t>(config.length));
    const auto* targets = batch.targets[row].const_data_ptr<std::int64_t>();
    const auto* said = answers[row].const_data_ptr<std::int64_t>();
    const auto pairs = pairs_in(input.first(input.size() - questions), config);
    for (std::size_t t = input.size() - questions; t < input.size(); ++t) {
      if (targets[t] == kIgnore) continue;
      const auto asked = input.subspan(t + 1 - M, M);
      ++counts[said[t] == targets[t] ? kRight : wrong_answer(said[t], asked, pairs)];
    }
  }
  EvaluationResult result;
  const auto n = samples * config.queries;
  auto cells = Json::array();
  for (std::size_t answer = 0; answer < kAnswers.size(); ++answer) {
    const auto count = counts[answer];
    const auto interval = wilson_interval(count, n);
    const double share = static_cast<double>(count) / static_cast<double>(n);
    cells.push_back({{"answer", kAnswers[answer]},
                     {"n", n},
                     {"count", count},
                     {"share", share},
                     {"share_low", interval->low},
                     {"share_high", interval->high}});
    result.metrics[concat(kAnswers[answer], "_answers")] = share;
  }
  result.metrics["right_answers_chance"] = config.chance();
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
