// Trainings in stages: each is a run of its own that others share.
#include "record/log/event_log.h"
#include "record/provenance.h"
#include "record/safetensors.h"
#include "record/status.h"
#include "run/run_config.h"
#include "support/optimizers.h"
#include "support/small_runs.h"
#include "train/tensor_file.h"

namespace difflab {
namespace {

using testing::has_trained, testing::outcome_of, testing::Results;

// Trained on 24 tokens, then on 16 and 32 with a larger rope_theta.
RunConfig staged() {
  auto config = testing::smallest_run();
  config.stages = {{.task = config.task, .train = config.train, .rope_theta = 10'000}};
  config.stages[0].train.steps = 6;
  config.task = NeedleRecallConfig{.needle = {.length = 32, .lengths = {16, 32}}};
  config.model.rope_theta = 40'000;
  config.evaluate = {HeldoutConfig{.samples = 16}};
  return config;
}

CATCH_TEST_CASE("a stage is a run of its own, from whose weights the next one starts") {
  const Results results;
  const auto run = results.run(staged());
  const auto stage = *earlier_run(staged());
  CATCH_CHECK(stage.train.steps == 6);
  CATCH_CHECK(stage.model.rope_theta == 10'000);
  CATCH_CHECK(sequence_length(stage.task) == 24);
  CATCH_CHECK(stage.evaluate.empty());
  CATCH_CHECK_FALSE(earlier_run(stage));

  const auto first = results.folder_of(stage);
  CATCH_REQUIRE(read_result(first));
  // The stage is what a run with its configuration is.
  const Results alone;
  CATCH_CHECK(outcome_of(first).result == outcome_of(alone.run(stage)).result);

  // The same by hand: weights of the stage as a file to start from, and the data from there on.
  CATCH_CHECK(first_batch(staged()) == 6);
  const auto start = read_metrics(run).front();
  CATCH_CHECK(start.at("step") == 0);
  auto by_hand = staged();
  by_hand.stages.clear();
  by_hand.init_from.path = first.checkpoint().string();
  const auto other = read_metrics(alone.run(by_hand));
  CATCH_CHECK(other.front().at("valid_loss") == start.at("valid_loss"));
  // … but that starts with the first batches again.
  CATCH_CHECK(other.back().at("valid_loss") != read_metrics(run).back().at("valid_loss"));
}

// The seconds of training that a run's result tells.
double own_training(const RunDirectory& run) {
  return read_result(run)->at("metrics").at("train_seconds").get<double>();
}

CATCH_TEST_CASE("the time of a stage counts for the run that trained it, and for no other") {
  const Results results;
  const auto run = results.run(staged());
  const auto stage = results.folder_of(*earlier_run(staged()));
  constexpr double kNoted = 1e-5;  // microseconds, rounded
  CATCH_CHECK(time_spent(stage).training == Approx(own_training(stage)).margin(kNoted));
  CATCH_CHECK(read_result(stage)->at("evaluations").empty());  // it is asked nothing
  const auto both = own_training(run) + own_training(stage);
  CATCH_CHECK(time_spent(run).training == Approx(both).margin(kNoted));
  CATCH_CHECK(time_spent(run).validation > time_spent(stage).validation);
  CATCH_CHECK(time_spent(run).evaluation > 0);

  auto other = staged();
  other.train.lr = 1e-3;
  const auto behind = results.run(other);
  CATCH_CHECK(time_spent(behind).training == Approx(own_training(behind)).margin(kNoted));
}

CATCH_TEST_CASE("a run that is stopped has noted its time, and its next session the rest") {
  const Results results;
  const auto config = testing::smallest_run();
  const auto folder = results.planned(config);
  run_experiment(config, folder, testing::stop_after(3));
  const auto first = time_spent(folder);
  CATCH_CHECK(first.training > 0);
  CATCH_CHECK(first.evaluation == 0);
  run_experiment(config, folder, [] { return false; });
  CATCH_CHECK(time_spent(folder).training == Approx(own_training(folder)).margin(1e-5));
  CATCH_CHECK(time_spent(folder).training > first.training);
}

CATCH_TEST_CASE("runs that differ behind a stage share it") {
  const Results results;
  results.run(staged());
  auto other = staged();
  other.train.lr = 1e-3;
  CATCH_CHECK(run_id(*earlier_run(other)) == run_id(*earlier_run(staged())));
  const auto stage = results.folder_of(*earlier_run(staged()));
  const auto before = read_events(stage).records.size();
  results.run(other);
  CATCH_CHECK(read_events(stage).records.size() == before);  // nobody was at it again
}

CATCH_TEST_CASE("a run in stages that is stopped anywhere ends as if it had not been") {
  const Results undisturbed;
  const auto expected = outcome_of(undisturbed.run(staged()));
  std::int64_t last_position = 0;
  for (int stop_at = 0; stop_at < 16; ++stop_at) {
    CATCH_INFO("stopped after " << stop_at << " steps");
    const Results results;
    const auto run = results.planned(staged());
    const auto end = run_experiment(staged(), run, testing::stop_after(stop_at));
    if (end == RunEnd::kInterrupted) {
      CATCH_CHECK((*read_status(run))["state"] == "interrupted");
      const auto position = position_of(run);
      // The stage's lease has asked once before its first step.
      CATCH_CHECK(position.done() == std::clamp(stop_at - 1, 0, 6) + position.step);
      CATCH_CHECK(position.all() == 6 + staged().train.steps);
      CATCH_CHECK(position.done() >= last_position);
      last_position = position.done();
      CATCH_REQUIRE(run_experiment(staged(), run, [] { return false; }) == RunEnd::kComplete);
    }
    CATCH_CHECK(outcome_of(run).result.dump() == expected.result.dump());
    CATCH_CHECK(outcome_of(run).metrics.dump() == expected.metrics.dump());
  }
}

CATCH_TEST_CASE("a run whose checkpoints are damaged starts from its stage again") {
  const Results undisturbed, results;
  const auto expected = outcome_of(undisturbed.run(staged()));
  const auto run = results.planned(staged());
  CATCH_REQUIRE(run_experiment(staged(), run, testing::stop_after(12)) == RunEnd::kInterrupted);
  write_file_atomically(run.checkpoint(), "nothing");
  run_experiment(staged(), run, [] { return false; });
  CATCH_CHECK(outcome_of(run).result.dump() == expected.result.dump());
}

CATCH_TEST_CASE("a stage whose checkpoint is gone says why, and what to do about it") {
  const Results results;
  const auto run = results.run(staged());
  const auto stage = results.folder_of(*earlier_run(staged()));
  std::filesystem::remove_all(run.path);
  std::filesystem::create_directories(run.path);
  std::filesystem::remove(stage.checkpoint());
  CATCH_CHECK_THROWS_WITH(
      run_experiment(staged(), results.folder_of(staged()), [] { return false; }),
      Contains(stage.path.string() +
               " is a stage of this run: delete the folder to have it trained again"));
  auto provenance = *read_provenance(stage);
  provenance["restored_from"] = "a/reference";
  write_file_atomically(stage.provenance(), provenance.dump());
  CATCH_CHECK_THROWS_WITH(
      run_experiment(staged(), results.folder_of(staged()), [] { return false; }),
      Contains("was restored without its model"));
}

CATCH_TEST_CASE("a run behind a stage says what the stage comes from, too") {
  const Results results;
  const auto run = results.run(staged());
  const auto stage = results.folder_of(*earlier_run(staged()));
  auto provenance = *read_provenance(stage);
  provenance["commit"] = "one";
  write_file_atomically(stage.provenance(), provenance.dump());
  auto other = staged();
  other.train.lr = 1e-3;
  const auto behind = *read_provenance(results.run(other));
  CATCH_REQUIRE(behind.at("stage").size() == 1);
  CATCH_CHECK(behind.at("stage")[0].at("commit") == "one");
  CATCH_CHECK(sessions_of(behind).size() == 2);
  CATCH_CHECK_FALSE(read_provenance(stage)->contains("stage"));
}

CATCH_TEST_CASE("behind a stage that diverged nothing is trained") {
  auto config = staged();
  config.stages[0].train.lr = 1e30;
  config.stages[0].train.grad_clip = 0;
  const Results results;
  const auto run = results.run(config);
  CATCH_CHECK(read_result(results.folder_of(*earlier_run(config)))->at("status") == "diverged");
  CATCH_CHECK(read_result(run)->at("status") == "diverged");
  CATCH_CHECK(read_result(run)->at("diverged_at_step") == 0);
  CATCH_CHECK_FALSE(has_trained(run));
}

CATCH_TEST_CASE("three stages are a chain") {
  auto config = staged();
  config.stages.push_back(config.stages[0]);
  config.stages[1].train.lr = 1e-3;
  const auto second = *earlier_run(config);
  CATCH_CHECK(second.train.lr == 1e-3);
  CATCH_CHECK(run_id(*earlier_run(second)) == run_id(*earlier_run(staged())));
  CATCH_CHECK(first_batch(config) == 12);
  const Results results;
  results.run(config);
  CATCH_CHECK(has_trained(results.folder_of(second)));
  CATCH_CHECK(has_trained(results.folder_of(*earlier_run(second))));
}

CATCH_TEST_CASE("what a stage does not say is the run's, and keys without effect stay without") {
  auto tree = config::from_json(Json::parse(R"({
    "model": {"rope_theta": 5e4},
    "task": {"kind": "needle", "length": 64, "needles": 3},
    "train": {"steps": 9, "lr": 0.1},
    "stages": [{"train": {"steps": 4}}, {"task": {"length": 32}, "rope_theta": 1e4},
               {"task": {"kind": "recall", "length": 16}}]})"));
  complete_stages(tree);
  CATCH_CHECK(config::to_json(*tree.find("stages")) == Json::parse(R"([
    {"train": {"steps": 4, "lr": 0.1}, "task": {"kind": "needle", "length": 64, "needles": 3},
     "rope_theta": 5e4},
    {"task": {"kind": "needle", "length": 32, "needles": 3}, "rope_theta": 1e4,
     "train": {"steps": 9, "lr": 0.1}},
    {"task": {"kind": "recall", "length": 16}, "train": {"steps": 9, "lr": 0.1},
     "rope_theta": 5e4}])"));
  auto again = tree;
  complete_stages(again);
  CATCH_CHECK(again == tree);

  auto more_often = staged();
  more_often.stages[0].train.checkpoint_steps = 3;
  CATCH_CHECK(run_id(more_often) == run_id(staged()));
  auto without = staged();
  without.stages.clear();
  CATCH_CHECK(training_id(without) != training_id(staged()));
}

CATCH_TEST_CASE("a stage's optimizer of another kind has settings of its own") {
  auto tree = config::from_json(Json::parse(R"({
      "train": {"lr": 0.1, "optimizer": {"kind": "muon", "momentum": 0.5}},
      "stages": [{"train": {"optimizer": {"kind": "sgd"}}},
                 {"train": {"optimizer": {"nesterov": false}}}]})"));
  complete_stages(tree);
  CATCH_CHECK(config::to_json(*tree.find("stages")) == Json::parse(R"([
      {"train": {"lr": 0.1, "optimizer": {"kind": "sgd"}}},
      {"train": {"lr": 0.1, "optimizer": {"kind": "muon", "momentum": 0.5, "nesterov": false}}}])"));
}

CATCH_TEST_CASE("what a run is watched for is not what its stages are watched for") {
  auto tree = config::from_json(Json::parse(R"({
      "train": {"steps": 9, "events": [{"name": "found", "at_least": 0.9}], "stop_at": "found"},
      "stages": [{}, {"train": {"events": [{"name": "own", "at_least": 0.5}]}}]})"));
  complete_stages(tree);
  const auto* first = tree.find_path("stages[0].train");
  CATCH_REQUIRE(first != nullptr);
  CATCH_CHECK(first->find("steps")->as_int() == 9);
  CATCH_CHECK(first->find("events") == nullptr);
  CATCH_CHECK(first->find("stop_at") == nullptr);
  CATCH_CHECK(tree.find_path("stages[1].train.events[0].name")->as_string() == "own");
  CATCH_CHECK(tree.find_path("stages[1].train.stop_at") == nullptr);
  CATCH_CHECK(tree.find_path("train.stop_at")->as_string() == "found");
}

CATCH_TEST_CASE("a decay from a stored checkpoint is the end of warm-up, stable, decay") {
  testing::for_each_optimizer([](const auto& optimizer) {
    auto whole = testing::smallest_run();
    whole.train.steps = 10;
    whole.train.optimizer = optimizer;
    whole.train.schedule = LrSchedule::kStable;
    whole.train.decay_share = 0.4;
    auto decay = whole;
    decay.stages = {{.task = whole.task, .train = whole.train}};
    decay.stages[0].train.steps = 6;
    decay.stages[0].train.schedule = LrSchedule::kConstant;
    decay.train.steps = 4;
    decay.train.warmup_steps = 0;
    decay.train.schedule = LrSchedule::kLinear;
    decay.train.keep_optimizer = true;
    const Results results;
    const auto tensors = [](const RunDirectory& run) {
      return std::string(read_sealed_safetensors(run.checkpoint()).data());
    };
    const auto expected = tensors(results.run(whole));
    CATCH_CHECK(tensors(results.run(decay)) == expected);
    // Stopped in the middle of the decay it knows how many steps its optimiser has done.
    for (const int after : {8, 9}) {
      const Results again;
      const auto run = again.planned(decay);
      int asked = 0;
      CATCH_CHECK(run_experiment(decay, run, [&] { return ++asked > after; }) ==
                  RunEnd::kInterrupted);
      CATCH_CHECK(tensors(again.run(decay)) == expected);
    }
    decay.train.keep_optimizer = false;
    CATCH_CHECK(tensors(results.run(decay)) != expected);
  });
}

CATCH_TEST_CASE("an optimizer is kept from a stage before, and one of its own kind") {
  auto config = staged();
  const auto refusal = [&] {
    return testing::error_of([&] { config::read<RunConfig>(config::write(config)); });
  };
  CATCH_CHECK(refusal().empty());
  config.train.keep_optimizer = true;
  CATCH_CHECK(refusal().empty());
  config.train.optimizer = SgdConfig{};
  CATCH_CHECK_THAT(refusal(), Contains("train.keep_optimizer is true and the stage before"));
  config.stages.clear();
  CATCH_CHECK_THAT(refusal(), Contains("is true without a stage before"));
}

}  // namespace
}  // namespace difflab
