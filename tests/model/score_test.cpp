// Losses and answers, for which the end of a model is computed only where something is asked.
#include "model/score.h"

#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/dose.h"
#include "support/tensors.h"

namespace difflab {
namespace {

constexpr std::int64_t kScoreVocab = 40;
constexpr std::int64_t kNone = -100;

struct ScoreOutcome {
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
};

// Of a loss computed from model and batch.
template <class Loss>
ScoreOutcome score_outcome(const ModelConfig& config, Kernels kernels, Loss loss_of) {
  LanguageModel model(config, kScoreVocab, kernels);
  initialise(model, config, 0);
  model.to(at::kDouble);
  auto loss = loss_of(model);
  loss.backward();
  ScoreOutcome found{loss.detach(), {}};
  for (const auto& parameter : model.parameters()) found.gradients.push_back(parameter.grad());
  return found;
}

CATCH_TEST_CASE("a loss of few positions is that of all logits with the others left out") {
  at::manual_seed(1);
  const auto inputs = at::randint(kScoreVocab, {4, 24}, at::kLong);
  const auto some =
      at::randint(kScoreVocab, {4, 24}, at::kLong).masked_fill(at::rand({4, 24}) < 0.7, kNone);
  const auto all = at::randint(kScoreVocab, {4, 24}, at::kLong);
  auto last = at::full({4, 24}, kNone, at::kLong);
  last.select(1, 23).copy_(all.select(1, 23));
  const bool every = testing::dose(false, true);
  bool turn = false;  // else of the four combinations each variant has two, with both of each
  for (const auto& [name, attention] : testing::attention_variants()) {
    turn = !turn;
    for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
      for (const auto& targets : {some, all, last}) {
        CATCH_INFO(name << (block == BlockKind::kLlama ? ", llama, " : ", nano, ")
                        << targets.ge(0).sum().item<std::int64_t>() << " targets");
        const ModelConfig config{
            .d_model = 16, .layers = 2, .block = block, .attention = attention};
        const auto whole = score_outcome(config, Kernels::kPlain, [&](LanguageModel& model) {
          return at::cross_entropy_loss(model.forward(inputs).flatten(0, 1), targets.flatten(), {},
                                        at::Reduction::Mean, kNone);
        });
        for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
          if (!every && turn == ((block == BlockKind::kLlama) == (kernels == Kernels::kFused)))
            continue;
          const auto part = score_outcome(config, kernels, [&](LanguageModel& model) {
            return mean_loss(model, inputs, targets);
          });
          CATCH_CHECK(testing::relative_error(part.loss, whole.loss) < 1e-12);
          for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
            CATCH_INFO("parameter " << i);
            const auto error = (part.gradients[i] - whole.gradients[i]).abs().max();
            CATCH_CHECK(error.item<double>() < 1e-11);
          }
        }
      }
    }
  }
}

CATCH_TEST_CASE("a weighted loss is the mean of weighted losses, by the library and by kernels") {
  at::manual_seed(5);
  const auto inputs = at::randint(kScoreVocab, {3, 8}, at::kLong);
  const auto targets =
      at::randint(kScoreVocab, {3, 8}, at::kLong).masked_fill(at::rand({3, 8}) < 0.5, kNone);
  auto asked = Questions::of(targets);
  const auto n = asked.targets.size(0);
  asked.weights = at::rand({n}, at::kDouble) + 0.5;
  const ModelConfig config{.d_model = 16, .layers = 1};
  const auto expected = score_outcome(config, Kernels::kPlain, [&](LanguageModel& model) {
    const auto logits = model.forward(inputs).flatten(0, 1).index_select(0, asked.where);
    const auto right = logits.log_softmax(-1).gather(1, asked.targets.unsqueeze(1)).squeeze(1);
    return -(asked.weights * right).sum() / n;
  });
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    const auto found = score_outcome(
        config, kernels, [&](LanguageModel& model) { return mean_loss(model, inputs, asked); });
    CATCH_CHECK(testing::relative_error(found.loss, expected.loss) < 1e-12);
    for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
      CATCH_CHECK((found.gradients[i] - expected.gradients[i]).abs().max().item<double>() < 1e-11);
    }
  }
}

CATCH_TEST_CASE("a score counts right answers, and sequences all of whose answers are right") {
  const ModelConfig config{.d_model = 16, .layers = 1};
  LanguageModel model(config, kScoreVocab);
  initialise(model, config, 0);
  const at::NoGradGuard no_grad;
  at::manual_seed(3);
  const auto inputs = at::randint(kScoreVocab, {4, 8}, at::kLong);
  const auto said = model.forward(inputs).argmax(-1);  // [4, 8]
  auto targets = said.clone();
  targets[0][2] = kNone;  // two questions less, all right
  targets[0][5] = kNone;
  targets[1][3] = (said[1][3] + 1).remainder(kScoreVocab);  // one wrong
  for (const int t : {1, 4}) targets[2][t] = (said[2][t] + 1).remainder(kScoreVocab);
  const auto found = score(model, inputs, targets);
  CATCH_CHECK(found.sequences == 4);
  CATCH_CHECK(found.targets == 30);
  CATCH_CHECK(found.correct == 27);
  CATCH_CHECK(found.all_correct == 2);
  const auto losses = at::cross_entropy_loss(model.forward(inputs).flatten(0, 1), targets.flatten(),
                                             {}, at::Reduction::Sum, kNone);
  CATCH_CHECK(found.loss_sum == Approx(losses.item<double>()));
}

CATCH_TEST_CASE("a score drops nothing, and training goes on dropping") {
  const ModelConfig config{.d_model = 16, .layers = 1, .dropout = 0.5};
  LanguageModel model(config, kScoreVocab);
  initialise(model, config, 0);
  at::manual_seed(4);
  const auto inputs = at::randint(kScoreVocab, {4, 8}, at::kLong);
  const auto targets = at::randint(kScoreVocab, {4, 8}, at::kLong);
  model.train();
  const auto once = score(model, inputs, targets).loss_sum;
  CATCH_CHECK(once == score(model, inputs, targets).loss_sum);
  CATCH_CHECK(model.is_training());
  CATCH_CHECK(mean_loss(model, inputs, targets).item<double>() !=
              mean_loss(model, inputs, targets).item<double>());
  model.eval();
  CATCH_CHECK(once == score(model, inputs, targets).loss_sum);
  CATCH_CHECK_FALSE(model.is_training());
}

CATCH_TEST_CASE("the state at chosen places is the same as among all") {
  at::manual_seed(2);
  const ModelConfig config{.d_model = 16, .layers = 1};
  LanguageModel model(config, kScoreVocab);
  initialise(model, config, 0);
  const at::NoGradGuard no_grad;
  const auto tokens = at::randint(kScoreVocab, {3, 8}, at::kLong);
  const auto everywhere = model.hidden(tokens).flatten(0, 1);
  for (const auto& places :
       {at::tensor({0, 7, 23}, at::kLong), at::arange(24), at::tensor({5}, at::kLong)}) {
    CATCH_CHECK(testing::relative_error(model.hidden_at(tokens, places),
                                        everywhere.index_select(0, places)) < 1e-6);
  }
  CATCH_CHECK(model.hidden_at(tokens, at::empty({0}, at::kLong)).size(0) == 0);
}

CATCH_TEST_CASE("few places of a long sequence have the state that they have among all") {
  at::manual_seed(3);
  const auto tokens = at::randint(kScoreVocab, {2, 1'024}, at::kLong);
  const auto places = at::tensor({0, 600, 1'023, 1'024, 2'047}, at::kLong);
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    const ModelConfig config{.d_model = 16, .layers = 1, .attention = attention};
    LanguageModel model(config, kScoreVocab, Kernels::kFused);
    initialise(model, config, 0);
    model.to(at::kDouble);
    const auto all = model.hidden(tokens).flatten(0, 1).index_select(0, places).detach();
    CATCH_CHECK(testing::relative_error(model.hidden_at(tokens, places).detach(), all) < 1e-12);
    const at::NoGradGuard no_grad;
    CATCH_CHECK(testing::relative_error(model.hidden_at(tokens, places), all) < 1e-12);
  }
}

}  // namespace
}  // namespace difflab
