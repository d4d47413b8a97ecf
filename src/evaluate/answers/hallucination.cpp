#include "evaluate/answers/hallucination.h"

#include <ATen/ATen.h>

#include <set>
#include <tuple>

#include "evaluate/base/answerer.h"

namespace difflab {
namespace {

using Fact = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // entity, attribute, value

double share(std::int64_t count, std::int64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

Json cell_of(const char* job, const ContextQaConfig& config, std::int64_t n, std::int64_t right,
             double chance) {
  Json cell = {{"job", job}, {"distractors", config.distractors}, {"n", n}};
  add_accuracy(cell, right, n);
  cell["chance"] = chance;
  return cell;
}

Json ask_questions(const Answerer& answerer, ContextQaConfig config, std::int64_t samples,
                   std::uint64_t seed) {
  config.summary_share = 0;
  const auto task = config.build();
  const auto unknown = config.vocabulary().token(ContextQaConfig::kUnknown);
  const auto batch = task->batch(seed, Split::kTest, 0, samples);
  const auto answers = answerer.answer(batch);
  const auto asked = batch.targets != kIgnore;
  const auto right = answers == batch.targets;
  const auto abstained = answers == unknown;
  const auto unanswerable = batch.targets == unknown;
  const auto invented = right.logical_or(abstained).logical_not();
  // [B, T, T]: the answer at one place is a token of the context.
  const auto in_context = answers.unsqueeze(2).eq(batch.inputs.unsqueeze(1)).any(2);
  const auto count = [&](const at::Tensor& which) {
    return which.logical_and(asked).sum().item<std::int64_t>();
  };
  const auto n = count(asked);
  auto cell = cell_of("question", config, n, count(right), task->chance_accuracy());
  cell["supported"] = share(count(right.logical_and(unanswerable.logical_not())), n);
  cell["invented"] = share(count(invented), n);
  cell["abstained"] = share(count(abstained), n);
  cell["misread"] = share(count(invented.logical_and(in_context)), n);
  cell["unanswerable"] = count(unanswerable);
  const auto asked_in_vain = count(unanswerable);
  const auto invented_then = share(count(unanswerable.logical_and(invented)), asked_in_vain);
  cell["unanswerable_invented"] = asked_in_vain > 0 ? Json(invented_then) : Json();
  return cell;
}

/// The facts of a summary's context.
struct Facts {
  std::set<Fact> all, salient;

  Facts(const Symbols& vocabulary, const std::int64_t* tokens, std::int64_t length) {
    for (std::int64_t t = 1; t + 2 < length; t += 3) {
      const bool is_marked = tokens[t] == vocabulary.token(ContextQaConfig::kMark);
      if (is_marked) ++t;
      const Fact fact{tokens[t], tokens[t + 1], tokens[t + 2]};
      all.insert(fact);
      if (is_marked) salient.insert(fact);
    }
  }
};

Json ask_summaries(const Answerer& answerer, ContextQaConfig config, std::int64_t samples,
                   std::uint64_t seed) {
  config.summary_share = 1;
  const auto vocabulary = config.vocabulary();
  const auto S = config.salient();
  const auto batch = config.build()->batch(seed, Split::kTest, 0, samples);
  const auto context = config.summary_length() - 3 * S + 1;  // with the token that asks
  const auto prompts = batch.inputs.narrow(1, 0, context).contiguous();
  const auto written = answerer.go_on(prompts, 3 * S).contiguous();  // [B, 3S]
  std::int64_t supported = 0, invented = 0;
  for (std::int64_t row = 0; row < samples; ++row) {
    Facts facts(vocabulary, prompts[row].const_data_ptr<std::int64_t>(), context);
    const auto* words = written[row].const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < 3 * S; i += 3) {
      const Fact fact{words[i], words[i + 1], words[i + 2]};
      supported += static_cast<std::int64_t>(facts.salient.erase(fact));
      invented += facts.all.contains(fact) ? 0 : 1;
    }
  }
  const auto n = samples * S;
  // Whoever copies any facts of the context, each once.
  auto cell = cell_of("summary", config, n, supported, share(S, config.facts));
  cell["supported"] = share(supported, n);
  cell["invented"] = share(invented, n);
  return cell;
}

/// The mean over the cells of a job that have it; null if none has.
Json mean_of(const Json& cells, const char* job, const char* key) {
  double sum = 0;
  std::int64_t count = 0;
  for (const Json& cell : cells) {
    if (cell["job"] != job || cell[key].is_null()) continue;
    sum += cell[key].get<double>();
    ++count;
  }
  return count > 0 ? Json(sum / static_cast<double>(count)) : Json();
}

}  // namespace

EvaluationResult HallucinationConfig::run(const EvaluationContext& context) const {
  return ask(answerer(context.model, context.lanes), std::get<ContextQaConfig>(context.task_config),
             context.seed);
}

EvaluationResult HallucinationConfig::ask(const Answerer& answerer, const ContextQaConfig& task,
                                          std::uint64_t seed) const {
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  for (const double share_of_distractors : distractors) {
    auto config = task;
    config.distractors = share_of_distractors;
    config.recall_share = 0;
    if (task.summary_share < 1) cells.push_back(ask_questions(answerer, config, samples, seed));
    if (task.summary_share > 0) cells.push_back(ask_summaries(answerer, config, samples, seed));
  }
  if (task.summary_share < 1) {
    const auto mean = [&](const char* key) { return mean_of(cells, "question", key); };
    result.metrics["answers_accuracy"] = mean("accuracy");
    result.metrics["answers_accuracy_chance"] = mean("chance");
    result.metrics["answers_supported_share"] = mean("supported");
    result.metrics["answers_invented_share"] = mean("invented");
    result.metrics["answers_abstained_share"] = mean("abstained");
    result.metrics["unanswerable_invented_share"] = mean("unanswerable_invented");
  }
  if (task.summary_share > 0) {
    const auto mean = [&](const char* key) { return mean_of(cells, "summary", key); };
    result.metrics["facts_accuracy"] = mean("accuracy");
    result.metrics["facts_accuracy_chance"] = mean("chance");
    result.metrics["facts_invented_share"] = mean("invented");
  }
  return result;
}

}  // namespace difflab
