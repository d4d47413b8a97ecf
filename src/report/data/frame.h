#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/planned_run.h"
#include "record/status.h"
#include "report/data/config_types.h"
#include "report/data/derived.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::report {

struct LearnedConfig;

/// The value of one axis, "" if there is no such axis.
std::string value_of_axis(const Axes& axes, std::string_view name);

/// "not run" of one that is new to a sweep.
std::string_view shown(RunState state);

/// One run with what its directory holds.
struct FrameRun {
  PlannedRun plan;
  RunState state = RunState::kNew;
  std::optional<double> diverged_at;  ///< step
  std::string message;                ///< why it failed
  Json result;                        ///< null unless there is one
  Json provenance = Json::object();   ///< {} if there is none
  std::vector<Json> curve;            ///< lines of metrics.jsonl; empty unless there is a result
  std::vector<Json> looks;            ///< of cells_of_looks; empty unless the report asks

  bool has_result() const { return is_complete(state); }
  std::string axis(std::string_view name) const;  ///< the value, "" if there is no such axis
  /// A metric of the result; empty if it is missing, null or not a number.
  std::optional<double> metric(std::string_view key) const;
  /// The bound that a null metric is known to exceed.
  std::optional<double> censored_above(std::string_view key) const;
  /// The metric, or the bound that it is known to exceed.
  std::optional<double> reached(std::string_view key) const;
  /// The value at a dotted path of the configuration; null pointer if there is none.
  const Json* config(std::string_view path) const;
  std::string setting(std::string_view path) const;  ///< the same as text; "" if there is none
};

/// Reads the directories of the runs. A directory that cannot be read makes its run failed, with
/// the reason as its message; it never stops the report.
/// @param study whose report it is; of a run that several references hold, it sees its own rows
std::vector<FrameRun> read_runs(const std::vector<PlannedRun>& runs, const std::string& study = "");

/// One row of numbers: a cell of an evaluation, a line of metrics.jsonl, or a result's metrics.
struct Observation {
  const FrameRun* run = nullptr;
  const Json* fields = nullptr;
  bool of_curve = false;  ///< a line of metrics.jsonl

  /// The value of a key: of the row itself, an axis, a metric of the result or a path of the
  /// configuration, in this order; null if none has it. An axis value that reads as a number is
  /// one.
  Json value(std::string_view key) const;
  /// The measured number: from the row itself if it is a cell or a line of the curve, where a
  /// missing key means that nothing was measured; otherwise from the result.
  std::optional<double> measured(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< numbers in their shortest form
};

/// True if the row has the values of `where`.
bool matches(const Observation& row, const TextMap& where);

/// The runs of a study in sweep order.
class Frame {
 public:
  /// Adds to every run with a result whether it has learned, and the derived metrics.
  Frame(std::vector<FrameRun> runs, std::string baseline, const LearnedConfig& learned,
        const std::vector<DerivedConfig>& derived, const TimesConfig& times = {});

  const std::vector<FrameRun>& runs() const { return runs_; }
  std::vector<const FrameRun*> all_runs() const;
  const std::vector<std::string>& axes() const { return axes_; }
  bool has_axis(std::string_view name) const;
  std::vector<std::string> values(std::string_view axis) const;  ///< distinct, in sweep order
  const std::string& baseline() const { return baseline_; }
  const TimesConfig& times() const { return times_; }  ///< how they are compared

  /// Rows of runs that have a result: the cells of evaluation `source`, or the curve if `curve`,
  /// or one row of metrics per run; only those that match `where`.
  std::vector<Observation> observations(const std::string& source, bool curve,
                                        const TextMap& where) const;

  /// True if the two runs agree in all axes except `but`.
  bool are_partners(const FrameRun& a, const FrameRun& b,
                    const std::vector<std::string>& but) const;

 private:
  std::vector<FrameRun> runs_;
  std::vector<std::string> axes_;
  std::string baseline_;
  TimesConfig times_;
};

/// Chance levels of a metric, distinct and ascending, from the results' "<metric>_chance".
std::vector<double> chance_in(const std::vector<const FrameRun*>& runs, std::string_view metric);

/// Under these names figures find what looks for events saw (train/event_watch.h): a cell for every
/// look, {"step", "valid_accuracy", …}, and one for every look and layer, {"step", "layer",
/// "lambda"}.
constexpr const char* kLooks = "looks";
constexpr const char* kLambda = "lambda";
inline bool is_of_looks(const std::string& source) { return source == kLooks || source == kLambda; }
std::vector<Json> cells_of_looks(const Json& looks);

/// The cells of evaluation `source` of a run that match `where`; none if it has no such evaluation.
std::vector<Observation> cells_of(const FrameRun& run, const std::string& source,
                                  const TextMap& where);

/// Texts that a run's models wrote (evaluation sample_text, under any name): the evaluation's name
/// and its samples, each with `prompt` and `text`, and `step` if it was asked at steps.
std::vector<std::pair<std::string, const Json*>> texts_in(const Json& result);

/// Evaluation → how many questions lost the beginning of their context; only those with any.
std::map<std::string, std::int64_t> cut_contexts(const FrameRun& run);

/// The axis over which results are averaged; runs that differ only in it are repetitions.
constexpr std::string_view kSeedAxis = "seed";

/// The axes of a run but its seed: those of its cell, which its repetitions share.
Axes without_seed(Axes axes);

/// The number that all of `text` spells, if it does.
std::optional<double> parse_number(std::string_view text);

/// The references that runs beside new ones were restored from, e.g. {"headline", 140}; none if all
/// runs were: a reference is the same whether it was restored or not.
std::map<std::string, std::size_t> restored_beside_new(const Frame& frame);

/// True if two values of an axis are the same, as text or as numbers: 0.5 and .5 are.
bool is_same_value(std::string_view a, std::string_view b);

/// Appends what is not there yet.
void add_new(auto& list, auto value) {
  if (!is_among(value, list)) list.push_back(std::move(value));
}

/// The value at a dotted path, keys with dots in them first; null pointer if there is none.
const Json* at_path(const Json& json, std::string_view path);

/// The finite number that stands there, if one does.
std::optional<double> number_at(const Json& json, std::string_view path);

/// A text as it is, numbers in their shortest form, everything else as JSON.
std::string text_of(const Json& value);

/// The value of a key as text or JSON; "" if it is missing or null.
std::string told_at(const Json& object, const char* key);

}  // namespace difflab::report
