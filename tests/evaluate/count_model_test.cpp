// The loss of counts, read a second time with strings.
#include "evaluate/language/count_model.h"

#include <ATen/ATen.h>

#include "evaluate/base/score_batches.h"
#include "model/language_model.h"
#include "support/catch.h"
#include "task/base/task.h"
#include "task/in_text/text.h"

namespace difflab {
namespace {

std::int64_t times(std::string_view text, std::string_view gram) {
  std::int64_t count = 0;
  for (auto at = text.find(gram); at != text.npos; at = text.find(gram, at + 1)) ++count;
  return count;
}

CATCH_TEST_CASE("counts are those of the training split, and their loss that of the same targets") {
  TextConfig text;
  text.generated_characters = 6'000;
  text.length = 20;
  text.test_share = 0.2;  // some trigrams there never come in the training split
  const auto corpus = load_corpus(text);
  const auto V = corpus.tokenizer.vocab_size();
  const auto task = text.build();
  const ModelConfig config{
      .d_model = 8, .layers = 1, .attention = SoftmaxAttentionConfig{.heads = 2}};
  LanguageModel model(config, V);
  initialise(model, config, 1);

  // One byte for each token, so that grams are strings.
  std::string train;
  const auto tokens = corpus.tokenizer.encode(corpus.text, corpus.name);
  const auto splits = split_text(text, static_cast<std::int64_t>(tokens.size()));
  CATCH_REQUIRE(splits.train.begin == 0);
  for (std::int64_t i = 0; i < splits.train.end; ++i) {
    train += static_cast<char>(tokens[static_cast<std::size_t>(i)] + 1);
  }
  // A context counts where a token of the split follows it.
  const std::string_view with_follower(train.data(), train.size() - 1);

  constexpr std::int64_t kWindows = 7;
  for (const double smoothing : {0.1, 2.0}) {
    const CountModelConfig counts{.smoothing = smoothing, .samples = kWindows};
    const auto result = counts.run({model, text, *task, /*seed=*/3});
    const auto loss_of = [&](const std::string& gram) {
      const auto context = gram.substr(0, gram.size() - 1);
      return -std::log((static_cast<double>(times(train, gram)) + smoothing) /
                       (static_cast<double>(times(with_follower, context)) +
                        smoothing * static_cast<double>(V)));
    };
    const auto batch = task->batch(3, Split::kTest, 0, kWindows);
    double bigrams = 0, trigrams = 0;
    std::int64_t unseen = 0;
    for (std::int64_t row = 0; row < kWindows; ++row) {
      std::string window(1, static_cast<char>(batch.inputs[row][0].item<int>() + 1));
      for (std::int64_t t = 0; t < text.length; ++t) {
        window += static_cast<char>(batch.targets[row][t].item<int>() + 1);
        const auto two = window.substr(window.size() - 2);
        bigrams += loss_of(two);
        const auto three = window.size() < 3 ? two : window.substr(window.size() - 3);
        trigrams += loss_of(three);
        unseen += times(train, three) == 0 ? 1 : 0;
      }
    }
    CATCH_REQUIRE(unseen > 0);
    const auto n = static_cast<double>(kWindows * text.length);
    CATCH_CHECK(result.metrics["bigram_loss"].get<double>() == Approx(bigrams / n).epsilon(1e-12));
    CATCH_CHECK(result.metrics["trigram_loss"].get<double>() ==
                Approx(trigrams / n).epsilon(1e-12));
    const auto of_model = score(model, batch.inputs, batch.targets).loss();
    CATCH_CHECK(result.metrics["loss_below_trigrams"].get<double>() ==
                Approx(trigrams / n - of_model).epsilon(1e-9));
    CATCH_CHECK(result.details["targets"] == kWindows * text.length);
  }
}

}  // namespace
}  // namespace difflab
