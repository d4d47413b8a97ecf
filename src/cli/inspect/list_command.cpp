#include <map>
#include <type_traits>

#include "cli/commands.h"
#include "config/compose/compose.h"
#include "config/grid/key_docs.h"
#include "config/value/yaml.h"
#include "run/run_config.h"
#include "study/study_config.h"
#include "util/files.h"

namespace difflab::cli {
namespace {

constexpr const char* kExperiments = "experiment";

using Lines = std::vector<std::vector<std::string>>;

void print(const Lines& lines) { std::cout << aligned(lines); }

config::Library library() { return config::Library(search_path()); }

// A file that cannot be read is listed, too: with what is wrong with it.
std::string title_of(config::Library& files, const std::string& experiment) {
  try {
    const auto* document = files.find(concat(kExperiments, "/", experiment));
    const auto* title = document == nullptr ? nullptr : document->root.find("title");
    return title != nullptr && title->is_scalar() ? title->as_string() : "";
  } catch (const UserError& error) {
    return error.what();
  }
}

void list_experiments() {
  auto files = library();
  Lines lines;
  for (const auto& name : all_experiments()) lines.push_back({name, title_of(files, name)});
  print(lines);
}

// The folders with a report, and what writes it.
void list_outputs() {
  namespace fs = std::filesystem;
  const auto results = find_project() / "results";
  std::map<std::string, std::string> commands;
  std::error_code none;
  for (fs::recursive_directory_iterator entry(results, none), end; !none && entry != end;
       entry.increment(none)) {
    const auto name = entry->path().filename();
    if (name == "runs" || name == "trainings" || name == "tuning")
      entry.disable_recursion_pending();
    if (name != "runs.json") continue;
    const auto record = Json::parse(read_file(entry->path()), nullptr, /*allow_exceptions=*/false);
    const auto command = record.is_object() ? record.value("command", Json()) : Json();
    commands[config::shown_path(entry->path().parent_path())] =
        command.is_string() ? command.get<std::string>() : "runs.json is damaged";
  }
  Lines lines;
  for (const auto& [folder, command] : commands) lines.push_back({folder, command});
  print(lines);
}

void list_groups(const config::Library& files, const std::string& group) {
  for (const auto& name : files.groups(group)) {
    const std::string path = group.empty() ? name : concat(group, "/", name);
    if (const auto options = files.options(path); !options.empty() && path != kExperiments) {
      std::cout << path << ": " << join(options) << '\n';
    }
    list_groups(files, path);
  }
}

template <class... Kinds>
void list_kinds(std::type_identity<std::variant<Kinds...>>) {
  print({{std::string(Kinds::kKind), std::string(Kinds::kAbout)}...});
}

template <class Kind>
void list_kinds() {
  list_kinds(std::type_identity<Kind>{});
}

// " (share, higher is better)"; empty if there is nothing to say.
std::string in_brackets(const MetricFacts& metric) {
  std::vector<std::string> facts;
  if (metric.outcome == Outcome::kShare) facts.emplace_back("share");
  if (metric.better == Better::kHigher) facts.emplace_back("higher is better");
  if (metric.better == Better::kLower) facts.emplace_back("lower is better");
  return facts.empty() ? "" : concat(" (", join(facts), ")");
}

template <class... Kinds>
void list_metrics(std::type_identity<std::variant<Kinds...>>) {
  const auto text = [](const auto& metrics) {
    std::vector<std::string> texts;
    for (const MetricFacts& one : metrics) texts.push_back(concat(one.name, in_brackets(one)));
    return texts.empty() ? "none" : join(texts);
  };
  print({{std::string(Kinds::kKind), text(Kinds::kMetrics)}...});
}

/// The keys that composing a study needs; no struct has them.
config::KeyTable composition_keys() {
  return {"Composition",
          {{"defaults", "", "a list", "the files that go into this one"},
           {"sweep", "", "a map, or a list of maps", "what is varied, and what is left out"},
           {"presets", "", "a map of maps", "parts of a configuration that preset= chooses from"},
           {"preset", "default", "text", "the chosen one"},
           {"vars", "", "anything", "values to refer to"}}};
}

void list_keys() {
  std::cout << "# Every key\n\n"
               "Written by `./difflab list keys` from the structs that read the configuration; a "
               "test keeps it current.\nA `[]` stands for each item of a list.\n\n"
            << config::to_markdown(config::describe_keys<RunConfig>("A run"))
            << config::to_markdown(config::describe_keys<StudyConfig>("An experiment"))
            << config::to_markdown({composition_keys()});
}

const std::map<std::string, void (*)()>& lists() {
  static const std::map<std::string, void (*)()> kLists{
      {"attention", list_kinds<AttentionConfig>},
      {"derived", list_kinds<report::DerivedConfig>},
      {"evaluations", list_kinds<EvaluationConfig>},
      {"experiments", list_experiments},
      {"figures", list_kinds<report::FigureConfig>},
      {"groups", [] { list_groups(library(), ""); }},
      {"keys", list_keys},
      {"launchers", list_kinds<sweep::LauncherConfig>},
      {"metrics", [] { list_metrics(std::type_identity<EvaluationConfig>{}); }},
      {"optimizers", list_kinds<OptimizerConfig>},
      {"outputs", list_outputs},
      {"tasks", list_kinds<TaskConfig>},
  };
  return kLists;
}

}  // namespace

std::vector<std::string> listable() {
  std::vector<std::string> names;
  for (const auto& entry : lists()) names.push_back(entry.first);
  return names;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      text += i >= left ? fmt::format("{:>{}}", row[i], widths[i])
              : is_last ? row[i]
                        : fmt::format("{:<{}}", row[i], widths[i]);
      text += is_last ? "\n" : "  ";
    }
  }
  return text;
}

void add_list_command(CLI::App& app) {
  const auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "list", "List experiments, config groups, kinds (of attention, …) or keys");
  const auto names = listable();
  command->add_option("what", *what, join(names, ", "))->check(CLI::IsMember(names));
  command->callback([what] {
    if (what->empty()) throw UserError(concat("list what? Expected one of ", join(listable())));
    lists().at (*what)();
  });
}

}  // namespace difflab::cli
