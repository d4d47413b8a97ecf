// The generated language beside an observer that knows its grammar and nothing of its generator.
#include "task/language/language.h"

#include <ATen/ATen.h>

#include "support/catch.h"
#include "support/task_rows.h"
#include "task/base/task.h"
#include "task/language/entropy.h"

namespace difflab {
namespace {

using testing::Problems;

/// Reads a document token by token and says how likely each was.
class Observer {
 public:
  explicit Observer(const LanguageConfig& config)
      : config_(config),
        symbols_(config.vocabulary()),
        followers_(followers_of_words(config)),
        ranks_(config.ranks()),
        words_of_(static_cast<std::size_t>(config.names)) {}

  /// The probability of this token, after which the next one may be asked.
  double read(std::int64_t token) {
    if (!given_.empty()) return read_given(token);
    if (drawn_ > 0) return read_drawn(token);
    if (words_ == 0) return read_begin(token);
    const double p = aside_ >= 0 ? read_aside(token) : read_clause(token);
    if (words_ == 0) {
      last_ = clause_;
    }
    return p;
  }

 private:
  using Config = LanguageConfig;

  bool is(std::int64_t token, std::size_t range) const { return symbols_.holds(range, token); }
  std::int64_t number(std::int64_t token, std::size_t range) const {
    return token - symbols_.token(range);
  }

  // What a copy or a later mention must say.
  double read_given(std::int64_t token) {
    const bool right = token == given_.front();
    given_.erase(given_.begin());
    return right ? 1 : 0;
  }

  // The words of a name that was not mentioned before.
  double read_drawn(std::int64_t token) {
    --drawn_;
    words_of_[static_cast<std::size_t>(name_)].push_back(token);
    return is(token, Config::kWords) ? 1 / static_cast<double>(config_.words) : 0;
  }

  double read_begin(std::int64_t token) {
    const double copy = last_.empty() ? 0 : config_.copy;
    if (is(token, Config::kCopy)) {
      given_ = last_;
      return copy;
    }
    if (is(token, Config::kNames)) {
      name_ = number(token, Config::kNames);
      const auto& words = words_of_[static_cast<std::size_t>(name_)];
      words.empty() ? void(drawn_ = config_.name_words) : void(given_ = words);
      return config_.mention / static_cast<double>(config_.names);
    }
    clause_ = {token};
    words_ = 1;
    closed_ = false;
    const double p = follows(config_.words, token);
    word_ = number(token, Config::kWords);
    return (1 - copy - config_.mention) * p;
  }

  double read_clause(std::int64_t token) {
    clause_.push_back(token);
    const double ends = closed_ ? 0 : config_.ends_behind(words_);
    const double opens = closed_ ? 0 : (1 - ends) * config_.aside;
    closed_ = false;
    if (is(token, Config::kEnd)) {
      words_ = 0;
      return ends;
    }
    if (is(token, Config::kOpen)) {
      aside_ = 0;
      word_in_aside_ = word_;
      return opens;
    }
    ++words_;
    const double p = follows(word_, token);
    word_ = number(token, Config::kWords);
    return (1 - ends - opens) * p;
  }

  double read_aside(std::int64_t token) {
    clause_.push_back(token);
    const double closes = aside_ == 0 ? 0 : config_.closes_behind(aside_);
    if (is(token, Config::kClose)) {
      aside_ = -1;
      closed_ = true;
      return closes;
    }
    ++aside_;
    const double p = follows(word_in_aside_, token);
    word_in_aside_ = number(token, Config::kWords);
    return (1 - closes) * p;
  }

  double follows(std::int64_t word, std::int64_t token) const {
    if (!is(token, Config::kWords)) return 0;
    const auto& followers = followers_[static_cast<std::size_t>(word)];
    const auto found = std::find(followers.begin(), followers.end(), number(token, Config::kWords));
    if (found == followers.end()) return 0;
    return ranks_[static_cast<std::size_t>(found - followers.begin())];
  }

  const LanguageConfig& config_;
  Symbols symbols_;
  std::vector<std::vector<std::int64_t>> followers_;
  std::vector<double> ranks_;
  std::vector<std::int64_t> last_, clause_, given_;
  std::vector<std::vector<std::int64_t>> words_of_;
  std::int64_t name_ = 0, drawn_ = 0, words_ = 0, word_ = 0, aside_ = -1, word_in_aside_ = 0;
  bool closed_ = false;
};

/// −ln p of tokens and of whole documents.
struct Surprise {
  struct Mean {
    double sum = 0, squares = 0;
    void add(double x) { sum += x, squares += x * x; }
    /// How many standard errors the mean of n lies from what is expected; 0 if nothing varies.
    double z(double expected, double n) const {
      const double mean = sum / n, variance = squares / n - mean * mean;
      return variance < 1e-9 ? (mean - expected) * 1e9
                             : (mean - expected) / std::sqrt(variance / n);
    }
  };
  std::vector<Mean> tokens;
  Mean document;
  double least = 1;  // probability of a token

  Surprise(const LanguageConfig& config, std::int64_t documents) {
    const auto T = static_cast<std::size_t>(config.length);
    tokens.resize(T);
    const auto task = config.build();
    constexpr std::int64_t kRows = 1'000;
    for (std::int64_t index = 0; index * kRows < documents; ++index) {
      const auto targets = task->batch(11, Split::kTrain, index, kRows).targets.contiguous();
      for (std::int64_t row = 0; row < kRows; ++row) {
        Observer observer(config);
        const auto* next = targets.const_data_ptr<std::int64_t>() + row * config.length;
        double sum = 0;
        for (std::size_t t = 0; t < T; ++t) {
          const double p = observer.read(next[t]);
          least = std::min(least, p);
          tokens[t].add(-std::log(p));
          sum -= std::log(p);
        }
        document.add(sum / static_cast<double>(T));
      }
    }
  }
};

CATCH_TEST_CASE("the entropy of the language is what an observer is surprised by") {
  // The defaults with 10⁷ tokens.
  for (const auto& [config, documents] : std::vector<std::pair<LanguageConfig, std::int64_t>>{
           {{}, 40'000},
           {{.length = 100, .words = 30, .aside = 0.5, .aside_words = 3}, 20'000},
           {{.length = 50, .followers = 1, .copy = 0, .names = 3, .name_words = 1}, 20'000},
           {{.length = 40, .shortest = 1, .longest = 1, .copy = 0.5, .mention = 0}, 20'000},
           {{.length = 30,
           .words = 2,
           .followers = 2,
           .alpha = 0,
           .shortest = 3,
           .longest = 3,
           .aside = 1,
           .aside_words = 1,
           .copy = 0.3,
           .mention = 0.6,
           .names = 1,
           .name_words = 4},
            20'000}}) {
    CATCH_INFO("length " << config.length);
    const auto entropies = token_entropies(config);
    const Surprise surprise(config, documents);
    CATCH_REQUIRE(surprise.least > 0);
    const auto n = static_cast<double>(documents);
    CATCH_CHECK(std::abs(surprise.document.z(*config.build()->entropy(), n)) < 4);
    for (std::size_t t = 0; t < entropies.size(); ++t) {
      CATCH_INFO("position " << t);
      CATCH_CHECK(std::abs(surprise.tokens[t].z(entropies[t], n)) < 5);
    }
  }
}

CATCH_TEST_CASE("the beginning of a document has entropies that can be told by hand") {
  const LanguageConfig config{.length = 4,
                              .words = 10,
                              .followers = 2,
                              .alpha = 0,
                              .shortest = 1,
                              .longest = 1,
                              .copy = 0.2,
                              .mention = 0.5,
                              .names = 4,
                              .name_words = 1};
  const double h = std::log(2.0);
  const auto entropies = token_entropies(config);
  CATCH_REQUIRE(entropies.size() == 4);
  // First a name or a word; then a word of all or the end of the clause.
  CATCH_CHECK(entropies[0] == Approx(std::log(2.0) + 0.5 * std::log(4.0) + 0.5 * h));
  CATCH_CHECK(entropies[1] == Approx(0.5 * std::log(10.0)));
  // Behind a clause a copy, too.
  const double begin = -0.2 * std::log(0.2) - 0.5 * std::log(0.5) - 0.3 * std::log(0.3) +
                       0.5 * std::log(4.0) + 0.3 * h;
  CATCH_CHECK(entropies[2] == Approx(0.5 * entropies[0] + 0.5 * begin));
  // A name, of which after one mention a quarter are known: before that a name or a clause.
  CATCH_CHECK(entropies[3] ==
              Approx(0.5 * 0.5 * 0.75 * std::log(10.0) + 0.5 * 0.5 * std::log(10.0)));
  // What comes later does not change what came before.
  auto longer = config;
  longer.length = 9;
  const auto more = token_entropies(longer);
  CATCH_CHECK(std::equal(entropies.begin(), entropies.end(), more.begin()));
}

CATCH_TEST_CASE("a world has its own followers, and all documents of it the same") {
  const LanguageConfig here, other{.world = 1};
  CATCH_CHECK(followers_of_words(here) == followers_of_words(LanguageConfig{}));
  CATCH_CHECK(followers_of_words(here) != followers_of_words(other));
  CATCH_CHECK(followers_of_words(here).size() == 65);
  CATCH_CHECK(*here.build()->entropy() == *other.build()->entropy());
}

CATCH_TEST_CASE("the entropy of several lengths is that of all their tokens") {
  const LanguageConfig config{.length = 96, .lengths = {32, 96}};
  const double of_short = *with_length(config, 32).build()->entropy();
  const double of_long = *with_length(config, 96).build()->entropy();
  const auto task = config.build();
  CATCH_CHECK(*task->entropy() == Approx((32 * of_short + 96 * of_long) / 128));
  CATCH_CHECK(task->token_entropies().size() == 96);
}

CATCH_TEST_CASE("languages that cannot be are refused by name") {
  CATCH_CHECK(Problems::of(LanguageConfig{.words = 3}) ==
              "followers is 4; expected at most words, 3\n");
  CATCH_CHECK(Problems::of(LanguageConfig{.shortest = 7}) ==
              "shortest is 7; expected at most longest, 6\n");
  CATCH_CHECK(Problems::of(LanguageConfig{.copy = 0.5, .mention = 0.5}) ==
              "mention is 0.5 beside copy 0.5; expected less than 1 together, because the rest "
              "are clauses\n");
}

}  // namespace
}  // namespace difflab
