// Needles in text, read back from the text alone.
#include "task/in_text/text_needle.h"

#include <regex>

#include "support/catch.h"
#include "support/task_rows.h"
#include "text/city_names.h"
#include "text/generated_text.h"

namespace difflab {
namespace {

using testing::Problems, testing::row_of;

constexpr std::int64_t kText = 60'000;  // characters, so that a test is quick

/// What a person finds in a sample's text.
struct Found {
  std::map<std::string, std::string> number_of;    // city -> number
  std::map<std::string, std::size_t> hay_before;   // city -> haystack tokens before its needle
  std::vector<std::string> order, asked, answers;  // cities as they appear; numbers at the end
  std::string hay;

  explicit Found(const std::string& text) {
    static const std::regex kNeedle(" The special magic number for ([A-Za-z ]+) is: (\\d+)\\. ");
    const auto question = text.rfind("\n\nWhat ");
    CATCH_REQUIRE(question != text.npos);
    auto rest = text.substr(0, question);
    for (std::smatch match; std::regex_search(rest, match, kNeedle); rest = match.suffix()) {
      hay += match.prefix();
      CATCH_REQUIRE(number_of.emplace(match[1], match[2]).second);
      hay_before[match[1]] = hay.size();
      order.push_back(match[1]);
    }
    hay += rest;
    static const std::regex kOne("\n\nWhat is the special magic number for ([A-Za-z ]+)\\? (.*)");
    static const std::regex kMany(
        "\n\nWhat are the special magic numbers for ([A-Za-z, ]+) and ([A-Za-z ]+)\\? (.*)");
    const auto end = text.substr(question);
    std::smatch match;
    if (std::regex_match(end, match, kOne)) {
      asked = {match[1]};
    } else {
      CATCH_REQUIRE(std::regex_match(end, match, kMany));
      asked = cut(match[1]);
      asked.push_back(match[2]);
    }
    answers = cut(match[match.size() - 1]);
  }

  static std::vector<std::string> cut(const std::string& list) {
    std::vector<std::string> items;
    std::size_t begin = 0;
    for (std::size_t end; (end = list.find(", ", begin)) != list.npos; begin = end + 2) {
      items.push_back(list.substr(begin, end - begin));
    }
    items.push_back(list.substr(begin));
    return items;
  }
};

/// The whole text of a row: its inputs and the last digit, which is only a target.
std::string text_of(const Task& task, const Batch& batch, std::int64_t row) {
  std::string text;
  for (const auto token : row_of(batch.inputs, row)) text += task.token_text(token);
  return text + task.token_text(row_of(batch.targets, row).back());
}

CATCH_TEST_CASE("there are at least 100 distinct cities of letters and blanks") {
  const std::set<std::string_view> names(city_names().begin(), city_names().end());
  CATCH_CHECK(names.size() == city_names().size());
  CATCH_CHECK(names.size() >= 100);
  for (const auto name : names) {
    CATCH_CHECK(std::all_of(name.begin(), name.end(),
                            [](char c) { return c == ' ' || std::isalpha(c) != 0; }));
  }
}

CATCH_TEST_CASE("text hides N distinct cities with distinct numbers and asks for R of them") {
  for (const auto& config : {TextNeedleConfig{.generated_characters = kText},
                             TextNeedleConfig{.generated_characters = kText,
                             .tokenizer = TokenizerKind::kByte,
                             .length = 700,
                             .needles = 6,
                             .queries = 3,
                             .digits = 2},
                             TextNeedleConfig{.generated_characters = kText,
                             .length = 1'000,
                             .needles = 9,
                             .queries = 9,
                             .digits = 1},
                             TextNeedleConfig{.generated_characters = kText,
                             .tokenizer = TokenizerKind::kWord,
                             .length = 200,
                             .needles = 5,
                             .queries = 2,
                             .digits = 4}}) {
    const bool by_word = config.tokenizer == TokenizerKind::kWord;
    const auto task = config.build();
    CATCH_CHECK(task->vocab_size() == config.vocab_size());
    const auto batch = task->batch(3, Split::kTrain, 0, 60);
    for (std::int64_t i = 0; i < 60; ++i) {
      const auto text = text_of(*task, batch, i);
      CATCH_REQUIRE((by_word || static_cast<std::int64_t>(text.size()) == config.length + 1));
      const Found found(text);
      CATCH_REQUIRE(static_cast<std::int64_t>(found.number_of.size()) == config.needles);
      std::set<std::string> numbers;
      for (const auto& [city, number] : found.number_of) {
        numbers.insert(number);
        CATCH_REQUIRE(static_cast<std::int64_t>(number.size()) == config.digits);
        CATCH_REQUIRE(number[0] != '0');
      }
      CATCH_REQUIRE(static_cast<std::int64_t>(numbers.size()) == config.needles);
      CATCH_REQUIRE(static_cast<std::int64_t>(found.asked.size()) == config.queries);
      CATCH_REQUIRE(std::set(found.asked.begin(), found.asked.end()).size() == found.asked.size());
      std::string digits, scored;
      for (std::size_t r = 0; r < found.asked.size(); ++r) {
        CATCH_REQUIRE(found.answers.at(r) == found.number_of.at(found.asked[r]));
        digits += found.answers[r];
      }
      const auto target = row_of(batch.targets, i);
      for (std::size_t t = 0; t < target.size(); ++t) {
        if (target[t] == kIgnore) continue;
        scored += task->token_text(target[t]);
        CATCH_REQUIRE((by_word || task->token_text(target[t])[0] == text[t + 1]));
      }
      CATCH_REQUIRE(scored == digits);
    }
  }
}

CATCH_TEST_CASE("the haystack is the split's own text, and depth counts its tokens") {
  const std::string all = generated_text(kText, 0);
  for (const double depth : {0.0, 30.0, 100.0}) {
    const TextNeedleConfig config{.generated_characters = kText, .queries = 2, .depth = depth};
    const auto task = config.build();
    for (const auto split : {Split::kTrain, Split::kValid, Split::kTest}) {
      const auto batch = task->batch(1, split, 0, 30);
      for (std::int64_t i = 0; i < 30; ++i) {
        const Found found(text_of(*task, batch, i));
        CATCH_CHECK(static_cast<std::int64_t>(found.hay_before.at(found.asked.front())) ==
                    std::llround(depth / 100 * static_cast<double>(found.hay.size())));
        const auto own = split == Split::kTrain   ? all.substr(0, kText * 9 / 10)
                         : split == Split::kValid ? all.substr(kText * 9 / 10, kText / 20)
                                                  : all.substr(kText * 19 / 20);
        CATCH_CHECK(own.find(found.hay) != own.npos);
      }
    }
  }
}

CATCH_TEST_CASE("haystacks reach from the first token of their split to its last") {
  const std::string all = generated_text(20'000, 0);
  const auto own = all.substr(18'000, 1'000);
  const auto task =
      TextNeedleConfig{
          .generated_characters = 20'000, .length = 999, .needles = 1, .queries = 1, .digits = 1}
          .build();
  const auto batch = task->batch(1, Split::kValid, 0, 600);
  int at_begin = 0, at_end = 0;
  for (std::int64_t i = 0; i < 600; ++i) {
    const auto hay = Found(text_of(*task, batch, i)).hay;
    at_begin += own.starts_with(hay) ? 1 : 0;
    at_end += own.ends_with(hay) ? 1 : 0;
  }
  CATCH_CHECK(at_begin > 0);  // about one of 110 samples
  CATCH_CHECK(at_end > 0);
}

/// Of some sequences: those with a needle at the haystack's begin and at its end, those of either
/// whose needle there is asked for, and how often each needle in order is asked for.
struct Places {
  int begin = 0, end = 0, asked_at_edge = 0;
  std::vector<int> asked = std::vector<int>(4);

  Places(double edge_needle_share, std::int64_t sequences) {
    const TextNeedleConfig config{
        .generated_characters = kText, .digits = 2, .edge_needle_share = edge_needle_share};
    const auto task = config.build();
    const auto batch = task->batch(2, Split::kTrain, 0, sequences);
    for (std::int64_t i = 0; i < sequences; ++i) {
      const Found found(text_of(*task, batch, i));
      const auto at = std::find(found.order.begin(), found.order.end(), found.asked[0]);
      ++asked[static_cast<std::size_t>(at - found.order.begin())];
      const bool first = found.hay_before.at(found.order.front()) == 0;
      const bool last = found.hay_before.at(found.order.back()) == found.hay.size();
      begin += first;
      end += last;
      asked_at_edge += (first && at == found.order.begin()) ||  // two needles: one of them
                       (last && at == found.order.end() - 1);
    }
  }
};

CATCH_TEST_CASE("a share of the sequences has a needle at an edge of the haystack") {
  // H is above 200: without a share each edge has one of four needles in less than 2 % of them.
  const Places never(0, 400), half(0.5, 400), always(1, 400);
  CATCH_CHECK(never.begin + never.end < 35);
  CATCH_CHECK(std::abs(half.begin - 104) < 45);  // 104 ± 8.8 each
  CATCH_CHECK(std::abs(half.end - 104) < 45);
  CATCH_CHECK(always.begin + always.end >= 400);
  CATCH_CHECK(std::abs(always.begin - 203) < 50);  // 203 ± 10
}

CATCH_TEST_CASE("neither the place nor the order of needles in text gives the answer away") {
  for (const double share : {0.0, 1.0}) {
    const Places places(share, 2'000);
    // 500 ± 5 standard deviations of a fair draw, √(2000·¼·¾) = 19.4
    for (const int count : places.asked) CATCH_CHECK(std::abs(count - 500) < 97);
    // Every needle is asked for as often as at an edge as elsewhere: a quarter of these.
    const auto at_edges = places.begin + places.end;
    CATCH_CHECK(std::abs(places.asked_at_edge - at_edges / 4) < 97);
  }
}

CATCH_TEST_CASE("the smallest length holds a token of hay per needle, whatever cities are drawn") {
  TextNeedleConfig config{.generated_characters = kText, .needles = 3, .queries = 2, .digits = 4};
  config.length = config.smallest_length();
  CATCH_CHECK(Problems::of(config) == "");
  const auto task = config.build();
  const auto batch = task->batch(0, Split::kTest, 0, 200);
  for (std::int64_t i = 0; i < 200; ++i) {
    CATCH_REQUIRE(Found(text_of(*task, batch, i)).hay.size() >= 3);
  }
  // The three longest names have 12, 11 and 10 letters (Buenos Aires, Mexico City and others);
  // the answer is two numbers and ", ", without its last digit.
  const std::int64_t sentence =
      static_cast<std::int64_t>(std::string(" The special magic number for  is: . ").size());
  const std::int64_t question = static_cast<std::int64_t>(
      std::string("\n\nWhat are the special magic numbers for  and ? ").size());
  CATCH_CHECK(config.length ==
              3 + 3 * sentence + 12 + 11 + 10 + 3 * 4 + question + 12 + 11 + 10 - 1);
  --config.length;
  CATCH_CHECK_THAT(Problems::of(config),
                   Contains(concat("length is ", config.length,
                                   ", too short for 3 needles and 2 "
                                   "queries in text; the smallest that fits is ",
                                   config.length + 1)));
}

CATCH_TEST_CASE("needles in text that cannot be distinct are refused") {
  CATCH_CHECK_THAT(Problems::of(TextNeedleConfig{.length = 100'000, .needles = 1'000}),
                   Contains("because cities are distinct"));
  CATCH_CHECK_THAT(Problems::of(TextNeedleConfig{.length = 2'000, .needles = 10, .digits = 1}),
                   Contains("digits is 1, which makes 9 numbers"));
  CATCH_CHECK_THAT(Problems::of(TextNeedleConfig{.queries = 5}),
                   Contains("queries is 5; expected at most needles, 4"));
}

CATCH_TEST_CASE("the chance per digit is that of a guess among numbers that begin alike") {
  const TextNeedleConfig config{
      .generated_characters = kText, .length = 700, .needles = 6, .digits = 3};
  const auto task = config.build();
  const std::int64_t samples = 3'000;
  const auto batch = task->batch(5, Split::kTrain, 0, samples);
  double right = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const Found found(text_of(*task, batch, i));
    const auto& answer = found.answers.front();
    for (std::size_t digit = 0; digit < 3; ++digit) {
      double alike = 0, hits = 0;
      for (const auto& [city, number] : found.number_of) {
        if (number.substr(0, digit) != answer.substr(0, digit)) continue;
        ++alike;
        hits += number[digit] == answer[digit] ? 1 : 0;
      }
      right += hits / alike;
    }
  }
  // 5 standard deviations of a mean of 3,000 · 3 numbers in [0, 1], of which the first third vary.
  CATCH_CHECK(std::abs(task->chance_accuracy() - right / (3.0 * samples)) < 0.012);
}

// Every set of three different numbers of two digits, each of the three asked for.
CATCH_TEST_CASE("the chance is exact for distinct numbers") {
  double right = 0, guesses = 0;
  for (int a = 10; a < 100; ++a) {
    for (int b = a + 1; b < 100; ++b) {
      for (int c = b + 1; c < 100; ++c) {
        const std::array<int, 3> numbers{a, b, c};
        for (const int asked : numbers) {
          double same_first = 0;
          for (const int other : numbers) same_first += other / 10 == asked / 10;
          right += same_first / 3 + 1 / same_first;  // of those with its first digit, one is it
          guesses += 2;
        }
      }
    }
  }
  CATCH_CHECK(TextNeedleConfig{.needles = 3, .digits = 2}.chance() == Approx(right / guesses));
  CATCH_CHECK(TextNeedleConfig{.needles = 4, .digits = 1}.chance() == Approx(0.25));
  CATCH_CHECK(TextNeedleConfig{.needles = 9, .digits = 1}.chance() == Approx(1.0 / 9));
  for (const std::int64_t digits : {1, 2, 18}) {
    CATCH_CHECK(TextNeedleConfig{.needles = 1, .digits = digits}.chance() == Approx(1));
  }
}

CATCH_TEST_CASE("behind nine digits four numbers are told apart, up to the longest") {
  for (std::int64_t digits = 10; digits <= 18; ++digits) {
    const auto sum = [](std::int64_t n) {
      return static_cast<double>(n) * TextNeedleConfig{.needles = 4, .digits = n}.chance();
    };
    CATCH_CHECK(sum(digits) - sum(digits - 1) == Approx(1).margin(1e-6));
  }
}

CATCH_TEST_CASE("any UTF-8 file is a haystack") {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "hay.txt";
  std::string text;
  for (int i = 0; i < 6'000; ++i) text += "Käse ";
  write_file_atomically(file, text);
  const TextNeedleConfig config{.file = {.path = file.string()}, .digits = 2};
  const auto task = config.build();
  CATCH_CHECK(config.vocab_size() == task->vocab_size());
  const auto batch = task->batch(0, Split::kTest, 0, 3);
  const auto read = text_of(*task, batch, 0);
  CATCH_CHECK_THAT(read, Contains("ä") && Contains("The special magic number for "));
}

CATCH_TEST_CASE("sentences and questions of one's own are filled in, and need their places") {
  TextNeedleConfig config{
      .generated_characters = kText, .length = 200, .needles = 2, .queries = 2, .digits = 3};
  config.needle = " {city} lies {number} miles away. ";
  config.question = "\nHow far are {cities}? ";
  CATCH_CHECK(config.needle_of("Oslo", 204) == " Oslo lies 204 miles away. ");
  CATCH_CHECK(config.question_about({"Oslo", "Rome"}) == "\nHow far are Oslo and Rome? ");
  CATCH_CHECK(Problems::of(config).empty());
  const auto task = config.build();
  const auto batch = task->batch(0, Split::kTest, 0, 8);
  static const std::regex kEnd(
      "\nHow far are ([A-Za-z ]+) and ([A-Za-z ]+)\\? (\\d{3}), (\\d{3})$");
  for (std::int64_t row = 0; row < 8; ++row) {
    const auto text = text_of(*task, batch, row);
    std::smatch end;
    CATCH_INFO(text);
    CATCH_REQUIRE(std::regex_search(text, end, kEnd));
    CATCH_CHECK(text.find(concat(" ", end[1].str(), " lies ", end[3].str(), " miles")) !=
                text.npos);
    CATCH_CHECK(text.find(concat(" ", end[2].str(), " lies ", end[4].str(), " miles")) !=
                text.npos);
  }

  for (const auto& [needle, question] :
       {std::pair{" {city} is far. ", "{cities}?"},
        std::pair{" {number} {number} {city} ", "{cities}?"},
        std::pair{" It is {number}. ", "{cities}?"}, std::pair{" {city}: {number} ", "How far?"}}) {
    config.needle = needle;
    config.question = question;
    CATCH_CHECK_THAT(Problems::of(config), Contains("in it, once"));
  }
  config = {.generated_characters = kText, .length = 200, .needles = 1, .queries = 1};
  config.needle = " The pass key is {number}. ";
  config.question = "\nWhat is the pass key? ";
  CATCH_CHECK(Problems::of(config).empty());
}

}  // namespace
}  // namespace difflab
