#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab {

/// The folder of one run, results/runs/<id>/. The run itself is its only writer; everybody else
/// only reads. It is complete when result.json exists, which is written last and in one piece.
struct RunDirectory {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.yaml"; }
  std::filesystem::path provenance() const { return path / "provenance.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path checkpoint() const { return path / "checkpoint.safetensors"; }
  std::filesystem::path events() const { return path / "events.log"; }  ///< event_log.h
  std::filesystem::path log() const { return path / "log.txt"; }
  std::filesystem::path claims() const { return path / "claims"; }  ///< who works on it: lease.h
  std::filesystem::path status() const { return path / "status.json"; }
  std::filesystem::path result() const { return path / "result.json"; }
  /// Answers of the trained model so far, one file per evaluation (record/answers.h).
  std::filesystem::path answers() const { return path / "answers"; }
  /// Numbers, rows and lines that the reference NAME has of a run that was restored from another
  /// reference. Reports of studies of that name look at these.
  std::filesystem::path restored(const std::string& name) const {
    return path / "restored" / (name + ".json");
  }
  /// Checkpoints that are kept (train.keep_checkpoints), one file a step.
  std::filesystem::path kept() const { return path / "checkpoints"; }
  std::filesystem::path kept(std::int64_t step) const {
    return kept() / (std::to_string(step) + ".safetensors");
  }
};

/// Makes the folder with its config.yaml, unless it holds that very text already. The name is
/// certain to outlast a crash once the result's is.
void write_config(const RunDirectory& run, const std::string& text);

/// Throws unless this process may write whatever of the run's files and folders is there: a
/// colleague's may be closed to it. @throws UserError naming the file and its permissions.
void require_own_files(const RunDirectory& run);

/// The files' contents, nothing if a file is missing. A result that is no JSON object of a known
/// schema is an error. @throws UserError naming the file.
std::optional<Json> read_result(const RunDirectory& run);
std::optional<Json> read_provenance(const RunDirectory& run);
/// A status is only news: one that cannot be read counts as none.
std::optional<Json> read_status(const RunDirectory& run);

/// True if the run was restored from a reference and has no model.
bool is_restored(const RunDirectory& run);

/// The lines of metrics.jsonl; a last line that a crash left torn is not among them.
std::vector<Json> read_metrics(const RunDirectory& run);

/// Written into every result.json; a reader refuses others.
constexpr std::int64_t kResultSchema = 1;

}  // namespace difflab
