#include "run/identity.h"

#include <algorithm>
#include <array>

#include "config/schema/writer.h"
#include "record/run_directory.h"
#include "run/run_config.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::array<std::string_view, 5> kKeysWithoutEffect{
    "model.name", "train.recompute", "train.checkpoint_seconds", "train.checkpoint_steps",
    "train.keep_checkpoints"};

// A new key of a run, of a part of it or of a kind needs a line here (CONTRIBUTING.md).
constexpr std::array kLaterKeys{
    LaterKey{"precision", "\"float32\""},
    LaterKey{"cuda_graph", "false"},
    LaterKey{"stages", "[]"},
    LaterKey{"model.biases", "true"},
    LaterKey{"model.embedding_scale", "1.0"},
    LaterKey{"model.attention_scale", "1.0"},
    LaterKey{"model.init.embedding", "\"inverse_sqrt_width\""},
    LaterKey{"model.init.matrices", "\"uniform\""},
    LaterKey{"model.init.qkv_gain", "1.0"},
    LaterKey{"model.init.residual", "\"none\""},
    LaterKey{"model.init.output", "\"matrices\""},
    LaterKey{"model.init", "{}"},
    LaterKey{"model.attention.gate", "\"none\""},
    LaterKey{"model.attention.sink", "\"none\""},
    LaterKey{"model.attention.qk_norm", "\"none\""},
    LaterKey{"model.attention.qk_norm_eps", "1e-06"},
    LaterKey{"model.attention:diff_v1.signal_per_noise", "1"},
    LaterKey{"model.attention:diff_v1.head_dim", "null"},
    LaterKey{"model.attention:diff_v1.lambda_sign", "\"free\""},
    LaterKey{"model.attention:diff_v2.signal_per_noise", "1"},
    LaterKey{"train.seconds", "0.0"},
    LaterKey{"train.optimizer", "{\"kind\":\"adamw\"}"},
    LaterKey{"train.keep_optimizer", "false"},
    LaterKey{"train.groups.lr", "null"},
    LaterKey{"train.groups", "[]"},
    LaterKey{"train.loss.per", "\"target\""},
    LaterKey{"train.loss", "{}"},
    LaterKey{"train.schedule", "\"cosine\""},
    LaterKey{"train.decay_share", "0.2"},
    LaterKey{"train.events", "[]"},
    LaterKey{"train.event_every", "25"},
    LaterKey{"train.event_samples", "64"},
    LaterKey{"train.stop_at", "\"\""},
    LaterKey{"evaluate.at", "[]"},
    LaterKey{"evaluate.task", "null"},
    LaterKey{"evaluate:throughput.kernels", "[\"plain\",\"fused\"]"},
    LaterKey{"task:mqar.reassign", "0.0"},
    LaterKey{"task:noisy_recall.pairs", "null"},
    LaterKey{"task:noisy_recall.noise_names", "\"own\""},
    LaterKey{"task:needle.lengths", "[]"},
    LaterKey{"task:needle.needle_counts", "[]"},
    LaterKey{"task:needle.query_counts", "[]"},
    LaterKey{"task:needle_recall.needle.needle_counts", "[]"},
    LaterKey{"task:needle_recall.needle.query_counts", "[]"},
    LaterKey{"task:recall.lengths", "[]"},
    LaterKey{"task:mqar.lengths", "[]"},
    LaterKey{"task:noisy_recall.lengths", "[]"},
    LaterKey{"task:associative_needle.lengths", "[]"},
    LaterKey{"task:associative_needle.queries", "1"},
    LaterKey{"task:variable_tracking.lengths", "[]"},
    LaterKey{"task:common_words.lengths", "[]"},
    LaterKey{"task:selective_copy.lengths", "[]"},
    LaterKey{"task:text.lengths", "[]"},
    LaterKey{"task:needle_recall.needle.lengths", "[]"},
    LaterKey{"task:needle.key_tokens", "1"},
    LaterKey{"task:needle.distractors.near", "0"},
    LaterKey{"task:needle.distractors.same_value", "0"},
    LaterKey{"task:needle.distractors.stale", "0"},
    LaterKey{"task:needle.distractors", "{}"},
    LaterKey{"task:needle.noise_names", "\"own\""},
    LaterKey{"task:needle_recall.needle.key_tokens", "1"},
    LaterKey{"task:needle_recall.needle.distractors.near", "0"},
    LaterKey{"task:needle_recall.needle.distractors.same_value", "0"},
    LaterKey{"task:needle_recall.needle.distractors.stale", "0"},
    LaterKey{"task:needle_recall.needle.distractors", "{}"},
    LaterKey{"task:needle_recall.needle.noise_names", "\"own\""},
    LaterKey{"task:text_needle.lengths", "[]"},
    LaterKey{"task:text_needle.recall_share", "0.0"},
    LaterKey{"task:text_needle.edge_needle_share", "0.0"},
    LaterKey{"task:text_needle.needle", "\" The special magic number for {city} is: {number}. \""},
    LaterKey{"task:text_needle.question", "null"},
};

// Calls use(map, key) for the map that holds the last key of a path, and every such map of a list.
// With `kind`, maps of other kinds are passed over.
template <class Use>
void at_path(config::Value& value, std::string_view path, Use use, std::string_view kind = "") {
  if (value.is_list()) {
    for (auto& item : value.mutable_items()) at_path(item, path, use, kind);
    return;
  }
  const auto* own = value.find("kind");
  if (!kind.empty() && (own == nullptr || own->as_string() != kind)) return;
  const auto dot = path.find('.');
  if (dot == path.npos) {
    if (value.is_map()) use(value, path);
    return;
  }
  const auto word = path.substr(0, dot);
  const auto colon = std::min(word.find(':'), word.size());
  auto* child = value.find(word.substr(0, colon));
  const auto kind_of_child = word.substr(std::min(colon + 1, word.size()));
  if (child != nullptr) at_path(*child, path.substr(dot + 1), use, kind_of_child);
}

// An input file is its content, wherever it lies.
void forget_place(config::Value* file) {
  if (file != nullptr) file->erase("path");
}

void forget_what_has_no_effect(config::Value& value) {
  for (const auto path : kKeysWithoutEffect) {
    at_path(value, path, [](config::Value& map, std::string_view key) { map.erase(key); });
  }
  forget_later_keys(value, kLaterKeys);
  forget_place(value.find("task")->find("file"));
}

// Configuration of a run without the parts that cannot change its result.
config::Value essence(const RunConfig& config) {
  config::Value value = config::write(config);
  forget_what_has_no_effect(value);
  forget_place(value.find("init_from"));
  if (auto* stages = value.find("stages")) {
    for (auto& stage : stages->mutable_items()) forget_what_has_no_effect(stage);
  }
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    auto& evaluation = value.find("evaluate")->mutable_items()[i];
    const auto known_as = kind_name(config.evaluate[i], config.task);
    if (evaluation.find("kind")->as_string() != known_as) {
      evaluation.set("kind", config::Value(known_as));
      evaluation.erase("of");  // is part of such a name
    }
    forget_place(evaluation.find("file"));
    if (auto* task = evaluation.find("task")) {
      auto alone = config::Value::map();
      alone.set("task", *task);
      forget_what_has_no_effect(alone);
      *task = *alone.find("task");
    }
  }
  return value;
}

std::string name_of(const std::string& canonical) { return sha256_hex(canonical).substr(0, 16); }

}  // namespace

std::span<const std::string_view> keys_without_effect() { return kKeysWithoutEffect; }
std::span<const LaterKey> later_keys() { return kLaterKeys; }

void forget_later_keys(config::Value& config, std::span<const LaterKey> keys) {
  for (const auto& later : keys) {
    at_path(config, later.path, [&](config::Value& map, std::string_view key) {
      const auto* found = map.find(key);
      if (found != nullptr && config::canonical_json(*found) == later.before) map.erase(key);
    });
  }
}

std::string run_id(const RunConfig& config) {
  return name_of(
      concat("difflab run ", kResultSchema, "\n", config::canonical_json(essence(config))));
}

std::string training_id(const RunConfig& config) {
  auto value = essence(config);
  value.erase("evaluate");
  return name_of(concat("difflab training 1\n", config::canonical_json(value)));
}

std::string answer_id(const RunConfig& config, std::size_t index) {
  const auto value = essence(config);
  auto evaluation = value.find("evaluate")->items().at(index);
  evaluation.erase("name");
  // Answers at steps once had other names for their levels of chance, and no texts.
  const int form = common_of(config.evaluate.at(index)).at.empty() ? 1 : 2;
  return name_of(concat("difflab answer ", form, "\n", training_id(config), "\n",
                        config::canonical_json(evaluation), "\n",
                        config::canonical_json(*value.find("task"))));
}

}  // namespace difflab
