#pragma once

#include <optional>
#include <string>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// Answer of a trained model to one evaluation: answers/ID.json in the folder of a run, written in
/// one piece as soon as it is known. An evaluation that fails, or a process that is killed, thus
/// loses only answers that were not given yet, and a run with the same training need not ask again.
struct Answer {
  std::string id;   ///< of training, evaluation and task: run/identity.h
  Json evaluation;  ///< its configuration without its name
  Json metrics;     ///< without the evaluation's name before theirs
  Json details;
  Json provenance;  ///< code, machine and time of the asking
};

/// The detail of an answer that names its metrics that are NaN or infinite.
inline constexpr const char* kNotFinite = "not_finite";

/// The answer of this id in a run's folder. One that is damaged or of another version counts as
/// none: it is asked again.
std::optional<Answer> read_answer(const RunDirectory& run, const std::string& id);

/// Not synced: after a power cut an answer may be asked again, the result holds what is needed.
/// @throws UserError if it cannot be written.
void write_answer(const RunDirectory& run, const Answer& answer);

}  // namespace difflab
