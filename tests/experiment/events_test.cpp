// Runs that are watched for events, and stop at one.
#include <numeric>

#include "record/provenance.h"
#include "record/safetensors.h"
#include "record/status.h"
#include "support/small_runs.h"
#include "train/optimizer/optimizer_config.h"
#include "util/hash.h"

namespace difflab {
namespace {

using testing::has_trained, testing::outcome_of, testing::Results;

// The loss falls from 5.16 to 4.97.
RunConfig watched() {
  auto config = testing::smallest_run();
  config.train.steps = 40;
  config.train.lr = 1e-2;
  config.train.event_every = 2;
  config.train.event_samples = 8;
  config.train.events = {{.name = "better", .metric = "valid_loss", .at_most = 5.0},
                         {.name = "never", .at_least = 2}};
  config.evaluate = {HeldoutConfig{.samples = 16}};
  return config;
}

CATCH_TEST_CASE("a run says when its events came, and beyond what those that did not") {
  const Results results;
  const auto run = results.run(watched());
  const auto result = *read_result(run);
  const auto steps = result["metrics"]["steps_to_better"].get<int>();
  CATCH_CHECK(steps > 0);
  CATCH_CHECK(steps < 36);
  CATCH_CHECK(steps % 2 == 0);
  CATCH_CHECK(result["metrics"]["steps_to_never"].is_null());
  CATCH_CHECK(result["censored"]["steps_to_never"] == 40);
  CATCH_CHECK(!result["censored"].contains("steps_to_better"));
  // Being watched changes nothing else.
  auto unwatched = watched();
  unwatched.train.events.clear();
  CATCH_CHECK((*read_result(results.run(unwatched)))["metrics"]["test_loss"] ==
              result["metrics"]["test_loss"]);
}

CATCH_TEST_CASE("events come where the held-out figures of the same samples say") {
  const Results results;
  auto config = watched();
  config.train.steps = 60;
  config.train.lr = 3e-2;
  config.train.eval_every = config.train.event_every = 1;
  config.train.eval_samples = config.train.event_samples = 400;
  config.train.events.clear();
  const auto curve = read_metrics(results.run(config));
  // The median of a figure is on either side of its bound at different steps.
  const std::vector<std::string> names{"valid_accuracy", "valid_loss"};
  std::map<std::string, double> bounds;
  for (const auto& name : names) {
    std::vector<double> values;
    for (const auto& line : curve) values.push_back(line.at(name).get<double>());
    std::sort(values.begin(), values.end());
    bounds[name] = values[values.size() / 2];
    CATCH_CHECK(values.front() < values.back());
  }
  for (const auto& name : names) {
    const auto label = name.substr(6);
    config.train.events.push_back(
        {.name = label + "_up", .metric = name, .at_least = bounds[name], .in_a_row = 1});
    config.train.events.push_back(
        {.name = label + "_down", .metric = name, .at_most = bounds[name], .in_a_row = 1});
  }
  const auto found = *read_result(results.run(config));
  for (const auto& event : config.train.events) {
    CATCH_INFO(event.name);
    const auto line = std::find_if(curve.begin() + 1, curve.end(), [&](const Json& one) {
      return event.met_by(one.at(event.metric).get<double>());
    });
    CATCH_REQUIRE(line != curve.end());
    CATCH_CHECK(found.at("metrics").at(event.steps_key()) == line->at("step"));
  }
  // Looks are kept, from the first step on, as the lines of the curve have them.
  const auto& looks = found.at("looks");
  CATCH_CHECK(looks.at("every") == 1);
  for (const auto* name : {"valid_accuracy", "valid_loss", "lambda.0", "lambda.1"}) {
    CATCH_REQUIRE(looks.at(name).size() == curve.size() - 1);
    for (std::size_t i = 1; i < curve.size(); ++i) {
      CATCH_CHECK(looks.at(name)[i - 1].get<double>() ==
                  Approx(curve[i].at(name).get<double>()).margin(1e-4));
    }
  }
  CATCH_CHECK(found["metrics"]["lambda_first"] == found["metrics"]["lambda.0"]);
  CATCH_CHECK(found["metrics"]["lambda_last"] == found["metrics"]["lambda.1"]);
}

// By the file of a checkpoint, which another code reads.
std::string weights_in(const std::filesystem::path& file) {
  const auto stored = read_sealed_safetensors(file);
  std::set<std::string> lines;
  for (const auto& tensor : stored.tensors()) {
    if (is_optimizer_state(tensor.name)) continue;
    std::string shape;
    for (const auto size : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    lines.insert(concat(tensor.name, " F32 [", shape, "] ", sha256_hex(tensor.bytes), "\n"));
  }
  return sha256_hex(std::accumulate(lines.begin(), lines.end(), std::string())).substr(0, 16);
}

CATCH_TEST_CASE("a run tells the batch and the weights with which it began") {
  const Results results;
  const auto begun = [&](auto change) {
    auto config = watched();
    config.train.keep_checkpoints = KeptSteps({0});
    change(config);
    const auto run = results.run(config);
    const auto found = read_provenance(run)->at("fingerprints");
    CATCH_CHECK(found.at("initial_weights") == weights_in(run.kept(0)));
    return std::pair(found.at("first_batch").get<std::string>(),
                     found.at("initial_weights").get<std::string>());
  };
  const auto one = begun([](RunConfig&) {});
  CATCH_CHECK(one == begun([](RunConfig& run) { run.train.lr = 2e-2; }));
  const auto other_seed = begun([](RunConfig& run) { run.seed = 7; });
  CATCH_CHECK(other_seed.first != one.first);
  CATCH_CHECK(other_seed.second != one.second);
  const auto smaller = begun([](RunConfig& run) { run.train.batch_size = 3; });
  CATCH_CHECK(smaller.first != one.first);
  CATCH_CHECK(smaller.second == one.second);
}

CATCH_TEST_CASE("a run that was interrupted, or took its training, began as that one did") {
  const Results results, disturbed;
  auto config = watched();
  const auto expected = read_provenance(results.run(config))->at("fingerprints");
  const auto again = disturbed.planned(config);
  run_experiment(config, again, testing::stop_after(3));
  run_experiment(config, again, [] { return false; });
  CATCH_CHECK(read_provenance(again)->at("fingerprints") == expected);
  CATCH_CHECK(read_provenance(again)->at("earlier_sessions").size() == 1);
  std::get<HeldoutConfig>(config.evaluate[0]).samples = 24;
  const auto taken = results.run(config);
  CATCH_REQUIRE_FALSE(has_trained(taken));
  CATCH_CHECK(read_provenance(taken)->at("fingerprints") == expected);
}

CATCH_TEST_CASE("a run that stops at its event ends there, however often it was interrupted") {
  const Results results, disturbed;
  auto config = watched();
  config.train.stop_at = "better";
  const auto run = results.run(config);
  const auto undisturbed = outcome_of(run);
  const auto end = undisturbed.result["metrics"]["steps"].get<int>();
  CATCH_CHECK(end == undisturbed.result["metrics"]["steps_to_better"].get<int>() + 2);
  CATCH_CHECK(undisturbed.metrics.back()["step"] == end);
  CATCH_CHECK((*read_status(run))["state"] == "finished");
  const auto again = disturbed.planned(config);
  for (int stop = 1; !read_result(again); ++stop) {
    CATCH_REQUIRE(stop < 100);
    run_experiment(config, again, testing::stop_after(1 + stop % 3));
  }
  CATCH_CHECK(outcome_of(again).result == undisturbed.result);
  CATCH_CHECK(outcome_of(again).metrics == undisturbed.metrics);
  // Asked something new, it is not trained on.
  std::get<HeldoutConfig>(config.evaluate[0]).samples = 24;
  const auto asked = results.run(config);
  CATCH_CHECK_FALSE(has_trained(asked));
  CATCH_CHECK((*read_result(asked))["metrics"]["steps"] == end);
}

CATCH_TEST_CASE("events without a bound, with two, of one name or unknown are refused") {
  const auto problem_of = [](auto change) {
    auto config = watched();
    change(config.train);
    return testing::error_of([&] { config::read<RunConfig>(config::write(config), ""); });
  };
  CATCH_CHECK(problem_of([](TrainConfig&) {}).empty());
  CATCH_CHECK_THAT(problem_of([](TrainConfig& t) { t.events[0].at_most.reset(); }),
                   Contains("train.events[0].at_least"));
  CATCH_CHECK_THAT(problem_of([](TrainConfig& t) { t.events[0].at_least = 1; }),
                   Contains("expected exactly one"));
  CATCH_CHECK_THAT(problem_of([](TrainConfig& t) { t.events[1].name = "better"; }),
                   Contains("two named better"));
  CATCH_CHECK_THAT(problem_of([](TrainConfig& t) { t.events[0].name = "a b"; }),
                   Contains("expected letters"));
  CATCH_CHECK_THAT(problem_of([](TrainConfig& t) { t.stop_at = "beter"; }),
                   Contains("did you mean better"));
}

}  // namespace
}  // namespace difflab
