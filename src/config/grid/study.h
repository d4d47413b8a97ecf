#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/compose/compose.h"
#include "config/interpolate/interpolate.h"
#include "config/override/override_value.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// Follows how one point is composed, file by file and override by override.
struct Watch {
  std::size_t point = 0;
  Observer observer;
};

/// Input of compose_study.
struct StudyRequest {
  SearchPath search_path;           ///< SearchPath::of_project(root)
  std::string experiment;           ///< "headline" for experiments/headline.yaml, "" for none
  std::vector<Override> overrides;  ///< "preset=smoke", "train.steps=20", "seed=range(3)"
  /// The top-level keys of a run and of the study, e.g. field_names<RunConfig>(). The keys sweep,
  /// presets, preset and vars are known here. Any other top-level key is a problem.
  std::vector<std::string> run_keys;
  std::vector<std::string> study_keys;
  /// Keys of a run that may hold the time and the like, as they are no part of its identity.
  std::vector<std::string> keys_without_effect = {};
  /// Tells from the study keys whether keys of the runs are set later (see Written).
  std::function<bool(const Value& settings)> keeps_written = {};
  std::optional<std::time_t> start = {};  ///< what ${now:…} stands for in all runs
  Watch watch = {};
};

/// A run before interpolation, with all that its keys are interpolated from.
struct Written {
  Value tree;
  std::vector<std::string> keys;  ///< of the run
  Facts facts;

  /// The run's keys where these have other values, as if they had been written so: what refers to
  /// them follows.
  Value with(const std::vector<std::pair<std::string, Value>>& changes, Problems& problems) const;
};

/// A map of these keys of a tree alone, which has them.
Value part_of(Value tree, const std::vector<std::string>& keys);

/// One run of a study.
struct Point {
  /// Axis → label, in sweep order. The label of a key that other parts of a union sweep over is
  /// its value here, "" if no file gives it one.
  std::vector<std::pair<std::string, std::string>> axes;
  Value config;                                      ///< the run keys, composed and interpolated
  std::shared_ptr<const Written> written = nullptr;  ///< if the request asked for it
};

/// An experiment with its preset, ready to be read and run.
struct Study {
  std::string experiment;
  std::string preset;         ///< the chosen one, "default" if the experiment has no presets
  std::string file = "";      ///< the experiment's own, as sources name it; "" without one
  Value settings;             ///< the study keys, composed and interpolated
  std::vector<Axis> axes;     ///< in sweep order; of a union, one axis for each key
  std::vector<Point> points;  ///< in sweep order, the last axis fastest
  /// The overrides beside preset=…: what makes this study differ from the files.
  std::vector<Override> changes;
  /// Axes of the files and the preset, whatever the command line makes of the sweep; of a union,
  /// one for each part. An axis that some parts lack has no values here, as those write none.
  std::vector<Axis> written_axes = {};
  bool is_narrowed = false;                         ///< the command line changes axes of the files
  std::map<std::string, std::string> choices = {};  ///< group → option, where it is not swept over
  std::vector<std::string> notes =
      {};  ///< what a preset changes that the file sets, a sentence each
};

/// Composes configs/config.yaml, the experiment, the preset and the overrides into all runs of a
/// study. Every problem of every point goes to `problems`; without any the study is complete.
Study compose_study(const StudyRequest& request, Problems& problems);

}  // namespace difflab::config
