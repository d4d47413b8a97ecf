// Models asked on another task than they were trained on, and in the middle of their training.
#include "model/language_model.h"
#include "record/answers.h"
#include "record/safetensors.h"
#include "run/metrics.h"
#include "support/problems.h"
#include "support/small_runs.h"
#include "task/base/task.h"
#include "train/tensor_file.h"

namespace difflab {
namespace {

using testing::has_trained, testing::Results;

RunConfig kept_config() {
  auto config = testing::smallest_run();
  config.train.keep_checkpoints = KeptSteps({0, 5});
  return config;
}

// What the weights in a file answer on a task.
EvaluationResult answer_of(const std::filesystem::path& file, const RunConfig& config,
                           const TaskConfig& asked, const HeldoutConfig& heldout) {
  const auto task = build_task(asked);
  LanguageModel model(config.model, task->vocab_size(), config.kernels);
  load_parameters(model, read_sealed_safetensors(file), file.string());
  model.eval();
  return heldout.run({model, asked, *task, 0});
}

CATCH_TEST_CASE("a training can be asked at every step whose checkpoint it keeps") {
  const Results results;
  const auto trained = results.run(kept_config());
  CATCH_CHECK(std::filesystem::exists(trained.kept(0)));
  CATCH_CHECK(std::filesystem::exists(trained.kept(5)));
  CATCH_CHECK_FALSE(std::filesystem::exists(trained.kept(8)));

  auto config = kept_config();
  HeldoutConfig heldout{.samples = 8};
  config.evaluate = {heldout};
  heldout.name = "curve";
  heldout.at = {0, 5, 8};
  config.evaluate.emplace_back(heldout);
  const auto asked = results.run(config);
  CATCH_CHECK_FALSE(has_trained(asked));
  const auto result = *read_result(asked);
  const auto& metrics = result.at("metrics");
  for (const auto& [step, file] : {std::pair{0, trained.kept(0)}, std::pair{5, trained.kept(5)},
                                   std::pair{8, trained.checkpoint()}}) {
    CATCH_INFO("step " << step);
    const auto expected = answer_of(file, config, config.task, HeldoutConfig{.samples = 8});
    CATCH_CHECK(metrics.at(concat("curve_test_loss_at_", step)) ==
                expected.metrics.at("test_loss"));
  }
  CATCH_CHECK(metrics.at("curve_test_loss_at_8") == metrics.at("test_loss"));
  CATCH_CHECK(metrics.at("curve_test_loss_at_0") != metrics.at("curve_test_loss_at_5"));
  // A figure draws it by its cells.
  const auto& cells = result.at("evaluations").at("curve").at("cells");
  CATCH_REQUIRE(cells.size() == 3);
  CATCH_CHECK(cells[1].at("step") == 5);
  CATCH_CHECK(cells[1].at("test_loss") == metrics.at("curve_test_loss_at_5"));

  // Its levels of chance stand where they are looked for, and its metrics are expected by name.
  const auto expected = metrics_of(config);
  int levels = 0;
  for (const auto& [key, value] : metrics.items()) {
    if (!key.starts_with("curve_")) continue;
    CATCH_INFO(key);
    CATCH_CHECK(std::find(expected.begin(), expected.end(), key) != expected.end());
    if (key.find("_chance") == key.npos) continue;
    const std::string metric = key.substr(0, key.rfind("_chance"));
    CATCH_CHECK(key == metric + "_chance");
    CATCH_CHECK(metrics.contains(metric));
    ++levels;
  }
  CATCH_CHECK(levels >= 3);
  CATCH_CHECK(std::find(expected.begin(), expected.end(), "curve_test_loss") == expected.end());
}

CATCH_TEST_CASE("metrics that are NaN or infinite are named where their values are not") {
  const Results results;
  auto config = testing::smallest_run();
  config.model.positions = Positions::kLearned;
  config.model.max_positions = 64;
  LanguageModel model(config.model, build_task(config.task)->vocab_size());
  initialise(model, config.model, 0);
  {
    const at::NoGradGuard no_grad;  // beyond what it is validated on
    at::Tensor positions = model.named_parameters()["positions.weight"];
    positions.narrow(0, 24, 40).fill_(std::numeric_limits<double>::quiet_NaN());
  }
  const testing::TemporaryFolder folder;
  config.init_from.path = (folder.path() / "broken.safetensors").string();
  save_parameters(config.init_from.path, model, {});
  config.train.steps = 0;
  HeldoutConfig longer{.samples = 2};
  longer.other_task.config = NeedleRecallConfig{.needle = {.length = 40}};
  config.evaluate = {longer};
  const auto run = results.run(config);
  const auto answer = read_answer(run, answer_id(config, 0));
  CATCH_REQUIRE(answer.has_value());
  const auto& names = answer->details.at(kNotFinite);
  CATCH_CHECK(std::find(names.begin(), names.end(), "test_loss") != names.end());
  for (const auto& [name, value] : answer->metrics.items()) {
    CATCH_INFO(name);
    CATCH_CHECK(value.is_null() == (std::find(names.begin(), names.end(), name) != names.end()));
  }
  CATCH_CHECK_THAT(read_file(run.events()), Contains("not finite") && Contains("test_loss"));
}

CATCH_TEST_CASE("what models write in the middle of their training is kept with its step") {
  const Results results;
  auto config = kept_config();
  config.task = TextConfig{.generated_characters = 3'000, .length = 24};
  SampleTextConfig sample{.samples = 2, .sampling = {.tokens = 5}};
  sample.name = "cold";
  sample.at = {5, 8};
  CountModelConfig counts{.samples = 4};  // has details that are no rows
  counts.at = {5, 8};
  config.evaluate = {sample, counts};
  const auto result = *read_result(results.run(config));
  const auto& found = result.at("evaluations");
  const auto& samples = found.at("cold").at("samples");
  CATCH_REQUIRE(samples.size() == 4);
  CATCH_CHECK(samples[0].at("step") == 5);
  CATCH_CHECK(samples[3].at("step") == 8);
  CATCH_CHECK(samples[3].at("text").is_string());
  CATCH_CHECK_FALSE(found.at("cold").contains("cells"));
  const auto& by_step = found.at("count_model").at("by_step");
  CATCH_REQUIRE(by_step.size() == 2);
  CATCH_CHECK(by_step[1].at("step") == 8);
  CATCH_CHECK(by_step[1].at("samples") == 4);
}

CATCH_TEST_CASE("cells of an evaluation that has some say their step") {
  const Results results;
  auto config = kept_config();
  NeedleGridConfig grid{.depths = {0, 100}, .samples = 2};
  grid.at = {5, 8};
  config.evaluate = {grid};
  const auto result = *read_result(results.run(config));
  const auto& cells = result.at("evaluations").at("needle_grid").at("cells");
  CATCH_REQUIRE(cells.size() == 4);
  CATCH_CHECK(cells[0].at("step") == 5);
  CATCH_CHECK(cells[3].at("step") == 8);
  CATCH_CHECK(cells[3].at("depth") == 100);
  CATCH_CHECK(result.at("metrics").contains("grid_accuracy_at_5"));
}

CATCH_TEST_CASE("a checkpoint that was to be kept is kept also by who resumes at its step") {
  const Results results;
  const auto run = results.planned(kept_config());
  CATCH_REQUIRE(run_experiment(kept_config(), run, testing::stop_after(5)) == RunEnd::kInterrupted);
  CATCH_REQUIRE(std::filesystem::remove(run.kept(5)));  // killed before it was kept
  run_experiment(kept_config(), run, [] { return false; });
  CATCH_CHECK(std::filesystem::exists(run.kept(5)));
}

CATCH_TEST_CASE("a checkpoint that was damaged with the one it shares is kept anew") {
  const Results results;
  const auto run = results.planned(kept_config());
  CATCH_REQUIRE(run_experiment(kept_config(), run, testing::stop_after(5)) == RunEnd::kInterrupted);
  for (const auto& entry : std::filesystem::directory_iterator(run.path)) {
    if (entry.is_regular_file() && entry.path().extension() == ".safetensors") {
      std::filesystem::remove(entry.path());
    }
  }
  write_file_atomically(run.kept(5), "damaged");
  run_experiment(kept_config(), run, [] { return false; });
  CATCH_CHECK_NOTHROW(read_sealed_safetensors(run.kept(5)));
}

CATCH_TEST_CASE("keeping checkpoints changes neither a run's name nor its result") {
  CATCH_CHECK(run_id(kept_config()) == run_id(testing::smallest_run()));
  const Results with, without;
  CATCH_CHECK(testing::outcome_of(with.run(kept_config())).result ==
              testing::outcome_of(without.run(testing::smallest_run())).result);
}

CATCH_TEST_CASE("a step whose checkpoint was not kept is named, before and after the training") {
  auto config = kept_config();
  HeldoutConfig heldout{.samples = 4};
  heldout.at = {3};
  config.evaluate = {heldout};
  CATCH_CHECK(testing::Problems::of(config) ==
              "evaluate[0].at has step 3; the checkpoints that train.keep_checkpoints keeps are "
              "0, 5, and the last step is 8\n");

  const Results results;
  results.run(testing::smallest_run());  // keeps none
  std::get<HeldoutConfig>(config.evaluate[0]).at = {5};
  const auto run = results.planned(config);
  CATCH_CHECK_THROWS_WITH(run_experiment(config, run, [] { return false; }),
                          Contains("without train.keep_checkpoints for step 5"));
}

CATCH_TEST_CASE("a model can be asked on another task with its vocabulary") {
  const Results results;
  auto config = testing::smallest_run();
  const auto trained = results.run(config);
  const TaskConfig longer = NeedleConfig{.length = 48, .needles = 2};
  HeldoutConfig heldout{.samples = 8};
  heldout.other_task.config = longer;
  config.evaluate = {heldout};
  const auto asked = results.run(config);
  CATCH_CHECK_FALSE(has_trained(asked));
  const auto expected =
      answer_of(trained.checkpoint(), config, longer, HeldoutConfig{.samples = 8});
  CATCH_CHECK(read_result(asked)->at("metrics").at("test_loss") ==
              expected.metrics.at("test_loss"));
  CATCH_CHECK(read_result(asked)->at("metrics").at("needle_accuracy_chance") == 0.5);

  // What it is asked on is a part of the answer's name.
  auto same = config;
  std::get<HeldoutConfig>(same.evaluate[0]).other_task.config.reset();
  CATCH_CHECK(answer_id(same, 0) != answer_id(config, 0));
  CATCH_CHECK(training_id(same) == training_id(config));

  std::get<HeldoutConfig>(config.evaluate[0]).other_task.config = RecallConfig{.tokens = 130};
  const auto other = results.planned(config);
  CATCH_CHECK_THROWS_WITH(run_experiment(config, other, [] { return false; }),
                          Contains("another vocabulary: token 2 is"));
}

CATCH_TEST_CASE("as many tokens that mean something else are refused before anything starts") {
  auto config = testing::smallest_run();
  const auto problem_of = [&](const TaskConfig& asked) {
    HeldoutConfig heldout{.samples = 8};
    heldout.other_task.config = asked;
    config.evaluate = {heldout};
    return testing::problem_of_files(config);
  };
  CATCH_CHECK(problem_of(NeedleConfig{.length = 48, .needles = 2}) == "");
  CATCH_CHECK(problem_of(config.task) == "");
  CATCH_CHECK_THAT(problem_of(NeedleConfig{.noise_names = NoiseNames::kKeys}),
                   Contains("evaluate[0].task") && Contains("has another vocabulary: its token ") &&
                       Contains("is 'k0', the model's is 'n0'"));
  CATCH_CHECK_THAT(problem_of(RecallConfig{.tokens = 130}),
                   Contains("token 2 is 's0', the model's is 'n0'"));
  CATCH_CHECK_THAT(problem_of(MqarConfig{.tokens = 130}),
                   Contains("token 0 is '_', the model's is 'B'"));
}

CATCH_TEST_CASE("the kept steps of a training as people write them") {
  const auto read = [](const char* json) {
    return KeptSteps::from_value(config::from_json(Json::parse(json)));
  };
  const auto all = [](const KeptSteps& kept) { return kept.text(20); };
  CATCH_CHECK(all(*read("\"none\"")) == "none");
  CATCH_CHECK(all(*read("\"powers\"")) == "1, 2, 4, 8, 16");
  CATCH_CHECK(all(*read("\"every 6\"")) == "6, 12, 18");
  CATCH_CHECK(all(*read("[0, 7]")) == "0, 7");
  for (const char* wrong : {"\"every\"", "\"every 0\"", "\"every x\"", "\"every 3 \"", "7", "[-1]",
                            "[1.5]", "\"all\""}) {
    CATCH_INFO(wrong);
    CATCH_CHECK_FALSE(read(wrong));
  }
  for (const char* right : {"\"none\"", "\"powers\"", "\"every 6\"", "[0, 7]"}) {
    CATCH_CHECK(config::to_json(read(right)->to_value()) == Json::parse(right));
  }
}

}  // namespace
}  // namespace difflab
