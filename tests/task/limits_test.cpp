// What tasks refuse, and what of them no sample shows. What their samples hold, how evenly all is
// drawn and how often guesses are right check solve.py and entropy.py, which read them by name.

#include "support/catch.h"
#include "support/task_rows.h"
#include "task/task_config.h"

namespace difflab {
namespace {

using testing::Problems, testing::row_of;

CATCH_TEST_CASE("a task that cannot be is refused with the key, why, and what would do") {
  const std::vector<std::pair<std::string, std::string>> refused{
      {Problems::of(NeedleConfig{.distractors = {.near = 1}}),
       "distractors.near is 1 with key_tokens 1; expected keys of at least two tokens, of which "
       "they share all but the last\n"},
      {Problems::of(NeedleConfig{.keys = 4, .key_tokens = 2, .distractors = {.near = 4}}),
       "distractors.near is 4; expected less than keys, 4\n"},
      {Problems::of(NeedleConfig{.keys = 5, .distractors = {.same_value = 2}}),
       "keys is 5; expected at least needles and distractors.same_value, 6, because keys are "
       "distinct\n"},
      {Problems::of(NeedleConfig{.values = 5, .distractors = {.stale = 2}}),
       "values is 5; expected at least needles, near and stale distractors, 6, because values are "
       "distinct\n"},
      {Problems::of(NeedleConfig{.length = 20, .distractors = {.stale = 2}}),
       "length is 20, too short for 4 needles, 2 distractors and 1 queries; the smallest that fits "
       "is 21\n"},
      {Problems::of(MqarConfig{.length = 31, .pairs = 8}),
       "length is 31, too short for 8 pairs and as many queries; the smallest that fits is 32\n"},
      {Problems::of(MqarConfig{.tokens = 17, .pairs = 8}),
       "vocab_size is 17, which has 7 keys; expected at least 18 for 8 pairs, because keys are "
       "distinct\n"},
      {Problems::of(MqarConfig{.length = 35, .pairs = 8, .reassign = 0.25}),
       "length is 35, too short for 10 pairs and 8 queries; the smallest that fits is 36\n"},
      {Problems::of(MqarConfig{.tokens = 20, .pairs = 8, .reassign = 0.5}),
       "vocab_size is 20, which has 10 values; expected at least 24 for 12 pairs shown, because "
       "values are distinct\n"},
      {Problems::of(NoisyRecallConfig{.length = 20, .noise = 0.9}),
       "length is 20, too short for two pairs at noise 0.9; the smallest that fits is 40\n"},
      {Problems::of(NoisyRecallConfig{.keys = 17}),
       "values is 16; expected at least keys, 17, because the values of a sequence are distinct\n"},
      {Problems::of(KHopConfig{.nodes = 9, .least_nodes = 10, .hops = 2, .asked = 3, .names = 8}),
       "least_nodes is 10; expected at most nodes, 9\n"
       "names is 8; expected at least nodes, 9, because the nodes of a cycle are distinct\n"
       "asked is 3; expected at most hops, 2\n"},
      {Problems::of(
           VariableTrackingConfig{.length = 21, .chains = 3, .hops = 2, .names = 8, .values = 2}),
       "names is 8; expected at least chains · (hops + 1), 9, because names are distinct\n"
       "values is 2; expected at least chains, 3, because values are distinct\n"
       "length is 21, too short for 9 assignments, a question and its answers; the smallest that "
       "fits is 23\n"},
      {Problems::of(CommonWordsConfig{.length = 12, .asked = 2}),
       "length is 12, too short for the 3 most frequent of 64 words to differ in frequency; "
       "expected a longer list, fewer asked or another alpha\n"},
      {Problems::of(CommonWordsConfig{.words = 2, .asked = 2}),
       "asked is 2; expected less than words, 2\n"},
      {Problems::of(SelectiveCopyConfig{.length = 32, .copied = 16}),
       "length is 32, too short for 16 symbols and as many answers; the smallest that fits is "
       "33\n"},
      {Problems::of(
           FuzzyRecallConfig{.pairs = 8, .queries = 9, .key_tokens = 7, .value_tokens = 2}),
       "queries is 9; expected at most pairs, 8\n"
       "value_tokens is 2; expected at least longest, 3, because the tokens of a value are "
       "distinct\n"
       "key_tokens is 7; expected at least pairs, 8, because the keys of a sequence are "
       "distinct\n"},
      {Problems::of(AssociativeNeedleConfig{.length = 18, .queries = 5}),
       "queries is 5; expected at most needles, 4\n"
       "length is 18, too short for 4 needles and 5 queries; the smallest that fits is 23\n"},
      {Problems::of(AssociativeNeedleConfig{
           .length = 14, .things = 3, .names = 3, .direct_share = 0.5, .bare_share = 0.5}),
       "bare_share is 0.5 beside direct_share 0.5; expected less than 1 together, because the rest "
       "is associative\n"
       "names is 3; expected at least needles, 4, because names are distinct\n"
       "things is 3; expected at least needles, 4, because things are distinct\n"
       "length is 14, too short for 4 needles and 1 query; the smallest that fits is 15\n"},
      {Problems::of(InContextConfig{.classes = 4, .shots = 3}),
       "shots is 3; expected at least classes, 4, so that every class is shown\n"},
      {Problems::of(InContextConfig{.classes = 4, .symbols = 3}),
       "symbols is 3; expected at least classes, 4, because classes differ in every feature\n"},
      {Problems::of(InContextConfig{.classes = 4, .labels = 3}),
       "labels is 3; expected at least classes, 4, because labels are distinct\n"},
      {Problems::of(ContextQaConfig{.facts = 4, .questions = 5}),
       "questions is 5; expected at most facts, 4\n"},
      {Problems::of(ContextQaConfig{.facts = 8, .values = 7}),
       "values is 7; expected at least facts, 8, because values are distinct\n"},
      {Problems::of(ContextQaConfig{.facts = 8, .entities = 2}),
       "entities is 2 with 16 attributes, too few for 8 facts beside those of 2 questions; "
       "expected "
       "more entities or attributes\n"},
      {Problems::of(LanguageConfig{.words = 3}), "followers is 4; expected at most words, 3\n"},
      {Problems::of(LanguageConfig{.shortest = 7}), "shortest is 7; expected at most longest, 6\n"},
      {Problems::of(LanguageConfig{.copy = 0.5, .mention = 0.5}),
       "mention is 0.5 beside copy 0.5; expected less than 1 together, because the rest are "
       "clauses\n"}};
  for (const auto& [found, expected] : refused) CATCH_CHECK(found == expected);
}

CATCH_TEST_CASE("the smallest task that fits is not refused") {
  for (const auto& found : {Problems::of(MqarConfig{.length = 32, .pairs = 8}),
                            Problems::of(MqarConfig{.tokens = 18, .pairs = 8}),
                            Problems::of(NoisyRecallConfig{.length = 40, .noise = 0.9}),
                            // One question: 3 · 3 others and 3 + 3 near misses for 6 facts
                            Problems::of(ContextQaConfig{
                                .facts = 6, .questions = 1, .entities = 4, .attributes = 4})}) {
    CATCH_CHECK(found == "");
  }
  CATCH_CHECK(Problems::of(ContextQaConfig{
                  .facts = 7, .questions = 1, .entities = 4, .attributes = 4}) != "");
}

CATCH_TEST_CASE("numbers that are stated of tasks are those told by hand") {
  const auto sizes = KHopConfig{}.sizes();  // of 3 to 8 nodes
  CATCH_REQUIRE(sizes.size() == 6);
  CATCH_CHECK(sizes[0] / sizes[5] == Approx((8 + std::sqrt(8.0)) / (3 + std::sqrt(8.0))));
  CATCH_CHECK(CommonWordsConfig{.length = 12, .words = 4, .asked = 1, .alpha = 2}.counts() ==
              std::vector<std::int64_t>{7, 1, 1, 1});
  // With one token a value is right if it is the asked pair's, or another's that is alike.
  CATCH_CHECK(FuzzyRecallConfig{.pairs = 4, .longest = 1}.chance() == Approx(1.0 / 4 + 3.0 / 32));
  for (const auto& [distractors, salient] :
       {std::pair(0.0, 10), std::pair(0.5, 5), std::pair(0.8, 2), std::pair(1.0, 1)}) {
    CATCH_CHECK(ContextQaConfig{.facts = 10, .distractors = distractors}.salient() == salient);
  }
}

CATCH_TEST_CASE("depth is the share of noise tokens before the asked needle, rounded") {
  for (const double depth : {0.0, 25.0, 50.0, 77.0, 100.0}) {
    const NeedleConfig config{.length = 100, .needles = 5, .queries = 2, .depth = depth};
    const auto task = config.build();
    const auto inputs = task->batch(1, Split::kTest, 4, 100).inputs;
    for (std::int64_t row = 0; row < 100; ++row) {
      const auto words = testing::words_of(*task, row_of(inputs, row));
      const auto question = std::find(words.begin(), words.end(), "?");
      const auto needle = std::find(words.begin(), question, *std::next(question));
      const auto before =
          std::count_if(words.begin(), needle, [](const auto& word) { return word[0] == 'n'; });
      CATCH_CHECK(before == std::llround(depth / 100 * (100 - 1 - 10 - 4)));
    }
  }
}

CATCH_TEST_CASE("a recall sequence repeats its prefix and is scored only where it repeats") {
  const RecallConfig config{.length = 32, .tokens = 1'000};
  const auto [inputs, targets, parts] = config.build()->batch(0, Split::kTrain, 0, 300);
  std::set<std::int64_t> periods;
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto input = row_of(inputs, i), target = row_of(targets, i);
    std::int64_t period = 0;  // of 1,000 symbols, the first to come back marks the period
    for (std::size_t t = 2; t < input.size() && period == 0; ++t) {
      if (input[t] == input[1] && target[t - 1] != kIgnore)
        period = static_cast<std::int64_t>(t) - 1;
    }
    periods.insert(period);
    for (std::int64_t t = 0; t < 32; ++t) {
      const auto at = static_cast<std::size_t>(t);
      CATCH_REQUIRE(target[at] ==
                    (t < period ? kIgnore : input[static_cast<std::size_t>(t + 1 - period)]));
      if (t >= period && t + 1 < 32) CATCH_REQUIRE(target[at] == input[at + 1]);
    }
  }
  CATCH_CHECK(periods == std::set<std::int64_t>{8, 9, 10, 11, 12, 13, 14, 15, 16});
}

CATCH_TEST_CASE("a mixed batch is its parts, in their shares") {
  const auto task = AssociativeNeedleConfig{}.build();
  const auto parts = task->parts();
  const auto mixed = task->batch(0, Split::kTrain, 0, 8);
  CATCH_CHECK(mixed.parts == std::vector<std::int64_t>{4, 2, 2});
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const auto count = mixed.parts[part];
    const auto own = parts[part].task->batch(0, Split::kTrain, 0, count);
    CATCH_CHECK(mixed.inputs.narrow(0, begin, count).equal(own.inputs));
    CATCH_CHECK(mixed.targets.narrow(0, begin, count).equal(own.targets));
    begin += count;
  }
}

}  // namespace
}  // namespace difflab
