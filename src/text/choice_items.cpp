#include "text/choice_items.h"

#include <algorithm>
#include <optional>
#include <set>

#include "text/tokenizer.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr const char* kExample = R"({"context": "…", "choices": ["…", "…"], "answer": 0})";

// What is wrong with a line, or nothing.
std::optional<std::string> wrong_with(const Json& line) {
  if (!line.is_object()) return concat("is no object; expected ", kExample);
  for (const auto& [key, value] : line.items()) {
    static const std::set<std::string> kKnown{"context", "choices", "answer", "group"};
    if (kKnown.count(key) == 0) {
      const auto near = closest(key, std::vector<std::string>(kKnown.begin(), kKnown.end()));
      return concat("has an unknown key ", key,
                    near ? concat("; did you mean ", *near, "?")
                         : "; expected context, choices, "
                           "answer and perhaps group");
    }
  }
  for (const char* key : {"context", "choices", "answer"}) {
    if (!line.contains(key)) return concat("has no ", key, "; expected ", kExample);
  }
  if (!line["context"].is_string() || line["context"].get<std::string>().empty()) {
    return std::string("has a context that is no text; expected at least one character");
  }
  const auto& choices = line["choices"];
  const auto is_text = [](const Json& choice) {
    return choice.is_string() && !choice.get<std::string>().empty();
  };
  if (!choices.is_array() || choices.size() < 2 ||
      !std::all_of(choices.begin(), choices.end(), is_text)) {
    return std::string("has choices that are no list of at least two texts");
  }
  const auto& answer = line["answer"];
  if (!answer.is_number_unsigned() || answer.get<std::size_t>() >= choices.size()) {
    return concat("has the answer ", answer.dump(), "; expected a whole number from 0 to ",
                  choices.size() - 1);
  }
  if (line.contains("group") && !line["group"].is_string()) {
    return std::string("has a group that is no text");
  }
  if (line.value("group", "") == "all") {
    return std::string("has the group all, which stands for all items; expected another name");
  }
  return std::nullopt;
}

}  // namespace

std::vector<ChoiceItem> parse_choice_items(std::string_view text, std::string_view name) {
  std::vector<ChoiceItem> items;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      throw UserError(concat(name, ":", number, ": is no JSON; expected ", kExample));
    }
    if (const auto wrong = wrong_with(json)) {
      throw UserError(concat(name, ":", number, ": ", *wrong));
    }
    items.push_back({json["context"], json["choices"], json["answer"], json.value("group", "")});
  }
  if (items.empty()) throw UserError(concat(name, ": has no item; expected lines ", kExample));
  return items;
}

ChoiceTokens encode_choices(const ChoiceItem& item, std::string_view delimiter,
                            const Tokenizer& tokenizer, std::string_view name) {
  const auto context = tokenizer.encode(item.context, name);
  ChoiceTokens tokens;
  tokens.context = static_cast<std::int64_t>(context.size());
  for (const auto& choice : item.choices) {
    auto whole = tokenizer.encode(concat(item.context, delimiter, choice), name);
    const bool begins_alike =
        whole.size() > context.size() && std::equal(context.begin(), context.end(), whole.begin());
    if (!begins_alike) {
      throw UserError(concat(name, ": the choice \"", choice,
                             "\" changes the tokens of the context; expected a delimiter that "
                             "parts them"));
    }
    tokens.whole.push_back(std::move(whole));
  }
  return tokens;
}

}  // namespace difflab
