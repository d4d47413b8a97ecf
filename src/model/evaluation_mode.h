#pragma once

#include "model/language_model.h"

namespace difflab {

/// While one exists, the model does not drop anything. Whoever scores on several threads has one
/// around all of them, so that none sets the mode of another.
class EvaluationMode {
 public:
  explicit EvaluationMode(LanguageModel& model) : model_(model), training_(model.is_training()) {
    if (training_) model_.eval();
  }
  ~EvaluationMode() {
    if (training_) model_.train();
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  LanguageModel& model_;
  bool training_;
};

}  // namespace difflab
