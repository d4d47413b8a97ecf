#include "task/language/language.h"

#include "task/base/mixed_lengths.h"
#include "task/base/rows.h"

namespace difflab {
namespace {

/// The parts of a language that are fixed in a world.
struct Grammar {
  explicit Grammar(const LanguageConfig& from)
      : config(from), symbols(from.vocabulary()), followers(followers_of_words(from)) {
    double sum = 0;
    for (const double p : from.ranks()) cumulative.push_back(sum += p);
  }

  std::int64_t follower(Random& random, std::int64_t word) const {
    const double at = random.uniform() * cumulative.back();
    const auto rank = std::upper_bound(cumulative.begin(), cumulative.end() - 1, at);
    return followers[static_cast<std::size_t>(word)]
                    [static_cast<std::size_t>(rank - cumulative.begin())];
  }

  LanguageConfig config;
  Symbols symbols;
  std::vector<std::vector<std::int64_t>> followers;
  std::vector<double> cumulative;
};

/// A document, unit by unit.
class Document {
 public:
  Document(const Grammar& grammar, Random& random)
      : grammar_(grammar),
        config_(grammar.config),
        random_(random),
        words_of_(static_cast<std::size_t>(config_.names)) {
    write(Config::kBegin);
  }

  void write_unit() {
    const double drawn = random_.uniform();
    if (drawn < config_.mention) {
      write_mention();
    } else if (drawn < config_.mention + config_.copy && !last_clause_.empty()) {
      write(Config::kCopy);
      tokens_.insert(tokens_.end(), last_clause_.begin(), last_clause_.end());
    } else {
      write_clause();
    }
  }

  const std::vector<std::int64_t>& tokens() const { return tokens_; }

 private:
  using Config = LanguageConfig;

  void write(std::size_t range, std::int64_t i = 0) {
    tokens_.push_back(grammar_.symbols.token(range, i));
  }

  void write_mention() {
    const auto name = random_.below(config_.names);
    auto& words = words_of_[static_cast<std::size_t>(name)];
    while (static_cast<std::int64_t>(words.size()) < config_.name_words) {
      words.push_back(random_.below(config_.words));
    }
    write(Config::kNames, name);
    for (const auto word : words) write(Config::kWords, word);
  }

  void write_clause() {
    const auto begin = tokens_.size();
    auto word = config_.words;  // of a clause's beginning
    for (std::int64_t i = 1;; ++i) {
      word = grammar_.follower(random_, word);
      write(Config::kWords, word);
      if (random_.uniform() < config_.ends_behind(i)) break;
      if (random_.uniform() < config_.aside) write_aside(word);
    }
    write(Config::kEnd);
    last_clause_.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(begin), tokens_.end());
  }

  void write_aside(std::int64_t word) {
    write(Config::kOpen);
    for (std::int64_t i = 1;; ++i) {
      word = grammar_.follower(random_, word);
      write(Config::kWords, word);
      if (random_.uniform() < config_.closes_behind(i)) break;
    }
    write(Config::kClose);
  }

  const Grammar& grammar_;
  const LanguageConfig& config_;
  Random& random_;
  std::vector<std::int64_t> tokens_, last_clause_;
  std::vector<std::vector<std::int64_t>> words_of_;  // of names mentioned so far
};

class LanguageTask final : public Task {
 public:
  explicit LanguageTask(const LanguageConfig& config) : grammar_(config) {}

  std::int64_t vocab_size() const override { return grammar_.symbols.size(); }
  std::int64_t sequence_length() const override { return grammar_.config.length; }
  std::vector<TaskPart> parts() const override { return {{"language", 1.0, this}}; }
  std::string token_text(std::int64_t token) const override { return grammar_.symbols.text(token); }
  double relative_targets() const override { return static_cast<double>(sequence_length()); }
  std::vector<double> token_entropies() const override {
    return difflab::token_entropies(grammar_.config);
  }

  /// A guess that knows how often tokens come but no context: always the most frequent one.
  double chance_accuracy() const override {
    constexpr std::int64_t kCounted = 65'536;
    const auto rows = (kCounted + sequence_length() - 1) / sequence_length();
    const auto targets = batch(0, Split::kTrain, 0, rows).targets.flatten().narrow(0, 0, kCounted);
    return at::bincount(targets).max().item<double>() / static_cast<double>(kCounted);
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows("language", seed, split, index, size, sequence_length(),
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           Document document(grammar_, random);
                           while (document.tokens().size() <= input.size()) document.write_unit();
                           const auto begin = document.tokens().begin();
                           std::copy_n(begin, input.size(), input.begin());
                           std::copy_n(begin + 1, input.size(), target.begin());
                         });
  }

 private:
  Grammar grammar_;
};

}  // namespace

std::vector<double> LanguageConfig::ranks() const {
  std::vector<double> ranks;
  double sum = 0;
  for (std::int64_t r = 1; r <= followers; ++r) {
    ranks.push_back(std::pow(static_cast<double>(r), -alpha));
    sum += ranks.back();
  }
  for (auto& p : ranks) p /= sum;
  return ranks;
}

std::vector<std::vector<std::int64_t>> followers_of_words(const LanguageConfig& config) {
  std::vector<std::vector<std::int64_t>> followers;
  for (std::int64_t word = 0; word <= config.words; ++word) {
    Random random{config.world, stream_key("followers"), static_cast<std::uint64_t>(word)};
    followers.push_back(random.distinct(config.followers, config.words));
  }
  return followers;
}

std::unique_ptr<Task> LanguageConfig::build() const {
  return of_lengths(*this,
                    [](const LanguageConfig& one) { return std::make_unique<LanguageTask>(one); });
}

}  // namespace difflab
