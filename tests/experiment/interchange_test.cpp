// Models in files that Python writes and reads.
#include <ATen/ATen.h>

#include "config/value/value.h"
#include "experiment/saved_run.h"
#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/small_runs.h"
#include "support/tensors.h"
#include "train/tensor_file.h"
#include "util/process.h"

namespace difflab {
namespace {

at::Tensor some_tokens(std::int64_t vocab) {
  return at::arange(2 * 24).remainder(vocab).view({2, 24});
}

fs::path python() { return fs::path(DIFFLAB_ROOT) / ".venv/bin/python"; }

/// What a program printed, and its exit.
std::pair<std::string, ExitStatus> run_to_end(const std::vector<std::string>& argv) {
  Process process(argv);
  process.close_input();
  std::string output;
  while (process.output_open()) {
    for (const auto& line : process.read_lines(std::chrono::seconds(60))) output += line + "\n";
  }
  const auto status = process.wait();
  return {output + process.error_tail(), status};
}

/// What a script of tests/interchange printed, and its exit.
std::pair<std::string, ExitStatus> run_script(const std::string& script,
                                              const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{python().string(),
                                (fs::path(DIFFLAB_ROOT) / "tests/interchange" / script).string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_to_end(argv);
}

// .venv has PyTorch wherever ./difflab set things up; a LibTorch from elsewhere may come without.
bool python_lacks_torch() {
  if (fs::exists(python())) {
    Process process({python().string(), "-c", "import torch"});
    process.close_input();
    if (process.wait().success()) return false;
  }
  CATCH_WARN("SKIPPED: no PyTorch in .venv, nothing is compared with Python");
  return true;
}

CATCH_TEST_CASE("PyTorch loads what difflab writes and computes the same logits") {
  if (python_lacks_torch()) return;
  const testing::TemporaryFolder folder;
  std::vector<std::string> files;
  constexpr std::int64_t kVocab = 11;
  std::int64_t number = 0;
  for (const auto& [name, attention] : testing::attention_variants()) {
    // An epsilon that is not the usual one, large enough that a norm without it shows.
    ModelConfig config{.d_model = 32, .layers = 3, .norm_eps = 0.05, .attention = attention};
    if (number % 3 == 1) config.rope_layout = RotaryLayout::kHalves;
    if (number % 2 == 1) config.embedding_scale = EmbeddingScale::sqrt_width();
    if (number % 4 >= 2) config.attention_scale = 0.5;
    if (number % 3 == 2) {
      config.block = BlockKind::kNano;
      config.positions = Positions::kLearned;
      config.tied_head = number % 2 == 0;
      config.biases = number % 4 != 3;
    }
    LanguageModel model(config, kVocab);
    initialise(model, config, static_cast<std::uint64_t>(number));
    {
      const at::NoGradGuard
          no_grad;  // no gain is 1 and no bias 0, or a forgotten one would not show
      torch::manual_seed(static_cast<std::uint64_t>(number));
      for (auto& parameter : model.parameters()) parameter.add_(at::randn_like(parameter) * 0.1);
    }
    model.eval();
    const auto tokens = some_tokens(kVocab);
    const auto logits = model.forward(tokens).detach().contiguous();
    std::vector<at::Tensor> values;
    std::vector<TensorBytes> tensors;
    for (const auto& parameter : model.named_parameters()) {
      values.push_back(parameter.value().detach());
      tensors.push_back(stored_as(parameter.key(), values.back()));
    }
    tensors.push_back(stored_as("check.tokens", tokens));
    tensors.push_back(stored_as("check.logits", logits));
    files.push_back((folder.path() / concat(number++, ".safetensors")).string());
    const Json whole = {{"model", config::to_json(config::write(config))}};
    write_file_atomically(files.back(), to_safetensors(tensors, {{"config", whole.dump()}}));
  }
  const auto [output, status] = run_script("check.py", files);
  CATCH_INFO(output);
  CATCH_CHECK(status.success());
}

CATCH_TEST_CASE("difflab loads what PyTorch writes and computes the same logits") {
  if (python_lacks_torch()) return;
  const testing::TemporaryFolder folder;
  const auto path = (folder.path() / "python.safetensors").string();
  const auto [output, status] = run_script("write_model.py", {path});
  CATCH_INFO(output);
  CATCH_REQUIRE(status.success());
  const auto file = Safetensors::read(path);
  const auto config = config::read<ModelConfig>(
      config::from_json(Json::parse(file.metadata().at("config"))["model"]));
  LanguageModel model(config, 11);
  load_parameters(model, file, path, [](const auto& name) { return name; });
  const auto logits = model.forward(to_tensor(file.at("check.tokens"), path));
  CATCH_CHECK(testing::relative_error(logits, to_tensor(file.at("check.logits"), path)) < 1e-5);
}

CATCH_TEST_CASE("the Python models are those of the official files") {
  if (python_lacks_torch()) return;
  for (const auto& [script, arguments] :
       {std::pair<std::string, std::vector<std::string>>{"test_models.py", {}},
        {"test_hugging_face.py", {}},
        {"test_package.py", {"--torch"}}}) {
    const auto [output, status] = run_script(script, arguments);
    CATCH_INFO(output);
    CATCH_CHECK(status.success());
  }
}

CATCH_TEST_CASE("a model written for transformers starts a run as the model that it was") {
  if (python_lacks_torch()) return;
  const testing::TemporaryFolder folder;
  const auto file = (folder.path() / "weights.safetensors").string();
  ModelConfig config{.d_model = 32, .layers = 3, .attention = DifferentialAttentionConfig{}};
  config.embedding_scale = EmbeddingScale::sqrt_width();
  config.attention_scale = 0.5;
  auto& attention = std::get<DifferentialAttentionConfig>(config.attention);
  attention = {.heads = 4, .kv_heads = 2, .post_scale = false};
  LanguageModel model(config, 11);
  initialise(model, config, 3);
  std::vector<TensorBytes> tensors;
  for (const auto& parameter : model.named_parameters()) {
    tensors.push_back(stored_as(parameter.key(), parameter.value().detach()));
  }
  Json whole = {{"model", config::to_json(config::write(config))}, {"seed", 3}};
  whole["task"] = {{"kind", "text"}};
  whole["train"] = {{"steps", 9}, {"batch_size", 2}, {"lr", 0.001}};
  write_file_atomically(file, to_safetensors(tensors, {{"config", whole.dump()}}));
  const auto [output, status] =
      run_to_end({"/usr/bin/env", "PYTHONPATH=" DIFFLAB_ROOT "/src/python", python().string(), "-m",
                  "difflab._hugging_face", file, (folder.path() / "hf").string()});
  CATCH_INFO(output);
  CATCH_REQUIRE(status.success());

  config.embedding_scale = {};
  config.attention_scale = 1;
  attention.post_scale = true;
  LanguageModel again(config, 11);
  const auto written = (folder.path() / "hf/model.safetensors").string();
  load_initial_weights(again, Safetensors::read(written), written);
  const auto tokens = some_tokens(11);
  CATCH_CHECK(testing::relative_error(again.forward(tokens), model.forward(tokens)) < 1e-5);
}

}  // namespace
}  // namespace difflab
