#include "evaluate/language/heldout.h"

#include <ATen/ATen.h>

#include "evaluate/base/score_batches.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"
#include "util/error.h"

namespace difflab {

namespace {

struct PartScore {
  TaskPart part;
  Score score;
};

Score score_part(const EvaluationContext& context, const TaskPart& part, Split split,
                 std::int64_t samples) {
  return score_batches(context.model, *part.task, context.seed, split, samples, context.lanes);
}

std::vector<PartScore> score_parts(const EvaluationContext& context, Split split,
                                   std::int64_t samples) {
  std::vector<PartScore> scores;
  for (const auto& part : context.task.parts()) {
    scores.push_back({part, score_part(context, part, split, samples)});
  }
  return scores;
}

double mixture_loss(const std::vector<PartScore>& scores) {
  double loss = 0;
  for (const auto& [part, score] : scores) loss += part.share * score.loss();
  return loss;
}

// One of validation_metrics: the accuracy or the loss of a part, or the loss of the mixture.
struct HeldoutFigure {
  std::string name;
  std::optional<std::size_t> part;
  bool is_accuracy = false;
};

std::vector<HeldoutFigure> figures_of(const std::vector<TaskPart>& parts) {
  std::vector<HeldoutFigure> figures{{"valid_accuracy", 0, true}, {"valid_loss", std::nullopt}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    figures.push_back({concat("valid_", parts[i].name, "_accuracy"), i, true});
    figures.push_back({concat("valid_", parts[i].name, "_loss"), i});
  }
  return figures;
}

double value_of(const HeldoutFigure& figure, const std::vector<PartScore>& scores) {
  if (!figure.part) return mixture_loss(scores);
  const auto& score = scores[*figure.part].score;
  return figure.is_accuracy ? score.accuracy() : score.loss();
}

HeldoutFigure meant_by(const HeldoutQuestion& question, const std::vector<HeldoutFigure>& figures) {
  std::vector<std::string> names;
  for (const auto& figure : figures) {
    if (figure.name == question.metric) return figure;
    names.push_back(figure.name);
  }
  std::sort(names.begin(), names.end());
  throw UserError(concat(question.asker, " looks at ", question.metric,
                         ", which held-out evaluations of this task do not have; expected one of ",
                         join(names), suggestion(question.metric, names)));
}

// A value on the same side of every question as the part's accuracy. Scores no more batches than
// it takes to know that: what is not scored counts as wrong.
double enough_of(const EvaluationContext& context, const TaskPart& part, std::int64_t samples,
                 const std::vector<const HeldoutQuestion*>& accuracies) {
  const auto targets = count_targets(*part.task, context.seed, Split::kValid, samples);
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(targets);
  };
  const auto found = score_batches(
      context.model, *part.task, context.seed, Split::kValid, samples, context.lanes,
      [&](const Score& so_far) {
        const double least = share(so_far.correct);
        const double greatest = share(so_far.correct + targets - so_far.targets);
        return std::all_of(accuracies.begin(), accuracies.end(), [&](const auto* question) {
          return question->is_met(least) == question->is_met(greatest);
        });
      });
  return share(found.correct);
}

}  // namespace

Json validation_metrics(const EvaluationContext& context, std::int64_t samples) {
  const auto scores = score_parts(context, Split::kValid, samples);
  Json metrics = Json::object();
  for (const auto& figure : figures_of(context.task.parts())) {
    metrics[figure.name] = value_of(figure, scores);
  }
  return metrics;
}

std::vector<bool> answers_of(const EvaluationContext& context,
                             const std::vector<HeldoutQuestion>& questions, std::int64_t samples) {
  const auto parts = context.task.parts();
  const auto all = figures_of(parts);
  std::vector<HeldoutFigure> figures;
  for (const auto& question : questions) figures.push_back(meant_by(question, all));

  std::vector<PartScore> scores;
  std::vector<double> accuracies(parts.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    std::vector<const HeldoutQuestion*> of_accuracy;
    bool is_loss_asked = false;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (figures[i].part.value_or(part) != part) continue;
      is_loss_asked = is_loss_asked || !figures[i].is_accuracy;
      if (figures[i].is_accuracy) of_accuracy.push_back(&questions[i]);
    }
    scores.push_back({parts[part], {}});
    if (is_loss_asked) {
      scores.back().score = score_part(context, parts[part], Split::kValid, samples);
      accuracies[part] = scores.back().score.accuracy();
    } else if (!of_accuracy.empty()) {
      accuracies[part] = enough_of(context, parts[part], samples, of_accuracy);
    }
  }
  std::vector<bool> answers;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& figure = figures[i];
    answers.push_back(questions[i].is_met(figure.is_accuracy ? accuracies[*figure.part]
                                                             : value_of(figure, scores)));
  }
  return answers;
}

EvaluationResult HeldoutConfig::run(const EvaluationContext& context) const {
  const auto scores = score_parts(context, Split::kTest, samples);
  EvaluationResult result;
  result.metrics["test_loss"] = mixture_loss(scores);
  for (const auto& [part, score] : scores) {
    result.metrics[concat(part.name, "_accuracy")] = score.accuracy();
    result.metrics[concat(part.name, "_loss")] = score.loss();
    if (const auto entropy = part.task->entropy()) {
      result.metrics[concat(part.name, "_loss_excess")] = score.loss() - *entropy;
    }
    result.metrics[concat(part.name, "_accuracy_chance")] = part.task->chance_accuracy();
    const auto interval = wilson_interval(score.correct, score.targets);
    result.details[part.name] = {{"sequences", score.sequences},  {"n", score.targets},
                                 {"correct", score.correct},      {"accuracy", score.accuracy()},
                                 {"accuracy_low", interval->low}, {"accuracy_high", interval->high},
                                 {"loss", score.loss()}};
  }
  return result;
}

}  // namespace difflab
