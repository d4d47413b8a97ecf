// difflab params and difflab flops: what a model costs, from its configuration alone.

#include <cstdint>
#include <set>
#include <tuple>

#include "cli/commands.h"
#include "cli/inspect/cost_table.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/value.h"
#include "config/value/yaml.h"
#include "model/cost.h"
#include "run/input_files.h"
#include "run/run_config.h"
#include "study/study.h"
#include "text/data_set.h"
#include "util/json.h"

namespace difflab::cli {
namespace {

// Which optimiser updates a parameter: some leave a part of them to AdamW.
std::string updated_by(const OptimizerConfig& optimizer, const ParameterShape& parameter) {
  return std::visit(
      [&](const auto& kind) {
        const bool is_own = kind.takes(parameter.name, parameter.shape.size());
        return std::string(is_own ? kind.kKind : AdamWConfig::kKind);
      },
      optimizer);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return join(sizes, " x ");
}

// Every parameter of each run's model with its shape, what updates it, its share of the learning
// rate and its weight decay, as a table for a terminal or as JSON.
std::string update_table(const std::vector<const RunConfig*>& runs, bool json) {
  Json list = Json::array();
  std::string text;
  for (const auto* run : runs) {
    const auto& [name, train] = std::tie(run->model.name, run->train);
    auto parameters = parameter_shapes(run->model, /*vocab_size=*/1);
    std::size_t widest = name.size();
    for (const auto& parameter : parameters) widest = std::max(widest, parameter.name.size());
    text += fmt::format("{}{:<{}}  {:>11}  {:<9}  {:>5}  {:>5}\n", text.empty() ? "" : "\n", name,
                        widest, "shape", "optimizer", "lr", "decay");
    Json rows = Json::array();
    for (const auto& parameter : parameters) {
      const auto how = update_settings(parameter.name, parameter.shape.size(), train.groups,
                                       train.lr, train.weight_decay);
      auto shape = shape_text(parameter.shape);
      // The vocabulary is the task's.
      if (parameter.name == "tok_embeddings.weight" || parameter.name.starts_with("output.")) {
        shape.replace(0, 1, "V");
      }
      const auto by = updated_by(train.optimizer, parameter);
      text +=
          fmt::format("{:<{}}  {:>11}  {:<9}  {:>5}  {:>5}\n", parameter.name, widest, shape, by,
                      fmt::format("x {:g}", how.lr_scale), fmt::format("{:g}", how.weight_decay));
      rows.push_back({{"name", parameter.name},
                      {"optimizer", by},
                      {"lr_scale", how.lr_scale},
                      {"weight_decay", how.weight_decay}});
    }
    list.push_back({{"model", name}, {"parameters", std::move(rows)}});
  }
  return json ? list.dump(1) + "\n" : text;
}

/// A Transformer in the llama block, said in numbers.
struct Dimensions {
  std::int64_t d_model = 0, ffn = 0, heads = 1, kv_heads = 0, layers = 1;
  std::int64_t vocab = 0, tokens = 0;  ///< 0: not given

  void add_to(CLI::App& command) {
    const auto option = [&](const char* name, std::int64_t& value, const char* help) {
      return command.add_option(name, value, help)->check(CLI::Range(1, 100'000'000));
    };
    auto* width = option("--d-model", d_model, "width D of a Transformer in the llama block");
    option("--ffn", ffn, "its feed-forward width (8D/3 rounded up to 32)")->needs(width);
    option("--heads", heads, "its heads")->needs(width);
    option("--kv-heads", kv_heads, "its key/value heads (as many as heads)")->needs(width);
    option("--layers", layers, "its layers")->needs(width);
    option("--vocab", vocab, "its vocabulary; also instead of an experiment's");
    option("--tokens", tokens, "tokens of a sequence; also instead of an experiment's");
  }
  CostSubject subject() const {
    if (vocab == 0) throw UserError("--d-model is given without --vocab; expected both");
    SoftmaxAttentionConfig attention{.heads = heads};
    if (kv_heads > 0) attention.kv_heads = kv_heads;
    ModelConfig model{.name = "transformer",
                      .d_model = d_model,
                      .layers = layers,
                      .ffn_hidden = ffn,
                      .attention = attention};
    const auto checked = config::read<ModelConfig>(config::write(model), "model");
    return {checked.name, checked, vocab, std::max<std::int64_t>(tokens, 1)};
  }
};

struct CostOptions {
  StudyArguments study;
  Dimensions bare;
  std::int64_t bytes = 4;
  bool json = false;
  bool groups = false, products = false;
};

// Where the size of a vocabulary is from if the text is not there, else "".
std::string note_of(const TaskConfig& task) {
  const auto text = text_of(task);
  if (!text || !text->file.given() || text->tokenizer == TokenizerKind::kByte) return "";
  const auto* set = data_set_of(text->file.path);
  std::error_code unknown;  // what cannot be looked at, reading says why
  if (set == nullptr || std::filesystem::exists(text->file.path, unknown)) return "";
  return concat(config::shown_path(text->file.path),
                " is not there; the vocabulary is what is known of ", set->name);
}

std::int64_t vocabulary_of(const RunConfig& run) {
  try {
    return vocab_size_of(run);
  } catch (const UserError& error) {
    throw UserError(concat(error.what(), "; --vocab N counts without it"));
  }
}

// Each model of an experiment once, in the order of its runs.
std::vector<CostSubject> subjects_of(const CostOptions& options) {
  if (options.bare.d_model > 0) {
    if (!options.study.name.empty()) {
      throw UserError("an experiment and --d-model are given; expected one of them");
    }
    return {options.bare.subject()};
  }
  if (options.study.name.empty()) {
    throw UserError(
        "expected an experiment (./difflab list experiments), or --d-model and the "
        "other dimensions");
  }
  std::vector<CostSubject> subjects;
  std::set<std::string> seen;
  for (const auto& run : written_runs(options.study.name, options.study.overrides)) {
    const auto& bare = options.bare;
    const bool is_given = bare.vocab > 0;
    CostSubject subject{run.model.name, run.model, is_given ? bare.vocab : vocabulary_of(run),
                        bare.tokens > 0 ? bare.tokens : sequence_length(run.task),
                        is_given ? "" : note_of(run.task)};
    const auto key = concat(config::canonical_json(*config::write(run).find("model")), " ",
                            subject.tokens, " ", subject.vocab);
    if (seen.insert(key).second) subjects.push_back(std::move(subject));
  }
  return subjects;
}

// How each model of an experiment is trained, in the order of its runs.
std::string updates_of(const CostOptions& options) {
  if (options.bare.d_model > 0 || options.study.name.empty()) {
    throw UserError("--groups is about how an experiment trains; expected an experiment");
  }
  const auto runs = written_runs(options.study.name, options.study.overrides);
  std::vector<const RunConfig*> different;
  std::set<std::string> seen;
  for (const auto& run : runs) {
    if (seen.insert(update_table({&run}, /*json=*/true)).second) different.push_back(&run);
  }
  return update_table(different, options.json);
}

void add_common(CLI::App& command, CostOptions& options) {
  command.add_option("experiment", options.study.name, "whose models are counted");
  command.add_option("overrides", options.study.overrides, "key=value …, as for sweep");
  options.bare.add_to(command);
  command.add_flag("--json", options.json, "the same as JSON");
}

}  // namespace

void add_cost_commands(CLI::App& app) {
  const auto counted = std::make_shared<CostOptions>(), computed = std::make_shared<CostOptions>();
  CLI::App* params = app.add_subcommand(
      "params", "Count the parameters of an experiment's models, or of bare dimensions");
  add_common(*params, *counted);
  params->add_flag("--groups", counted->groups,
                   "list every parameter with its optimizer, learning rate and weight decay");
  params->callback([counted] {
    std::cout << (counted->groups ? updates_of(*counted)
                                  : params_table(subjects_of(*counted), counted->json));
  });

  CLI::App* flops = app.add_subcommand(
      "flops", "Count operations, arithmetic intensity and the key/value cache of models");
  add_common(*flops, *computed);
  flops->add_option("--bytes", computed->bytes, "bytes of a number, for intensity and cache")
      ->capture_default_str()
      ->check(CLI::IsMember({1, 2, 4, 8}));
  flops->add_flag("--products", computed->products,
                  "also each product of matrices: its shape, by layer, sequence and token");
  flops->callback([computed] {
    std::cout << flops_table(subjects_of(*computed), computed->bytes, computed->products,
                             computed->json);
  });
}

}  // namespace difflab::cli
