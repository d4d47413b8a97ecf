#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/value/value.h"

namespace difflab::study {

/// A question about trained models, as typed.
struct Question {
  std::vector<std::string> evaluate = {};  ///< overrides of `evaluate`
  std::vector<std::string> task = {};      ///< overrides of `task`: what the models are asked on
  std::vector<std::string> others = {};    ///< of anything else: which models are asked
  std::vector<std::int64_t> at = {};       ///< steps at which the models are asked

  /// @param overrides as typed, of which those of `task` say which models are asked
  /// @param on overrides of `task`: what they are asked on
  static Question of(const std::vector<std::string>& overrides, const std::vector<std::string>& on,
                     const std::vector<std::int64_t>& at);
  bool is_empty() const { return evaluate.empty() && task.empty() && at.empty(); }
};

/// Name under which the result of an evaluation is kept: its own, else its kind.
std::string name_in_result(const config::Value& evaluation);

/// The evaluations that a model is asked: those of `asked` beside those that it was asked `before`,
/// in place of those of the same name. If `asked` is empty but the question says where or when,
/// they are those of `before`, asked there.
/// @param asked evaluations of the question, composed
/// @param task that the question names, composed; null if none
/// @param names receives the names of the evaluations that the question asks for
config::Value evaluations_of(const Question& question, const config::Value& before,
                             const config::Value& asked, const config::Value& task,
                             std::vector<std::string>& names);

/// The task of a model with the question's overrides on it.
/// @throws UserError with all that is wrong with the overrides.
config::Value composed_task(const Question& question, const config::Value& trained);

}  // namespace difflab::study
