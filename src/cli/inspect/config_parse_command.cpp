#include "cli/inspect/config_parse_command.h"

#include <iostream>
#include <memory>

#include "config/override/json.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

struct ParseOptions {
  std::vector<std::string> overrides;
  bool json = false, lines = false;
};

Json parsed(const std::string& text) {
  Json answer{{"input", text}, {"ok", true}};
  try {
    answer.update(config::to_json(config::parse_override(text)));
  } catch (const UserError& error) {
    answer["ok"] = false;
    answer["error"] = error.what();
  }
  return answer;
}

void print_text(const Json& answer) {
  std::cout << answer["input"].get<std::string>() << '\n';
  for (const auto& [key, value] : answer.items()) {
    if (key == "input" || key == "ok" || value.is_null()) continue;
    std::cout << "  " << key << ": "
              << (value.is_string() ? value.get<std::string>() : dump_readable(value, -1)) << '\n';
  }
}

void print_all(const ParseOptions& options) {
  Json answers = Json::array();
  std::string problems;
  for (const auto& text : options.overrides) {
    answers.push_back(parsed(text));
    if (answers.back()["ok"].get<bool>()) continue;
    problems += concat(problems.empty() ? "" : "\n", answers.back()["error"].get<std::string>());
  }
  if (options.json) {
    std::cout << dump_readable(answers, 1) << '\n';
    return;
  }
  if (!problems.empty()) throw UserError(problems);
  for (const Json& answer : answers) print_text(answer);
}

/// Each answer is written at once, so that a program may ask one question after another.
void answer_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << dump_readable(parsed(line), -1) << std::endl;
  }
}

}  // namespace

void add_config_parse_command(CLI::App& config_command) {
  const auto options = std::make_shared<ParseOptions>();
  CLI::App* command =
      config_command.add_subcommand("parse", "Show how overrides are understood, one by one");
  auto* overrides = command->add_option("override", options->overrides, "e.g. seed=range(3)");
  command->add_flag("--json", options->json,
                    "as JSON; what cannot be parsed is an entry with ok: false");
  auto* lines = command->add_flag("--lines", options->lines,
                                  "read overrides from standard input, one per line, and answer "
                                  "each with one line of JSON");
  lines->excludes(overrides);
  command->callback([options] {
    if (options->lines) return answer_lines();
    if (options->overrides.empty()) throw UserError("expected overrides, e.g. seed=range(3)");
    print_all(*options);
  });
}

}  // namespace difflab::cli
