#include "experiment/ask.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "config/schema/writer.h"
#include "model/language_model.h"
#include "record/log/event_log.h"
#include "record/safetensors.h"
#include "run/identity.h"
#include "run/metrics.h"
#include "run/run_config.h"
#include "run/trained_runs.h"
#include "task/base/task.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

void require_same_vocabulary(const Task& asked, const Task& trained) {
  const auto V = trained.vocab_size();
  if (asked.vocab_size() != V) {
    throw UserError(concat("the vocabulary has ", asked.vocab_size(), " tokens, the model's ", V));
  }
  for (std::int64_t token = 0; token < V; ++token) {
    if (asked.token_text(token) == trained.token_text(token)) continue;
    throw UserError(concat("the task has another vocabulary: token ", token, " is '",
                           asked.token_text(token), "', the model's is '",
                           trained.token_text(token), "'"));
  }
}

// The names of metrics that are NaN or infinite. A file has null for them, as for what there is
// not.
Json not_finite(const Json& metrics) {
  Json names = Json::array();
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number_float() && !std::isfinite(value.get<double>())) names.push_back(name);
  }
  return names;
}

bool are_rows(const Json& detail) {
  return detail.is_array() && !detail.empty() &&
         std::ranges::all_of(detail, [](const Json& row) { return row.is_object(); });
}

/// One evaluation at several steps of a training: each metric with _at_STEP behind its name, and
/// rows (cells, samples) with `step` in them, so that figures draw them over the training. An
/// evaluation without cells has one cell a step, with its metrics. Details that are no rows stand
/// in `by_step`.
class CurveOfAnswers {
 public:
  void add(std::int64_t step, EvaluationResult found) {
    Json cell = {{"step", step}}, others = cell;
    for (const auto& [key, value] : found.metrics.items()) {
      all_.metrics[metric_at_step(key, step)] = value;
      cell[key] = value;
    }
    const bool has_cells = found.details.contains("cells");
    if (!has_cells && cell.size() > 1) all_.details["cells"].push_back(std::move(cell));
    for (auto& [key, detail] : found.details.items()) {
      if (!are_rows(detail)) {
        others[key] = std::move(detail);
        continue;
      }
      for (auto& row : detail) {
        row["step"] = step;
        all_.details[key].push_back(std::move(row));
      }
    }
    if (others.size() > 1) all_.details["by_step"].push_back(std::move(others));
  }
  EvaluationResult result() { return std::move(all_); }

 private:
  EvaluationResult all_;
};

class Asking {
 public:
  Asking(const RunConfig& config, const RunDirectory& run, const EvaluationContext& context,
         const Provenance& provenance, const Lease* lease)
      : config_(config),
        run_(run),
        context_(context),
        provenance_(provenance),
        lease_(lease),
        others_(runs_with_training(results_of(run), training_id(config),
                                   run.path.filename().string())) {}

  std::vector<Answer> answers() {
    std::vector<Answer> answers;
    std::exception_ptr failure;
    for (std::size_t i = 0; i < config_.evaluate.size(); ++i) {
      if (auto known = known_answer(answer_id(config_, i))) {
        answers.push_back(std::move(*known));
        continue;
      }
      try {
        answers.push_back(ask(i));
      } catch (const std::exception& error) {
        const auto name = result_name(config_.evaluate[i], config_.task);
        std::cout << "evaluation " << name << " failed: " << error.what() << '\n';
        note_event(run_, "evaluation failed", {{"evaluation", name}, {"message", error.what()}});
        if (!failure) failure = std::current_exception();
        continue;
      }
      keep(answers.back());
    }
    if (failure) std::rethrow_exception(failure);
    return answers;
  }

 private:
  std::optional<Answer> known_answer(const std::string& id) const {
    if (auto own = read_answer(run_, id)) return own;
    for (const auto& other : others_) {
      if (auto found = read_answer(other, id)) {
        keep(*found);
        return found;
      }
    }
    return std::nullopt;
  }

  Answer ask(std::size_t index) const {
    const auto& evaluation = config_.evaluate[index];
    auto found = found_on_task(evaluation);
    if (auto names = not_finite(found.metrics); !names.empty()) {
      const auto name = result_name(evaluation, config_.task);
      std::cout << "evaluation " << name << ": not finite: " << names.dump() << '\n';
      note_event(run_, "not finite", {{"evaluation", name}, {"metrics", names}});
      found.details[kNotFinite] = std::move(names);
    }
    auto asked = config::write(evaluation);
    asked.erase("name");
    return {answer_id(config_, index), config::to_json(asked), std::move(found.metrics),
            std::move(found.details), provenance_.so_far()};
  }

  // On the task that the evaluation names, else on the trained one.
  EvaluationResult found_on_task(const EvaluationConfig& evaluation) const {
    const auto& other = common_of(evaluation).other_task.config;
    if (!other) return found_at_steps(evaluation, context_);
    const auto task = build_task(*other);
    require_same_vocabulary(*task, context_.task);
    return found_at_steps(evaluation,
                          {context_.model, *other, *task, context_.seed, context_.lanes});
  }

  // At the steps that the evaluation names, else at the end.
  EvaluationResult found_at_steps(const EvaluationConfig& evaluation,
                                  const EvaluationContext& context) const {
    const auto run = [&](const EvaluationContext& asked) {
      return std::visit([&](const auto& kind) { return kind.run(asked); }, evaluation);
    };
    const auto& steps = common_of(evaluation).at;
    if (steps.empty()) return run(context);
    CurveOfAnswers curve;
    for (const auto step : steps) {
      const auto model = step == config_.train.steps ? nullptr : model_at(step);
      curve.add(step, run({model ? *model : context.model, context.task_config, context.task,
                           context.seed, context.lanes}));
    }
    return curve.result();
  }

  // The model as it was at a step whose checkpoint this run kept, or another with its training.
  std::shared_ptr<LanguageModel> model_at(std::int64_t step) const {
    auto places = others_;
    places.insert(places.begin(), run_);
    for (const auto& place : places) {
      const auto file = place.kept(step);
      if (std::error_code none; !std::filesystem::exists(file, none)) continue;
      auto model = std::make_shared<LanguageModel>(config_.model, context_.task.vocab_size(),
                                                   config_.kernels);
      load_parameters(*model, read_sealed_safetensors(file), file.string());
      model->set_precision(config_.precision);
      model->to(context_.model.parameters().front().device());
      model->eval();
      return model;
    }
    throw UserError(concat(run_.kept(step).string(),
                           ": is not there; the training was done without train.keep_checkpoints "
                           "for step ",
                           step));
  }

  void keep(const Answer& answer) const {
    if (lease_ != nullptr) lease_->require_held();
    write_answer(run_, answer);
  }

  const RunConfig& config_;
  const RunDirectory& run_;
  const EvaluationContext& context_;
  const Provenance& provenance_;
  const Lease* lease_;
  std::vector<RunDirectory> others_;
};

}  // namespace

std::vector<Answer> ask(const RunConfig& config, const RunDirectory& run,
                        const EvaluationContext& context, const Provenance& provenance,
                        const Lease* lease) {
  return Asking(config, run, context, provenance, lease).answers();
}

}  // namespace difflab
