#include "run/input_files.h"

#include <algorithm>
#include <map>
#include <optional>

#include "config/schema/writer.h"
#include "model/cost.h"
#include "record/safetensors.h"
#include "run/diffllama.h"
#include "text/data_set.h"
#include "train/optimizer/optimizer_config.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 5;  // tensors that a message lists

// A sweep of a thousand runs hashes a file once.
std::string sha256_of(const fs::path& path) {
  static std::map<std::pair<fs::path, fs::file_time_type>, std::string> known;
  std::error_code error;
  auto& hash = known[{path, fs::last_write_time(path, error)}];
  if (!hash.empty()) return hash;
  const auto bytes = read_file(path);
  if (const auto what = stand_in(bytes, path); !what.empty()) {
    throw UserError(concat(path.string(), " ", what));
  }
  return hash = sha256_hex(bytes);
}

// The parameters that a file must have to be the model's beginning, under the file's names.
std::vector<ParameterShape> expected_in(const Safetensors& file, const RunConfig& run) {
  const auto& model = run.model;
  const auto own = parameter_shapes(model, vocab_size(run.task));
  if (!is_diffllama(file)) return own;
  if (const auto why = unlike_diffllama(model); !why.empty()) {
    throw UserError(concat(run.init_from.path, " holds DiffLlama weights, but the model's ", why));
  }
  std::vector<ParameterShape> theirs;
  for (const auto& parameter : own) {
    auto part = diffllama_part(model, parameter.name);
    if (!part.name.empty()) theirs.push_back({std::move(part.name), parameter.shape});
  }
  return theirs;
}

// The names, shapes and types that a file must have.
std::optional<std::string> misfit(const Safetensors& file,
                                  const std::vector<ParameterShape>& expected) {
  std::map<std::string, std::vector<std::int64_t>> stored;
  std::vector<std::string> names, broken;
  for (const auto& tensor : file.tensors()) {
    if (is_optimizer_state(tensor.name)) continue;
    if (tensor.dtype != "F32" && tensor.dtype != "F64" && tensor.dtype != "F16" &&
        tensor.dtype != "BF16") {
      return concat("has tensor ", tensor.name, " of type ", tensor.dtype,
                    "; expected F32, F64, F16 or BF16");
    }
    stored[tensor.name] = tensor.shape;
    names.push_back(tensor.name);
    if (!is_finite(tensor)) broken.push_back(tensor.name);
  }
  for (const auto& parameter : expected) {
    const auto found = stored.find(parameter.name);
    if (found == stored.end()) {
      const auto near = closest(parameter.name, names);
      return concat("has no tensor ", parameter.name, near ? concat("; it has ", *near) : "");
    }
    if (found->second != parameter.shape) {
      return concat("has tensor ", parameter.name, " in another shape than the model");
    }
    stored.erase(found);
  }
  if (!stored.empty()) {
    return concat("has tensor ", stored.begin()->first, ", which is not a parameter of the model");
  }
  if (broken.empty()) return std::nullopt;
  const auto more = broken.size() > kMostNamed ? broken.size() - kMostNamed : 0;
  broken.resize(broken.size() - more);
  return concat("holds NaN or infinity in ", join(broken),
                more > 0 ? concat(" and ", more, " more tensors") : "",
                "; expected the weights of a training that did not diverge");
}

// Finds a key, in files of our own, that makes another model of the same shapes: 4 heads of width
// 16 have those of 8 of width 8, and scaled embeddings those of unscaled ones.
std::optional<std::string> other_function(const Safetensors& file, const RunConfig& run) {
  const auto before = Json::parse(file.metadata_at("config"), nullptr, /*allow_exceptions=*/false);
  if (!before.is_object()) return std::nullopt;
  const auto now = config::to_json(config::write(run));
  for (const char* key :
       {"/model/attention/heads", "/model/attention/kv_heads", "/model/attention/pairing",
        "/model/attention/key_pairing", "/model/embedding_scale", "/model/attention_scale",
        "/model/rope_layout", "/model/positions", "/model/attention/lambda_init",
        "/model/attention/post_scale", "/model/attention/lambda", "/model/attention/lambda_sign",
        "/model/attention/sink"}) {
    const Json::json_pointer place(key);
    const bool are_told = before.contains(place) && !before[place].is_null() &&
                          now.contains(place) && !now[place].is_null();
    if (!are_told || before[place] == now[place]) continue;
    std::string name(key + 1);
    std::replace(name.begin(), name.end(), '/', '.');
    return concat("has weights of a model with ", name, " ", before[place].dump(),
                  "; the run's model has ", now[place].dump());
  }
  return std::nullopt;
}

class Resolver {
 public:
  using Place = std::function<fs::path(const std::string&, const std::string&)>;
  Resolver(const Place& place, config::Check& check) : place_(place), check_(check) {}

  /// Fills in path and hash. True if the file is there and is the one that is meant.
  bool resolve(InputFile& file, const std::string& key) {
    if (!file.given()) return false;
    const auto path_key = key + ".path";
    file.path = place_(path_key, file.path).lexically_normal().string();
    if (std::error_code unknown; !fs::exists(file.path, unknown) && !unknown) {
      check_.problem(path_key,
                     concat("is ", file.path, ", which does not exist", how_to_get(file.path)));
      return false;
    }
    const auto found = attempt(path_key, [&] { return sha256_of(file.path); });
    if (!found) return false;
    if (!file.sha256.empty() && file.sha256 != *found) {
      check_.problem(key + ".sha256", concat("is ", file.sha256, "; ", file.path, " has ", *found));
      return false;
    }
    file.sha256 = *found;
    return true;
  }

  /// Returns the result of `work`, or nothing after reporting a problem of `key`.
  template <class Work>
  auto attempt(const std::string& key, Work work) -> std::optional<decltype(work())> {
    try {
      return work();
    } catch (const UserError& error) {
      check_.problem(key, error.what());
      return std::nullopt;
    }
  }

 private:
  const Place& place_;
  config::Check& check_;
};

// A prompt of characters that the text does not have would only be noticed after the training.
void check_prompts(const RunConfig& config, Resolver& resolver) {
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    std::visit(
        [&](const auto& kind) {
          if (kind.prompt.empty()) return;
          resolver.attempt(concat("evaluate[", i, "].prompt"), [&] {
            const auto tokenizer = read_tokenizer(config.task);
            return tokenizer ? tokenizer->encode(kind.prompt, "the prompt")
                             : std::vector<std::int64_t>{};
          });
        },
        config.evaluate[i]);
  }
}

// The file that an evaluation reads is there, and the vocabulary can say what it asks.
void resolve_items(RunConfig& config, Resolver& resolver) {
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto& asked = asked_task(config.evaluate[i], config.task);
    std::visit(
        [&](auto& kind) {
          auto* file = kind.input_file();
          if (file == nullptr) return;
          const auto key = concat("evaluate[", i, "].file");
          if (file->given() && !resolver.resolve(*file, key)) return;
          const auto tokenizer = read_tokenizer(asked);
          if (!tokenizer) return;
          resolver.attempt(key, [&] {
            kind.check_items(*tokenizer, sequence_length(asked));
            return true;
          });
        },
        config.evaluate[i]);
  }
}

// Meaning of the token numbers of a task: two tasks with the same can be asked of one model.
struct Tokens {
  std::int64_t count;
  std::optional<Tokenizer> tokenizer = {};  ///< of a text

  static Tokens of(const TaskConfig& task) { return {vocab_size(task), read_tokenizer(task)}; }
  bool operator==(const Tokens&) const = default;
};

// The file that a task reads is there and long enough. False if not, and it is reported.
bool resolve_task(TaskConfig& task, const std::string& key, Resolver& resolver) {
  auto* file = text_file(task);
  // The length of a generated text is checked with the configuration itself.
  if (file == nullptr || !file->given()) return true;
  if (!resolver.resolve(*file, key + ".file")) return false;
  const auto text = *text_of(task);
  const auto tokens = resolver.attempt(key + ".file.path", [&] { return count_tokens(text); });
  return tokens && resolver.attempt(key + ".length", [&] { return split_text(text, *tokens); });
}

// Stages, and what a model is asked on, have the vocabulary of the run's task.
void resolve_other_task(TaskConfig& task, const std::string& key, const TaskConfig& trained,
                        Resolver& resolver, config::Check& check) {
  if (!resolve_task(task, key, resolver)) return;
  resolver.attempt(key, [&] {
    const auto here = Tokens::of(task), there = Tokens::of(trained);
    if (here == there) return true;
    check.problem(key, here.count != there.count
                           ? concat("has ", here.count, " tokens; the run's own task has ",
                                    there.count, ", and they share a model")
                           : "has another vocabulary than the run's own task; they share a model");
    return true;
  });
}

// A model is asked in the symbols that it was trained on: as many others would ask about another
// thing.
void check_asked_symbols(const TaskConfig& asked, const TaskConfig& trained, const std::string& key,
                         config::Check& check) {
  const auto here = symbols_of(asked), there = symbols_of(trained);
  if (!here || !there || here->size() != there->size()) return;
  for (std::int64_t token = 0; token < here->size(); ++token) {
    if (here->text(token) == there->text(token)) continue;
    check.problem(key, concat("has another vocabulary: its token ", token, " is '",
                              here->text(token), "', the model's is '", there->text(token), "'"));
    return;
  }
}

// An evaluation can ask for windows that are longer than those of the task, and than the text.
void check_asked_lengths(const RunConfig& config, Resolver& resolver) {
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    const auto& asked = asked_task(config.evaluate[i], config.task);
    const auto longest =
        std::visit([](const auto& kind) { return kind.text_length(); }, config.evaluate[i]);
    const auto text = text_of(asked, longest);
    if (longest <= sequence_length(asked) || !text) continue;
    resolver.attempt(concat("evaluate[", i, "].lengths"),
                     [&] { return split_text(*text, count_tokens(*text)); });
  }
}

}  // namespace

void each_input_file(RunConfig& run, const std::function<void(InputFile&)>& visit) {
  const auto of_task = [&](TaskConfig& task) {
    if (auto* file = text_file(task)) visit(*file);
  };
  of_task(run.task);
  for (auto& stage : run.stages) of_task(stage.task);
  for (auto& evaluation : run.evaluate) {
    if (auto& other = common_of(evaluation).other_task.config) of_task(*other);
    auto* file = std::visit([](auto& kind) { return kind.input_file(); }, evaluation);
    if (file != nullptr) visit(*file);
  }
  visit(run.init_from);
}

void resolve_input_files(RunConfig& config, const Resolver::Place& place, config::Check& check) {
  Resolver resolver(place, check);
  if (!resolve_task(config.task, "task", resolver)) return;
  for (std::size_t i = 0; i < config.stages.size(); ++i) {
    resolve_other_task(config.stages[i].task, concat("stages[", i, "].task"), config.task, resolver,
                       check);
  }
  for (std::size_t i = 0; i < config.evaluate.size(); ++i) {
    auto& other = common_of(config.evaluate[i]).other_task.config;
    if (!other) continue;
    const auto key = concat("evaluate[", i, "].task");
    resolve_other_task(*other, key, config.task, resolver, check);
    check_asked_symbols(*other, config.task, key, check);
  }
  check_prompts(config, resolver);
  resolve_items(config, resolver);
  check_asked_lengths(config, resolver);
  if (!resolver.resolve(config.init_from, "init_from")) return;
  resolver.attempt("init_from.path", [&] {
    const auto file = Safetensors::read(config.init_from.path);
    auto problem = misfit(file, expected_in(file, config));
    if (!problem) problem = other_function(file, config);
    if (problem) check.problem("init_from.path", concat(config.init_from.path, " ", *problem));
    return true;
  });
}

std::int64_t vocab_size_of(const RunConfig& run) {
  static std::map<std::string, std::int64_t> known;
  const auto task = config::canonical_json(*config::write(run).find("task"));
  if (const auto found = known.find(task); found != known.end()) return found->second;
  return known[task] = vocab_size(run.task);
}

}  // namespace difflab
