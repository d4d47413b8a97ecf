#include "task/association/context_qa.h"

#include "task/base/symbol_task.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;  // entity, attribute
using Pairs = std::vector<Pair>;

/// Base of both jobs: the vocabulary, and how facts are written.
class FactsTask : public SymbolTask<ContextQaConfig> {
 protected:
  using SymbolTask::SymbolTask;
  using Range = ContextQaConfig::Range;

  std::int64_t token(Range range, std::int64_t i = 0) const { return symbols_.token(range, i); }
  void write(const Pair& pair, std::size_t& t, TokenSpan input) const {
    input[t++] = token(Range::kEntity, pair.first);
    input[t++] = token(Range::kAttribute, pair.second);
  }
};

class QuestionTask final : public FactsTask {
 public:
  explicit QuestionTask(const ContextQaConfig& config)
      : FactsTask(config, "context question", "question", config.question_length()) {}
  /// Always "unknown", or any value of the context: whichever is right more often.
  double chance_accuracy() const override {
    return std::max(config_.unanswerable,
                    (1 - config_.unanswerable) / static_cast<double>(config_.facts));
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto entities = random.distinct(config_.questions, config_.entities);
    const auto attributes = random.distinct(config_.questions, config_.attributes);
    Pairs asked, facts;
    for (std::size_t r = 0; r < entities.size(); ++r) {
      asked.emplace_back(entities[r], attributes[r]);
      if (random.uniform() >= config_.unanswerable) facts.push_back(asked.back());
    }
    const auto others = draw_others(
        entities, attributes, config_.facts - static_cast<std::int64_t>(facts.size()), random);
    facts.insert(facts.end(), others.begin(), others.end());
    facts = drawn_from(facts, config_.facts, random);  // shuffles
    const auto values = random.distinct(config_.facts, config_.values);

    std::size_t t = 0;
    input[t++] = token(Range::kBegin);
    for (std::size_t f = 0; f < facts.size(); ++f) {
      write(facts[f], t, input);
      input[t++] = token(Range::kValue, values[f]);
    }
    for (const auto& pair : asked) {
      input[t++] = token(Range::kQuestion);
      write(pair, t, input);
      const auto fact = std::find(facts.begin(), facts.end(), pair) - facts.begin();
      target[t - 1] = fact < config_.facts
                          ? token(Range::kValue, values[static_cast<std::size_t>(fact)])
                          : token(Range::kUnknown);
    }
  }

  // Facts that answer no question: near misses first, then those that share nothing with one.
  Pairs draw_others(const std::vector<std::int64_t>& entities,
                    const std::vector<std::int64_t>& attributes, std::int64_t count,
                    Random& random) const {
    Pairs near, far;
    for (std::int64_t e = 0; e < config_.entities; ++e) {
      for (std::int64_t a = 0; a < config_.attributes; ++a) {
        const bool asks_entity = is_among(e, entities), asks_attribute = is_among(a, attributes);
        if (asks_entity != asks_attribute) near.emplace_back(e, a);
        if (!asks_entity && !asks_attribute) far.emplace_back(e, a);
      }
    }
    const auto misses = std::llround(config_.distractors * static_cast<double>(count));
    auto others = drawn_from(near, misses, random);
    const auto rest = drawn_from(far, count - misses, random);
    others.insert(others.end(), rest.begin(), rest.end());
    return others;
  }
};

class SummaryTask final : public FactsTask {
 public:
  explicit SummaryTask(const ContextQaConfig& config)
      : FactsTask(config, "context summary", "summary", config.summary_length()) {}
  /// Any fact of the context.
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.facts); }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto F = config_.facts, A = config_.attributes;
    const auto pairs = random.distinct(F, config_.entities * A);
    const auto values = random.distinct(F, config_.values);
    std::vector<bool> is_salient(static_cast<std::size_t>(F));
    for (const auto f : random.distinct(config_.salient(), F)) {
      is_salient[static_cast<std::size_t>(f)] = true;
    }
    std::vector<std::int64_t> summary;
    std::size_t t = 0;
    input[t++] = token(Range::kBegin);
    for (std::size_t f = 0; f < pairs.size(); ++f) {
      if (is_salient[f]) input[t++] = token(Range::kMark);
      write({pairs[f] / A, pairs[f] % A}, t, input);
      input[t++] = token(Range::kValue, values[f]);
      if (is_salient[f]) summary.insert(summary.end(), &input[t - 3], &input[t]);
    }
    input[t] = token(Range::kSummary);
    for (const auto word : summary) {
      target[t++] = word;
      if (t < input.size()) input[t] = word;
    }
  }
};

/// Both, filled up to the same length.
class ContextQaTask final : public Task {
 public:
  explicit ContextQaTask(const ContextQaConfig& config)
      : config_(config), question_(config), summary_(config) {}

  std::int64_t vocab_size() const override { return question_.vocab_size(); }
  std::int64_t sequence_length() const override { return config_.sequence_length(); }
  std::string token_text(std::int64_t token) const override { return question_.token_text(token); }
  double chance_accuracy() const override { return parts().front().task->chance_accuracy(); }

  std::vector<TaskPart> parts() const override {
    std::vector<TaskPart> parts;
    const auto share = config_.summary_share;
    if (share < 1) parts.push_back({"question", 1 - share, &question_});
    if (share > 0) parts.push_back({"summary", share, &summary_});
    return parts;
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    const auto summaries = std::llround(config_.summary_share * static_cast<double>(size));
    const auto asked = filled_up(question_.batch(seed, split, index, size - summaries));
    const auto told = filled_up(summary_.batch(seed, split, index, summaries));
    return {at::cat({asked.inputs, told.inputs}),
            at::cat({asked.targets, told.targets}),
            {size - summaries, summaries}};
  }

 private:
  // Behind the end, where a causal model's answers cannot see it.
  Batch filled_up(const Batch& batch) const {
    const auto missing = std::max<std::int64_t>(0, sequence_length() - batch.inputs.size(1));
    const auto rows = batch.inputs.size(0);
    const auto filled = [&](const at::Tensor& tokens, std::int64_t value) {
      const auto filler = at::full({rows, missing}, value, at::kLong);
      return rows == 0 ? at::empty({0, sequence_length()}, at::kLong)
                       : at::cat({tokens, filler}, 1);
    };
    const auto filler = config_.vocabulary().token(ContextQaConfig::Range::kFiller);
    return {filled(batch.inputs, filler), filled(batch.targets, kIgnore)};
  }

  ContextQaConfig config_;
  QuestionTask question_;
  SummaryTask summary_;
};

}  // namespace

std::unique_ptr<Task> ContextQaConfig::build() const {
  return with_recall(std::make_unique<ContextQaTask>(*this), recall_share);
}

}  // namespace difflab
