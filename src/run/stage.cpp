#include "run/stage.h"

#include <utility>

#include "run/run_config.h"

namespace difflab {
namespace {

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
