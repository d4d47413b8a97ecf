#include "study/expected_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "config/value/yaml.h"
#include "model/cost.h"
#include "record/provenance.h"
#include "run/input_files.h"
#include "util/terminal/terminal.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

// At most this many earlier runs are read, the newest.
constexpr std::size_t kMostRuns = 60;
// Largest ratio of operations at which one training tells the time of another: evaluations take
// time, too.
constexpr double kAlike = 4;

// Floating-point operations of a whole training: the causal forward pass counted by count_flops,
// times three for the backward pass, over all sequences of all steps, those of its stages too.
// Evaluations are left out; sequences count as the longest if there are several lengths.
double training_operations(const RunConfig& config, std::int64_t vocab_size) {
  const auto forward =
      count_flops(config.model, vocab_size, sequence_length(config.task), Masking::kCausal).total();
  const auto earlier = earlier_run(config);
  // Forward, twice as much back, and what is computed once more.
  const auto layers = static_cast<double>(config.model.layers);
  const double passes = config.train.recompute ? 4 - 1 / layers : 3;
  return passes * static_cast<double>(forward) * static_cast<double>(config.train.batch_size) *
             static_cast<double>(config.train.steps) +
         (earlier ? training_operations(*earlier, vocab_size) : 0.0);
}

// How long a run took that was executed in one go; nothing if it was not.
std::optional<double> wall_seconds(const Json& provenance) {
  if (provenance.contains("earlier_sessions")) return std::nullopt;
  if (provenance.contains("trained_in")) return std::nullopt;  // it only asked
  const auto seconds = session_seconds(provenance);
  if (!seconds) return std::nullopt;
  return std::max(1.0, *seconds);  // they are written in whole seconds
}

std::vector<fs::path> newest_runs(const fs::path& results) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator entry(results / "runs", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto time = fs::last_write_time(entry->path() / "result.json", error);
    if (!error) found.emplace_back(time, entry->path());
    error.clear();
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> paths;
  for (auto& [time, path] : found) {
    if (paths.size() == kMostRuns) break;
    if (!is_restored({path})) paths.push_back(std::move(path));  // those took their time elsewhere
  }
  return paths;
}

// Settings that must be equal for one run to tell how long another takes.
Json circumstances(const Json& config) {
  return {config.at("evaluate"),
          config.at("threads"),
          config.at("device"),
          config.at("kernels"),
          config.value("precision", "float32"),
          config.value("cuda_graph", false)};
}

// Seconds per operation of an earlier run that is like these; nothing if it is not, or if its files
// do not say.
std::optional<double> pace_of(const fs::path& path, const sweep::Run& like) {
  try {
    const RunDirectory run{path};
    const auto provenance = read_provenance(run);
    if (!provenance || provenance->value("cpu", "") != processor()) return std::nullopt;
    const auto seconds = wall_seconds(*provenance);
    if (!seconds) return std::nullopt;
    const auto tree = config::load_yaml(run.config());
    if (circumstances(config::to_json(tree)) != circumstances(like.config)) return std::nullopt;
    const auto config = read_run_config(tree);
    const double operations = training_operations(config, vocab_size_of(config));
    const bool is_alike =
        operations < kAlike * like.operations && like.operations < kAlike * operations;
    return is_alike ? std::optional(*seconds / operations) : std::nullopt;
  } catch (const std::exception&) {  // of another version, damaged, without its text …
    return std::nullopt;
  }
}

std::string clock_after(double seconds) {
  const auto end = std::time(nullptr) + static_cast<std::time_t>(seconds);
  constexpr double kHalfDay = 12 * 3600;
  return seconds < kHalfDay ? fmt::format("{:%H:%M}", fmt::localtime(end))
                            : fmt::format("{:%F %H:%M}", fmt::localtime(end));
}

}  // namespace

void count_operations(const Study& study, std::vector<sweep::Run>& runs) {
  for (auto& run : runs) {
    const auto& config = study.config_of(run);
    run.operations = training_operations(config, vocab_size_of(config));
  }
}

std::string expected_end(const Study& study, const std::vector<sweep::Run>& to_run, int workers) {
  if (to_run.empty()) return "now";
  std::vector<double> paces;
  const auto& like = to_run[to_run.size() / 2];
  for (const auto& path : newest_runs(study.results)) {
    if (const auto pace = pace_of(path, like)) paces.push_back(*pace);
  }
  if (paces.empty()) return "not known: no run like these has been finished here";
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::nth_element(paces.begin(), middle, paces.end());
  double all = 0, longest = 0;
  for (const auto& run : to_run) {
    all += run.operations;
    longest = std::max(longest, run.operations);
  }
  // The last runs may leave a worker without work: half of the longest, on average.
  const double seconds =
      *middle * std::max(longest, all / workers + (workers > 1 ? longest / 2 : 0));
  return fmt::format("in about {}, at {}, as {} {} like these took here", format_duration(seconds),
                     clock_after(seconds), paces.size(), paces.size() == 1 ? "run" : "runs");
}

}  // namespace difflab::study
