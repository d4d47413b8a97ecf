#pragma once

#include <cstdint>
#include <string>

#include "task/task_config.h"
#include "util/json.h"

namespace difflab {

class LanguageModel;
class Task;

/// What every kind of evaluation has.
struct EvaluationCommon {
  /// What the result is kept under; empty: the kind. Metrics of a named one begin with the name.
  std::string name;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name,
          "what the result is kept under, for a kind that is used twice; empty: kind");
  }
};

/// What an evaluation looks at.
struct EvaluationContext {
  LanguageModel& model;
  const TaskConfig& task_config;
  const Task& task;
  std::uint64_t seed;
};

/// What an evaluation found.
struct EvaluationResult {
  Json metrics = Json::object();  ///< single numbers, for tables
  Json details = Json::object();  ///< everything, for figures
};

}  // namespace difflab
