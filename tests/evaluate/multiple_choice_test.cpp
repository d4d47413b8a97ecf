// Multiple choice by likelihood, beside one choice at a time and beside hand-made likelihoods.
#include "evaluate/language/multiple_choice.h"

#include <ATen/ATen.h>

#include "model/language_model.h"
#include "support/catch.h"
#include "task/base/task.h"
#include "text/generated_text.h"
#include "text/tokenizer.h"

namespace difflab {
namespace {

const std::vector<ChoiceItem> kTwoItems{{"Is it", {"so", "otherwise"}, 1, "short"},
                                        {"Or", {"a", "b", "c"}, 0, ""}};

CATCH_TEST_CASE("the likeliest choice is the answer, whole or per character") {
  const MultipleChoiceConfig config;
  // "otherwise" is less likely than "so", but has more characters.
  const auto found = config.judge(kTwoItems, {-3, -6, -1, -2, -1.5});
  CATCH_CHECK(found.metrics["choice_accuracy"] == 0.5);
  CATCH_CHECK(found.metrics["choice_accuracy_per_character"] == 1);
  CATCH_CHECK(found.metrics["choice_accuracy_chance"].get<double>() == Approx((0.5 + 1.0 / 3) / 2));
  CATCH_CHECK(found.metrics["choice_loss"] == (6 + 1) / 2.0);
  CATCH_CHECK(found.details["items"][0] == Json{{"answer", 1}, {"sum", 0}, {"per_character", 1}});
  CATCH_REQUIRE(found.details["cells"].size() == 4);
  const auto& group = found.details["cells"][2];
  CATCH_CHECK(group["group"] == "short");
  CATCH_CHECK(group["score"] == "sum");
  CATCH_CHECK(group["n"] == 1);
  CATCH_CHECK(group["correct"] == 0);
  CATCH_CHECK(group["chance"] == 0.5);
  // Characters, not bytes: ÄÄ has two.
  const std::vector<ChoiceItem> letters{{"x", {"ÄÄ", "abc"}, 1}};
  CATCH_CHECK(config.judge(letters, {-5, -7}).metrics["choice_accuracy_per_character"] == 1);
}

// log p(choice | context), a token at a time: the model reads all before it and nothing else.
double one_by_one(LanguageModel& model, const std::vector<std::int64_t>& whole,
                  std::int64_t context, std::int64_t length) {
  const at::NoGradGuard no_grad;
  double sum = 0;
  const auto size = static_cast<std::int64_t>(whole.size());
  const auto first = std::max<std::int64_t>(0, size - length - 1);
  for (auto t = context; t < size; ++t) {
    const auto before =
        at::tensor(std::vector<std::int64_t>(whole.begin() + first, whole.begin() + t), at::kLong);
    const auto logits = model.forward(before.unsqueeze(0)).select(1, -1).squeeze(0);
    const auto next = whole[static_cast<std::size_t>(t)];
    sum += logits.to(at::kDouble).log_softmax(0)[next].item<double>();
  }
  return sum;
}

CATCH_TEST_CASE("choices of all lengths together get the likelihoods of one at a time") {
  const TextConfig text{.generated_characters = 20'000, .length = 120};
  const auto task = text.build();
  LanguageModel model({.d_model = 16, .layers = 1, .attention = SoftmaxAttentionConfig{.heads = 2}},
                      task->vocab_size());
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : model.parameters()) parameter.mul_(3);  // far from uniform
  }
  MultipleChoiceConfig config;
  config.generated = 30;
  const auto items = config.items();
  const auto tokens = config.encode(items, text.read_tokenizer(), text.length);
  std::vector<double> likelihoods;
  std::int64_t cut = 0;
  for (const auto& item : tokens) {
    bool is_cut = false;
    for (const auto& whole : item.whole) {
      likelihoods.push_back(one_by_one(model, whole, item.context, text.length));
      is_cut = is_cut || whole.size() > 121;
    }
    cut += is_cut ? 1 : 0;
  }
  CATCH_CHECK((cut > 5 && cut < 30));  // contexts on both sides of the task's length
  const auto expected = config.judge(items, likelihoods);
  for (const int lanes : {1, 2}) {
    const auto found = config.run({model, text, *task, 1, lanes});
    CATCH_CHECK(found.details["cut_contexts"] == cut);
    CATCH_CHECK(found.details["cells"] == expected.details["cells"]);
    CATCH_CHECK(found.metrics["choice_loss"].get<double>() ==
                Approx(expected.metrics["choice_loss"].get<double>()).epsilon(1e-5));
  }
}

CATCH_TEST_CASE("generated items are answered by their context") {
  const auto items = generated_choice_items(400, 0);
  CATCH_REQUIRE(items.size() == 400);
  std::map<std::string, int> groups;
  std::map<std::int64_t, int> places;
  const auto trained = generated_text(2'000'000, 0);
  int seen = 0;
  for (const auto& item : items) {
    CATCH_REQUIRE(item.choices.size() == 4);
    CATCH_REQUIRE(std::set(item.choices.begin(), item.choices.end()).size() == 4);
    for (const auto& one : item.choices) {
      const auto begins = [&](const auto& other) { return other.starts_with(one); };
      CATCH_CHECK(std::count_if(item.choices.begin(), item.choices.end(), begins) == 1);
    }
    ++groups[item.group];
    ++places[item.answer];
    const auto& right = item.choices[static_cast<std::size_t>(item.answer)];
    CATCH_CHECK(item.context.find(right) != std::string::npos);
    seen += trained.find(item.context) != std::string::npos;
  }
  CATCH_CHECK(seen == 0);
  CATCH_CHECK(groups == std::map<std::string, int>{
                            {"number", 100}, {"person", 100}, {"thing", 100}, {"town", 100}});
  for (const auto& [place, count] : places) CATCH_CHECK((count > 65 && count < 135));
  CATCH_CHECK(places.size() == 4);
  CATCH_CHECK(generated_choice_items(10, 0)[9].context == items[9].context);
  CATCH_CHECK(generated_choice_items(10, 1)[0].context != items[0].context);
}

std::string refusal(std::string_view text) {
  return testing::error_of([&] { parse_choice_items(text, "q.jsonl"); });
}

CATCH_TEST_CASE("items are read line by line, and a wrong one is named") {
  const auto items = parse_choice_items(
      "{\"context\": \"a\", \"choices\": [\"b\", \"ü\"], \"answer\": 1}\r\n\n"
      "{\"context\": \"c\", \"choices\": [\"d\", \"e\"], \"answer\": 0, \"group\": \"g\"}",
      "q.jsonl");
  CATCH_REQUIRE(items.size() == 2);
  CATCH_CHECK(items[0].choices[1] == "ü");
  CATCH_CHECK(items[0].answer == 1);
  CATCH_CHECK(items[1].group == "g");
  const auto starts = [](const std::string& text, const char* with) {
    CATCH_INFO(text);
    CATCH_CHECK(text.starts_with(with));
  };
  starts(refusal("\n \n"), "q.jsonl: has no item; expected lines {");
  starts(refusal("\n{"), "q.jsonl:2: is not JSON; expected {");
  starts(refusal("[1]"), "q.jsonl:1: is not an object; expected {");
  starts(refusal(R"({"context": "a", "choices": ["b", "c"]})"), "q.jsonl:1: has no answer;");
  starts(refusal(R"({"context": "a", "choice": ["b", "c"], "answer": 0})"),
         "q.jsonl:1: has no choices but choice; expected {");
  starts(refusal(R"({"context": 1, "choices": ["b", "c"], "answer": 0})"),
         "q.jsonl:1: has a context that is not text");
  starts(refusal(R"({"context": "a", "question": "a?", "choices": ["b", "c"], "answer": 0})"),
         "q.jsonl:1: has a context and a question; expected one of them");
  starts(refusal(R"({"context": "a", "choices": ["b"], "answer": 0})"),
         "q.jsonl:1: has choices that are not a list of at least two texts");
  starts(refusal(R"({"context": "a", "choices": ["b", ""], "answer": 0})"),
         "q.jsonl:1: has choices that are not a list");
  for (const char* answer : {"2", "-1", "0.5", "\"2\"", "\"C\"", "\"b\""}) {
    starts(refusal(concat(R"({"context": "a", "choices": ["b", "c"], "answer": )", answer, "}")),
           "q.jsonl:1: has the answer ");
  }
  starts(refusal(R"({"context": "a", "choices": ["b", "c"], "answer": 0, "group": "all"})"),
         "q.jsonl:1: has the group all, which stands for all items");
}

CATCH_TEST_CASE("lines of HellaSwag, ARC and OpenBookQA are read as they are") {
  // One of each kind, in the original files and in those of their copies as data sets.
  for (
      const char* line : {
          R"({"ind": 24, "ctx_a": "He", "ctx": "He sits.", "label": 1, "endings": ["Up", "On"]})",
          R"({"ind": 24, "ctx": "He sits.", "label": "1", "endings": ["Up", "On"], "split": "val"})",
          R"({"id": "M7", "question": {"stem": "He sits.", "choices": [{"text": "Up", "label": "A"},
               {"text": "On", "label": "B"}]}, "answerKey": "B"})",
          R"({"id": "M7", "question_stem": "He sits.", "choices": {"text": ["Up", "On"],
               "label": ["1", "2"]}, "answerKey": "2"})",
          R"({"id": 7, "context": "He sits.", "choices": ["Up", "On"], "answer": "B"})",
      }) {
    std::string text = line;
    std::erase(text, '\n');
    const auto items = parse_choice_items(text, "q.jsonl");
    CATCH_INFO(text);
    CATCH_REQUIRE(items.size() == 1);
    CATCH_CHECK(items[0].context == "He sits.");
    CATCH_CHECK(items[0].choices == std::vector<std::string>{"Up", "On"});
    CATCH_CHECK(items[0].answer == 1);
  }
  const auto asked = [](const char* choices, const char* key) {
    return refusal(
        concat(R"({"question": "q", "choices": )", choices, R"(, "answerKey": ")", key, "\"}"));
  };
  CATCH_CHECK(asked(R"([{"text": "b", "label": "A"}, {"label": "B"}])", "A")
                  .starts_with("q.jsonl:1: has choices that are not a list of at least two texts"));
  CATCH_CHECK(asked(R"({"text": ["b", "c"], "label": ["A", "B"]})", "D")
                  .starts_with("q.jsonl:1: has the answer \"D\"; expected a whole number"));
}

CATCH_TEST_CASE("what a vocabulary or a length cannot hold is refused by item") {
  const auto tokenizer = Tokenizer::words_of("one two twofold", "words");
  const MultipleChoiceConfig config;
  const auto refused = [&](const MultipleChoiceConfig& asked, const ChoiceItem& item,
                           std::int64_t length) -> std::string {
    return testing::error_of([&] { asked.encode({item}, tokenizer, length); });
  };
  CATCH_CHECK(refused(config, {"one", {"two", "twofold"}, 0}, 1) == "");
  MultipleChoiceConfig glued;
  glued.delimiter = "";
  const auto unknown = refused(config, {"one", {"two", "three"}, 0}, 1);
  CATCH_CHECK(unknown.find("generated items, item 1") != std::string::npos);
  CATCH_CHECK(unknown.find("three") != std::string::npos);
  CATCH_CHECK(refused(glued, {"one two", {"fold", " two"}, 0}, 1) ==
              "generated items, item 1: the choice \"fold\" changes the tokens of the context; "
              "expected a separating delimiter");
  // Without a context a delimiter stands there.
  const auto letters = Tokenizer::characters_of("abc ", "letters");
  const auto alone = config.encode({{"", {"a", "bc"}, 0}}, letters, 4);
  CATCH_CHECK(alone[0].context == 1);
  CATCH_CHECK(alone[0].whole[1].size() == 3);
  CATCH_CHECK(testing::error_of([&] {
                glued.encode({{"", {"a", "bc"}, 0}}, letters, 4);
              }) ==
              "generated items, item 1: has no context; expected a delimiter before the choices");
  CATCH_CHECK(refused(config, {"one", {"two two", "two"}, 0}, 1) ==
              "generated items, item 1: has a choice of 2 tokens; expected at most the task's "
              "length, 1");
}

}  // namespace
}  // namespace difflab
