#include <array>
#include <cctype>
#include <set>

#include "cli/commands.h"
#include "config/compose/library.h"
#include "config/grid/key_docs.h"
#include "report/data/format.h"
#include "run/run_config.h"
#include "study/study_config.h"
#include "util/process.h"

namespace difflab::cli {
namespace {

/// A command and its flags.
struct CommandWords {
  std::string name;
  std::vector<std::string> flags;  ///< "--json"
};

using Words = std::vector<std::string>;

constexpr const char* kExperiment = "experiment";

std::vector<config::KeyDoc> all_keys() {
  std::vector<config::KeyDoc> keys;
  for (auto tables :
       {config::describe_keys<RunConfig>(""), config::describe_keys<StudyConfig>("")}) {
    for (auto& table : tables) keys.insert(keys.end(), table.keys.begin(), table.keys.end());
  }
  std::erase_if(keys, [](const auto& key) { return key.path.find('[') != key.path.npos; });
  return keys;
}

void add_groups(const config::Library& library, const std::string& group, Words& found) {
  for (const auto& name : library.groups(group)) {
    const auto path = group.empty() ? name : concat(group, "/", name);
    if (path != kExperiment && !library.options(path).empty()) found.push_back(path + "=");
    add_groups(library, path, found);
  }
}

// The keys of the level that is being typed: "train." and "seed=", and below "train." its keys.
Words keys_for(const std::string& typed, const config::Library& library) {
  Words found;
  add_groups(library, "", found);
  const std::string level = typed.substr(0, typed.find_last_of('.') + 1);
  for (const auto& key : all_keys()) {
    if (!key.path.starts_with(level)) continue;
    const auto dot = key.path.find('.', level.size());
    const bool deeper = dot != key.path.npos;
    if (deeper) {
      found.push_back(key.path.substr(0, dot + 1));
    } else if (key.values != "a map") {
      found.push_back(key.path + "=");
    }
  }
  found.push_back("preset=");
  return found;
}

// The names in "llama | nano", and true and false.
Words values_of(const std::string& key) {
  for (const auto& doc : all_keys()) {
    if (doc.path != key) continue;
    if (doc.values == "true or false") return {"true", "false"};
    if (doc.values.find(" | ") == doc.values.npos) continue;
    std::string names = doc.values;
    report::replace_all(names, " | ", "\n");
    return split(names, '\n');
  }
  return {};
}

Words presets_of(config::Library& library, const std::string& experiment) {
  const auto* document = library.find(concat(kExperiment, "/", experiment));
  const auto* presets = document != nullptr ? document->root.find("presets") : nullptr;
  return presets != nullptr ? presets->keys() : Words();
}

Words overrides_for(const std::string& word, const std::string& experiment) {
  config::Library library(search_path());
  const auto begin = std::min(word.find_first_not_of("+~"), word.size());
  const auto equals = word.find('=');
  if (equals == word.npos) {
    Words found = keys_for(word.substr(begin), library);
    for (auto& key : found) key.insert(0, word, 0, begin);
    return found;
  }
  const auto key = word.substr(begin, equals - begin);
  Words values = key == "preset"          ? presets_of(library, experiment)
                 : library.has_group(key) ? library.options(key)
                                          : values_of(key);
  // a,b is a sweep: what is typed before the last comma stays.
  const auto comma = word.find_last_of(',');
  const auto stays = word.substr(0, (comma != word.npos ? comma : equals) + 1);
  for (auto& value : values) value.insert(0, stays);
  return values;
}

Words run_ids() {
  Words ids;
  std::error_code none;  // no folder: no run
  for (const auto& entry : fs::directory_iterator(find_project() / "results" / "runs", none)) {
    ids.push_back(entry.path().filename().string());
  }
  return ids;
}

// A shell puts a candidate on the command line as it is. A file name that would say something else
// there, such as $(...), is not offered.
bool is_plain(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter >= 0x80 ||
           std::string_view("_-+~./:,=@").find(static_cast<char>(letter)) != std::string_view::npos;
  });
}

Words candidates(const Words& words, const std::vector<CommandWords>& commands) {
  const auto& word = words.back();
  if (words.size() == 1) {
    Words names;
    for (const auto& command : commands) names.push_back(command.name);
    return names;
  }
  const auto& command = words.front();
  if (word.starts_with("-")) {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const auto& c) { return c.name == command; });
    return found != commands.end() ? found->flags : Words();
  }
  if (command == "export" && words.size() == 2) {
    auto found = run_ids();
    found.insert(found.end(), {"csv", "hf", "tensorboard"});
    return found;
  }
  if (command == "export") {  // of a kind that takes what watch takes
    Words as_watch(words.begin() + 1, words.end());
    as_watch.front() = "watch";
    return candidates(as_watch, commands);
  }
  if (command == "referee") return all_experiments();
  if (command == "logs") return words.size() == 2 ? all_experiments() : Words();
  if (command == "generate") return run_ids();
  if (command == "compare") {
    auto found = run_ids();
    const auto named = all_experiments();
    found.insert(found.end(), named.begin(), named.end());
    return found;
  }
  if (command == "list") return listable();
  if (!is_among(command, std::array{"sweep", "watch", "plot", "report", "config", "show", "params",
                                    "flops"}))
    return {};
  const auto experiment = std::find_if(words.begin() + 1, words.end() - 1, [](const auto& earlier) {
    return !earlier.starts_with("-") && earlier.find('=') == earlier.npos;
  });
  if (experiment != words.end() - 1) return overrides_for(word, *experiment);
  auto found = all_experiments();
  if (is_among(command, std::array{"config", "show"}) &&
      !word.empty()) {  // the baseline takes overrides, too
    const auto more = overrides_for(word, "");
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

// Completions of the last of `words`, the command line behind the program's name: commands,
// experiments, flags, run ids, or overrides with keys, groups, their options and values. Nothing
// if nothing is known; never an error, because a person is in the middle of typing.
Words completions(const Words& typed, const std::vector<CommandWords>& commands) {
  if (typed.empty()) return {};
  std::set<std::string> found;
  try {
    auto words = typed;
    take_project(words);
    if (words.empty()) return {};
    for (auto& candidate : candidates(words, commands)) {
      if (candidate.starts_with(words.back()) && is_plain(candidate)) {
        found.insert(std::move(candidate));
      }
    }
  } catch (const UserError&) {
    return {};
  }
  return {found.begin(), found.end()};
}

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
std::string quoted(std::string text, std::string_view inside) {
  report::replace_all(text, "'", inside);
  return concat("'", text, "'");
}

std::string script_for(const std::string& shell, const std::string& program) {
  if (shell == "fish") {
    std::string escaped = program;  // in fish a backslash counts inside single quotes, too
    report::replace_all(escaped, "\\", "\\\\");
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
      "completion", "Print a shell completion script: source <(./difflab completion bash)");
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
