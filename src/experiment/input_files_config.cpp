#include <algorithm>
#include <map>
#include <optional>

#include "experiment/input_files.h"
#include "model/cost.h"
#include "record/safetensors.h"
#include "task/data_set.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

// A sweep of a thousand runs hashes a file once.
std::string sha256_of(const fs::path& path) {
  static std::map<std::pair<fs::path, fs::file_time_type>, std::string> known;
  std::error_code error;
  auto& hash = known[{path, fs::last_write_time(path, error)}];
  if (hash.empty()) hash = sha256_hex(read_file(path));
  return hash;
}

// The names, shapes and types that a file must have.
std::optional<std::string> misfit(const Safetensors& file,
                                  const std::vector<ParameterShape>& expected) {
  std::map<std::string, std::vector<std::int64_t>> stored;
  std::vector<std::string> names;
  for (const auto& tensor : file.tensors()) {
    if (tensor.name.starts_with("adam.")) continue;
    if (tensor.dtype != "F32" && tensor.dtype != "F64" && tensor.dtype != "F16" &&
        tensor.dtype != "BF16") {
      return concat("has tensor ", tensor.name, " of type ", tensor.dtype,
                    "; expected F32, F64, F16 or BF16");
    }
    stored[tensor.name] = tensor.shape;
    names.push_back(tensor.name);
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
  if (stored.empty()) return std::nullopt;
  return concat("has tensor ", stored.begin()->first, ", which is no parameter of the model");
}

class Resolver {
 public:
  using Place = std::function<fs::path(const std::string&, const std::string&)>;
  Resolver(const Place& place, config::Check& check) : place_(place), check_(check) {}

  /// Whether the file is there and is the one that is meant.
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

  /// What `work` gives, or nothing and a problem of `key`.
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
    const auto* sample = std::get_if<SampleTextConfig>(&config.evaluate[i]);
    const auto* text = std::get_if<TextConfig>(&config.task);
    if (sample == nullptr || text == nullptr) continue;
    resolver.attempt(concat("evaluate[", i, "].prompt"), [&] {
      return load_corpus(*text).tokenizer.encode(sample->prompt, "the prompt");
    });
  }
}

// The tokens of a text whose SHA-256 is known; a sweep of a thousand runs counts them once.
std::int64_t count_tokens(const TextConfig& text) {
  static std::map<std::pair<std::string, TokenizerKind>, std::int64_t> known;
  const std::pair key(text.file.sha256, text.tokenizer);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const auto bytes = text.file.read();
  const auto continues = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
  };
  const auto inside = text.tokenizer == TokenizerKind::kByte
                          ? 0  // UTF-8: every other byte begins a character
                          : std::count_if(bytes.begin(), bytes.end(), continues);
  return known[key] = static_cast<std::int64_t>(bytes.size()) - inside;
}

// The file that a task reads, or null.
InputFile* text_file_of(TaskConfig& task) {
  if (auto* needles = std::get_if<TextNeedleConfig>(&task)) return &needles->file;
  auto* text = std::get_if<TextConfig>(&task);
  return text != nullptr ? &text->file : nullptr;
}

TextConfig text_of(const TaskConfig& task) {
  if (const auto* needles = std::get_if<TextNeedleConfig>(&task)) return needles->haystack();
  return std::get<TextConfig>(task);
}

}  // namespace

void resolve_input_files(RunConfig& config, const Resolver::Place& place, config::Check& check) {
  Resolver resolver(place, check);
  // The length of a generated text is checked with the configuration itself.
  if (auto* file = text_file_of(config.task); file != nullptr && file->given()) {
    if (!resolver.resolve(*file, "task.file")) return;
    const auto text = text_of(config.task);
    if (!resolver.attempt("task.length", [&] { return split_text(text, count_tokens(text)); })) {
      return;
    }
  }
  check_prompts(config, resolver);
  if (!resolver.resolve(config.init_from, "init_from")) return;
  resolver.attempt("init_from.path", [&] {
    const auto expected = parameter_shapes(config.model, vocab_size(config.task));
    const auto problem = misfit(Safetensors::read(config.init_from.path), expected);
    if (problem) check.problem("init_from.path", concat(config.init_from.path, " ", *problem));
    return true;
  });
}

}  // namespace difflab
