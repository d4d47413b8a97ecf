// More than one batch, and more than one part and split: what is asked, in which order and of whom.
// Models whose answers are known by hand, or that are asked one sequence at a time.

#include "evaluate/base/answerer.h"
#include "evaluate/base/score_batches.h"
#include "evaluate/evaluation_config.h"
#include "model/language_model.h"
#include "support/catch.h"
#include "support/parrot.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const NeedleConfig kAsked{.length = 24, .needles = 4, .queries = 2};
constexpr std::int64_t kSamples = 400;  // in batches of 170, 170 and 60
constexpr std::uint64_t kSeed = 12;

std::vector<Batch> batches_by_hand(const Task& task, Split split) {
  return {task.batch(kSeed, split, 0, 170), task.batch(kSeed, split, 1, 170),
          task.batch(kSeed, split, 2, 60)};
}

at::Tensor inputs_of(const std::vector<Batch>& batches) {
  std::vector<at::Tensor> inputs;
  for (const auto& batch : batches) inputs.push_back(batch.inputs);
  return at::cat(inputs);
}

std::int64_t count_token(const std::vector<Batch>& batches, std::int64_t token) {
  std::int64_t count = 0;
  for (const auto& batch : batches) count += batch.targets.eq(token).sum().item<std::int64_t>();
  return count;
}

std::shared_ptr<LanguageModel> random_model(std::int64_t vocab_size) {
  const ModelConfig config{
      .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 1}};
  auto model = std::make_shared<LanguageModel>(config, vocab_size);
  initialise(*model, config, 5);
  model->to(at::kDouble);  // no ties by rounding
  model->eval();
  return model;
}

CATCH_TEST_CASE("batches are visited once each, in order, and the last one has what is left") {
  CATCH_REQUIRE(sequences_per_batch(24) == 170);
  const auto task = kAsked.build();
  auto model = testing::parrot(0, task->vocab_size(), 1.0);
  for (const auto split : {Split::kTrain, Split::kValid, Split::kTest}) {
    std::vector<Batch> seen;
    for_each_batch(model, *task, kSeed, split, kSamples,
                   [&](const Batch& batch) { seen.push_back(batch); });
    CATCH_REQUIRE(seen.size() == 3);
    CATCH_CHECK(inputs_of(seen).equal(inputs_of(batches_by_hand(*task, split))));
  }
}

CATCH_TEST_CASE("a score of many batches counts each of them once, on any number of lanes") {
  const auto task = kAsked.build();
  const auto token = kAsked.vocabulary().token(NeedleConfig::kValues);
  auto model = testing::parrot(token, task->vocab_size(), 2.0);
  const auto hits = count_token(batches_by_hand(*task, Split::kTest), token);
  for (const int lanes : {1, 3}) {
    const auto score = score_batches(model, *task, kSeed, Split::kTest, kSamples, lanes);
    CATCH_CHECK(score.sequences == kSamples);
    CATCH_CHECK(score.targets == 2 * kSamples);
    CATCH_CHECK(score.correct == hits);
  }
}

CATCH_TEST_CASE("whoever asks many sequences at once gets the answers to each one alone") {
  const auto task = kAsked.build();
  const auto model = random_model(task->vocab_size());
  const auto batch = task->batch(kSeed, Split::kTest, 0, kSamples);
  for (const int lanes : {1, 2}) {
    const auto asked = answerer(*model, lanes);
    const auto said = asked.answer(batch);
    const auto written = asked.go_on(batch.inputs, 3);
    CATCH_REQUIRE(said.sizes() == batch.targets.sizes());
    CATCH_REQUIRE(written.sizes() == (at::IntArrayRef{kSamples, 3}));
    for (const std::int64_t row : {0, 1, 150, 169, 170, 171, 339, 340, 399}) {
      CATCH_INFO("row " << row);
      const at::NoGradGuard no_grad;
      auto text = batch.inputs.narrow(0, row, 1);
      const auto best = model->forward(text).argmax(-1);
      const auto expected = at::where(batch.targets.narrow(0, row, 1) >= 0, best, kIgnore);
      CATCH_CHECK(said.narrow(0, row, 1).equal(expected));
      for (int i = 0; i < 3; ++i) {
        text = at::cat({text, model->forward(text).select(1, -1).argmax(-1, true)}, 1);
      }
      CATCH_CHECK(written.narrow(0, row, 1).equal(text.narrow(1, 24, 3)));
    }
  }
}

/// What a parrot of strength 2 finds among these answers.
struct Found {
  double accuracy, loss;

  Found(std::int64_t hits, std::int64_t targets, std::int64_t vocab_size)
      : accuracy(static_cast<double>(hits) / static_cast<double>(targets)),
        loss(std::log(std::exp(2.0) + static_cast<double>(vocab_size - 1)) - 2 * accuracy) {}
};

CATCH_TEST_CASE("a batch of long sequences has some of each part of its task") {
  const auto size_of = [](const TaskConfig& config) {
    return sequences_per_batch(*build_task(config));
  };
  CATCH_CHECK(size_of(NeedleConfig{.length = 4096}) == 1);
  CATCH_CHECK(size_of(NeedleConfig{.length = 128}) == 32);
  CATCH_CHECK(size_of(NeedleRecallConfig{.needle = {.length = 128}}) == 32);
  for (const double share : {0.1, 0.25, 0.5, 0.9}) {
    CATCH_INFO(share);
    const auto task =
        build_task(NeedleRecallConfig{.needle = {.length = 4096}, .recall_share = share});
    const auto batch = task->batch(kSeed, Split::kTest, 0, sequences_per_batch(*task));
    CATCH_REQUIRE(batch.parts.size() == 2);
    CATCH_CHECK(batch.parts[0] > 0);
    CATCH_CHECK(batch.parts[1] > 0);
  }
  const auto tiny = NeedleRecallConfig{.needle = {.length = 4096}, .recall_share = 1e-4};
  CATCH_CHECK(size_of(tiny) == 64);
}

CATCH_TEST_CASE("held-out figures are of their split, and their parts weigh as in training") {
  const TaskConfig task_config = NeedleRecallConfig{.needle = kAsked, .recall_share = 0.25};
  const auto task = build_task(task_config);
  const auto token = kAsked.vocabulary().token(NeedleConfig::kValues);
  auto model = testing::parrot(token, task->vocab_size(), 2.0);
  const EvaluationContext context{model, task_config, *task, kSeed};
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 2);
  const auto by_hand = [&](Split split, std::size_t part) {
    const auto batches = batches_by_hand(*parts[part].task, split);
    std::int64_t targets = 0;
    for (const auto& batch : batches) targets += batch.targets.ge(0).sum().item<std::int64_t>();
    return Found(count_token(batches, token), targets, task->vocab_size());
  };
  const auto tested = HeldoutConfig{.samples = kSamples}.run(context);
  const auto validated = validation_metrics(context, kSamples);
  for (const auto split : {Split::kValid, Split::kTest}) {
    CATCH_INFO("split " << static_cast<int>(split));
    const bool test = split == Split::kTest;
    const auto needle = by_hand(split, 0), recall = by_hand(split, 1);
    const auto figure = [&](const std::string& name) {
      return test ? tested.metrics.at(name).get<double>()
                  : validated.at("valid_" + name).get<double>();
    };
    CATCH_CHECK(figure("needle_accuracy") == Approx(needle.accuracy));
    CATCH_CHECK(figure("recall_accuracy") == Approx(recall.accuracy));
    CATCH_CHECK(figure("needle_loss") == Approx(needle.loss).epsilon(1e-5));
    CATCH_CHECK(figure("recall_loss") == Approx(recall.loss).epsilon(1e-5));
    CATCH_CHECK(figure(test ? "test_loss" : "loss") ==
                Approx(0.75 * needle.loss + 0.25 * recall.loss).epsilon(1e-6));
    CATCH_CHECK(needle.accuracy != Approx(recall.accuracy));
  }
  CATCH_CHECK(validated.at("valid_accuracy") == validated.at("valid_needle_accuracy"));
  // The splits tell themselves apart.
  CATCH_CHECK(by_hand(Split::kValid, 0).accuracy != by_hand(Split::kTest, 0).accuracy);
  CATCH_CHECK(by_hand(Split::kTrain, 0).accuracy != by_hand(Split::kTest, 0).accuracy);
  CATCH_CHECK(tested.metrics.at("needle_accuracy_chance") == 0.25);
  const auto& details = tested.details.at("needle");
  CATCH_CHECK(details.at("n") == 2 * kSamples);
  CATCH_CHECK(details.at("sequences") == kSamples);
}

/// Counts the sequences that it is asked for.
class CountedTask : public Task {
 public:
  CountedTask(const Task& task, std::int64_t& sequences) : task_(task), sequences_(sequences) {}
  std::int64_t vocab_size() const override { return task_.vocab_size(); }
  std::int64_t sequence_length() const override { return task_.sequence_length(); }
  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    sequences_ += size;
    return task_.batch(seed, split, index, size);
  }
  std::vector<TaskPart> parts() const override { return {{"all", 1, this}}; }
  double chance_accuracy() const override { return task_.chance_accuracy(); }
  std::string token_text(std::int64_t token) const override { return task_.token_text(token); }

 private:
  const Task& task_;
  std::int64_t& sequences_;
};

// Each figure for itself, and all together.
void check_held_out(const EvaluationContext& context, std::int64_t samples) {
  const auto figures = validation_metrics(context, samples);
  std::vector<std::string> names;
  for (const auto& [name, value] : figures.items()) {
    names.push_back(name);
    CATCH_CHECK(held_out(context, {name, name}, samples) == Json{{name, value}});
  }
  CATCH_CHECK(held_out(context, names, samples) == figures);
}

CATCH_TEST_CASE("figures asked one by one are those of a whole evaluation, to the bit") {
  const TaskConfig tasks[] = {NeedleRecallConfig{.needle = kAsked, .recall_share = 0.25}, kAsked,
                              NeedleConfig{.length = 48, .lengths = {16, 32, 48}, .needles = 2}};
  for (const auto& task_config : tasks) {
    const auto task = build_task(task_config);
    const ModelConfig config{
        .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 1}};
    LanguageModel model(config, task->vocab_size());
    initialise(model, config, 5);
    for (const int lanes : {1, 3}) {
      CATCH_INFO(lanes << " lanes");
      check_held_out({model, task_config, *task, kSeed, lanes}, kSamples / 2);
    }
  }
}

CATCH_TEST_CASE("lanes score a model in the middle of its training as it is asked later") {
  const auto task = kAsked.build();
  ModelConfig config{
      .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 1}};
  config.dropout = 0.5;
  LanguageModel model(config, task->vocab_size());
  initialise(model, config, 5);
  const auto loss = [&](int lanes) {
    return score_batches(model, *task, kSeed, Split::kValid, 4 * kSamples, lanes).loss_sum;
  };
  model.eval();
  const double expected = loss(1);
  model.train();
  for (int round = 0; round < 5; ++round) {
    CATCH_CHECK(loss(1) == expected);
    CATCH_CHECK(loss(3) == expected);
    CATCH_CHECK(model.is_training());
  }
}

CATCH_TEST_CASE("a part that no figure is about is not scored") {
  const TaskConfig task_config = NeedleRecallConfig{.needle = kAsked};
  const auto task = build_task(task_config);
  std::int64_t needles = 0, recall = 0;
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 2);
  const CountedTask first(*parts[0].task, needles), second(*parts[1].task, recall);
  class Mixture : public CountedTask {
   public:
    Mixture(const Task& task, std::int64_t& sequences, std::vector<TaskPart> parts)
        : CountedTask(task, sequences), parts_(std::move(parts)) {}
    std::vector<TaskPart> parts() const override { return parts_; }

   private:
    std::vector<TaskPart> parts_;
  };
  std::int64_t mixed = 0;
  const Mixture mixture(*task, mixed, {{parts[0].name, .5, &first}, {parts[1].name, .5, &second}});
  auto model =
      testing::parrot(kAsked.vocabulary().token(NeedleConfig::kValues), task->vocab_size(), 2.0);
  const EvaluationContext context{model, task_config, mixture, kSeed};
  const auto ask = [&](const std::string& metric) {
    needles = recall = 0;
    held_out(context, {metric}, kSamples);
    return std::pair(needles, recall);
  };
  CATCH_CHECK(ask("valid_accuracy") == std::pair<std::int64_t, std::int64_t>(kSamples, 0));
  CATCH_CHECK(ask("valid_recall_loss") == std::pair<std::int64_t, std::int64_t>(0, kSamples));
  CATCH_CHECK(ask("valid_loss") == std::pair<std::int64_t, std::int64_t>(kSamples, kSamples));
  CATCH_CHECK_THROWS_WITH(
      ask("valid_accurcy"),
      Contains("train.events look at valid_accurcy, which held-out evaluations of this task do not "
               "have; expected one of valid_accuracy, valid_loss, ") &&
          Contains("did you mean valid_accuracy?"));
}

}  // namespace
}  // namespace difflab
