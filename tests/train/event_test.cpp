#include "support/catch.h"
#include "support/problems.h"
#include "train/event_watch.h"

namespace difflab {
namespace {

TrainConfig watched() {
  TrainConfig config{.eval_samples = 256, .event_every = 10, .event_samples = 16};
  config.events = {{.name = "found", .at_least = 0.9}};
  return config;
}

// The accuracies of the looks at steps 10, 20 … on the small and on the full batch.
Progress watch(const TrainConfig& config, const std::vector<double>& small,
               const std::vector<double>& full, int* looks = nullptr) {
  Progress progress;
  const auto look = [&](const std::vector<std::string>& metrics, std::int64_t samples) {
    if (looks != nullptr) ++*looks;
    CATCH_CHECK(metrics.at(0) == "valid_accuracy");
    const auto& seen = samples == config.event_samples ? small : full;
    const double accuracy = seen.at(static_cast<std::size_t>(progress.step / 10 - 1));
    return Json{{"valid_accuracy", accuracy}, {"lambda.0", -accuracy}};
  };
  const EventWatch events(config, look);
  const auto last = static_cast<std::int64_t>(small.size()) * 10;
  while (progress.step < last && !has_stopped(config, progress)) {
    ++progress.step;
    progress.train_seconds += 0.5;
    events.after_step(progress);
  }
  return progress;
}

CATCH_TEST_CASE("an event is the first look of those in a row that find it") {
  const std::vector<double> curve{0.1, 0.95, 0.2, 0.9, 0.93, 0.1};
  const auto progress = watch(watched(), curve, curve);
  CATCH_CHECK(progress.milestones.at("steps_to_found") == 40);
  CATCH_CHECK(progress.milestones.at("time_to_found_seconds") == 25);  // when it was sure
  CATCH_CHECK(progress.step == 60);
}

CATCH_TEST_CASE("an event asks for the training loss since the last line of metrics") {
  auto config = watched();
  config.events = {{.name = "fits", .metric = "train_loss", .at_most = 0.7, .in_a_row = 1}};
  CATCH_CHECK_THAT(testing::Problems::of(config), Contains("event_every is 10 with an event of"));
  config.eval_every = 10;
  CATCH_CHECK(testing::Problems::of(config) == "");
  Progress progress{.step = 20, .loss_sum = 7.5, .loss_count = 10};
  const EventWatch events(config, [](const auto& metrics, auto) {
    CATCH_CHECK(metrics.empty());
    return Json::object();
  });
  events.after_step(progress);
  CATCH_CHECK(progress.milestones.empty());
  progress.step = 30, progress.loss_sum = 6.9;
  events.after_step(progress);
  CATCH_CHECK(progress.milestones.at("steps_to_fits") == 30);
  CATCH_CHECK(progress.looks["train_loss"] == Json::parse("[null, 0.75, 0.69]"));
}

CATCH_TEST_CASE("no event may be called as what a report reads off the curve") {
  auto config = watched();
  CATCH_CHECK(testing::Problems::of(config) == "");
  config.events[0].name = "learn";
  CATCH_CHECK(testing::Problems::of(config) ==
              "events have one named learn, but reports write steps_to_learn themselves (learned); "
              "expected another name\n");
}

CATCH_TEST_CASE("what a small batch finds by luck is not confirmed by the full one") {
  const std::vector<double> small{0.9, 0.9, 0.9, 0.9, 0.9}, full{0.9, 0.5, 0.9, 0.9, 0.9};
  CATCH_CHECK(watch(watched(), small, full).milestones.at("steps_to_found") == 30);
  CATCH_CHECK(watch(watched(), small, std::vector(5, 0.5)).milestones.empty());
}

CATCH_TEST_CASE("training stops at its event, or looks on to its end") {
  const std::vector<double> curve(10, 0.95);
  auto config = watched();
  int looks = 0;
  CATCH_CHECK(watch(config, curve, curve, &looks).step == 100);
  CATCH_CHECK(looks == 11);  // ten, and one on the full batch
  config.stop_at = "found";
  CATCH_CHECK(watch(config, curve, curve).step == 20);
  config.events.push_back({.name = "lost", .at_most = 0.1, .in_a_row = 1});
  config.stop_at = "lost";
  CATCH_CHECK(watch(config, curve, curve).step == 100);
}

CATCH_TEST_CASE("a row goes on where a checkpoint left it") {
  auto progress = watch(watched(), {0.1, 0.95}, {0.1, 0.95});
  CATCH_CHECK(progress.rows.at("found").at("first") == 20);
  CATCH_CHECK(progress.milestones.empty());
}

CATCH_TEST_CASE("schedules have the rate that their names say") {
  TrainConfig config{.steps = 101, .lr = 2, .final_lr_ratio = 0.1, .warmup_steps = 10};
  const auto rates = [&](LrSchedule schedule) {
    config.schedule = schedule;
    return std::vector{learning_rate(config, 0), learning_rate(config, 10),
                       learning_rate(config, 55), learning_rate(config, 100)};
  };
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < found.size(); ++i) CATCH_CHECK(found[i] == Approx(expected[i]));
  };
  near(rates(LrSchedule::kCosine), {0.2, 2, 1.1, 0.2});
  near(rates(LrSchedule::kLinear), {0.2, 2, 1.1, 0.2});
  CATCH_CHECK(learning_rate(config, 28) == Approx(2 - 1.8 * 0.2));
  near(rates(LrSchedule::kConstant), {0.2, 2, 2, 2});
  near(rates(LrSchedule::kStable), {0.2, 2, 2, 0.2});
  CATCH_CHECK(learning_rate(config, 80) == 2);  // 20 of 101 steps decay
  CATCH_CHECK(learning_rate(config, 81) == 2);
  CATCH_CHECK(learning_rate(config, 91) == Approx(2 - 1.8 * 10 / 19));
  // A horizon twice as far does not move the steps before its decay.
  config.steps = 202;
  CATCH_CHECK(learning_rate(config, 100) == 2);
}

CATCH_TEST_CASE("what looks saw is kept, and what a checkpoint did not keep is missing") {
  const std::vector<double> curve{0.123456789, 0.95, 0.2};
  const auto progress = watch(watched(), curve, curve);
  CATCH_CHECK(progress.looks ==
              Json::parse(R"({"every": 10, "valid_accuracy": [0.123457, 0.95, 0.2],
                                                "lambda.0": [-0.123457, -0.95, -0.2]})"));
  const auto config = watched();
  Progress resumed{.step = 30};
  const EventWatch events(config, [](const auto&, auto) { return Json{{"valid_accuracy", 0.5}}; });
  events.after_step(resumed);
  CATCH_CHECK(resumed.looks["valid_accuracy"] == Json::parse("[null, null, 0.5]"));
}

CATCH_TEST_CASE("events at several bounds of one metric come each in its time") {
  auto config = watched();
  config.events = {{.name = "half", .at_least = 0.5},
                   {.name = "found", .at_least = 0.9},
                   {.name = "sure", .at_least = 0.99}};
  config.stop_at = "sure";
  const std::vector<double> curve{0.4, 0.5, 0.6, 0.91, 0.99, 0.98, 0.995, 1, 1};
  const auto progress = watch(config, curve, curve);
  CATCH_CHECK(progress.milestones.at("steps_to_half") == 20);
  CATCH_CHECK(progress.milestones.at("steps_to_found") == 40);
  CATCH_CHECK(progress.milestones.at("steps_to_sure") == 70);
  CATCH_CHECK(progress.step == 80);
}

}  // namespace
}  // namespace difflab
