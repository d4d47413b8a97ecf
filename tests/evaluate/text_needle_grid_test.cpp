// The text needle grid asked of answerers whose answers are known by hand.

#include <regex>

#include "evaluate/base/answerer.h"
#include "evaluate/retrieval/needle_grid.h"
#include "support/catch.h"
#include "support/parrot.h"
#include "support/problems.h"
#include "task/base/task.h"

namespace difflab {
namespace {

const TextNeedleConfig kTextTask{.generated_characters = 60'000, .length = 700, .digits = 3};
const NeedleGridConfig kTextAsked{
    .needles = {1, 4}, .queries = {1, 3}, .depths = {0, 100}, .samples = 12};

/// Reads a prompt as text and writes what say(text) says, number by number.
template <class Say>
Answerer text_reader(Say say) {
  return {.answer = {}, .go_on = [say](const at::Tensor& prompts, std::int64_t digits) {
            const auto task = kTextTask.build();
            auto written = at::zeros({prompts.size(0), digits}, at::kLong);
            for (std::int64_t row = 0; row < prompts.size(0); ++row) {
              std::string text;
              for (std::int64_t t = 0; t < prompts.size(1); ++t) {
                text += task->token_text(prompts[row][t].item<std::int64_t>());
              }
              const std::string number = say(text);
              for (std::int64_t i = 0; i < digits; ++i) {
                for (std::int64_t token = 0; token < task->vocab_size(); ++token) {
                  if (task->token_text(token)[0] == number[static_cast<std::size_t>(i)]) {
                    written[row][i] = token;
                  }
                }
              }
            }
            return written;
          }};
}

// The number of the city that is asked next: as many numbers as there are behind the question mark.
std::string look_up(const std::string& text) {
  const auto question = text.rfind("\n\nWhat ");
  const auto mark = text.rfind('?');
  auto names = text.substr(question, mark - question);
  names = names.substr(names.find(" for ") + 5);
  names = std::regex_replace(names, std::regex(" and "), ", ");
  const auto said = std::count(text.begin() + static_cast<std::ptrdiff_t>(mark), text.end(), ',');
  for (std::ptrdiff_t i = 0; i < said; ++i) names = names.substr(names.find(", ") + 2);
  const auto city = names.substr(0, names.find(", "));
  const auto needle = text.find(" for " + city + " is: ");
  return text.substr(needle + 5 + city.size() + 5, 3);
}

std::string first_number(const std::string& text) { return text.substr(text.find(" is: ") + 5, 3); }

CATCH_TEST_CASE("a reader that looks the city up is right in every cell") {
  const auto result = kTextAsked.ask(text_reader(look_up), kTextTask, 2);
  CATCH_CHECK(result.metrics["text_grid_accuracy"] == 1.0);
  const auto& cells = result.details["cells"];
  CATCH_REQUIRE(cells.size() == 3 * 2);  // (1, 1), (4, 1), (4, 3) at two depths
  for (const auto& cell : cells) {
    CATCH_CHECK(cell["n"] == 12 * cell["queries"].get<int>());
    CATCH_CHECK(cell["accuracy"] == 1.0);
    CATCH_CHECK(cell["all_correct"] == 1.0);
    CATCH_CHECK(cell["chance"] == 1 / cell["needles"].get<double>());
  }
}

CATCH_TEST_CASE("a reader that says the first number is right where the asked needle comes first") {
  const auto result = kTextAsked.ask(text_reader(first_number), kTextTask, 2);
  for (const auto& cell : result.details["cells"]) {
    CATCH_INFO(cell.dump());
    const bool first = cell["depth"] == 0 || cell["needles"] == 1;
    if (cell["queries"] == 1) {
      CATCH_CHECK(cell["accuracy"] == (first ? 1.0 : 0.0));
    } else if (first) {  // one of three, never all
      CATCH_CHECK(cell["accuracy"].get<double>() == Approx(1.0 / 3));
      CATCH_CHECK(cell["all_correct"] == 0.0);
    }
  }
}

CATCH_TEST_CASE("whoever wrote a number wrong goes on behind what was written") {
  std::vector<std::string> behind;  // what stood behind the question, of each number that was asked
  const auto sevens = [&](const std::string& text) {
    behind.push_back(text.substr(text.rfind('?') + 1));
    return std::string("777");
  };
  const NeedleGridConfig grid{.needles = {4}, .queries = {3}, .depths = {50}, .samples = 5};
  grid.ask(text_reader(sevens), kTextTask, 2);
  CATCH_REQUIRE(behind.size() == 3 * 5);
  for (const auto& text : behind) {
    CATCH_INFO(text);
    const auto asked_before = std::count(text.begin(), text.end(), ',');
    CATCH_CHECK(std::count(text.begin(), text.end(), '7') == 3 * asked_before);
  }
}

CATCH_TEST_CASE("a model that always writes the same digit is never right") {
  const TaskConfig task_config = kTextTask;
  const auto task = build_task(task_config);
  auto model = testing::parrot(3, task->vocab_size(), 2.0);
  CATCH_CHECK(kTextAsked.run({model, task_config, *task, 2}).metrics["text_grid_accuracy"] == 0.0);
}

CATCH_TEST_CASE("a grid whose cells do not fit names the cell and the smallest length") {
  const auto problems_of = [](const TaskConfig& task) {
    const NeedleGridConfig grid{.needles = {9}, .queries = {1}, .lengths = {700, 300}};
    return testing::Problems::found([&](auto& problems) { grid.validate_task(task, problems); });
  };
  CATCH_CHECK_THAT(problems_of(kTextTask),
                   Catch::StartsWith("lengths makes a cell (9 needles, 1 queries, "
                                     "300 tokens) whose length is 300, too short"));
  CATCH_CHECK(problems_of(MqarConfig{}) ==
              "kind is needle_grid; expected a task with needles (needle, needle_recall, "
              "text_needle)\n");
}

}  // namespace
}  // namespace difflab
