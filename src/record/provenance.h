#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "record/run_directory.h"
#include "util/files.h"
#include "util/other_load.h"

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

  /// Adds where a training that was taken from another run came from ("training").
  void note_training(const RunDirectory& other);

  /// What is another than in the session before, "commit a1b2 → c3d4", of what numbers depend on;
  /// empty if nothing is, or there was none.
  std::string change() const;

  /// What the file says so far, earlier sessions aside, with now as the time of the end.
  Json so_far() const;

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

/// All that a run's numbers come from: its last session, those before, and those of the training
/// that it took from another run, each with its own facts.
std::vector<Json> sessions_of(const Json& provenance);

/// A provenance's "started" or "finished"; nothing if it does not say, or not as we write it.
std::optional<std::time_t> recorded_time(const Json& provenance, const char* key);

/// Seconds from "started" to "finished", whole ones, of the last session alone; nothing if it does
/// not say both in this order.
std::optional<double> session_seconds(const Json& provenance);

/// The processor's name as the system tells it, "unknown" if it does not.
const std::string& processor();

/// {"commit", "dirty", "diff_sha256"} of the sources the programs run from (DIFFLAB_ROOT), each
/// null if git cannot tell; with DIFFLAB_PROJECT also "project", its "commit" and "dirty". Asked
/// once per process and inherited by forked workers.
const Json& source_state();

}  // namespace difflab
