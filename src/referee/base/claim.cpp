#include "referee/base/claim.h"

#include <regex>

#include "report/data/frame.h"

namespace difflab::referee {
namespace {

// "−1,234.5" is −1234.5.
std::optional<double> printed_number(std::string text) {
  std::erase(text, ',');
  std::erase(text, '+');
  return report::parse_number(text);
}

std::string plain(std::string text) {
  static const std::string kMinus = "\u2212";
  for (auto at = text.find(kMinus); at != text.npos; at = text.find(kMinus, at)) {
    text.replace(at, kMinus.size(), "-");
  }
  return text;
}

}  // namespace

Statement read_statement(const Json& answer) {
  Statement statement;
  statement.verdict = answer.value("verdict", "");
  statement.claim = answer.value("claim", "");
  const std::string text = plain(answer.value("figures", ""));
  static const std::regex means(
      R"(^(.+?) (-?[\d.,]+) \((.+?)\) against (-?[\d.,]+) \((.+?)\), difference ([-+]?[\d.,]*\d))");
  static const std::regex bounds(
      R"(interval (?:over all looks )?([-+]?[\d.,]*\d) to ([-+]?[\d.,]*\d))");
  static const std::regex pairs(R"((\d+) paired seeds?)");
  static const std::regex p(R"(p (?:=|<) (\d(?:\.\d+)?(?:e-\d+)?))");
  std::smatch match;
  if (std::regex_search(text, match, means)) {
    statement.heading = match[1];
    statement.ours = printed_number(match[2]);
    statement.variant = match[3];
    statement.theirs = printed_number(match[4]);
    statement.against = match[5];
    statement.difference = printed_number(match[6]);
  }
  if (std::regex_search(text, match, bounds)) {
    const auto low = printed_number(match[1]), high = printed_number(match[2]);
    if (low && high) statement.interval = Interval{*low, *high};
  }
  // One pair is told in words.
  const auto counted = std::regex_search(text, match, pairs);
  statement.pairs = counted ? std::stoul(match[1]) : answer.value("pairs", std::size_t{0});
  if (std::regex_search(text, match, p)) statement.p = printed_number(match[1]);
  return statement;
}

}  // namespace difflab::referee
