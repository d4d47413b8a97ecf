// Every key of a run, changed once: what has an effect must be seen in its curve, its result or its
// weights, or the key does nothing. A new key needs a line in kChanges, or one in kAside that says
// where it is tested.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "record/safetensors.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "run/stage.h"
#include "support/catch.h"
#include "support/small_runs.h"
#include "util/hash.h"

namespace difflab {
namespace {

using config::Value;

Value value_of(const std::string& json) { return config::from_json(Json::parse(json)); }

// Runs of 4 steps that differ in what they leave to be changed, laid on `plain`.
const std::map<std::string, std::string> kBases{
    {"plain", R"({
        "model": {"d_model": 16, "layers": 2, "attention": {"kind": "diff_v1", "heads": 1}},
        "task": {"kind": "needle_recall", "needle": {"length": 24, "needles": 2, "noise_tokens": 8,
                 "keys": 4, "values": 4}},
        "train": {"steps": 4, "batch_size": 4, "warmup_steps": 2, "eval_every": 2, "eval_samples": 8},
        "evaluate": [{"kind": "heldout", "samples": 16}]})"},
    {"pairs", R"({"model": {"attention": {"heads": 2, "kv_heads": 1}}})"},
    {"learned", R"({"model": {"positions": "learned", "max_positions": 40}})"},
    {"diff_v2", R"({"model": {"attention": {"kind": "diff_v2", "heads": 2}}})"},
    {"diff_v2 rms",
     R"({"model": {"attention": {"kind": "diff_v2", "heads": 2, "head_norm": "rms"}}})"},
    {"softmax", R"({"model": {"attention": {"kind": "softmax", "heads": 2}}})"},
    {"softmax rms",
     R"({"model": {"attention": {"kind": "softmax", "heads": 2, "head_norm": "rms"}}})"},
    {"decay", R"({"train": {"schedule": "warmup_stable_decay"}})"},
    {"event", R"({"train": {"event_every": 1, "event_samples": 4,
                  "events": [{"name": "low", "metric": "valid_loss", "at_most": 100}]}})"},
    {"far", R"({"train": {"event_every": 1, "events": [{"name": "low", "metric": "valid_loss",
                                                        "at_most": 0.9}]}})"},
    {"two looks", R"({"train": {"event_every": 1, "event_samples": 4, "eval_every": 1,
                  "events": [{"name": "up", "at_least": 0, "in_a_row": 2}]}})"},
    {"muon", R"({"train": {"optimizer": {"kind": "muon"}}})"},
    {"sgd", R"({"train": {"optimizer": {"kind": "sgd"}}})"},
    {"groups", R"({"train": {"groups": [{"match": "*.attn.*", "lr_scale": 0.5,
                                         "weight_decay": 0.2}]}})"},
    {"stage", R"({"stages": [{"train": {"steps": 3}}]})"},
    {"kept", R"({"train": {"keep_checkpoints": [2]}})"},
    {"library", R"({"kernels": "plain"})"},
    {"needles", R"({"task": {"kind": "needle", "length": 24, "needles": 2, "noise_tokens": 8,
                    "keys": 4, "values": 4}})"},
    {"repeated", R"({"task": {"kind": "recall", "length": 24, "vocab_size": 20}})"},
    {"sentences", R"({"task": {"kind": "text_needle", "generated_characters": 20000, "length": 220,
                      "needles": 2, "digits": 3}})"},
    {"mqar", R"({"task": {"kind": "mqar", "length": 24, "vocab_size": 32, "pairs": 3}})"},
    {"noisy", R"({"task": {"kind": "noisy_recall", "length": 24, "keys": 4, "values": 6}})"},
    {"fuzzy", R"({"task": {"kind": "fuzzy_recall", "pairs": 3, "queries": 1, "longest": 2,
                  "key_tokens": 5, "value_tokens": 5}})"},
    {"world", R"({"task": {"kind": "associative_needle", "length": 24, "needles": 2, "things": 6,
                  "names": 6, "noise_tokens": 6}})"},
    {"cycle", R"({"task": {"kind": "k_hop", "nodes": 5, "hops": 3, "questions": 3, "names": 8}})"},
    {"names", R"({"task": {"kind": "variable_tracking", "length": 24, "chains": 2, "hops": 1,
                  "names": 8, "values": 6, "noise_tokens": 6}})"},
    {"words", R"({"task": {"kind": "common_words", "length": 24, "words": 12, "asked": 1}})"},
    {"copy", R"({"task": {"kind": "selective_copy", "length": 24, "copied": 4, "symbols": 6}})"},
    {"context", R"({"task": {"kind": "context_qa", "facts": 4, "questions": 2, "entities": 6,
                    "attributes": 6, "values": 8}})"},
    {"shots", R"({"task": {"kind": "in_context", "classes": 2, "shots": 4, "features": 2,
                  "symbols": 8, "labels": 4}})"},
    {"text", R"({"task": {"kind": "text", "length": 16, "generated_characters": 5000}})"}};

struct Change {
  const char *base, *path, *value;
};

const std::vector<Change> kChanges{
    {"plain", "seed", "1"},
    {"plain", "model.d_model", "32"},
    {"plain", "model.layers", "1"},
    {"plain", "model.block", R"("nano")"},
    {"plain", "model.ffn_hidden", "24"},
    {"plain", "model.norm_eps", "0.1"},
    {"plain", "model.positions", R"("none")"},
    {"plain", "model.rope_theta", "50"},
    {"plain", "model.rope_layout", R"("halves")"},
    {"learned", "model.max_positions", "64"},
    {"plain", "model.tied_head", "true"},
    {"plain", "model.dropout", "0.3"},
    {"plain", "model.init_std", "0.05"},
    {"plain", "model.embedding_std", "0.5"},
    {"plain", "model.embedding_scale", R"("sqrt_width")"},
    {"plain", "model.init.embedding", R"("unit")"},
    {"plain", "model.init.matrices", R"("xavier")"},
    {"plain", "model.init.qkv_gain", "0.5"},
    {"plain", "model.init.residual", R"("depth")"},
    {"plain", "model.init.output", R"("zero")"},
    {"plain", "model.attention.kind", R"("diff_v2")"},
    {"plain", "model.attention.heads", "2"},
    {"pairs", "model.attention.kv_heads", "2"},
    {"plain", "model.attention.head_norm", R"("group")"},
    {"plain", "model.attention.post_scale", "false"},
    {"plain", "model.attention.lambda_init", "0.3"},
    {"plain", "model.attention.lambda_form", R"("scalar")"},
    {"pairs", "model.attention.lambda_per", R"("head")"},
    {"plain", "model.attention.lambda_std", "0.5"},
    {"pairs", "model.attention.key_pairing", R"("naive")"},
    {"plain", "model.attention.symmetric", "true"},
    {"plain", "model.attention.norm_eps", "0.1"},
    {"diff_v2", "model.attention.heads", "4"},
    {"diff_v2", "model.attention.kv_heads", "1"},
    {"diff_v2", "model.attention.head_dim", "4"},
    {"diff_v2", "model.attention.pairing", R"("halves")"},
    {"diff_v2", "model.attention.lambda", R"("linear")"},
    {"diff_v2", "model.attention.head_norm", R"("rms")"},
    {"diff_v2 rms", "model.attention.norm_eps", "0.1"},
    {"softmax", "model.attention.heads", "4"},
    {"softmax", "model.attention.kv_heads", "1"},
    {"softmax", "model.attention.head_dim", "4"},
    {"softmax", "model.attention.head_norm", R"("rms")"},
    {"softmax rms", "model.attention.norm_eps", "0.1"},
    {"plain", "task.needle.length", "28"},
    {"plain", "task.needle.lengths", "[20, 24]"},
    {"plain", "task.needle.needles", "3"},
    {"plain", "task.needle.queries", "2"},
    {"plain", "task.needle.depth", "50"},
    {"plain", "task.needle.noise_tokens", "9"},
    {"plain", "task.needle.keys", "5"},
    {"plain", "task.needle.values", "5"},
    {"plain", "task.recall_share", "0.25"},
    {"needles", "task.length", "28"},
    {"needles", "task.lengths", "[20, 24]"},
    {"needles", "task.needles", "3"},
    {"needles", "task.queries", "2"},
    {"needles", "task.depth", "50"},
    {"needles", "task.noise_tokens", "9"},
    {"needles", "task.keys", "5"},
    {"needles", "task.values", "5"},
    {"repeated", "task.length", "28"},
    {"repeated", "task.vocab_size", "22"},
    {"sentences", "task.generated_characters", "30000"},
    {"sentences", "task.tokenizer", R"("byte")"},
    {"sentences", "task.length", "230"},
    {"sentences", "task.lengths", "[200, 220]"},
    {"sentences", "task.needles", "1"},
    {"sentences", "task.queries", "2"},
    {"sentences", "task.depth", "100"},
    {"sentences", "task.edge_share", "1"},
    {"sentences", "task.digits", "2"},
    {"sentences", "task.valid_share", "0.2"},
    {"sentences", "task.test_share", "0.2"},
    {"sentences", "task.recall_share", "0.25"},
    {"mqar", "task.length", "28"},
    {"mqar", "task.vocab_size", "40"},
    {"mqar", "task.pairs", "4"},
    {"mqar", "task.power_a", "1"},
    {"mqar", "task.random_filler", "false"},
    {"mqar", "task.reassign", "0.5"},
    {"mqar", "task.recall_share", "0.25"},
    {"noisy", "task.length", "28"},
    {"noisy", "task.noise", "0.2"},
    {"noisy", "task.keys", "5"},
    {"noisy", "task.values", "7"},
    {"noisy", "task.noise_tokens", "9"},
    {"noisy", "task.recall_share", "0.25"},
    {"fuzzy", "task.pairs", "4"},
    {"fuzzy", "task.queries", "2"},
    {"fuzzy", "task.longest", "3"},
    {"fuzzy", "task.key_tokens", "7"},
    {"fuzzy", "task.value_tokens", "7"},
    {"fuzzy", "task.recall_share", "0.25"},
    {"world", "task.length", "28"},
    {"world", "task.needles", "3"},
    {"world", "task.depth", "50"},
    {"world", "task.things", "7"},
    {"world", "task.names", "7"},
    {"world", "task.noise_tokens", "7"},
    {"world", "task.world", "1"},
    {"world", "task.direct_share", "0.5"},
    {"world", "task.bare_share", "0.5"},
    {"world", "task.recall_share", "0.25"},
    {"cycle", "task.nodes", "6"},
    {"cycle", "task.least_nodes", "5"},
    {"cycle", "task.hops", "4"},
    {"cycle", "task.asked", "2"},
    {"cycle", "task.questions", "4"},
    {"cycle", "task.names", "9"},
    {"cycle", "task.recall_share", "0.25"},
    {"names", "task.length", "28"},
    {"names", "task.chains", "3"},
    {"names", "task.hops", "2"},
    {"names", "task.names", "9"},
    {"names", "task.values", "7"},
    {"names", "task.noise_tokens", "7"},
    {"names", "task.recall_share", "0.25"},
    {"words", "task.length", "28"},
    {"words", "task.words", "14"},
    {"words", "task.asked", "2"},
    {"words", "task.alpha", "2"},
    {"words", "task.recall_share", "0.25"},
    {"copy", "task.length", "28"},
    {"copy", "task.copied", "5"},
    {"copy", "task.symbols", "7"},
    {"copy", "task.recall_share", "0.25"},
    {"context", "task.facts", "5"},
    {"context", "task.questions", "1"},
    {"context", "task.distractors", "0.75"},
    {"context", "task.unanswerable", "0.6"},
    {"context", "task.summary_share", "1"},
    {"context", "task.recall_share", "0.25"},
    {"context", "task.entities", "7"},
    {"context", "task.attributes", "7"},
    {"context", "task.values", "9"},
    {"shots", "task.classes", "3"},
    {"shots", "task.shots", "5"},
    {"shots", "task.features", "3"},
    {"shots", "task.symbols", "9"},
    {"shots", "task.labels", "5"},
    {"shots", "task.flip", "0.3"},
    {"shots", "task.score_all", "false"},
    {"shots", "task.recall_share", "0.25"},
    {"text", "task.generated_characters", "6000"},
    {"text", "task.tokenizer", R"("byte")"},
    {"text", "task.length", "20"},
    {"text", "task.valid_share", "0.2"},
    {"text", "task.test_share", "0.2"},
    {"plain", "train.steps", "5"},
    {"plain", "train.seconds", "1e-9"},
    {"plain", "train.batch_size", "5"},
    {"plain", "train.lr", "0.01"},
    {"plain", "train.final_lr_ratio", "0.5"},
    {"plain", "train.warmup_steps", "3"},
    {"plain", "train.schedule", R"("constant")"},
    {"decay", "train.decay_share", "0.5"},
    {"plain", "train.optimizer.kind", R"("muon")"},
    {"muon", "train.optimizer.kind", R"("sgd")"},
    {"muon", "train.optimizer.momentum", "0.5"},
    {"muon", "train.optimizer.nesterov", "false"},
    {"muon", "train.optimizer.ns_steps", "3"},
    {"muon", "train.optimizer.adjust_lr", R"("original")"},
    {"muon", "train.optimizer.adamw_lr_scale", "0.5"},
    {"sgd", "train.optimizer.momentum", "0.5"},
    {"sgd", "train.optimizer.nesterov", "true"},
    {"plain", "train.groups", R"([{"lr_scale": 0.5}])"},
    {"groups", "train.groups[0].match", R"("*")"},
    {"groups", "train.groups[0].shapes", R"("vectors")"},
    {"groups", "train.groups[0].lr_scale", "0.25"},
    {"groups", "train.groups[0].weight_decay", "0"},
    {"plain", "train.beta1", "0.5"},
    {"plain", "train.beta2", "0.5"},
    {"plain", "train.adam_eps", "0.1"},
    {"plain", "train.weight_decay", "0.5"},
    {"plain", "train.grad_clip", "0.01"},
    {"plain", "train.loss.per", R"("part")"},
    {"plain", "train.eval_every", "1"},
    {"plain", "train.eval_samples", "9"},
    {"plain", "train.events", R"([{"name": "low", "metric": "valid_loss", "at_most": 100}])"},
    {"event", "train.event_every", "2"},
    {"event", "train.stop_at", R"("low")"},
    {"event", "train.events[0].name", R"("down")"},
    {"far", "train.events[0].metric", R"("valid_accuracy")"},
    {"event", "train.events[0].at_most", "-1"},
    {"event", "train.events[0].in_a_row", "9"},
    {"two looks", "train.events[0].at_least", "1.5"},
    {"plain", "evaluate", "[]"},
    {"plain", "evaluate[0].kind", R"("initial_gradients")"},
    {"plain", "evaluate[0].name", R"("again")"},
    {"plain", "evaluate[0].samples", "17"},
    {"plain", "evaluate[0].task",
     R"({"kind": "needle", "length": 32, "needles": 2, "noise_tokens": 8, "keys": 4, "values": 4})"},
    {"kept", "evaluate[0].at", "[2]"},
    {"plain", "stages", R"([{"train": {"steps": 3}}])"},
    {"stage", "stages[0].train.steps", "5"},
    {"stage", "train.keep_optimizer", "true"},
    {"stage", "stages[0].task.recall_share", "0.25"},
    {"stage", "stages[0].rope_theta", "50"},
    {"library", "precision", R"("bfloat16")"}};

// Keys that have no such line, and why.
const std::map<std::string, std::string> kAside{
    {"model.name", "no effect"},
    {"train.checkpoint_seconds", "no effect"},
    {"train.checkpoint_steps", "no effect"},
    {"train.keep_checkpoints", "no effect on the result; asked_elsewhere_test"},
    {"train.event_samples", "a look that is lucky, train/event_test"},
    {"train.events[0].at_least", "another base"},
    {"threads", "rounding"},
    {"kernels", "rounding; model/kernels_test"},
    {"device", "needs one; tests/cuda"},
    {"cuda_graph", "needs a device; tests/cuda"},
    {"init_from.path", "needs a file; saved_run_test"},
    {"init_from.sha256", "needs a file; saved_run_test"},
    {"task.file.path", "needs a file; task/text_test"},
    {"task.file.sha256", "needs a file; task/text_test"}};

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
  for (const auto& change : kChanges) {
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
  for (const auto& [name, text] : kBases) {
    CATCH_INFO(name);
    std::set<std::string> keys;
    collect_keys(config::write(read_run(base_value(name))), "", keys);
    for (const auto& key : keys) {
      // What a stage holds is a task and a training; a kind's own keys are looked at with that
      // kind.
      if (key.starts_with("stages[0].") || key.ends_with(".kind") || kAside.contains(key)) continue;
      CATCH_INFO(key);
      CATCH_CHECK(std::any_of(kChanges.begin(), kChanges.end(),
                              [&](const Change& change) { return change.path == key; }));
    }
  }
  const auto base = left_by(read_run(base_value("plain")));
  for (const auto& [path, value] :
       std::map<std::string, std::string>{{"model.name", R"("another")"},
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
