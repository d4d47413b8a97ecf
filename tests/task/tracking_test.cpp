// k_hop, variable_tracking, common_words, selective_copy, fuzzy_recall and associative_needle, read
// by the names of their tokens. tests/task/solve.py reads many more samples.
#include "support/catch.h"
#include "support/task_rows.h"
#include "task/task_config.h"

namespace difflab {
namespace {

using testing::Problems, testing::row_of, testing::words_of;
using Words = std::vector<std::string>;

struct WordRow {
  Words input, target;
};

template <class Config>
std::vector<WordRow> word_rows_of(const Config& config, std::int64_t count = 50) {
  const auto task = config.build();
  const auto [inputs, targets, parts] = task->batch(4, Split::kTest, 2, count);
  std::vector<WordRow> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    samples.push_back({words_of(*task, row_of(inputs, i)), words_of(*task, row_of(targets, i))});
  }
  return samples;
}

CATCH_TEST_CASE("k_hop asks for the node k steps behind, and each cycle closes") {
  for (const auto& config : {KHopConfig{}, KHopConfig{.least_nodes = 8, .hops = 9},
                             KHopConfig{.nodes = 2, .least_nodes = 2, .names = 2},
                             KHopConfig{.nodes = 5, .hops = 3, .asked = 3, .questions = 1}}) {
    for (const auto& [input, target] : word_rows_of(config)) {
      CATCH_INFO(join(input, " "));
      std::map<std::string, std::string> next;
      std::size_t t = 1;
      for (; input[t][0] == 'n'; t += 2) CATCH_REQUIRE(next.emplace(input[t], input[t + 1]).second);
      const auto n = static_cast<std::int64_t>(next.size());
      CATCH_REQUIRE((n >= config.least_nodes && n <= config.nodes));
      auto node = input[1];
      for (std::int64_t i = 0; i < n; ++i) {
        CATCH_REQUIRE((i == 0) == (node == input[1]));  // one cycle, not several
        node = next.at(node);
      }
      CATCH_REQUIRE(node == input[1]);
      for (std::int64_t question = 0; question < config.questions; ++question) {
        const auto k = std::stol(input[t].substr(1));
        CATCH_REQUIRE((k >= 1 && k <= config.hops && k == config.asked.value_or(k)));
        auto answer = input[++t];
        for (std::int64_t step = 0; step < k; ++step) answer = next.at(answer);
        CATCH_REQUIRE(target[t] == answer);
        if (++t < input.size()) {
          CATCH_REQUIRE(input[t] == (question + 1 < config.questions ? answer : "_"));
        }
        if (question + 1 < config.questions) ++t;
      }
      for (; t < input.size(); ++t) CATCH_REQUIRE((input[t] == "_" && target[t] == "."));
    }
  }
  CATCH_CHECK(KHopConfig{.least_nodes = 8}.build()->chance_accuracy() == Approx(1.0 / 8));
  const auto sizes = KHopConfig{}.sizes();  // of 3 to 8 nodes
  CATCH_REQUIRE(sizes.size() == 6);
  CATCH_CHECK(sizes[0] / sizes[5] == Approx((8 + std::sqrt(8.0)) / (3 + std::sqrt(8.0))));
  CATCH_CHECK(
      Problems::of(KHopConfig{.nodes = 9, .least_nodes = 10, .hops = 2, .asked = 3, .names = 8}) ==
      "least_nodes is 10; expected at most nodes, 9\n"
      "names is 8; expected at least nodes, 9, because the nodes of a cycle are distinct\n"
      "asked is 3; expected at most hops, 2\n");
}

CATCH_TEST_CASE("variable_tracking tells the names of the asked chain, in its order") {
  for (const auto& config :
       {VariableTrackingConfig{}, VariableTrackingConfig{.length = 14, .chains = 1, .hops = 3},
        VariableTrackingConfig{.length = 15, .chains = 4, .hops = 0}}) {
    for (const auto& [input, target] : word_rows_of(config)) {
      CATCH_INFO(join(input, " "));
      const auto question =
          static_cast<std::size_t>(std::find(input.begin(), input.end(), "?") - input.begin());
      std::map<std::string, Words> names_of;
      std::map<std::string, std::string> value_of;
      for (std::size_t t = 1; t < question; ++t) {
        if (input[t][0] != 'x') {
          CATCH_REQUIRE(input[t][0] == 'n');
          continue;
        }
        const auto& name = input[t++];
        const auto value = input[t][0] == 'd' ? input[t] : value_of.at(input[t]);
        CATCH_REQUIRE(value_of.emplace(name, value).second);
        if (input[t][0] == 'x') CATCH_REQUIRE(names_of.at(value).back() == input[t]);
        names_of[value].push_back(name);
      }
      CATCH_REQUIRE(static_cast<std::int64_t>(names_of.size()) == config.chains);
      const auto& asked = names_of.at(input[question + 1]);
      CATCH_REQUIRE(static_cast<std::int64_t>(asked.size()) == config.hops + 1);
      CATCH_REQUIRE(question + 1 + asked.size() == input.size());
      for (std::size_t t = 0; t < input.size(); ++t) {
        CATCH_REQUIRE(target[t] == (t > question ? asked[t - question - 1] : "."));
        if (t > question + 1) CATCH_REQUIRE(input[t] == target[t - 1]);
      }
    }
  }
  const double chance = (1.0 / 9 + 1.0 / 8 + 1.0 / 7) / 3;
  CATCH_CHECK(VariableTrackingConfig{}.build()->chance_accuracy() == Approx(chance));
  CATCH_CHECK(Problems::of(VariableTrackingConfig{
                  .length = 21, .chains = 3, .hops = 2, .names = 8, .values = 2}) ==
              "names is 8; expected at least chains · (hops + 1), 9, because names are distinct\n"
              "values is 2; expected at least chains, 3, because values are distinct\n"
              "length is 21, too short for 9 assignments, a question and its answers; the smallest "
              "that fits is 23\n");
}

CATCH_TEST_CASE("common_words counts the words of the list") {
  for (const auto& config :
       {CommonWordsConfig{}, CommonWordsConfig{.length = 128, .asked = 4, .alpha = 1.2},
        CommonWordsConfig{.length = 20, .words = 2, .asked = 1}}) {
    CATCH_REQUIRE(Problems::of(config) == "");
    const auto counts = config.counts();
    for (const auto& [input, target] : word_rows_of(config)) {
      CATCH_INFO(join(input, " "));
      std::map<std::string, std::int64_t> count;
      std::size_t t = 1;
      for (; input[t] != "?"; ++t) ++count[input[t]];
      CATCH_REQUIRE(t == static_cast<std::size_t>(1 + config.listed()));
      CATCH_REQUIRE(count.size() == counts.size());
      for (std::size_t rank = 0; t < input.size(); ++t, ++rank) {
        CATCH_REQUIRE(count.at(target[t]) == counts[rank]);
        if (t + 1 < input.size()) CATCH_REQUIRE(input[t + 1] == target[t]);
        count.erase(target[t]);
        for (const auto& [word, times] : count) CATCH_REQUIRE(times < counts[rank]);
      }
    }
  }
  CATCH_CHECK(CommonWordsConfig{.length = 12, .words = 4, .asked = 1, .alpha = 2}.counts() ==
              std::vector<std::int64_t>{7, 1, 1, 1});
  CATCH_CHECK(Problems::of(CommonWordsConfig{.length = 12, .asked = 2}) ==
              "length is 12, too short for the 3 most frequent of 64 words to occur differently "
              "often; expected a longer list, fewer asked or another alpha\n");
  CATCH_CHECK(Problems::of(CommonWordsConfig{.words = 2, .asked = 2}) ==
              "asked is 2; expected less than words, 2\n");
}

CATCH_TEST_CASE("selective_copy repeats the symbols, and blanks tell nothing") {
  for (const auto& config :
       {SelectiveCopyConfig{}, SelectiveCopyConfig{.length = 7, .copied = 3}}) {
    const auto n = static_cast<std::size_t>(config.copied);
    std::set<std::size_t> places;
    for (const auto& [input, target] : word_rows_of(config)) {
      Words shown;
      const auto end = input.size() - n - 1;
      for (std::size_t t = 0; t < end; ++t) {
        if (input[t] == "_") continue;
        shown.push_back(input[t]);
        places.insert(t);
      }
      CATCH_REQUIRE(shown.size() == n);
      CATCH_REQUIRE(input[end] == "c");
      for (std::size_t t = 0; t < input.size(); ++t) {
        CATCH_REQUIRE(target[t] == (t > end ? shown[t - end - 1] : "."));
        if (t > end) CATCH_REQUIRE(input[t] == "_");
      }
    }
    CATCH_CHECK(places.contains(0));  // anywhere, up to the last token before c
    CATCH_CHECK(places.contains(static_cast<std::size_t>(config.length) - n - 2));
  }
  CATCH_CHECK(Problems::of(SelectiveCopyConfig{.length = 32, .copied = 16}) ==
              "length is 32, too short for 16 symbols and as many answers; the smallest that fits "
              "is 33\n");
}

// "k1 k2" of the tokens that begin at t and are of this kind.
std::string motif(const Words& words, std::size_t& t, char kind) {
  Words found;
  for (; t < words.size() && words[t][0] == kind; ++t) found.push_back(words[t]);
  return join(found, " ");
}

CATCH_TEST_CASE("fuzzy_recall asks for whole keys and tells their values token by token") {
  for (const auto& config :
       {FuzzyRecallConfig{},
        FuzzyRecallConfig{.pairs = 2, .queries = 2, .longest = 1, .key_tokens = 2},
        FuzzyRecallConfig{.pairs = 8, .queries = 8, .longest = 2}}) {
    for (const auto& [input, target] : word_rows_of(config)) {
      CATCH_INFO(join(input, " "));
      std::size_t t = 0;
      for (; input[t] == "_"; ++t) CATCH_REQUIRE(target[t] == ".");
      CATCH_REQUIRE(input[t++] == "B");
      std::map<std::string, std::string> value_of;
      while (input[t] != "?") {
        const auto key = motif(input, t, 'k');
        CATCH_REQUIRE(value_of.emplace(key, motif(input, t, 'v')).second);
      }
      CATCH_REQUIRE(static_cast<std::int64_t>(value_of.size()) == config.pairs);
      std::int64_t questions = 0;
      for (; t < input.size(); ++questions) {
        CATCH_REQUIRE(input[t++] == "?");
        const auto key = motif(input, t, 'k');
        CATCH_REQUIRE(std::count(key.begin(), key.end(), 'k') == config.longest);
        Words answer = {target[--t]};
        for (++t; t < input.size() && input[t][0] == 'v'; ++t) {
          CATCH_REQUIRE(input[t] == answer.back());
          if (target[t] != ".") answer.push_back(target[t]);
        }
        CATCH_REQUIRE(join(answer, " ") == value_of.at(key));
      }
      CATCH_REQUIRE(questions == config.queries);
    }
  }
  // With one token a value is right if it is the asked pair's, or another's that is alike.
  CATCH_CHECK(FuzzyRecallConfig{.pairs = 4, .longest = 1}.chance() ==
              Approx(1.0 / 4 + 3.0 / 4 / 8));
  CATCH_CHECK(Problems::of(FuzzyRecallConfig{
                  .pairs = 8, .queries = 9, .key_tokens = 7, .value_tokens = 2}) ==
              "queries is 9; expected at most pairs, 8\n"
              "value_tokens is 2; expected at least longest, 3, because the tokens of a value are "
              "distinct\n"
              "key_tokens is 7; expected at least pairs, 8, because the keys of a sequence are "
              "distinct\n");
}

CATCH_TEST_CASE("associative_needle asks for a thing or its sign, which the world alone decides") {
  const AssociativeNeedleConfig config;
  const auto task = config.build();
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 3);
  std::map<std::string, std::string> sign_of;
  const auto bare = parts[2].task->batch(0, Split::kTrain, 0, 50);
  for (std::int64_t i = 0; i < 50; ++i) {
    const auto input = words_of(*task, row_of(bare.inputs, i));
    const auto target = words_of(*task, row_of(bare.targets, i));
    for (std::size_t t = 1; t < input.size(); t += 2) {
      CATCH_REQUIRE(input[t][0] == 'a');
      CATCH_REQUIRE(sign_of.emplace(input[t], target[t]).first->second == target[t]);
      if (t + 1 < input.size()) CATCH_REQUIRE((input[t + 1] == target[t] && target[t + 1] == "."));
    }
  }
  CATCH_REQUIRE(sign_of.size() == 32);
  // Copying the sign that a thing was shown with, and else any sign, is right as often as chance
  // says.
  double copied = 0, pairs = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    std::set<std::string> shown;
    const auto input = words_of(*task, row_of(bare.inputs, i));
    for (std::size_t t = 1; t < input.size(); t += 2, ++pairs) {
      copied += shown.insert(input[t]).second ? 1.0 / 32 : 1;
    }
  }
  // 1,600 targets, of which at most a quarter of a variance each
  CATCH_CHECK(std::abs(parts[2].task->chance_accuracy() - copied / pairs) < 5 * 0.5 / 40);
  std::set<std::string> signs;
  for (const auto& [thing, sign] : sign_of) signs.insert(sign);
  CATCH_CHECK(signs.size() == 32);
  for (std::size_t part = 0; part < 2; ++part) {
    const auto batch = parts[part].task->batch(0, Split::kTest, 0, 50);
    for (std::int64_t i = 0; i < 50; ++i) {
      const auto input = words_of(*task, row_of(batch.inputs, i));
      const auto target = words_of(*task, row_of(batch.targets, i));
      std::map<std::string, std::string> name_of;
      for (std::size_t t = 1; input[t] != "?"; ++t) {
        if (input[t][0] == 'x')
          name_of[part == 0 ? sign_of[input[t + 1]] : input[t + 1]] = input[t];
      }
      CATCH_REQUIRE(name_of.size() == 4);
      CATCH_REQUIRE(target.back() == name_of.at(input.back()));
      CATCH_REQUIRE(std::count(target.begin(), target.end(), ".") + 1 ==
                    static_cast<std::int64_t>(target.size()));
    }
  }
  const auto several = AssociativeNeedleConfig{.queries = 3}.build();
  const auto asked = several->parts()[1].task->batch(0, Split::kTest, 0, 50);
  for (std::int64_t i = 0; i < 50; ++i) {
    const auto input = words_of(*several, row_of(asked.inputs, i));
    const auto target = words_of(*several, row_of(asked.targets, i));
    std::set<std::string> answers;
    for (std::size_t t = input.size() - 5; t < input.size(); t += 2) {
      CATCH_REQUIRE(input[t - 1] == "?");
      const auto needle = std::find(input.begin(), input.begin() + 58, input[t]);
      CATCH_REQUIRE(target[t] == *std::prev(needle));
      answers.insert(target[t]);
    }
    CATCH_REQUIRE(answers.size() == 3);
    CATCH_REQUIRE(std::count(target.begin(), target.end(), ".") == 61);
  }
  // Another world has other signs; a mixed batch is its parts, in their shares.
  const auto elsewhere =
      AssociativeNeedleConfig{.world = 1}.build()->parts()[2].task->batch(0, Split::kTrain, 0, 50);
  CATCH_CHECK(elsewhere.inputs.select(1, 1).equal(bare.inputs.select(1, 1)));
  CATCH_CHECK_FALSE(elsewhere.targets.equal(bare.targets));
  const auto mixed = task->batch(0, Split::kTrain, 0, 8);
  CATCH_CHECK(mixed.parts == std::vector<std::int64_t>{4, 2, 2});
  CATCH_CHECK(
      mixed.inputs.narrow(0, 6, 2).equal(parts[2].task->batch(0, Split::kTrain, 0, 2).inputs));
  CATCH_CHECK(Problems::of(AssociativeNeedleConfig{.length = 18, .queries = 5}) ==
              "queries is 5; expected at most needles, 4\n"
              "length is 18, too short for 4 needles and 5 queries; the smallest that fits is "
              "23\n");
  CATCH_CHECK(Problems::of(AssociativeNeedleConfig{
                  .length = 14, .things = 3, .names = 3, .direct_share = 0.5, .bare_share = 0.5}) ==
              "bare_share is 0.5 beside direct_share 0.5; expected less than 1 together, because "
              "the rest is associative\n"
              "names is 3; expected at least needles, 4, because names are distinct\n"
              "things is 3; expected at least needles, 4, because things are distinct\n"
              "length is 14, too short for 4 needles and 1 query; the smallest that fits is "
              "15\n");
}

}  // namespace
}  // namespace difflab
