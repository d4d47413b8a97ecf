#include "task/in_text/text_needle.h"

#include "task/base/rows.h"
#include "task/needle/needle_places.h"
#include "task/needle/recall_mixture.h"
#include "text/city_names.h"

namespace difflab {
namespace {

using Tokens = std::vector<std::int64_t>;

class TextNeedleTask final : public Task {
 public:
  TextNeedleTask(const TextNeedleConfig& config, const Corpus& corpus)
      : config_(config),
        tokenizer_(tokenizer_with_needles(config, corpus)),
        text_(tokenizer_.encode(corpus.text, corpus.name)),
        splits_(split_text(config.haystack(), static_cast<std::int64_t>(text_.size()))) {}

  std::int64_t vocab_size() const override { return tokenizer_.vocab_size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::vector<TaskPart> parts() const override { return {{"text_needle", 1.0, this}}; }
  double chance_accuracy() const override { return config_.chance(); }
  bool is_text() const override { return true; }
  std::string token_text(std::int64_t token) const override {
    return tokenizer_.decode(std::vector{token});
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("text needle", seed, split, index, size, config_.length,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, splits_.of(split), input, target);
                         });
  }

 private:
  void write_sample(Random& random, const TokenRange& range, TokenSpan input,
                    TokenSpan target) const {
    const auto N = config_.needles;
    const auto cities = random.distinct(N, static_cast<std::int64_t>(city_names().size()));
    const auto numbers = draw_numbers(random);
    const auto asked = random.distinct(config_.queries, N);  // asked[0] is at the given depth
    std::vector<Tokens> needles;
    std::size_t inserted = 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      needles.push_back(tokenizer_.encode(config_.needle_of(city(cities[n]), numbers[n])));
      inserted += needles.back().size();
    }
    const auto question = write_question(cities, numbers, asked);
    const auto hay = static_cast<std::int64_t>(input.size() + 1 - inserted - question.size());  // H
    const auto needle_at = place(random, hay, asked.front());
    const auto begin = range.begin + random.below(range.size() - hay + 1);

    Tokens tokens;  // T + 1, the last digit among them
    for (std::int64_t gap = 0; gap <= hay; ++gap) {
      if (const auto needle = needle_at[static_cast<std::size_t>(gap)]; needle >= 0) {
        const auto& sentence = needles[static_cast<std::size_t>(needle)];
        tokens.insert(tokens.end(), sentence.begin(), sentence.end());
      }
      if (gap < hay) tokens.push_back(text_[static_cast<std::size_t>(begin + gap)]);
    }
    tokens.insert(tokens.end(), question.begin(), question.end());
    std::copy(tokens.begin(), tokens.end() - 1, input.begin());
    for (std::int64_t r = 0; r < config_.queries; ++r) {
      const auto first = config_.answer_begin(r);
      for (auto t = first; t < first + config_.digits; ++t) {
        target[static_cast<std::size_t>(t - 1)] = tokens[static_cast<std::size_t>(t)];
      }
    }
  }

  // At an edge lies any needle: were it the asked one, its place would give the answer away.
  std::vector<std::int64_t> place(Random& random, std::int64_t hay, std::int64_t asked) const {
    const auto N = config_.needles;
    const auto share = config_.edge_needle_share;
    if (config_.depth || share == 0 || random.uniform() >= share) {
      return place_needles(random, N, hay, asked, config_.depth);
    }
    const auto at_edge = random.below(N);
    return place_needles(random, N, hay, at_edge, random.below(2) * 100.0);
  }

  static std::string_view city(std::int64_t i) { return city_names()[static_cast<std::size_t>(i)]; }

  // N distinct numbers with their first digit not 0.
  Tokens draw_numbers(Random& random) const {
    std::int64_t smallest = 1;
    for (std::int64_t digit = 1; digit < config_.digits; ++digit) smallest *= 10;
    Tokens numbers;
    while (static_cast<std::int64_t>(numbers.size()) < config_.needles) {
      const auto number = smallest + random.below(9 * smallest);
      if (!is_among(number, numbers)) {
        numbers.push_back(number);
      }
    }
    return numbers;
  }

  // The question with its answer.
  Tokens write_question(const Tokens& cities, const Tokens& numbers, const Tokens& asked) const {
    std::vector<std::string_view> names;
    std::vector<std::string> answers;
    for (const auto needle : asked) {
      names.push_back(city(cities[static_cast<std::size_t>(needle)]));
      answers.push_back(std::to_string(numbers[static_cast<std::size_t>(needle)]));
    }
    return tokenizer_.encode(config_.question_about(names) + join(answers));
  }

  TextNeedleConfig config_;
  Tokenizer tokenizer_;
  Tokens text_;
  TextSplits splits_;
};

}  // namespace

std::unique_ptr<Task> TextNeedleConfig::build() const {
  const auto corpus = load_corpus(haystack());
  return of_lengths(*this, [&](const TextNeedleConfig& one) {
    return with_recall(std::make_unique<TextNeedleTask>(one, corpus), recall_share);
  });
}

}  // namespace difflab
