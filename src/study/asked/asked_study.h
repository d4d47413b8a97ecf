#pragma once

#include <string>
#include <vector>

#include "run/run_config.h"
#include "study/study.h"

namespace difflab::study {

/// Trained runs with what they are asked now beside what they were asked before.
struct Asked {
  Study study = {};
  bool of_experiment = false;  ///< else of runs or weights, which have no report of their own
  std::vector<std::string> names =
      {};                 ///< what the results of the asked evaluations are kept under
  std::string note = {};  ///< what a person should know before
};

/// The trained models that `words` name: an experiment with its overrides, runs (folder, id or its
/// beginning), or weights; evaluate=[…] among the overrides is what is asked. An
/// evaluation takes the place of one of the same name.
/// @param results where the runs lie that are no folders; "" for the project's
/// @param on overrides of `task`: what the models are asked on, if not on what they are trained on
/// @param at steps at which the models are asked; empty: at the end of their training
/// @throws UserError if nothing is named, or nothing of it is trained, or it cannot be asked that.
Asked find_asked(const std::vector<std::string>& words, const std::string& results,
                 const std::vector<std::string>& on = {}, const std::vector<std::int64_t>& at = {});

/// Evaluations of a run of the study that no run of its training has answered.
int unanswered(const Study& study, const sweep::Run& run);

/// A value in the grammar of overrides: {kind: 'heldout', samples: 16}.
std::string override_text(const Json& value);

}  // namespace difflab::study
