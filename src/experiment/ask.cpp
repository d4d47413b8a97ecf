#include "experiment/ask.h"

#include <exception>
#include <iostream>
#include <optional>

#include "config/writer.h"
#include "experiment/identity.h"
#include "experiment/run_config.h"
#include "experiment/trained_runs.h"
#include "record/event_log.h"

namespace difflab {
namespace {

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
        const auto name = result_name(config_.evaluate[i]);
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
    auto found = std::visit([&](const auto& kind) { return kind.run(context_); }, evaluation);
    auto asked = config::write(evaluation);
    asked.erase("name");
    return {answer_id(config_, index), config::to_json(asked), std::move(found.metrics),
            std::move(found.details), provenance_.so_far()};
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
