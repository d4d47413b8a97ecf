#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/inspect/completion.h"
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

// A key or a level that goes on gets no blank behind it.
constexpr const char* kZsh = R"((( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_difflab() {
  local -a found unfinished finished
  found=("${(@f)$("$_difflab_program" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  unfinished=("${(@M)found:#*[=.]}") finished=("${(@)found:#*[=.]}")
  (( $#unfinished )) && compadd -S '' -- "${(@)unfinished}"
  (( $#finished )) && [[ -n $finished[1] ]] && compadd -- "${(@)finished}"
}
compdef _difflab difflab ./difflab
)";

constexpr const char* kFish = R"(function _difflab
  set -l words (commandline --current-process --tokenize --cut-at-cursor)
  set -a words (commandline --current-token --cut-at-cursor)
  $_difflab_program complete -- $words[2..-1] 2>/dev/null
end
complete --command difflab --no-files --arguments '(_difflab)'
)";

/// The text in single quotes; `inside` stands for a single quote in it.
std::string quoted(const std::string& text, std::string_view inside) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string(inside) : std::string(1, c);
  return result + "'";
}

std::string script_for(const std::string& shell, const std::string& program) {
  if (shell == "fish") {
    std::string escaped;  // in fish a backslash counts inside single quotes, too
    for (const char c : program) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return concat("set -g _difflab_program ", quoted(escaped, "\\'"), "\n", kFish);
  }
  return concat("_difflab_program=", quoted(program, "'\\''"), "\n", shell == "zsh" ? kZsh : kBash);
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
  script->add_option("shell", *shell, "bash, zsh or fish (./difflab completion fish | source)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  script->callback([shell] { std::cout << script_for(*shell, executable_path().string()); });

  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* complete = app.add_subcommand("complete", "What the last word may become");
  complete->group("");  // called by the script
  complete->add_option("words", *words);
  complete->callback([words, &app] {
    for (const auto& word : completions(*words, commands_of(app))) std::cout << word << '\n';
  });
}

}  // namespace difflab::cli
