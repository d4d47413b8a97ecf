#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace difflab {

class Tokenizer;

/// A question with several answers, one of which is right.
struct ChoiceItem {
  std::string context;               ///< may be empty
  std::vector<std::string> choices;  ///< at least two
  std::int64_t answer = 0;           ///< the right choice, counted from 0
  std::string group = {};            ///< what it is counted under besides all items; may be empty
};

/// The items of a text in JSON lines, one item each:
///
///   {"context": "Ada has two", "choices": ["lamps", "lamp"], "answer": 0, "group": "plural"}
///
/// `group` may be left out, other keys are passed over, and the answer may be a letter. Lines of
/// HellaSwag (ctx, endings, label), of ARC and of OpenBookQA (question, choices with labels,
/// answerKey) are read as they are.
/// @throws UserError with the line, what is wrong with it and what would be right.
std::vector<ChoiceItem> parse_choice_items(std::string_view text, std::string_view name);

/// Items about paragraphs of generated text (generated_text.h) that no task trains on: the town,
/// the person, the number or the thing that a paragraph said and asks for again. Four choices each,
/// in random order; those that are wrong come from other paragraphs. A function of the seed.
std::vector<ChoiceItem> generated_choice_items(std::int64_t count, std::uint64_t seed);

/// An item as tokens: each choice behind the context.
struct ChoiceTokens {
  std::vector<std::vector<std::int64_t>> whole;  ///< context and choice, for each choice
  std::int64_t context = 0;                      ///< tokens of the context, which all begin with
};

/// @param delimiter stands between context and choice. @param name what messages call the item
/// @throws UserError if a character or word is not in the vocabulary, if neither the context nor
/// the delimiter has a token, or if a choice changes the tokens of the context.
ChoiceTokens encode_choices(const ChoiceItem& item, std::string_view delimiter,
                            const Tokenizer& tokenizer, std::string_view name);

}  // namespace difflab
