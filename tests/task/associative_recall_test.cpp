// mqar and noisy_recall, read as a person reads them: by the names of their tokens.
#include "support/catch.h"
#include "support/task_rows.h"
#include "task/association/mqar.h"
#include "task/association/noisy_recall.h"

namespace difflab {
namespace {

using testing::Problems, testing::row_of, testing::words_of;
using Words = std::vector<std::string>;

bool is_key(const std::string& word) { return word[0] == 'k'; }
bool is_value(const std::string& word) { return word[0] == 'v'; }

CATCH_TEST_CASE("mqar shows N distinct pairs, then asks for each once at the start of a slot") {
  for (const auto& config :
       {MqarConfig{}, MqarConfig{.length = 32, .tokens = 20, .pairs = 8, .power_a = 1},
        MqarConfig{.length = 129, .tokens = 8'192, .pairs = 16, .random_filler = false},
        MqarConfig{.length = 4, .tokens = 4, .pairs = 1}}) {
    const auto task = config.build();
    const auto [inputs, targets, parts] = task->batch(3, Split::kTrain, 1, 100);
    CATCH_REQUIRE(inputs.sizes() == (at::IntArrayRef{100, config.length}));
    const auto N = static_cast<std::size_t>(config.pairs);
    for (std::int64_t i = 0; i < 100; ++i) {
      const Words input = words_of(*task, row_of(inputs, i));
      const Words target = words_of(*task, row_of(targets, i));
      std::map<std::string, std::string> value_of;
      std::set<std::string> values;
      for (std::size_t t = 0; t < 2 * N; t += 2) {
        CATCH_REQUIRE((is_key(input[t]) && is_value(input[t + 1])));
        CATCH_REQUIRE(value_of.emplace(input[t], input[t + 1]).second);
        values.insert(input[t + 1]);
        CATCH_REQUIRE((target[t] == "." && target[t + 1] == "."));
      }
      CATCH_REQUIRE(values.size() == N);
      std::set<std::string> asked;
      for (std::size_t t = 2 * N; t < input.size(); ++t) {
        if (const auto pair = value_of.find(input[t]); pair != value_of.end()) {
          CATCH_REQUIRE(asked.insert(input[t]).second);
          CATCH_REQUIRE(target[t] == pair->second);
          CATCH_REQUIRE(t % 2 == 0);
        } else {
          CATCH_REQUIRE(target[t] == ".");
          if (!config.random_filler) CATCH_REQUIRE(input[t] == "_");
        }
      }
      CATCH_REQUIRE(asked.size() == N);
    }
    CATCH_CHECK(task->chance_accuracy() == 1.0 / static_cast<double>(config.pairs));
  }
}

CATCH_TEST_CASE("mqar with reassign asks for the last value that a key was shown with") {
  const MqarConfig config{.length = 48, .tokens = 64, .pairs = 8, .reassign = 0.25};
  const auto task = config.build();
  const auto [inputs, targets, parts] = task->batch(3, Split::kTrain, 1, 200);
  std::set<std::size_t> second_at;
  for (std::int64_t i = 0; i < 200; ++i) {
    const Words input = words_of(*task, row_of(inputs, i));
    const Words target = words_of(*task, row_of(targets, i));
    std::map<std::string, std::string> value_of;
    std::set<std::string> values;
    std::size_t twice = 0;
    for (std::size_t t = 0; t < 20; t += 2) {
      if (value_of.contains(input[t])) ++twice, second_at.insert(t);
      value_of[input[t]] = input[t + 1];
      CATCH_REQUIRE(values.insert(input[t + 1]).second);
    }
    CATCH_REQUIRE(twice == 2);
    CATCH_REQUIRE(value_of.size() == 8);
    for (std::size_t t = 20; t < input.size(); ++t) {
      const auto asked = value_of.find(input[t]);
      CATCH_REQUIRE(target[t] == (asked == value_of.end() ? "." : asked->second));
    }
  }
  CATCH_CHECK(second_at.contains(2));  // anywhere behind the first
  CATCH_CHECK(second_at.contains(18));
  CATCH_CHECK(task->chance_accuracy() == 0.1);
  CATCH_CHECK(Problems::of(MqarConfig{.length = 35, .pairs = 8, .reassign = 0.25}) ==
              "length is 35, too short for 10 pairs and 8 queries; the smallest that fits is 36\n");
  CATCH_CHECK(Problems::of(MqarConfig{.tokens = 20, .pairs = 8, .reassign = 0.5}) ==
              "vocab_size is 20, which has 10 values; expected at least 24 for 12 pairs shown, "
              "because values are distinct\n");
}

CATCH_TEST_CASE("the first query of mqar comes after a gap that follows the power law") {
  for (const double a : {0.01, 0.5, 1.0}) {
    const MqarConfig config{.length = 40, .pairs = 4, .power_a = a};  // 16 slots
    const auto task = config.build();
    const std::int64_t samples = 4'000;
    const auto [inputs, targets, parts] = task->batch(0, Split::kTrain, 0, samples);
    std::vector<double> count(16);
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto input = row_of(inputs, i), target = row_of(targets, i);
      for (std::size_t slot = 0; slot < 16; ++slot) {  // the first pair takes the first draw
        if (target[8 + 2 * slot] != kIgnore && input[8 + 2 * slot] == input[0]) ++count[slot];
      }
    }
    double sum = 0;
    for (int gap = 1; gap <= 16; ++gap) sum += a * std::pow(gap, a - 1);
    for (int gap = 1; gap <= 16; ++gap) {
      const double p = a * std::pow(gap, a - 1) / sum;
      const double n = static_cast<double>(samples);
      const double deviations = 5 * std::sqrt(n * p * (1 - p));
      CATCH_CHECK(std::abs(count[static_cast<std::size_t>(gap - 1)] - n * p) < deviations);
    }
  }
}

CATCH_TEST_CASE("an mqar that does not fit says what is the smallest that does") {
  CATCH_CHECK(Problems::of(MqarConfig{}) == "");
  CATCH_CHECK(Problems::of(MqarConfig{.length = 32, .pairs = 8}) == "");
  CATCH_CHECK(Problems::of(MqarConfig{.length = 31, .pairs = 8}) ==
              "length is 31, too short for 8 pairs and as many queries; the smallest that fits is "
              "32\n");
  CATCH_CHECK(Problems::of(MqarConfig{.tokens = 18, .pairs = 8}) == "");
  CATCH_CHECK(Problems::of(MqarConfig{.tokens = 17, .pairs = 8}) ==
              "vocab_size is 17, which has 7 keys; expected at least 18 for 8 pairs, because keys "
              "are distinct\n");
}

CATCH_TEST_CASE("noisy recall asks for every key that was shown before, among a share of noise") {
  for (const auto& config :
       {NoisyRecallConfig{}, NoisyRecallConfig{.length = 41, .noise = 0},
        NoisyRecallConfig{.length = 128, .noise = 0.9},
        NoisyRecallConfig{.length = 200, .noise = 0.95},
        NoisyRecallConfig{.length = 64, .noise = 0.2, .keys = 1, .values = 2, .noise_tokens = 1}}) {
    const auto task = config.build();
    const auto [inputs, targets, parts] = task->batch(3, Split::kTest, 1, 100);
    for (std::int64_t i = 0; i < 100; ++i) {
      const Words input = words_of(*task, row_of(inputs, i));
      const Words target = words_of(*task, row_of(targets, i));
      CATCH_REQUIRE(input[0] == "B");
      std::map<std::string, std::string> value_of;
      std::set<std::string> values;
      double noise = 0;
      for (std::size_t t = 1; t < input.size(); ++t) {
        if (input[t][0] == 'n') {
          ++noise;
          CATCH_REQUIRE(target[t] == ".");
          continue;
        }
        CATCH_REQUIRE(is_key(input[t]));
        const auto shown = value_of.find(input[t]);
        CATCH_REQUIRE(target[t] == (shown == value_of.end() ? "." : shown->second));
        if (t + 1 == input.size()) {
          CATCH_REQUIRE(shown != value_of.end());  // the last key is a question
          break;
        }
        CATCH_REQUIRE(is_value(input[t + 1]));
        if (shown != value_of.end()) {
          CATCH_REQUIRE(input[t + 1] == shown->second);
        } else {
          CATCH_REQUIRE(values.insert(input[t + 1]).second);
          value_of[input[t]] = input[t + 1];
        }
        CATCH_REQUIRE(target[++t] == ".");
      }
      // The noise that was asked for, up to the token that no pair can fill.
      const double T = static_cast<double>(config.length);
      CATCH_REQUIRE(noise >= config.noise * T - 1e-9);
      CATCH_REQUIRE(noise < config.noise * T + 2);
    }
  }
}

CATCH_TEST_CASE("noise by the names of keys is known by what follows it alone") {
  const NoisyRecallConfig config{
      .length = 40, .keys = 4, .noise_tokens = 6, .noise_names = NoiseNames::kKeys};
  const auto task = config.build();
  CATCH_CHECK(task->vocab_size() == 1 + 10 + 16);
  const auto [inputs, targets, parts] = task->batch(3, Split::kTest, 1, 100);
  std::set<std::string> keys_of_any, noise_of_any;
  for (std::int64_t i = 0; i < 100; ++i) {
    const Words input = words_of(*task, row_of(inputs, i));
    std::set<std::string> keys, noise;
    for (std::size_t t = 1; t < input.size(); ++t) {
      if (is_value(input[t])) continue;
      const bool is_pair = t + 1 == input.size() || is_value(input[t + 1]);
      (is_pair ? keys : noise).insert(input[t]);
    }
    CATCH_REQUIRE((keys.size() <= 4 && noise.size() <= 6));
    for (const auto& key : keys) CATCH_REQUIRE_FALSE(noise.contains(key));
    keys_of_any.insert(keys.begin(), keys.end());
    noise_of_any.insert(noise.begin(), noise.end());
  }
  CATCH_CHECK(keys_of_any.size() == 10);
  CATCH_CHECK(noise_of_any.size() == 10);
}

CATCH_TEST_CASE("a number of pairs stays, whatever the share of noise") {
  for (const double noise : {0.0, 0.2, 0.5, 0.9}) {
    const NoisyRecallConfig config{.pairs = 12, .noise = noise};
    const auto task = config.build();
    CATCH_CHECK(config.shown() == 12);
    const auto T = static_cast<double>(task->sequence_length());
    CATCH_CHECK((T >= 24 / (1 - noise) - 1e-6 && T < 24 / (1 - noise) + 1));
    const auto batch = task->batch(1, Split::kTrain, 0, 20);
    for (std::int64_t i = 0; i < 20; ++i) {
      const Words input = words_of(*task, row_of(batch.inputs, i));
      CATCH_REQUIRE(std::count_if(input.begin(), input.end(), is_key) == 12);
    }
    const auto [asked, right] = NoisyRecallConfig{.length = 24, .noise = 0}.questions();
    CATCH_CHECK(task->chance_accuracy() == right / asked);
  }
}

CATCH_TEST_CASE("noisy recall ends with a question about any key, not the one shown last") {
  const auto task = NoisyRecallConfig{}.build();
  const auto batch = task->batch(1, Split::kTrain, 0, 200);
  int of_last = 0, rows_with_a_choice = 0;
  for (std::int64_t row = 0; row < 200; ++row) {
    const auto tokens = row_of(batch.inputs, row);
    testing::Row shown;  // keys, in the order in which they came first
    for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
      if (task->token_text(tokens[t])[0] != 'k') continue;
      if (std::find(shown.begin(), shown.end(), tokens[t]) == shown.end()) {
        shown.push_back(tokens[t]);
      }
    }
    CATCH_REQUIRE(std::find(shown.begin(), shown.end(), tokens.back()) != shown.end());
    rows_with_a_choice += shown.size() > 1 ? 1 : 0;
    of_last += shown.size() > 1 && shown.back() == tokens.back() ? 1 : 0;
  }
  CATCH_CHECK(rows_with_a_choice > 150);
  CATCH_CHECK(of_last < rows_with_a_choice / 2 + 40);  // at most every other one, of two keys
}

CATCH_TEST_CASE("the chance of noisy recall is that of a guess among the values shown so far") {
  for (const auto& config : {NoisyRecallConfig{}, NoisyRecallConfig{.noise = 0.9, .keys = 16},
                             NoisyRecallConfig{.length = 16, .noise = 0, .keys = 4}}) {
    const auto task = config.build();
    const std::int64_t samples = 20'000;
    const auto [inputs, targets, parts] = task->batch(0, Split::kTest, 0, samples);
    double questions = 0, right = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      const Words input = words_of(*task, row_of(inputs, i));
      const auto target = row_of(targets, i);
      std::set<std::string> shown;
      for (std::size_t t = 0; t < input.size(); ++t) {
        if (target[t] != kIgnore) {
          ++questions;
          right += 1 / static_cast<double>(shown.size());
        }
        if (is_value(input[t])) shown.insert(input[t]);
      }
    }
    // 5 standard deviations of a mean of at least 20,000 numbers in [0, 1]
    CATCH_CHECK(std::abs(task->chance_accuracy() - right / questions) < 5 * 0.5 / std::sqrt(2e4));
  }
}

CATCH_TEST_CASE("a noisy recall that does not fit says what is the smallest that does") {
  CATCH_CHECK(Problems::of(NoisyRecallConfig{}) == "");
  const NoisyRecallConfig crowded{.length = 20, .noise = 0.9};
  CATCH_CHECK(crowded.smallest_length() == 40);  // 0.1 · 40 / 2 = 2 pairs
  CATCH_CHECK(Problems::of(crowded) ==
              "length is 20, too short for two pairs at noise 0.9; the smallest that fits is 40\n");
  CATCH_CHECK(Problems::of(NoisyRecallConfig{.length = 40, .noise = 0.9}) == "");
  CATCH_CHECK(Problems::of(NoisyRecallConfig{.keys = 17}) ==
              "values is 16; expected at least keys, 17, because the values of a sequence are "
              "distinct\n");
}

}  // namespace
}  // namespace difflab
