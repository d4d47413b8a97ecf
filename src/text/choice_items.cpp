#include "text/choice_items.h"

#include <algorithm>
#include <optional>

#include "text/tokenizer.h"
#include "util/error.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr const char* kExample = R"({"context": "…", "choices": ["…", "…"], "answer": 0})";

void rename(Json& line, const char* from, const char* to) {
  if (!line.contains(from) || line.contains(to)) return;
  auto value = std::move(line[from]);
  line.erase(from);
  line[to] = std::move(value);
}

// Choices that have a label each, as {"text", "label"} or as {"text": […], "label": […]}, become a
// list of texts. Their labels.
Json take_labels(Json& choices) {
  Json texts = Json::array(), labels = Json::array();
  if (choices.is_object()) {
    texts = choices.value("text", Json());
    labels = choices.value("label", Json());
  } else if (choices.is_array() && !choices.empty() && choices[0].is_object()) {
    for (const auto& choice : choices) {
      if (!choice.is_object()) return labels;
      texts.push_back(choice.value("text", Json()));
      labels.push_back(choice.value("label", Json()));
    }
  } else {
    return labels;
  }
  choices = texts;
  return labels;
}

// The place of a label, a letter or digits; the answer itself if it is none of them.
Json place_of(const Json& answer, const Json& labels) {
  const auto at = std::find(labels.begin(), labels.end(), answer);
  if (at != labels.end()) return static_cast<std::uint64_t>(at - labels.begin());
  if (!answer.is_string() || !labels.empty()) return answer;
  const auto text = answer.get<std::string>();
  if (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z') {
    return static_cast<std::uint64_t>(text[0] - 'A');
  }
  const auto number = parse_whole<std::uint64_t>(text);
  return number ? Json(*number) : answer;
}

// A line of HellaSwag (ctx, endings, label), or of ARC or OpenBookQA (question, answerKey, choices
// with labels), with the keys of ours.
Json in_our_keys(Json line) {
  if (!line.is_object()) return line;
  if (line.contains("question") && line["question"].is_object()) {
    const Json question = line["question"];
    line["question"] = question.value("stem", Json());
    line["choices"] = question.value("choices", Json());
  }
  rename(line, "question", "context");
  rename(line, "question_stem", "context");
  rename(line, "ctx", "context");
  rename(line, "endings", "choices");
  rename(line, "answerKey", "answer");
  rename(line, "label", "answer");
  if (!line.contains("choices") || !line.contains("answer")) return line;
  const auto labels = take_labels(line["choices"]);
  line["answer"] = place_of(line["answer"], labels);
  return line;
}

// The fault of a line in our keys, if it has one.
std::optional<std::string> wrong_with(const Json& line) {
  if (!line.is_object()) return concat("is not an object; expected ", kExample);
  for (const char* key : {"context", "choices", "answer"}) {
    if (line.contains(key)) continue;
    std::vector<std::string> keys;
    for (const auto& item : line.items()) keys.push_back(item.key());
    const auto near = closest(key, keys);
    return concat("has no ", key, near ? concat(" but ", *near) : "", "; expected ", kExample);
  }
  if (line.contains("question")) {
    return std::string("has a context and a question; expected one of them");
  }
  if (!line["context"].is_string()) return std::string("has a context that is not text");
  const auto& choices = line["choices"];
  const auto is_text = [](const Json& choice) {
    return choice.is_string() && !choice.get<std::string>().empty();
  };
  if (!choices.is_array() || choices.size() < 2 ||
      !std::all_of(choices.begin(), choices.end(), is_text)) {
    return std::string("has choices that are not a list of at least two texts");
  }
  const auto& answer = line["answer"];
  if (!answer.is_number_unsigned() || answer.get<std::size_t>() >= choices.size()) {
    return concat("has the answer ", answer.dump(), "; expected a whole number from 0 to ",
                  choices.size() - 1);
  }
  if (line.contains("group") && !line["group"].is_string()) {
    return std::string("has a group that is not text");
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
    const auto json = in_our_keys(Json::parse(line, nullptr, false));
    if (json.is_discarded()) {
      throw UserError(concat(name, ":", number, ": is not JSON; expected ", kExample));
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
  // Without a context, all choices stand behind the delimiter: a model gives the first token of a
  // sequence no probability.
  const auto before = item.context.empty() ? std::string(delimiter) : item.context;
  if (before.empty()) {
    throw UserError(concat(name, ": has no context; expected a delimiter before the choices"));
  }
  const auto context = tokenizer.encode(before, name);
  ChoiceTokens tokens;
  tokens.context = static_cast<std::int64_t>(context.size());
  for (const auto& choice : item.choices) {
    auto whole = tokenizer.encode(concat(item.context, delimiter, choice), name);
    const bool begins_alike =
        whole.size() > context.size() && std::equal(context.begin(), context.end(), whole.begin());
    if (!begins_alike) {
      throw UserError(
          concat(name, ": the choice \"", choice,
                 "\" changes the tokens of the context; expected a separating delimiter"));
    }
    tokens.whole.push_back(std::move(whole));
  }
  return tokens;
}

}  // namespace difflab
