#include "text/generated_text.h"

#include <regex>

#include "support/catch.h"

namespace difflab {
namespace {

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t begin = 0, end; (end = text.find("\n\n", begin)) != text.npos; begin = end + 2) {
    found.push_back(text.substr(begin, end - begin));
  }
  return found;  // without the last one, which may be cut
}

CATCH_TEST_CASE("a generated text is as long as it should be and a prefix of every longer one") {
  const std::string text = generated_text(5'000, 3);
  CATCH_CHECK(text.size() == 5'000);
  for (const std::int64_t n : {0, 1, 2, 57, 1'000, 4'999}) {
    CATCH_CHECK(generated_text(n, 3) == text.substr(0, static_cast<std::size_t>(n)));
  }
  CATCH_CHECK(generated_text(5'000, 3) == text);
  CATCH_CHECK(generated_text(5'000, 4).substr(0, 50) != text.substr(0, 50));
}

CATCH_TEST_CASE("the alphabet of the generated text is exactly what it holds") {
  const std::string text = generated_text(1'000'000, 0);
  const std::set<char> held(text.begin(), text.end());
  const auto alphabet = generated_alphabet();
  CATCH_CHECK(std::string(held.begin(), held.end()) == alphabet);
  CATCH_CHECK(std::all_of(alphabet.begin(), alphabet.end(), [](char c) { return c > 0; }));
  CATCH_CHECK(text.find('%') == text.npos);
}

CATCH_TEST_CASE("numbers of a generated text add up") {
  const std::regex sum(R"((\w+) \w+ (\d+) \w+, and (\w+) \w+ (\d+) more, so they have (\d+)\.)");
  const std::string text = generated_text(200'000, 1);
  int sums = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), sum), end; at != end; ++at, ++sums) {
    CATCH_REQUIRE(std::stoi((*at)[2]) + std::stoi((*at)[4]) == std::stoi((*at)[5]));
    CATCH_REQUIRE((*at)[1] != (*at)[3]);
  }
  CATCH_CHECK(sums > 200);
}

CATCH_TEST_CASE("a paragraph's people, town, thing and number stay the same") {
  const std::regex opening(
      R"(^([A-Z][a-z]+) lives in ([A-Z][a-z]+) and [a-z]+s (\d+) ([a-z]+) ([a-z]+)s\.)");
  const std::regex asked("There are (\\d+) in ([A-Z][a-z]+)");
  const std::regex where(
      "Where is the ([a-z]+) ([a-z]+)\\?\" asks \\w+\\. \"It is in (\\w+),\" "
      "says (\\w+)");
  const std::regex pronoun("\\b([Ss]he|[Hh]e|[Hh]er|[Hh]is)\\b");
  std::map<std::string, std::set<bool>> women;  // hero -> whether she is a woman
  int answers = 0;
  for (const auto& paragraph : paragraphs(generated_text(200'000, 2))) {
    CATCH_INFO(paragraph);
    std::smatch scene, match;
    CATCH_REQUIRE(std::regex_search(paragraph, scene, opening));
    if (std::regex_search(paragraph, match, asked)) {
      ++answers;
      CATCH_REQUIRE(match[1] == scene[3]);
      CATCH_REQUIRE(match[2] == scene[2]);
    }
    if (std::regex_search(paragraph, match, where)) {
      ++answers;
      CATCH_REQUIRE(match[1] == scene[4]);
      CATCH_REQUIRE(match[2] == scene[5]);
      CATCH_REQUIRE(match[3] == scene[2]);
      CATCH_REQUIRE(match[4] == scene[1]);
    }
    for (std::sregex_iterator at(paragraph.begin(), paragraph.end(), pronoun), end; at != end;
         ++at) {
      const std::string word = at->str();
      women[scene[1]].insert(word.find("he") == 1 || word.find("er") == 1);  // s-he, h-er
    }
  }
  CATCH_CHECK(answers > 200);
  CATCH_CHECK(women.size() > 20);
  for (const auto& [name, genders] : women) {
    CATCH_INFO(name);
    CATCH_CHECK(genders.size() == 1);
  }
}

CATCH_TEST_CASE("words of a generated text come by Zipf's law") {
  std::map<std::string, double> heroes;
  double all = 0;
  for (const auto& paragraph : paragraphs(generated_text(1'000'000, 5))) {
    ++heroes[paragraph.substr(0, paragraph.find(' '))];
    ++all;
  }
  double harmonic = 0;
  for (int rank = 1; rank <= 26; ++rank) harmonic += 1.0 / rank;
  // Ada, Boris and Zeno have ranks 1, 2 and 26; 5 standard deviations of a share of p among n.
  for (const auto& [name, rank] :
       {std::pair("Ada", 1), std::pair("Boris", 2), std::pair("Zeno", 26)}) {
    const double p = 1 / (rank * harmonic);
    CATCH_CHECK(heroes[name] / all == Approx(p).margin(5 * std::sqrt(p * (1 - p) / all)));
  }
}

}  // namespace
}  // namespace difflab
