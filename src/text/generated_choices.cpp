// Items about generated text.
#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <utility>

#include "text/choice_items.h"
#include "text/generated_text.h"
#include "util/random.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::size_t kChoices = 4;
constexpr std::uint64_t kFirstSeed = 1'000;  // text to train on has seed 0

// Facts in the first sentence of a paragraph: "Ada lives in Northford and finds 8 old lamps."
struct Facts {
  std::string person, town, number, adjective, thing;

  explicit Facts(const std::string& paragraph) {
    std::istringstream words(paragraph);
    std::string word;
    words >> person >> word >> word >> town >> word >> word >> number >> adjective >> thing;
    thing.resize(thing.size() - 2);  // lamps. -> lamp
  }
};

// A fact that is asked for again behind some words.
struct Sort {
  const char* group;
  std::string Facts::*fact;
  std::string (*asking)(const Facts& facts);
};
const std::array<Sort, 4> kSorts{
    {{"town", &Facts::town, [](const Facts&) { return std::string("\"It is in"); }},
     {"person", &Facts::person,
      [](const Facts& facts) { return concat("\"It is in ", facts.town, ",\" says"); }},
     {"thing", &Facts::thing,
      [](const Facts& facts) { return concat("\"Where is the ", facts.adjective); }},
     {"number", &Facts::number, [](const Facts&) { return std::string("\"There are"); }}}};

std::vector<std::string> paragraphs_of(const std::string& text) {
  std::vector<std::string> paragraphs;
  std::size_t begin = 0;  // the last paragraph may be cut off
  for (std::size_t end; (end = text.find("\n\n", begin)) != text.npos; begin = end + 2) {
    paragraphs.push_back(text.substr(begin, end - begin));
  }
  return paragraphs;
}

// An item of this sort about paragraph i, with the facts of those behind it as wrong choices. None
// begins another: 85 can never be more probable than the 8 that it begins with.
std::optional<ChoiceItem> item_about(const std::vector<std::string>& paragraphs, std::size_t i,
                                     const Sort& sort, Random& random) {
  const Facts facts(paragraphs[i]);
  const auto asking = sort.asking(facts);
  const auto at = paragraphs[i].find(asking);
  if (at == std::string::npos) return std::nullopt;
  std::vector<std::string> choices{facts.*sort.fact};
  for (auto other = i + 1; other < paragraphs.size() && choices.size() < kChoices; ++other) {
    const Facts wrong(paragraphs[other]);
    const auto& fact = wrong.*sort.fact;
    const bool is_apart = std::none_of(choices.begin(), choices.end(), [&](const auto& there) {
      return fact.starts_with(there) || there.starts_with(fact);
    });
    if (is_apart) choices.push_back(fact);
  }
  if (choices.size() < kChoices) return std::nullopt;
  ChoiceItem item{paragraphs[i].substr(0, at + asking.size()), {}, 0, sort.group};
  for (const auto place : random.distinct(kChoices, kChoices)) {
    if (place == 0) item.answer = static_cast<std::int64_t>(item.choices.size());
    item.choices.push_back(choices[static_cast<std::size_t>(place)]);
  }
  return item;
}

}  // namespace

std::vector<ChoiceItem> generated_choice_items(std::int64_t count, std::uint64_t seed) {
  constexpr std::int64_t kCharacters = 100'000;
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<ChoiceItem> items;
  for (std::uint64_t part = 0; items.size() < wanted; ++part) {
    Random random{seed, stream_key("choice items"), part};
    // Each part is a text of its own; parts of other seeds lie elsewhere.
    const auto text = generated_text(kCharacters, kFirstSeed + (seed << 20) + part);
    const auto paragraphs = paragraphs_of(text);
    for (std::size_t i = 0; i < paragraphs.size() && items.size() < wanted; ++i) {
      const auto& sort = kSorts[items.size() % kSorts.size()];
      if (auto item = item_about(paragraphs, i, sort, random)) items.push_back(std::move(*item));
    }
  }
  return items;
}

}  // namespace difflab
