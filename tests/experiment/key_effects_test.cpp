// Every key of a run, changed once: what has an effect must be seen in its curve, its result or its
// weights, or the key does nothing. A new key needs a line in kChanges (key_changes.h), or one in
// kAside that says where it is tested.
#include "experiment/key_changes.h"
#include "record/safetensors.h"
#include "run/run_config.h"
#include "support/small_runs.h"
#include "util/hash.h"

namespace difflab {
namespace {

using config::Value;
using testing::Change, testing::changes, testing::kAside, testing::kBases;

Value value_of(const std::string& json) { return config::from_json(Json::parse(json)); }

Value base_value(const std::string& name) {
  auto value = value_of(kBases.at("plain"));
  auto over = value_of(kBases.at(name));
  for (const char* part : {"task", "model"}) {  // keys of another kind are not those of this one
    auto* mine = over.find(part);
    if (mine != nullptr && mine->find("kind") != nullptr) value.erase(part);
  }
  if (over.find_path("model.attention.kind") != nullptr) value.find("model")->erase("attention");
  config::merge(value, over);
  return value;
}

RunConfig read_run(Value value) {
  complete_stages(value);
  return config::read<RunConfig>(value, "test");
}

/// All that a run leaves, but for its name and for times.
std::string left_by(const RunConfig& config) {
  const testing::Results results;
  const auto run = results.run(config);
  const auto outcome = testing::outcome_of(run);
  const auto weights = Safetensors::read(run.checkpoint());
  std::string shapes;
  for (const auto& tensor : weights.tensors()) shapes += tensor.name + Json(tensor.shape).dump();
  return sha256_hex(outcome.metrics.dump() + outcome.result.at("metrics").dump() +
                    outcome.result.at("evaluations").dump() + shapes + sha256_hex(weights.data()));
}

Value changed(const Change& change) {
  auto value = config::write(read_run(base_value(change.base)));
  const std::string path = change.path;
  const auto to = value_of(change.value);
  if (path == "stages") {  // as people write it
    value.set("stages", to);
  } else if (path.ends_with(".kind")) {
    auto other = Value::map();
    other.set("kind", to);
    *value.find_path(path.substr(0, path.size() - 5)) = other;
  } else {
    auto* place = value.find_path(path);
    CATCH_REQUIRE(place != nullptr);
    *place = to;
  }
  return value;
}

CATCH_TEST_CASE("every key that is said to have an effect has one") {
  std::map<std::string, std::string> of_base;
  for (const auto& change : changes()) {
    CATCH_INFO(change.base << ": " << change.path << " = " << change.value);
    auto& base = of_base[change.base];
    if (base.empty()) base = left_by(read_run(base_value(change.base)));
    const auto config = read_run(changed(change));
    CATCH_CHECK(run_id(config) != run_id(read_run(base_value(change.base))));
    CATCH_CHECK(left_by(config) != base);
  }
}

void collect_keys(const Value& value, const std::string& path, std::set<std::string>& keys) {
  if (value.is_map() && !value.entries().empty()) {
    for (const auto& entry : value.entries()) {
      collect_keys(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
    }
  } else if (value.is_list() && !value.items().empty() && value.items()[0].is_map()) {
    collect_keys(value.items()[0], path + "[0]", keys);
  } else {
    keys.insert(path);
  }
}

template <class... Kinds>
std::set<std::string> names_of(std::type_identity<std::variant<Kinds...>>) {
  return {std::string(Kinds::kKind)...};
}

CATCH_TEST_CASE("every kind of task, attention and optimizer is among these runs") {
  auto tasks = names_of(std::type_identity<TaskConfig>{});
  auto attentions = names_of(std::type_identity<AttentionConfig>{});
  auto optimizers = names_of(std::type_identity<OptimizerConfig>{});
  for (const auto& [name, text] : kBases) {
    const auto run = config::write(read_run(base_value(name)));
    const auto kind_at = [&](std::string_view path) { return run.find_path(path)->as_string(); };
    tasks.erase(kind_at("task.kind"));
    attentions.erase(kind_at("model.attention.kind"));
    optimizers.erase(kind_at("train.optimizer.kind"));
  }
  CATCH_CHECK(tasks == std::set<std::string>{});
  CATCH_CHECK(attentions == std::set<std::string>{});
  CATCH_CHECK(optimizers == std::set<std::string>{});
}

CATCH_TEST_CASE("no key of these runs is left out, and those without effect have none") {
  const auto all = changes();
  for (const auto& [name, text] : kBases) {
    CATCH_INFO(name);
    std::set<std::string> keys;
    collect_keys(config::write(read_run(base_value(name))), "", keys);
    for (const auto& key : keys) {
      // What a stage holds is a task and a training; a kind's own keys are looked at with that
      // kind.
      if (key.starts_with("stages[0].") || key.ends_with(".kind") || kAside.contains(key)) continue;
      CATCH_INFO(key);
      CATCH_CHECK(std::any_of(all.begin(), all.end(),
                              [&](const Change& change) { return change.path == key; }));
    }
  }
  const auto base = left_by(read_run(base_value("plain")));
  for (const auto& [path, value] :
       std::map<std::string, std::string>{{"model.name", R"("another")"},
                                          {"train.recompute", "true"},
                                          {"train.checkpoint_seconds", "0"},
                                          {"train.checkpoint_steps", "1"},
                                          {"train.keep_checkpoints", "[1, 3]"}}) {
    CATCH_INFO(path);
    const auto free = keys_without_effect();
    CATCH_CHECK(std::find(free.begin(), free.end(), path) != free.end());
    CATCH_CHECK(left_by(read_run(changed({"plain", path.c_str(), value.c_str()}))) == base);
  }
}

}  // namespace
}  // namespace difflab
