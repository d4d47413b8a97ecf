#include "study/asked/asked_evaluations.h"

#include <algorithm>
#include <string_view>

#include "config/compose/compose.h"
#include "config/compose/library.h"
#include "config/override/override.h"
#include "config/schema/reader.h"
#include "run/run_config.h"
#include "study/project.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::study {
namespace {

bool is_override_of(std::string_view word, std::string_view key) {
  if (!word.starts_with(key)) return false;
  const auto next = word.substr(key.size(), 1);
  return next == "=" || next == "." || next == "[";
}

bool has_own_name(const config::Value& evaluation) {
  const auto* name = evaluation.find("name");
  return name != nullptr && name->is_string() && !name->as_string().empty();
}

// The evaluation where and when the question says. One that was not named for it gets a name that
// says so, and stands beside the same evaluation of the trained model.
config::Value asked_there(config::Value evaluation, const Question& question,
                          const config::Value& task, bool named) {
  if (evaluation.is_string()) {
    auto map = config::Value::map();
    map.set("kind", evaluation);
    evaluation = std::move(map);
  }
  auto name = name_in_result(evaluation);
  if (!task.is_null()) {
    evaluation.set("task", task);
    const auto* kind = task.find("kind");
    name += "_on_" + (kind != nullptr ? kind->as_string() : "task");
  }
  if (!question.at.empty()) {
    auto steps = config::Value::list();
    for (const auto step : question.at) steps.push_back(config::Value(step));
    evaluation.set("at", steps);
    name += "_at";
  }
  if (!named) evaluation.set("name", config::Value(name));
  return evaluation;
}

// The first list with the second's items in place of those of the same name, the others behind.
config::Value joined(config::Value all, const config::Value& more) {
  for (const auto& item : more.items()) {
    auto& items = all.mutable_items();
    const auto same = std::ranges::find_if(items, [&](const config::Value& old) {
      return name_in_result(old) == name_in_result(item);
    });
    if (same == items.end()) {
      all.push_back(item);
    } else {
      *same = item;
    }
  }
  return all;
}

}  // namespace

std::string name_in_result(const config::Value& evaluation) {
  const auto text_at = [&](const char* key) {
    const auto* found = evaluation.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
  };
  if (!evaluation.is_string() && !text_at("name").empty()) return text_at("name");
  const auto kind = evaluation.is_string() ? evaluation.as_string() : text_at("kind");
  if (kind == "text_needle_grid") return "needle_grid";
  if (kind != "quantization") return kind;
  const auto of = evaluation.is_string() ? std::string() : text_at("of");
  return of == "weights"  ? "weight_quantization"
         : of == "states" ? "hidden_quantization"
                          : "logit_quantization";
}

Question Question::of(const std::vector<std::string>& overrides, const std::vector<std::string>& on,
                      const std::vector<std::int64_t>& at) {
  Question question{.task = on, .at = at};
  for (const auto& word : on) {
    if (!is_override_of(word, "task")) {
      throw UserError(concat("--on is '", word, "'; expected task=NAME or task.KEY=VALUE"));
    }
  }
  for (const auto& word : overrides) {
    (is_override_of(word, "evaluate") ? question.evaluate : question.others).push_back(word);
  }
  return question;
}

config::Value evaluations_of(const Question& question, const config::Value& before,
                             const config::Value& asked, const config::Value& task,
                             std::vector<std::string>& names) {
  const bool elsewhere = !question.task.empty() || !question.at.empty();
  const bool given = !question.evaluate.empty();
  // Told as it was typed, before it stands behind what was asked before.
  if (given) config::read<std::vector<EvaluationConfig>>(asked, "evaluate");
  auto wanted = config::Value::list();
  for (const auto& item : (given || !elsewhere ? asked : before).items()) {
    const bool named = given && has_own_name(item);
    wanted.push_back(elsewhere ? asked_there(item, question, task, named) : item);
  }
  for (const auto& item : wanted.items()) {
    const auto name = name_in_result(item);
    if (!is_among(name, names)) names.push_back(name);
  }
  return joined(before, wanted);
}

config::Value composed_task(const Question& question, const config::Value& trained) {
  config::Library library(search_path());
  auto tree = config::Value::map();
  tree.set("task", trained);
  config::Problems problems;
  std::vector<config::Override> values;
  for (const auto& item : config::parse_overrides(question.task, problems)) {
    if (item.key != "task" || !config::is_group_override(item, library)) {
      values.push_back(item);
      continue;
    }
    const auto option = item.to_value().as_string();
    const auto* file = library.find(concat("task/", option));
    if (file == nullptr) {
      throw UserError(concat(item.text, ": there is no task ", option,
                             suggestion(option, library.options("task"))));
    }
    tree.set("task", file->root);
  }
  config::apply_overrides(tree, values, problems, {.strict = false});
  problems.throw_if_any();
  return *tree.find("task");
}

}  // namespace difflab::study
