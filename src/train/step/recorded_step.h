#pragma once

#include <memory>

#include "train/step/step.h"

namespace difflab {

/// Steps done one by one before the next is recorded: in the first ones the library looks up its
/// routines and sets up their memory, which a graph cannot hold.
constexpr int kStepsBeforeRecording = 3;

/// Steps on a CUDA device whose operations are recorded as a graph, after a few done one by one,
/// and then launched as one: small models else wait for the launches of some hundred kernels. One
/// graph for each number of questions that a batch asks, up to eight; batches with others go on one
/// by one.
/// @throws UserError if difflab was built without CUDA's headers.
std::unique_ptr<Step> recorded_step(LanguageModel& model, Optimizer& optimizer,
                                    const TrainConfig& config);

}  // namespace difflab
