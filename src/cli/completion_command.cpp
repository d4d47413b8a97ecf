#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/completion.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

// The words are cut at blanks: bash would also cut them at = and :.
constexpr const char* kBash = R"(_difflab() {
  local line=${COMP_LINE:0:COMP_POINT} word
  local -a words
  read -ra words <<<"$line"
  [[ $line == *' ' ]] && words+=("")
  word=${words[-1]}
  mapfile -t COMPREPLY < <("$_difflab_program" complete -- "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
  if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*=}"}"}")
  fi
}
complete -o default -F _difflab difflab ./difflab
)";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords words{command->get_name(), {}};
    if (command->get_group().empty()) continue;  // not for a person
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) words.flags.push_back("--" + name);
    }
    commands.push_back(std::move(words));
  }
  return commands;
}

}  // namespace

void add_completion_commands(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* script = app.add_subcommand(
      "completion", "Print what makes the Tab key work: source <(./difflab completion bash)");
  script->add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  script->callback([] {
    std::cout << "_difflab_program=" << quoted(executable_path().string()) << '\n' << kBash;
  });

  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* complete = app.add_subcommand("complete", "What the last word may become");
  complete->group("");  // called by the script
  complete->add_option("words", *words);
  complete->callback([words, &app] {
    for (const auto& word : completions(*words, commands_of(app))) std::cout << word << '\n';
  });
}

}  // namespace difflab::cli
