#include "evaluate/language/heldout.h"

#include "evaluate/base/score_batches.h"
#include "util/error.h"

namespace difflab {

namespace {

struct PartScore {
  TaskPart part;
  Score score;
};

std::vector<PartScore> score_parts(const EvaluationContext& context, Split split,
                                   std::int64_t samples) {
  std::vector<PartScore> scores;
  for (const auto& part : context.task.parts()) {
    scores.push_back({part, score_batches(context, *part.task, samples, split)});
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

HeldoutFigure named(const std::string& metric, const std::vector<HeldoutFigure>& figures) {
  std::vector<std::string> names;
  for (const auto& figure : figures) {
    if (figure.name == metric) return figure;
    names.push_back(figure.name);
  }
  std::sort(names.begin(), names.end());
  throw UserError(concat("train.events look at ", metric,
                         ", which held-out evaluations of this task do not have; expected one of ",
                         join(names), suggestion(metric, names)));
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

Json held_out(const EvaluationContext& context, const std::vector<std::string>& metrics,
              std::int64_t samples) {
  const auto parts = context.task.parts();
  const auto all = figures_of(parts);
  std::vector<HeldoutFigure> figures;
  for (const auto& metric : metrics) figures.push_back(named(metric, all));
  std::vector<PartScore> scores;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool is_asked = std::any_of(figures.begin(), figures.end(), [&](const auto& figure) {
      return figure.part.value_or(part) == part;
    });
    scores.push_back(
        {parts[part],
         is_asked ? score_batches(context, *parts[part].task, samples, Split::kValid) : Score()});
  }
  Json values = Json::object();
  for (const auto& figure : figures) values[figure.name] = value_of(figure, scores);
  return values;
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
    auto& about = result.details[part.name];
    about = {{"sequences", score.sequences}, {"n", score.targets}, {"correct", score.correct}};
    add_accuracy(about, score.correct, score.targets);
    about["loss"] = score.loss();
  }
  return result;
}

}  // namespace difflab
