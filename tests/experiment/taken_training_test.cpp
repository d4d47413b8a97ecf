// Train once, ask again: a run whose training another one has done takes it and is only asked.
#include "kernel/attention_head.h"
#include "record/answers.h"
#include "record/provenance.h"
#include "run/trained_runs.h"
#include "support/small_runs.h"

namespace difflab {
namespace {

using testing::has_trained, testing::Results, testing::without_times;

RunConfig trained_config() {
  auto config = testing::smallest_run();
  config.evaluate = {HeldoutConfig{.samples = 16}};
  return config;
}

RunConfig asked_more() {
  auto config = trained_config();
  config.evaluate.emplace_back(NeedleGridConfig{.depths = {0, 100}, .samples = 4});
  return config;
}

std::string answer_file(const RunDirectory& run, const RunConfig& config, std::size_t index) {
  return read_file(run.answers() / (answer_id(config, index) + ".json"));
}

CATCH_TEST_CASE("a taken training says what it comes from") {
  const Results results;
  const auto first = results.run(trained_config());
  auto provenance = *read_provenance(first);
  provenance["commit"] = "one";
  provenance["earlier_sessions"] = Json::array({{{"commit", "zero"}, {"host", "somewhere"}}});
  write_file_atomically(first.provenance(), provenance.dump());
  const auto second = *read_provenance(results.run(asked_more()));
  CATCH_CHECK(second.at("trained_in") == first.path.filename().string());
  CATCH_REQUIRE(second.at("training").size() == 2);
  CATCH_CHECK(second["training"][0].at("commit") == "one");
  CATCH_CHECK(second["training"][0].at("cpu") == provenance.at("cpu"));
  CATCH_CHECK(second["training"][1] == Json{{"commit", "zero"}});
  CATCH_CHECK(sessions_of(second).size() == 3);
}

CATCH_TEST_CASE("a damaged result beside a training is nobody's, and stops nobody") {
  const Results results;
  const auto first = results.run(trained_config());
  const RunDirectory damaged{results_of(first) / "runs" / "0123456789abcdef"};
  std::filesystem::create_directories(damaged.path);
  write_file_atomically(damaged.result(), "");
  note_training(damaged, training_id(trained_config()));
  CATCH_CHECK(runs_with_training(results_of(first), training_id(trained_config()), "").size() == 1);
  CATCH_CHECK_FALSE(has_trained(results.run(asked_more())));
}

// Its folder may have been deleted, as messages advise.
CATCH_TEST_CASE("a run that is trained anew is not taken before it is trained to the end") {
  const Results results;
  const auto first = results.run(trained_config());
  const auto training = training_id(trained_config());
  std::filesystem::remove_all(first.path);
  std::filesystem::create_directories(first.path);
  CATCH_CHECK(run_experiment(trained_config(), first, testing::stop_after(1)) ==
              RunEnd::kInterrupted);
  CATCH_CHECK(std::filesystem::exists(first.checkpoint()));
  CATCH_CHECK(runs_with_training(results_of(first), training, "").empty());
  CATCH_CHECK(run_experiment(trained_config(), first, [] { return false; }) == RunEnd::kComplete);
  CATCH_CHECK(runs_with_training(results_of(first), training, "").size() == 1);
}

CATCH_TEST_CASE("a run that only asks something else trains nothing and ends the same") {
  const Results alone, together;
  const auto expected = alone.run(asked_more());
  CATCH_CHECK(has_trained(expected));

  const auto first = together.run(trained_config());
  const auto second = together.run(asked_more());
  CATCH_CHECK(has_trained(first));
  CATCH_CHECK_FALSE(has_trained(second));
  CATCH_CHECK(without_times(*read_result(second)).dump() ==
              without_times(*read_result(expected)).dump());
  CATCH_CHECK(read_file(second.metrics()) == read_file(first.metrics()));
  CATCH_CHECK((*read_provenance(second)).at("trained_in") == first.path.filename().string());
  CATCH_CHECK((*read_provenance(second)).at("instruction_set") == kernel::instruction_set());
  CATCH_CHECK(std::filesystem::equivalent(first.checkpoint(), second.checkpoint()));
  // What was answered is not asked again, down to the time of the asking.
  CATCH_CHECK(answer_file(second, asked_more(), 0) == answer_file(first, trained_config(), 0));
}

CATCH_TEST_CASE("a training that has begun is given up for one that has ended") {
  const Results alone, together;
  const auto expected = alone.run(asked_more());
  const auto begun = together.planned(asked_more());
  CATCH_REQUIRE(run_experiment(asked_more(), begun, testing::stop_after(2)) ==
                RunEnd::kInterrupted);
  CATCH_REQUIRE(std::filesystem::exists(begun.checkpoint()));
  const auto other = together.run(trained_config());
  CATCH_CHECK(run_experiment(asked_more(), begun, [] { return false; }) == RunEnd::kComplete);
  CATCH_CHECK((*read_provenance(begun)).at("trained_in") == other.path.filename().string());
  CATCH_CHECK(std::filesystem::equivalent(other.checkpoint(), begun.checkpoint()));
  CATCH_CHECK(read_file(begun.metrics()) == read_file(other.metrics()));
  CATCH_CHECK(without_times(*read_result(begun)).dump() ==
              without_times(*read_result(expected)).dump());
}

CATCH_TEST_CASE("an evaluation under another name is not asked again") {
  const Results results;
  const auto first = results.run(trained_config());
  auto renamed = trained_config();
  std::get<HeldoutConfig>(renamed.evaluate[0]).name = "mine";
  const auto second = results.run(renamed);
  CATCH_CHECK_FALSE(has_trained(second));
  CATCH_CHECK(answer_file(second, renamed, 0) == answer_file(first, trained_config(), 0));
  CATCH_CHECK(read_result(second)->at("metrics").at("mine_test_loss") ==
              read_result(first)->at("metrics").at("test_loss"));
}

CATCH_TEST_CASE("another training is never taken") {
  const Results results;
  results.run(trained_config());
  auto other = asked_more();
  other.seed = 1;
  CATCH_CHECK(has_trained(results.run(other)));

  // Neither if the index says so.
  auto third = asked_more();
  third.seed = 2;
  note_training(results.folder_of(trained_config()), training_id(third));
  CATCH_CHECK(has_trained(results.run(third)));
}

CATCH_TEST_CASE("a run whose folder was deleted has no training for others") {
  const Results results;
  const auto first = results.run(trained_config());
  const auto root = results_of(first);
  const auto training = training_id(trained_config());
  CATCH_CHECK(runs_with_training(root, training).size() == 1);
  std::filesystem::remove_all(first.path);
  CATCH_CHECK(runs_with_training(root, training).empty());
}

CATCH_TEST_CASE("a damaged checkpoint is not taken") {
  const Results alone, results;
  const auto expected = without_times(*read_result(alone.run(asked_more())));
  const auto first = results.run(trained_config());
  auto bytes = read_file(first.checkpoint());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file_atomically(first.checkpoint(), bytes);
  const auto second = results.run(asked_more());
  CATCH_CHECK(has_trained(second));
  CATCH_CHECK(without_times(*read_result(second)).dump() == expected.dump());
}

CATCH_TEST_CASE("a training that did not come to its end is not taken") {
  const Results results;
  auto config = trained_config(), more = asked_more();
  config.train.keep_checkpoints = more.train.keep_checkpoints = KeptSteps({5});
  const auto first = results.run(config);
  write_file_atomically(first.checkpoint(), read_file(first.kept(5)));
  const auto second = results.run(more);
  CATCH_CHECK(has_trained(second));
  CATCH_CHECK_FALSE(read_provenance(second)->contains("trained_in"));
}

CATCH_TEST_CASE("a run of an older version is found and taken") {
  const Results results;
  const auto first = results.run(trained_config());
  std::filesystem::remove_all(results.path() / "trainings");
  std::filesystem::remove_all(first.answers());
  note_older_trainings(results.path());
  const auto second = results.run(asked_more());
  CATCH_CHECK_FALSE(has_trained(second));
  CATCH_CHECK(read_result(second)->at("metrics").at("test_loss") ==
              read_result(first)->at("metrics").at("test_loss"));
}

CATCH_TEST_CASE("a training that diverged is not done again either") {
  const Results results;
  auto config = trained_config();
  config.train.lr = 1e30;
  const auto first = results.run(config);
  CATCH_REQUIRE(read_result(first)->at("status") == "diverged");
  config.evaluate = asked_more().evaluate;
  const auto second = results.run(config);
  auto expected = *read_result(first);
  expected["id"] = run_id(config);
  CATCH_CHECK(read_result(second)->dump() == expected.dump());
  CATCH_CHECK(read_events(second).records.at(0).at("event") == "take training");
}

CATCH_TEST_CASE("the news that a restored run diverged, on another machine, is none") {
  const Results results;
  auto config = trained_config();
  config.train.lr = 1e30;
  const auto first = results.run(config);
  auto provenance = *read_provenance(first);
  provenance["restored_from"] = "headline/reference";
  write_file_atomically(first.provenance(), provenance.dump());
  std::filesystem::remove(first.checkpoint());
  config.evaluate = asked_more().evaluate;
  const auto second = results.run(config);
  CATCH_CHECK(read_result(second)->at("status") == "diverged");
  for (const auto& event : read_events(second).records) {
    CATCH_CHECK(event.at("event") != "take training");
  }
}

CATCH_TEST_CASE("a run that was interrupted while it asked still says who trained it") {
  const Results results;
  const auto first = results.run(trained_config());
  const auto second = results.run(asked_more());
  for (int time = 0; time < 2; ++time) {  // killed before its result was there
    CATCH_REQUIRE(std::filesystem::remove(second.result()));
    results.run(asked_more());
    const auto provenance = *read_provenance(second);
    CATCH_CHECK(provenance.at("trained_in") == first.path.filename().string());
    CATCH_CHECK(provenance.at("training").size() == 1);
  }
  // Until it trains itself.
  CATCH_REQUIRE(std::filesystem::remove(second.result()));
  std::filesystem::remove(second.checkpoint());
  std::filesystem::remove_all(first.path);
  results.run(asked_more());
  CATCH_CHECK(has_trained(second));
  CATCH_CHECK_FALSE(read_provenance(second)->contains("trained_in"));
}

CATCH_TEST_CASE("an evaluation that fails costs neither the training nor the other answers") {
  const Results results;
  auto config = asked_more();
  // Of another task, which a sweep would refuse.
  config.evaluate.insert(config.evaluate.begin() + 1, HallucinationConfig{});
  const auto run = results.folder_of(config);
  make_directories(run.path);
  write_file_atomically(run.config(), config::to_yaml(config::write(config)));
  for (int time = 0; time < 2; ++time) {
    CATCH_CHECK_THROWS(run_experiment(config, run, [] { return false; }));
    CATCH_CHECK_FALSE(read_result(run));
    CATCH_CHECK(read_answer(run, answer_id(config, 0)));
    CATCH_CHECK_FALSE(read_answer(run, answer_id(config, 1)));
    CATCH_CHECK(read_answer(run, answer_id(config, 2)));
  }
  // Without it the run is complete at once.
  const auto mended = results.run(asked_more());
  CATCH_CHECK_FALSE(has_trained(mended));
  CATCH_CHECK(answer_file(mended, asked_more(), 1) == answer_file(run, config, 2));
}

CATCH_TEST_CASE("nothing is written where a link leads") {
  const testing::TemporaryFolder elsewhere;
  const Results results;
  make_directories(results.path());
  std::filesystem::create_directory_symlink(elsewhere.path(), results.path() / "trainings");
  results.run(trained_config());
  CATCH_CHECK(std::filesystem::is_empty(elsewhere.path()));

  const RunDirectory run{results.path() / "runs" / "linked"};
  make_directories(run.path);
  std::filesystem::create_directory_symlink(elsewhere.path(), run.answers());
  CATCH_CHECK_THROWS_AS(write_answer(run, {"id", {}, Json::object(), Json::object(), {}}),
                        UserError);
  CATCH_CHECK(std::filesystem::is_empty(elsewhere.path()));
}

CATCH_TEST_CASE("an answer that is torn or of another version counts as none") {
  const Results results;
  const auto run = results.run(trained_config());
  const auto id = answer_id(trained_config(), 0);
  const auto file = run.answers() / (id + ".json");
  const auto text = read_file(file);
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, text.size() / 2}) {
    write_file_atomically(file, text.substr(0, length));
    CATCH_CHECK_FALSE(read_answer(run, id));
  }
  auto other = Json::parse(text);
  other["schema"] = 2;
  write_file_atomically(file, other.dump());
  CATCH_CHECK_FALSE(read_answer(run, id));
  write_file_atomically(file, text);
  CATCH_CHECK(read_answer(run, id));
}

CATCH_TEST_CASE("what decides the weights is a training's identity, what is asked is not") {
  const auto base = training_id(trained_config());
  CATCH_CHECK(training_id(asked_more()) == base);
  CATCH_CHECK(run_id(asked_more()) != run_id(trained_config()));
  const auto with = [](auto change) {
    auto config = trained_config();
    change(config);
    return training_id(config);
  };
  CATCH_CHECK(with([](RunConfig& c) { c.model.name = "x"; }) == base);
  CATCH_CHECK(with([](RunConfig& c) { c.seed = 1; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.threads = 2; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.kernels = Kernels::kPlain; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.train.steps = 9; }) != base);
  CATCH_CHECK(with([](RunConfig& c) { c.task = NeedleConfig{.length = 24}; }) != base);
}

CATCH_TEST_CASE("later keys with their old value are forgotten wherever their path leads") {
  const auto forget = [](const std::string& text, const std::vector<LaterKey>& keys) {
    auto value = config::parse_yaml(text, "run.yaml");
    forget_later_keys(value, keys);
    return config::canonical_json(value);
  };
  const std::string run =
      "{train: {steps: 3, new: 0}, model: {attention: {kind: a, new: 0}}, "
      "evaluate: [{kind: x, new: 0}, {kind: y, new: 0}, {kind: x, new: 1}]}";
  CATCH_CHECK(forget(run, {{"train.new", "0"}}) ==
              forget("{train: {steps: 3}, model: {attention: {kind: a, new: 0}}, evaluate: "
                     "[{kind: x, new: 0}, {kind: y, new: 0}, {kind: x, new: 1}]}",
                     {}));
  CATCH_CHECK(forget(run, {{"train.new", "1"}}) == forget(run, {}));
  CATCH_CHECK(forget(run, {{"model.attention:a.new", "0"}}) != forget(run, {}));
  CATCH_CHECK(forget(run, {{"model.attention:b.new", "0"}}) == forget(run, {}));
  CATCH_CHECK(forget(run, {{"model.attention.new", "0"}, {"evaluate:x.new", "0"}}) ==
              forget("{train: {steps: 3, new: 0}, model: {attention: {kind: a}}, evaluate: "
                     "[{kind: x}, {kind: y, new: 0}, {kind: x, new: 1}]}",
                     {}));
  CATCH_CHECK(forget(run, {{"nothing.at.all", "0"}, {"train.steps.deeper", "0"}}) ==
              forget(run, {}));
}

}  // namespace
}  // namespace difflab
