// hops, reassignment and interference measured on answerers whose answers are known by hand.
#include <ATen/ATen.h>

#include "evaluate/answers/hops.h"
#include "evaluate/answers/interference.h"
#include "evaluate/answers/reassignment.h"
#include "evaluate/base/answerer.h"
#include "support/catch.h"
#include "support/task_rows.h"
#include "task/base/task.h"

namespace difflab {
namespace {

using LookupWords = std::vector<std::string>;

/// One who says say(words up to here) wherever something is asked.
Answerer lookup(const Task& task, const std::function<std::string(const LookupWords& words)>& say) {
  std::map<std::string, std::int64_t> token_of;
  for (std::int64_t token = 0; token < task.vocab_size(); ++token) {
    token_of[task.token_text(token)] = token;
  }
  return {.answer =
              [&task, say, token_of](const Batch& batch) {
                auto said = at::full_like(batch.targets, kIgnore);
                for (std::int64_t row = 0; row < batch.inputs.size(0); ++row) {
                  const auto words = testing::words_of(task, testing::row_of(batch.inputs, row));
                  for (std::int64_t t = 0; t < batch.inputs.size(1); ++t) {
                    if (batch.targets[row][t].item<std::int64_t>() == kIgnore) continue;
                    said[row][t] = token_of.at(say({words.begin(), words.begin() + t + 1}));
                  }
                }
                return said;
              },
          .go_on = {}};
}

CATCH_TEST_CASE("hops tells those who look one step ahead from those who go on") {
  const KHopConfig task{.nodes = 6, .hops = 5, .questions = 4};
  const auto built = task.build();
  // Goes at most `most` steps of those that are asked for.
  const auto walker = [&](std::int64_t most) {
    return lookup(*built, [most](const LookupWords& words) {
      std::map<std::string, std::string> next;
      for (std::size_t t = 1; words[t][0] == 'n'; t += 2) next[words[t]] = words[t + 1];
      CATCH_CHECK(next.size() == 6);  // the largest cycle alone
      auto node = words.back();
      const auto k = std::stol(words[words.size() - 2].substr(1));
      for (std::int64_t i = 0; i < std::min(k, most); ++i) node = next.at(node);
      return node;
    });
  };
  const HopsConfig evaluation{.samples = 20};
  const auto all = evaluation.ask(walker(5), task, 1);
  CATCH_CHECK(all.metrics["hops_accuracy"] == 1);
  CATCH_CHECK(all.metrics["hops_accuracy_chance"] == 1.0 / 6);
  const auto one = evaluation.ask(walker(1), task, 1);
  CATCH_CHECK(one.metrics["hops_1_accuracy"] == 1);
  CATCH_CHECK(one.metrics["hops_2_accuracy"] == 0);
  CATCH_CHECK(one.metrics["hops_4_accuracy"] == 0);
  CATCH_CHECK(one.metrics["hops_accuracy"].get<double>() == Approx(1.0 / 3));
  CATCH_CHECK(one.details["cells"].size() == 3);
  CATCH_CHECK(one.details["cells"][1]["n"] == 20);
  const auto chosen = HopsConfig{.hops = {5}, .samples = 5}.ask(walker(5), task, 1);
  CATCH_CHECK(chosen.details["cells"].size() == 1);
  CATCH_CHECK(chosen.details["cells"][0]["hops"] == 5);
}

CATCH_TEST_CASE("hops refuses more hops than the task knows") {
  const auto problems = [](const HopsConfig& evaluation, const TaskConfig& task) {
    return testing::Problems::found(
        [&](config::Check& check) { evaluation.validate_task(task, check); });
  };
  CATCH_CHECK(problems({}, KHopConfig{}) == "");
  // Once around the cycle is the node itself.
  CATCH_CHECK(HopsConfig{}.asked(KHopConfig{.nodes = 4, .hops = 8}) ==
              std::vector<std::int64_t>{1, 2});
  CATCH_CHECK_THAT(problems({.hops = {8}}, KHopConfig{.nodes = 4, .hops = 8}),
                   Catch::Contains("has 8, which leads around a cycle of 4 nodes"));
  CATCH_CHECK(problems({.hops = {2, 5, 2}}, KHopConfig{.hops = 4}) ==
              "hops has a number twice; expected each once\n"
              "hops has 5; expected at most the task's hops, 4\n");
  CATCH_CHECK(problems({}, MqarConfig{}) == "kind is hops; expected a task of kind k_hop\n");
}

CATCH_TEST_CASE("reassignment tells current answers from stale ones and others") {
  const MqarConfig task{.length = 40, .tokens = 64, .pairs = 6, .reassign = 0.5};
  const auto built = task.build();
  // Says the first or last value that its key was shown with, or none of them.
  const auto reader = [&](char which) {
    return lookup(*built, [which](const LookupWords& words) {
      LookupWords values;
      for (std::size_t t = 0; t < 18; t += 2) {
        if (words[t] == words.back()) values.push_back(words[t + 1]);
      }
      CATCH_CHECK((values.size() == 1 || values.size() == 2));
      return which == 'f' ? values.front() : which == 'l' ? values.back() : std::string("_");
    });
  };
  const ReassignmentConfig evaluation{.samples = 30};
  const auto last = evaluation.ask(reader('l'), task, 2);
  CATCH_CHECK(last.metrics["current_share"] == 1);
  CATCH_CHECK(last.metrics["stale_share"] == 0);
  CATCH_CHECK(last.metrics["kept_accuracy"] == 1);
  CATCH_CHECK(last.metrics["current_share_chance"] == 1.0 / 9);
  CATCH_CHECK(last.details["cells"][0]["n"] == 90);
  const auto first = evaluation.ask(reader('f'), task, 2);
  CATCH_CHECK(first.metrics["current_share"] == 0);
  CATCH_CHECK(first.metrics["stale_share"] == 1);
  CATCH_CHECK(first.metrics["kept_accuracy"] == 1);
  const auto none = evaluation.ask(reader('n'), task, 2);
  CATCH_CHECK(none.metrics["other_share"] == 1);
  CATCH_CHECK(none.metrics["kept_accuracy"] == 0);
  auto every = task;
  every.reassign = 1;
  const auto built_every = every.build();
  const auto all = evaluation.ask(lookup(*built_every, [](const auto&) { return "_"; }), every, 2);
  CATCH_CHECK(all.metrics["kept_accuracy"].is_null());
  CATCH_CHECK(all.details["cells"].size() == 1);
}

CATCH_TEST_CASE("interference tells which pair an answer comes from") {
  const NeedleConfig task{.length = 60,
                          .needles = 3,
                          .queries = 2,
                          .key_tokens = 2,
                          .distractors = {.near = 1, .same_value = 2, .stale = 1}};
  const auto built = task.build();
  // Says the value of the first or last pair that fits, else a token that is no value.
  struct Shown {
    std::string first, last, value;
  };
  using Fits = std::function<bool(const Shown& pair, const Shown& asked)>;
  const auto reader = [&](bool last, const Fits& fits) {
    return lookup(*built, [last, fits](const LookupWords& words) {
      const Shown asked{words[words.size() - 2], words.back(), ""};
      std::vector<std::string> said;
      for (std::size_t t = 2; t < words.size() && words[t] != "?"; ++t) {
        const Shown pair{words[t - 2], words[t - 1], words[t]};
        if (words[t][0] == 'v' && fits(pair, asked)) said.push_back(words[t]);
      }
      return said.empty() ? std::string("B") : last ? said.back() : said.front();
    });
  };
  const auto same = [](const Shown& pair, const Shown& asked) {
    return pair.first == asked.first && pair.last == asked.last;
  };
  const auto near = [](const Shown& pair, const Shown& asked) {
    return pair.first == asked.first && pair.last != asked.last;
  };
  const InterferenceConfig evaluation{.samples = 40};
  const auto of = [&](bool last, const Fits& fits) {
    return evaluation.ask(reader(last, fits), task, 3);
  };
  CATCH_CHECK(of(true, same).metrics["right_answers"] == 1);
  CATCH_CHECK(of(true, same).metrics["right_answers_chance"] == 1.0 / 7);
  CATCH_CHECK(of(false, same).metrics["stale_answers"] == 1);
  CATCH_CHECK(of(true, near).metrics["near_answers"] == 1);
  const auto none = of(true, [](const auto&, const auto&) { return false; });
  CATCH_CHECK(none.metrics["other_answers"] == 1);
  CATCH_CHECK(none.details["cells"].size() == 6);
  CATCH_CHECK(none.details["cells"][5]["n"] == 80);
  // Pairs of neither the question nor near it: the other needles, whose own distractors count, too.
  const auto others =
      of(true, [](const Shown& pair, const Shown& asked) { return pair.first != asked.first; });
  const auto repeated = others.metrics["repeated_answers"].get<double>();
  const auto needle = others.metrics["needle_answers"].get<double>();
  const auto right = others.metrics["right_answers"].get<double>();
  CATCH_CHECK((repeated > 0 && needle > 0 && right > 0));  // right: where its value is repeated
  CATCH_CHECK(repeated + needle + right == Approx(1));
}

}  // namespace
}  // namespace difflab
