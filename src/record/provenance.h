#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/run_directory.h"
#include "util/files.h"
#include "util/timing.h"

namespace difflab {

/// provenance.json: where a result came from. Code identity is beside the result, not in it, so
/// that it never stands in the way of comparing two results.
class Provenance {
 public:
  /// Writes the file with what is known at the start: commit, whether the tree differs from it and
  /// how (hash of the difference), compiler, build type, CPU, host, threads, seed, time, and
  /// `facts` that only a program with LibTorch knows: "libtorch", "device", …. A run that is
  /// continued keeps its earlier sessions as a list.
  Provenance(const RunDirectory& directory, std::int64_t threads, std::int64_t seed,
             const Json& facts);

  /// Adds a fact.
  void note(const std::string& key, const Json& value);

  /// Keeps a fact that the session before noted, if it did.
  void keep(const std::string& key);
  void drop(const std::string& key);

  /// Adds what the numbers of another run come from, on which this one builds: "training", which it
  /// took, or "stage", from which it goes on.
  void note_origin(const std::string& key, const RunDirectory& other);

  /// Facts that numbers depend on and that differ from the session before, "commit a1b2 → c3d4";
  /// empty if none differs, or there was no session before.
  std::string change() const;

  /// Content of the file so far, without earlier sessions, with now as the time of the end.
  Json so_far() const;

  /// Adds the time at which the session ended before the run did ("stopped").
  void stop();

  /// Adds the time of the end, and how many cores other processes have kept busy meanwhile
  /// ("cores_busy_elsewhere"), which is what times of the run are worth. To be followed by the
  /// result, with which its name gets on the disk.
  void finish();

 private:
  void write(Sync sync) const;

  RunDirectory directory_;
  Json json_;
  OtherLoad others_ = {};
};

/// Under this key a provenance has {"first_batch", "initial_weights"}, hashes of what training
/// began with (train/tensor_file.h).
constexpr const char* kFingerprints = "fingerprints";

/// All that a run's numbers come from: its last session, those before, and those of the training
/// that it took from another run or of the stage that it went on from, each with its own facts.
std::vector<Json> sessions_of(const Json& provenance);

/// A provenance's "started" or "finished"; nothing if it does not say, or not as we write it.
std::optional<std::time_t> recorded_time(const Json& provenance, const char* key);

/// Seconds from "started" to "finished" or "stopped", whole ones, of the last session alone;
/// nothing if it does not say both in this order.
std::optional<double> session_seconds(const Json& provenance);

/// True if libraries compute otherwise by this variable of the environment.
bool is_numeric_variable(std::string_view name);

/// The variables of the environment that make libraries compute otherwise, "MKL_CBWR=COMPATIBLE …",
/// as a provenance has them under "environment"; empty if none is set.
std::string numeric_environment();

/// The processor's name as the system tells it, "unknown" if it does not.
const std::string& processor();

/// {"commit", "dirty", "diff_sha256"} of the sources the programs run from (DIFFLAB_ROOT), each
/// null if git cannot tell; with DIFFLAB_PROJECT also "project", its "commit" and "dirty". Asked
/// once per process and inherited by forked workers; not asked by a program that was told, see
/// hand_on_source_state.
const Json& source_state();

/// Tells the programs that this one starts what source_state() is, in DIFFLAB_SOURCE_STATE. The
/// sources may change while a sweep runs, and a worker program that starts then is still what was
/// built before. Only `program` as it is now believes it: one that is built anew asks for itself.
void hand_on_source_state(const std::filesystem::path& program);

/// Source state that `program` was told; nothing if it was not told or has been built anew.
std::optional<Json> handed_source_state(const std::filesystem::path& program);

}  // namespace difflab
