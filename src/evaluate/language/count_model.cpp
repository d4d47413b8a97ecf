#include "evaluate/language/count_model.h"

#include <cmath>
#include <unordered_map>

#include "evaluate/base/score_batches.h"

namespace difflab {
namespace {

/// How often tokens follow their contexts of one length in a text.
class FollowerCounts {
 public:
  FollowerCounts(const std::vector<std::int64_t>& tokens, TokenRange range, std::int64_t context,
                 std::int64_t vocab_size)
      : context_(context), vocab_size_(vocab_size) {
    for (std::int64_t at = range.begin + context; at < range.end; ++at) {
      const auto before = key(tokens.data() + at, context);
      ++contexts_[before];
      ++followers_[before * size() + token(tokens[static_cast<std::size_t>(at)])];
    }
  }

  /// −log p of *next, with the tokens of its context before it in memory.
  double loss(const std::int64_t* next, double smoothing) const {
    const auto before = key(next, context_);
    const auto follows = count(followers_, before * size() + token(*next)) + smoothing;
    const auto all = count(contexts_, before) + smoothing * static_cast<double>(vocab_size_);
    return std::log(all / follows);
  }

 private:
  using Counts = std::unordered_map<std::uint64_t, std::int64_t>;

  static double count(const Counts& counts, std::uint64_t key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : static_cast<double>(found->second);
  }
  static std::uint64_t token(std::int64_t number) { return static_cast<std::uint64_t>(number); }
  std::uint64_t size() const { return token(vocab_size_); }
  // A number of its own for every context: three tokens of up to two million kinds fit.
  std::uint64_t key(const std::int64_t* next, std::int64_t context) const {
    std::uint64_t all = 0;
    for (auto back = context; back > 0; --back) all = all * size() + token(next[-back]);
    return all;
  }

  std::int64_t context_, vocab_size_;
  Counts contexts_, followers_;
};

}  // namespace

EvaluationResult CountModelConfig::run(const EvaluationContext& context) const {
  const auto& text = std::get<TextConfig>(context.task_config);
  const auto corpus = load_corpus(text);
  const auto tokens = corpus.tokenizer.encode(corpus.text, corpus.name);
  const auto train = split_text(text, static_cast<std::int64_t>(tokens.size())).train;
  const auto vocab_size = corpus.tokenizer.vocab_size();
  const FollowerCounts bigrams(tokens, train, 1, vocab_size);
  const FollowerCounts trigrams(tokens, train, 2, vocab_size);

  double bigram_sum = 0, trigram_sum = 0;
  std::int64_t targets = 0;
  for_each_batch(context, context.task, samples, [&](const Batch& batch) {
    const auto last = batch.targets.narrow(1, batch.targets.size(1) - 1, 1);
    const auto windows = at::cat({batch.inputs, last}, 1).cpu();  // [B, T + 1]
    for (std::int64_t row = 0; row < windows.size(0); ++row) {
      const auto* token = windows[row].data_ptr<std::int64_t>();
      for (std::int64_t t = 1; t < windows.size(1); ++t) {
        const auto bigram = bigrams.loss(token + t, smoothing);
        bigram_sum += bigram;
        trigram_sum += t == 1 ? bigram : trigrams.loss(token + t, smoothing);
      }
    }
    targets += batch.targets.numel();
  });
  const auto model = score_batches(context, context.task, samples);
  const auto mean = [&](double sum) { return sum / static_cast<double>(targets); };
  EvaluationResult result;
  result.metrics = {{"bigram_loss", mean(bigram_sum)},
                    {"trigram_loss", mean(trigram_sum)},
                    {"loss_below_trigrams", mean(trigram_sum) - model.loss()}};
  result.details = {{"loss", model.loss()}, {"targets", targets}, {"samples", samples}};
  return result;
}

}  // namespace difflab
