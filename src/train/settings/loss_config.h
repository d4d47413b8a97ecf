#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// What weighs the same in the loss of a batch.
enum class LossPer {
  kTarget,    ///< every token asked
  kSequence,  ///< every sequence that asks something: the mean over its targets
  kPart,      ///< every part of the task (TaskPart) in the batch: the mean over its targets
};

template <>
struct config::EnumNames<LossPer> {
  static constexpr std::array<std::pair<std::string_view, LossPer>, 3> kNames{
      {{"target", LossPer::kTarget}, {"sequence", LossPer::kSequence}, {"part", LossPer::kPart}}};
};

/// What training minimises.
struct LossConfig {
  LossPer per = LossPer::kTarget;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("per", per,
          "what counts the same in the loss: every target, every sequence or every part of the "
          "task, however many targets it has");
  }
};

}  // namespace difflab
