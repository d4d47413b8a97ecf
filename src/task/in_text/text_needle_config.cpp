
#include "task/in_text/text_needle.h"
#include "text/city_names.h"
#include "text/generated_text.h"

namespace difflab {
namespace {

constexpr std::int64_t kSeparator = 2;  // ", " between two numbers

// Tokens of the longest needles and question.
std::int64_t longest_inserts(const TextNeedleConfig& config) {
  const auto tokens = [&](std::string_view text) {
    return Tokenizer::count(config.tokenizer, text);
  };
  std::vector<std::string_view> cities(city_names().begin(), city_names().end());
  std::stable_sort(cities.begin(), cities.end(),
                   [&](auto a, auto b) { return tokens(a) > tokens(b); });
  std::int64_t total = config.queries * config.digits + (config.queries - 1) * kSeparator;
  for (std::size_t n = 0; n < static_cast<std::size_t>(config.needles); ++n) {
    total += tokens(config.needle_of(cities[n], 0)) - 1 + config.digits;  // 0 has one digit
  }
  cities.resize(static_cast<std::size_t>(config.queries));
  return total + tokens(config.question_about(cities));
}

std::string filled(std::string text, std::string_view place, std::string_view words) {
  const auto at = text.find(place);
  return at == text.npos ? text : text.replace(at, place.size(), words);
}

// A sentence of one's own names what it is about, unless there is one needle, and the number once.
void check_place(const char* key, const std::string& text, std::string_view place, bool is_needed,
                 config::Check& check) {
  const auto at = text.find(place);
  if (at == text.npos ? !is_needed : text.find(place, at + 1) == text.npos) return;
  check.problem(key, concat("is '", text, "'; expected ", place, " in it, once"));
}

}  // namespace

std::string TextNeedleConfig::needle_of(std::string_view city, std::int64_t number) const {
  return filled(filled(needle, "{city}", city), "{number}", std::to_string(number));
}

std::string TextNeedleConfig::question_about(const std::vector<std::string_view>& cities) const {
  const std::vector<std::string> first(cities.begin(), cities.end() - 1);
  const auto all = concat(join(first), first.empty() ? "" : " and ", cities.back());
  const char* usual = first.empty() ? "\n\nWhat is the special magic number for {cities}? "
                                    : "\n\nWhat are the special magic numbers for {cities}? ";
  return filled(question.value_or(usual), "{cities}", all);
}

Tokenizer tokenizer_with_needles(const TextNeedleConfig& config, const Corpus& corpus) {
  if (config.tokenizer == TokenizerKind::kByte) return Tokenizer::bytes();
  if (config.tokenizer == TokenizerKind::kWord) {
    auto text = corpus.text + " 0123456789";
    for (const auto city : city_names()) {
      // A digit between them, which no word of one joins to the next.
      text += "0" + config.needle_of(city, 0) + "0" + config.question_about({city}) + "0" +
              config.question_about({city, city, city}) + "0";
    }
    return Tokenizer::words_of(text, corpus.name);
  }
  // The generated alphabet has every letter and digit that a needle may need, and no colon.
  const auto own = config.file.given() ? std::string_view(corpus.text) : generated_alphabet();
  return Tokenizer::characters_of(
      concat(own, generated_alphabet(), ":", config.needle_of("", 0), config.question_about({""})),
      corpus.name);
}

TextConfig TextNeedleConfig::haystack() const {
  TextConfig whole;
  whole.file = file;
  whole.generated_characters = generated_characters;
  whole.tokenizer = tokenizer;
  whole.length = length;
  whole.valid_share = valid_share;
  whole.test_share = test_share;
  return whole;
}

std::int64_t TextNeedleConfig::smallest_length() const {
  return needles + longest_inserts(*this) - 1;  // the last digit is no input
}

std::int64_t TextNeedleConfig::answer_begin(std::int64_t r) const {
  const auto left = queries - r;
  return length + 1 - left * digits - (left - 1) * kSeparator;
}

void TextNeedleConfig::validate(config::Check& check) const {
  const auto cities = static_cast<std::int64_t>(city_names().size());
  const double numbers = 9 * std::pow(10.0, static_cast<double>(digits - 1));
  bool can_be_written = true;
  const auto problem = [&](std::string_view key, const std::string& message) {
    check.problem(key, message);
    can_be_written = false;
  };
  check_place("needle", needle, "{number}", true, check);
  check_place("needle", needle, "{city}", needles > 1, check);
  if (question) check_place("question", *question, "{cities}", needles > 1, check);
  if (queries > needles) {
    problem("queries", concat("is ", queries, "; expected at most needles, ", needles));
  }
  if (needles > cities) {
    problem("needles",
            concat("is ", needles, "; expected at most ", cities, ", because cities are distinct"));
  }
  if (static_cast<double>(needles) > numbers) {
    problem("digits",
            concat("is ", digits, ", which makes ", numbers, " numbers; expected more for ",
                   needles, " needles, because numbers are distinct"));
  }
  if (can_be_written && length < smallest_length()) {
    problem("length", concat("is ", length, ", too short for ", needles, " needles and ", queries,
                             " queries in text; the smallest that fits is ", smallest_length()));
  }
  check_recall_share(recall_share, shortest_of(lengths, length), check);
  if (can_be_written) check_lengths(lengths, length, smallest_length(), check);
  haystack().validate(check);
}

std::int64_t TextNeedleConfig::vocab_size() const {
  if (tokenizer == TokenizerKind::kByte) return Tokenizer::bytes().vocab_size();
  const auto corpus = file.given() || tokenizer == TokenizerKind::kWord
                          ? load_vocabulary(haystack())
                          : Corpus{"generated text", "", Tokenizer::bytes()};
  return tokenizer_with_needles(*this, corpus).vocab_size();
}

TextConfig TextNeedleConfig::text(std::int64_t size) const { return haystack().text(size); }

Tokenizer TextNeedleConfig::read_tokenizer() const {
  return tokenizer_with_needles(*this, load_corpus(haystack()));
}

namespace {

// Chance of a guess for the next digit among those of N distinct numbers, out of `all`, that are in
// the asked one's class of `alike` numbers, `next` of which have the right digit.
//
// Classes are of one size, so the mean of 1/m, for the m numbers in the asked one's class, is that
// of the classes met per number: (all/alike) · (1 − C(all − alike, N) / C(all, N)) / N. Each of the
// m − 1 others has the right digit with probability (next − 1) / (alike − 1).
double chance_of_digit(std::int64_t N, double all, double alike, double next) {
  double log_missed = 0;  // of the binomials' ratio: no number of a class is drawn
  for (std::int64_t n = 0; n < N; ++n) {
    const auto left = all - static_cast<double>(n);
    log_missed += std::log1p(-std::min(alike / left, 1.0));  // −∞: some number is in it
  }
  const double alone = all / alike * -std::expm1(log_missed) / static_cast<double>(N);
  return alone + (next - 1) / (alike - 1) * (1 - alone);
}

}  // namespace

double TextNeedleConfig::chance() const {
  const double all = 9 * std::pow(10.0, static_cast<double>(digits - 1));  // none begins with 0
  double alike = all, sum = 0;
  for (std::int64_t digit = 0; digit < digits; ++digit) {
    const double next = alike / (digit == 0 ? 9 : 10);
    sum += chance_of_digit(needles, all, alike, next);
    alike = next;
  }
  return std::min(sum / static_cast<double>(digits), 1.0);  // of one needle, but for rounding
}

}  // namespace difflab
