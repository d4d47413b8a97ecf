#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "record/planned_run.h"
#include "util/json.h"

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

/// Writes FOLDER/NAME/ for each run with its curves as scalars of TensorBoard. NAME is
/// the label with what no file name should hold replaced by _, and the id behind it where two runs
/// would share one. An event file is there as a whole or not at all; an export to the same folder
/// replaces it. @throws UserError
void export_tensorboard(const std::vector<ExportedRun>& runs, const std::filesystem::path& folder);

/// Names of the folders of export_tensorboard, in the order of the runs.
std::vector<std::string> folder_names(const std::vector<ExportedRun>& runs);

/// The bytes of an event file of TensorBoard with the numbers of these metrics lines as scalars,
/// tagged with their names; what is no number (null, a text) is left out. TensorBoard keeps scalars
/// as 32-bit floats.
/// @param start seconds since 1970 when the run began. An event's time is that and its
///   train_seconds: pauses between two sessions of a run do not count.
std::string event_file(const std::vector<Json>& lines, double start);

/// A record of a TFRecord file: length (8 bytes), masked CRC-32C of it (4), the bytes, masked
/// CRC-32C of them (4), all little-endian.
std::string framed(std::string_view bytes);

}  // namespace difflab::report
