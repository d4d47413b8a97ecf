// Models leave a run and come back: export, init_from and malformed files.
#include "experiment/saved_run.h"

#include <sys/stat.h>

#include "config/value/value.h"
#include "model/language_model.h"
#include "support/small_runs.h"
#include "support/tensors.h"
#include "train/tensor_file.h"

namespace difflab {
namespace {

using testing::problem_of_files;

RunConfig text_run() {
  RunConfig config;
  config.model = {.d_model = 16,
                  .layers = 2,
                  .dropout = 0.1,
                  .attention = DifferentialAttentionConfig{.heads = 2}};
  config.task = TextConfig{.generated_characters = 3'000, .length = 24};
  config.train = {
      .steps = 8, .batch_size = 4, .warmup_steps = 2, .eval_every = 4, .eval_samples = 8};
  config.evaluate = {HeldoutConfig{.samples = 8}, SampleTextConfig{.sampling = {.tokens = 20}}};
  return config;
}

/// A finished run under its id, as a sweep has it.
class FinishedRun {
 public:
  explicit FinishedRun(const RunConfig& config) : run_{folder_.path() / "runs" / run_id(config)} {
    make_directories(run_.path);
    write_file_atomically(run_.config(), config::to_yaml(config::write(config)));
    run_experiment(config, run_, [] { return false; });
  }
  const RunDirectory& directory() const { return run_; }
  fs::path file(const char* name) const { return folder_.path() / name; }

 private:
  testing::TemporaryFolder folder_;
  RunDirectory run_;
};

// What is wrong with the files of a run, whose paths and digests are filled in.
CATCH_TEST_CASE("a trained model can be loaded again, exported, and started from") {
  const auto config = text_run();
  const FinishedRun run(config);
  const auto saved = load_run(run.directory());
  const auto file = run.file("weights.safetensors");
  export_run(run.directory(), file);

  const auto exported = Safetensors::read(file);
  CATCH_CHECK(exported.tensors().size() == saved.model->named_parameters().size());
  CATCH_CHECK(Json::parse(exported.metadata().at("config"))["model"]["d_model"] == 16);
  CATCH_CHECK(exported.at("layers.1.attn.lambda_q1").shape == std::vector<std::int64_t>{4});

  LanguageModel other(config.model, saved.task->vocab_size());
  initialise(other, config.model, 99);
  other.eval();
  load_parameters(other, exported, file.string());
  const auto tokens = at::arange(2 * 24).remainder(saved.task->vocab_size()).view({2, 24});
  CATCH_CHECK(at::equal(other.forward(tokens), saved.model->forward(tokens)));

  // A run that starts there has, before its first step, the loss that the first run ended with.
  auto next = config;
  next.init_from.path = file.string();
  CATCH_REQUIRE(problem_of_files(next).empty());
  CATCH_CHECK(next.init_from.sha256.size() == 64);
  const FinishedRun second(next);
  CATCH_CHECK(read_metrics(second.directory()).front()["valid_loss"] ==
              read_metrics(run.directory()).back()["valid_loss"]);

  // The content of the file is part of the identity, its place is not.
  auto moved = next;
  moved.init_from.path = "/elsewhere/weights.safetensors";
  CATCH_CHECK(run_id(moved) == run_id(next));
  CATCH_CHECK(run_id(config) != run_id(next));

  const auto result = *read_result(run.directory());
  const auto& samples = result["evaluations"]["sample_text"]["samples"];
  CATCH_REQUIRE(samples.size() == 1);
  CATCH_CHECK(samples[0]["text"].get<std::string>().size() == 20);
}

CATCH_TEST_CASE("a run with dropout that is interrupted ends as if it had not been") {
  const FinishedRun undisturbed(text_run());
  for (const int stop_at : {1, 5}) {
    const testing::TemporaryFolder folder;
    const RunDirectory run{folder.path()};
    run_experiment(text_run(), run, testing::stop_after(stop_at));
    run_experiment(text_run(), run, [] { return false; });
    CATCH_CHECK((*read_result(run))["metrics"]["test_loss"] ==
                (*read_result(undisturbed.directory()))["metrics"]["test_loss"]);
  }
}

CATCH_TEST_CASE("parameters that do not fit are refused before a run starts") {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "w.safetensors";
  const auto config = text_run();
  const auto vocab = vocab_size(config.task);
  const auto problem_of = [&](RunConfig run) {
    run.init_from.path = file.string();
    return problem_of_files(run);
  };
  CATCH_CHECK_THAT(problem_of(config), Contains("does not exist"));
  save_parameters(file, LanguageModel(config.model, vocab), {});
  CATCH_CHECK(problem_of(config).empty());
  auto wider = config;
  wider.model.ffn_hidden = 40;
  CATCH_CHECK_THAT(problem_of(wider),
                   Contains("layers.0.ffn.gate.weight") && Contains("another shape"));
  auto deeper = config;
  deeper.model.layers = 3;
  CATCH_CHECK_THAT(problem_of(deeper), Contains("has no tensor layers.2.attn_norm.weight"));
  auto shallower = config;
  shallower.model.layers = 1;
  CATCH_CHECK_THAT(problem_of(shallower), Contains("which is not a parameter of the model"));
  // Four heads of width 4 have the shapes of two of width 8.
  auto plain = config;
  plain.model.attention = SoftmaxAttentionConfig{.heads = 2};
  const auto told = config::canonical_json(config::write(plain));
  save_parameters(file, LanguageModel(plain.model, vocab), {{"config", told}});
  CATCH_CHECK(problem_of(plain).empty());
  auto same = plain;
  same.model.attention = SoftmaxAttentionConfig{.heads = 2, .kv_heads = 2};
  CATCH_CHECK(problem_of(same).empty());
  auto split = plain;
  split.model.attention = SoftmaxAttentionConfig{.heads = 4};
  CATCH_CHECK_THAT(problem_of(split), Contains("a model with model.attention.heads 2; the "
                                               "run's model has 4"));
  auto scaled = plain;
  scaled.model.embedding_scale = EmbeddingScale::sqrt_width();
  CATCH_CHECK_THAT(problem_of(scaled), Contains("a model with model.embedding_scale 1") &&
                                           Contains("the run's model has \"sqrt_width\""));
  auto turned = plain;
  turned.model.rope_layout = RotaryLayout::kHalves;
  CATCH_CHECK_THAT(problem_of(turned), Contains("a model with model.rope_layout"));
  auto fainter = plain;
  fainter.model.attention_scale = 0.5;
  CATCH_CHECK_THAT(problem_of(fainter), Contains("a model with model.attention_scale 1"));
  save_parameters(file, LanguageModel(plain.model, vocab), {{"config", "{"}});
  CATCH_CHECK(problem_of(split).empty());  // whoever wrote the file does not tell
  write_file_atomically(file, std::string("PK\x03\x04") + std::string(100, 'x'));
  CATCH_CHECK_THAT(problem_of(config), Contains("looks like a zip (a PyTorch checkpoint?)"));
}

CATCH_TEST_CASE("weights with NaN or infinity are refused, and their tensors named") {
  const testing::TemporaryFolder folder;
  auto config = text_run();
  config.init_from.path = (folder.path() / "w.safetensors").string();
  const auto problem_with = [&](const std::vector<std::pair<const char*, double>>& values) {
    LanguageModel model(config.model, vocab_size(config.task));
    const at::NoGradGuard no_grad;
    for (const auto& [name, value] : values) {
      at::Tensor(model.named_parameters()[name]).view(-1)[3] = value;
    }
    save_parameters(config.init_from.path, model, {});
    auto run = config;
    return problem_of_files(run);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const char *norm = "layers.0.attn_norm.weight", *gate = "layers.1.ffn.gate.weight";
  CATCH_CHECK(problem_with({{norm, 1e38}}).empty());
  CATCH_CHECK_THAT(problem_with({{norm, kNan}}),
                   Contains(concat("holds NaN or infinity in ", norm, ";")));
  CATCH_CHECK_THAT(problem_with({{gate, kInfinity}}),
                   Contains(concat("holds NaN or infinity in ", gate, ";")));
  CATCH_CHECK_THAT(problem_with({{norm, -kInfinity}, {gate, kNan}}),
                   Contains(concat(norm, ", ", gate, ";")));
}

CATCH_TEST_CASE("a file that a run reads is a file with what it was to hold") {
  const testing::TemporaryFolder folder;
  const auto path_of = [&](const char* name) { return (folder.path() / name).string(); };
  CATCH_REQUIRE(::mkfifo(path_of("pipe").c_str(), 0600) == 0);
  write_file_atomically(path_of("lfs"),
                        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  write_file_atomically(path_of("page"), "<!DOCTYPE html>\n<html><body>404");
  for (const auto& [path, reason] :
       {std::pair(path_of("pipe"), "is a pipe"), std::pair(std::string("/dev/zero"), "is a device"),
        std::pair(folder.path().string(), "Is a directory"),
        std::pair(path_of("lfs"), "is a pointer of Git LFS"),
        std::pair(path_of("page"), "is a web page")}) {
    auto text = text_run(), weights = text_run(), items = text_run();
    std::get<TextConfig>(text.task).file.path = path;
    weights.init_from.path = path;
    MultipleChoiceConfig choices;
    choices.file.path = path;
    items.evaluate = {choices};
    for (auto* run : {&text, &weights, &items}) {
      CATCH_CHECK_THAT(problem_of_files(*run), Contains(path + " ") || Contains(path + ":"));
      CATCH_CHECK_THAT(problem_of_files(*run), Contains(reason));
    }
  }
}

CATCH_TEST_CASE("windows that a text is too short for are refused before a run starts") {
  const auto problem_of = [](TaskConfig task, EvaluationConfig evaluation) {
    RunConfig config;
    config.task = std::move(task);
    config.evaluate = {std::move(evaluation)};
    return problem_of_files(config);
  };
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "text.txt";
  std::string words;
  for (int i = 0; i < 400; ++i) words += "one and two. ";
  write_file_atomically(file, words);
  TextConfig generated{.length = 16}, read{.length = 16};
  generated.generated_characters = 4'000;  // 200 of them for the test
  read.file.path = file.string();          // 260
  for (const auto& text : {generated, read}) {
    CATCH_CHECK(problem_of(text, LossByPositionConfig{.lengths = {32, 180}}) == "");
    CATCH_CHECK_THAT(problem_of(text, LossByPositionConfig{.lengths = {32, 600}}),
                     Contains("evaluate[0].lengths") && Contains("is 600"));
  }
  TextNeedleConfig needles{.length = 200, .needles = 1, .queries = 1};
  needles.file.path = file.string();
  NeedleGridConfig grid{.needles = {1}, .queries = {1}, .lengths = {200, 240}};
  CATCH_CHECK(problem_of(needles, grid) == "");
  grid.lengths.push_back(900);
  CATCH_CHECK_THAT(problem_of(needles, grid), Contains("evaluate[0].lengths"));
}

CATCH_TEST_CASE("items that cannot be asked are refused before a run starts, wherever they lie") {
  const testing::TemporaryFolder folder;
  RunConfig config;
  config.task = TextConfig{.generated_characters = 4'000, .length = 16};
  const auto problem_of = [&](const std::string& name, const std::string& items) {
    if (!items.empty()) write_file_atomically(folder.path() / name, items);
    MultipleChoiceConfig evaluation;
    evaluation.file.path = (folder.path() / name).string();
    config.evaluate = {evaluation};
    return problem_of_files(config);
  };
  const std::string items = R"({"context": "Ada", "choices": ["has", "had"], "answer": 1})";
  CATCH_CHECK(problem_of("a.jsonl", items) == "");
  const auto id = run_id(config);
  CATCH_CHECK(problem_of("b.jsonl", items) == "");
  CATCH_CHECK(run_id(config) == id);
  CATCH_CHECK(problem_of("other.jsonl", items + " ") == "");
  CATCH_CHECK(run_id(config) != id);
  CATCH_CHECK_THAT(problem_of("none.jsonl", ""),
                   Contains("evaluate[0].file.path") && Contains("does not exist"));
  CATCH_CHECK_THAT(problem_of("c.jsonl", items + "\n?"),
                   Contains("evaluate[0].file") && Contains("c.jsonl:2: is not JSON"));
  CATCH_CHECK_THAT(problem_of("d.jsonl", R"({"context": "ä", "choices": ["b", "c"], "answer": 0})"),
                   Contains("d.jsonl, item 1: the character 'ä'"));
  CATCH_CHECK_THAT(
      problem_of("e.jsonl",
                 R"({"context": "a", "choices": ["b", "more than sixteen"], "answer": 0})"),
      Contains("e.jsonl, item 1: has a choice of 18 tokens"));
}

}  // namespace
}  // namespace difflab
