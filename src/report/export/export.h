#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/planned_run.h"

namespace difflab::report {

/// A run whose curves are handed to another program.
struct ExportedRun {
  std::string id;
  std::string label;
  Axes axes;
  RunDirectory directory;
};

/// The lines of every run's metrics.jsonl in long form: the columns run, one for each key that is
/// varied, step, metric, value. Numbers have the digits of metrics.jsonl; null is an empty cell.
/// @throws UserError if metrics are damaged.
std::string metrics_csv(const std::vector<ExportedRun>& runs);

/// Writes FOLDER/NAME/ for each run with its curves as scalars of TensorBoard (tensorboard.h).
/// NAME is the label with what no file name should hold replaced by _, and the id behind it where
/// two runs would share one. An event file is there as a whole or not at all; an export to the same
/// folder replaces it. @throws UserError
void export_tensorboard(const std::vector<ExportedRun>& runs, const std::filesystem::path& folder);

/// Names of the folders of export_tensorboard, in the order of the runs.
std::vector<std::string> folder_names(const std::vector<ExportedRun>& runs);

}  // namespace difflab::report
