#include "run/run_config.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "util/text.h"

namespace difflab {
namespace {

void check_kept(const TrainConfig& train, std::int64_t step, config::Check& check) {
  if (!train.stop_at.empty() || train.seconds > 0) {
    check.problem("at", concat("has step ", step, ", which may never come with train.",
                               train.seconds > 0 ? "seconds" : "stop_at",
                               "; expected none, which asks at the end"));
    return;
  }
  if (step == train.steps || (step < train.steps && train.keep_checkpoints.keeps(step))) return;
  check.problem(
      "at",
      concat("has step ", step, "; the checkpoints that train.keep_checkpoints keeps are ",
             train.keep_checkpoints.text(train.steps), ", and the last step is ", train.steps));
}

// Checks that each training that keeps an optimiser's state finds one of its own kind.
void check_optimizer_kept(const RunConfig& run, config::Check& check) {
  for (std::size_t i = 0; i <= run.stages.size(); ++i) {
    const bool own = i == run.stages.size();
    const auto& train = own ? run.train : run.stages[i].train;
    if (!train.keep_optimizer) continue;
    const auto key = own ? std::string("train") : concat("stages[", i, "].train");
    if (i == 0) {
      check.problem(key + ".keep_optimizer", "is true without a stage before; expected false");
    } else if (run.stages[i - 1].train.optimizer.index() != train.optimizer.index()) {
      check.problem(key + ".keep_optimizer",
                    "is true and the stage before has another optimizer; expected the same kind");
    }
  }
}

// The sequences without repetition may have parts; the first gets what the others leave.
void check_parts(const TaskConfig& task, std::int64_t size, const std::string& where,
                 config::Check& check) {
  const auto shares = std::visit([](const auto& kind) { return kind.part_shares(); }, task);
  auto left = size;
  double rest = 1;
  for (const auto& [key, share] : shares) {
    const auto rows = std::min<std::int64_t>(left, std::llround(share * static_cast<double>(size)));
    left -= rows;
    rest -= share;
    const bool is_lost = rows == 0 && share > 0, is_all = left == 0 && rest > 0;
    if (!is_lost && !is_all) continue;
    check.problem(
        concat(where, "task.", key),
        concat("is ", share, is_lost ? ", none" : ", all", " of the ", size,
               size == 1 ? " sequence" : " sequences",
               " that a batch has beside repetition; expected a larger train.batch_size"));
    return;
  }
}

// A share of so small a batch may be none of it, or all.
void check_mixture(const TaskConfig& task, const TrainConfig& train, const std::string& where,
                   config::Check& check) {
  const double share = std::visit([](const auto& kind) { return kind.recall_share; }, task);
  const auto size = train.batch_size;
  const auto repeated = std::llround(share * static_cast<double>(size));
  if (train.steps == 0 || share >= 1) return;
  if (share <= 0 || (repeated > 0 && repeated < size)) {
    return check_parts(task, size - (share > 0 ? repeated : 0), where, check);
  }
  check.problem(concat(where, "task.recall_share"),
                concat("is ", share, ", which is ", repeated == 0 ? "none" : "all", " of the ",
                       size, size == 1 ? " sequence" : " sequences", " of a batch; expected ",
                       repeated == 0 ? "0" : "1", ", or a larger train.batch_size"));
}

bool is_other_kind(const config::Value& said, const config::Value& part) {
  const auto* mine = said.find("kind");
  const auto* runs = part.find("kind");
  return mine != nullptr && (runs == nullptr || !(*mine == *runs));
}

// A part of the run under what a stage says of it, unless that is another kind of thing; the same
// of what the part consists of.
void put_under(const config::Value& part, config::Value& said) {
  if (!said.is_map() || is_other_kind(said, part)) return;
  auto whole = part;
  for (const auto& [key, inner, source] : said.entries()) {
    const auto* theirs = part.find(key);
    const bool are_maps = theirs != nullptr && theirs->is_map() && inner.is_map();
    if (are_maps && is_other_kind(inner, *theirs)) whole.erase(key);
  }
  config::merge(whole, said);
  said = std::move(whole);
}

}  // namespace

void RunConfig::validate(config::Check& check) const {
  if (precision == Precision::kBfloat16 && device == Device::kCpu && uses_kernels(kernels)) {
    check.problem("precision",
                  "is bfloat16, which the CPU kernels do not support; expected float32, or "
                  "device: cuda, or kernels: plain");
  }
  if (cuda_graph && device != Device::kCuda) {
    check.problem("cuda_graph", "is true without device: cuda; expected false");
  }
  if (cuda_graph && model.dropout > 0) {
    check.problem("cuda_graph",
                  concat("is true with model.dropout ", model.dropout,
                         ", which draws anew at every step; expected false, or no dropout"));
  }
  if (cuda_graph && train.recompute) {
    check.problem("cuda_graph",
                  "is true with train.recompute, which was never tried; expected one of the two");
  }
  check_optimizer_kept(*this, check);
  check_mixture(task, train, "", check);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    check_mixture(stages[i].task, stages[i].train, concat("stages[", i, "]."), check);
  }
  auto longest = sequence_length(task);
  std::set<std::string> names;
  for (std::size_t i = 0; i < evaluate.size(); ++i) {
    config::PartCheck nested(check, concat("evaluate[", i, "]."));
    const auto& asked = asked_task(evaluate[i], task);
    const auto& common = common_of(evaluate[i]);
    const auto name = result_name(evaluate[i], task);
    if (!names.insert(name).second) {
      nested.problem(common.name.empty() ? "kind" : "name",
                     concat("is ", name,
                            " for the second time; give each its own name, under which its result "
                            "is kept"));
    }
    for (const auto step : common.at) check_kept(train, step, nested);
    longest = std::max(longest, longest_sequence(evaluate[i], asked));
    std::visit([&](const auto& kind) { kind.validate_task(asked, nested); }, evaluate[i]);
    if (init_from.given() && std::holds_alternative<InitialGradientsConfig>(evaluate[i])) {
      nested.problem("kind",
                     "is initial_gradients with init_from, whose weights it does not look at; "
                     "expected none");
    }
  }
  for (const auto& stage : stages) longest = std::max(longest, sequence_length(stage.task));
  if (model.positions == Positions::kLearned && longest > model.max_positions) {
    check.problem("model.max_positions",
                  concat("is ", model.max_positions, " for sequences of ", longest,
                         " tokens in task or evaluation; expected at least as many"));
  }
}

template RunConfig config::read(const config::Value&, const std::string&, config::Problems&,
                                config::Range);
template config::Value config::write(RunConfig);
template std::vector<config::KeyTable> config::describe_keys<RunConfig>(std::string);

RunConfig read_run_config(const config::Value& config, const std::string& where) {
  return config::read<RunConfig>(config, where);
}

void complete_stages(config::Value& run) {
  auto* stages = run.find("stages");
  if (stages == nullptr || !stages->is_list()) return;
  for (auto& stage : stages->mutable_items()) {
    if (!stage.is_map()) continue;
    for (const char* key : {"task", "train"}) {
      if (run.find(key) == nullptr) continue;
      auto inherited = *run.find(key);
      for (const char* of_run : {"events", "stop_at", "seconds", "keep_optimizer"})
        inherited.erase(of_run);
      if (auto* said = stage.find(key)) {
        put_under(inherited, *said);
      } else {
        stage.set(key, std::move(inherited));
      }
    }
    const auto* theta = run.find_path("model.rope_theta");
    if (theta != nullptr && stage.find("rope_theta") == nullptr) stage.set("rope_theta", *theta);
  }
}

std::optional<RunConfig> earlier_run(const RunConfig& config) {
  if (config.stages.empty()) return std::nullopt;
  auto earlier = config;
  auto& stage = earlier.stages.back();
  earlier.task = stage.task;
  earlier.train = stage.train;
  earlier.model.rope_theta = stage.rope_theta;
  earlier.evaluate.clear();
  earlier.stages.pop_back();
  return earlier;
}

std::int64_t first_batch(const RunConfig& config) {
  std::int64_t steps = 0;
  for (const auto& stage : config.stages) steps += stage.train.steps;
  return steps;
}

}  // namespace difflab
