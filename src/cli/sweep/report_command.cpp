// difflab report: the report of one experiment, or the gallery of all.
#include <unistd.h>

#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "config/compose/compose.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/archive/rebuild.h"
#include "report/data/format.h"
#include "report/page/figure_files.h"
#include "report/page/gallery.h"
#include "report/page/page.h"
#include "report/report.h"
#include "study/study.h"
#include "util/files.h"

namespace difflab::cli {
namespace {

// "results/x/" names the same folder as "results/x".
fs::path without_slash(const fs::path& path) {
  const auto plain = path.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

void require_free(const fs::path& from, const fs::path& to) {
  const auto source = fs::weakly_canonical(from), target = fs::weakly_canonical(to);
  const auto inside = target.lexically_relative(source);
  if (!inside.empty() && *inside.begin() != "..") {
    throw UserError(concat("--to ", to.string(), inside == "." ? " is " : " lies in ",
                           from.string(), "; expected a folder apart from it"));
  }
  if (fs::exists(to) && !(fs::is_directory(to) && fs::is_empty(to))) {
    throw UserError(concat("--to ", to.string(), " exists and is not empty"));
  }
}

// A folder beside `to` that gets its name when it is complete.
class Draft {
 public:
  explicit Draft(fs::path to)
      : to_(std::move(to)), path_(concat(to_.string(), ".partial-", ::getpid())) {
    make_directories(path_);
  }
  ~Draft() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& path() const { return path_; }
  void keep() {
    fs::rename(path_, to_);
    kept_ = true;
  }

 private:
  fs::path to_, path_;
  bool kept_ = false;
};

// The style with these overrides of it. @throws UserError for any other override
report::StyleConfig styled(const report::StyleConfig& style,
                           const std::vector<std::string>& overrides) {
  auto tree = config::Value::map();
  tree.set("style", config::write(style));
  config::Problems problems;
  const auto items = config::parse_overrides(overrides, problems);
  for (const auto& item : items) {
    if (item.key.starts_with("style.")) continue;
    throw UserError(concat(item.text, ": a report that is written again has the numbers and words ",
                           "that it had; expected style.KEY=VALUE"));
  }
  config::apply_overrides(tree, items, problems);
  problems.throw_if_any();
  return config::read<report::StyleConfig>(*tree.find("style"), "style");
}

// Writes the report in `from` again to `to`, from what lies in `from` alone: equal code gives
// equal bytes. All of it is there in the end, or nothing.
// @throws UserError if there is no report that can be written again, or if `to` holds something or
// lies in `from`.
void rebuild(const fs::path& from, const fs::path& to, const std::vector<std::string>& overrides) {
  const auto source = without_slash(from), target = without_slash(to);
  require_free(source, target);
  // Nothing is made for what cannot be read.
  const auto style = styled(report::read_archive(source, target).study.report.style, overrides);
  Draft draft(target);
  const auto rewrite = [&](const fs::path& folder, const fs::path& output) {
    auto [study, frame] = report::read_archive(folder, output);
    study.renderer = report::Renderer::below(find_checkout());
    study.report.style = style;
    return report::write_report(study, frame);
  };
  for (const auto* inner : {"tuning", "tuning/shorter"}) {
    if (fs::exists(source / inner / "runs.json")) rewrite(source / inner, draft.path() / inner);
  }
  auto summary = rewrite(source, draft.path());
  draft.keep();
  // With the name of the folder that the draft has become.
  report::replace_all(summary.text, draft.path().string(), target.string());
  std::cout << summary.text;
  require_drawn(summary);
}

struct ReportOptions {
  StudyArguments study;
  bool all = false, bundle = false;
  std::string from, to;
};

// The presets whose results are worth showing, the best first.
constexpr const char* kShownPresets[] = {"reference", "default"};

int finished_runs(const Study& study) {
  int finished = 0;
  for (const auto& run : study.needed_runs()) {
    // Restored ones are in the committed report as it stands.
    if (is_complete(state_of(run.directory)) && !is_restored(run.directory)) ++finished;
  }
  return finished;
}

// A JSON object from a file; null if there is none or it cannot be read.
Json read_object(const fs::path& file) {
  if (!fs::exists(file)) return nullptr;
  const Json json = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json(nullptr);
}

// True if a summary has everything that the gallery shows.
bool is_summary(const Json& summary) {
  const auto has_text = [](const Json& object, const char* key) {
    return !object.contains(key) || object.at(key).is_string();
  };
  const auto runs = summary.find("runs"), answers = summary.find("answers");
  return runs != summary.end() && runs->is_object() && runs->contains("planned") &&
         runs->contains("finished") && runs->at("finished").is_number() &&
         answers != summary.end() && answers->is_array() &&
         std::ranges::all_of(*answers, [](const Json& answer) { return answer.is_object(); }) &&
         has_text(summary, "preset") && has_text(summary, "figure") && has_text(summary, "best");
}

// summary.json of a report; of one written before there were summaries, what its runs.json tells;
// null if there is no report.
Json read_summary(const fs::path& folder) {
  if (Json summary = read_object(folder / "summary.json"); !summary.is_null()) {
    if (is_summary(summary)) return summary;
    throw UserError(
        concat((folder / "summary.json").string(),
               " is damaged: it is not a summary; delete it, or write the report again"));
  }
  const Json record = read_object(folder / "runs.json");
  if (record.is_null() || !record.contains("runs")) return nullptr;
  try {
    int finished = 0;
    for (const Json& run : record.at("runs")) {
      const auto state = run_state_of(run.value("status", ""));
      if (state && is_complete(*state)) ++finished;
    }
    return {{"preset", record.value("preset", "")},
            {"runs", Json{{"planned", record.at("runs").size()}, {"finished", finished}}},
            {"answers", Json::array()}};
  } catch (const Json::exception& error) {
    throw UserError(concat((folder / "runs.json").string(), " is damaged: ", error.what()));
  }
}

// A report is written anew if the runs here are at least as many as it was made from; in a fresh
// clone there are none, and the committed report stands.
void refresh(const Study& study, std::vector<std::string>& not_drawn) {
  const int here = finished_runs(study);
  const Json summary = read_summary(study.output);
  const int before = summary.is_null() ? 0 : summary.at("runs").value("finished", 0);
  if (here == 0 || here < before) return;
  report_tuning(study);
  const auto written = report::write_report(study.for_report());
  if (written.has_failed_to_draw) {
    not_drawn.push_back(concat(study.name, ": ", join(written.warnings)));
  }
}

std::string text_at(const config::Value& root, const char* key) {
  const auto* value = root.find(key);
  return value != nullptr && value->is_scalar() && !value->is_null() ? value->as_string() : "";
}

// None of a folder that cannot be read again, as its summary is all there is.
std::vector<report::Exhibit::Test> tests_in(const fs::path& folder) {
  std::vector<report::Exhibit::Test> tests;
  try {
    const auto [study, frame] = report::read_archive(folder, folder);
    const auto answers = report::answer_claims(study, frame, report::Labels(study.report.labels));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& [verdict, p] = std::pair(answers[i].verdict, answers[i].raw);
      const bool is_side =
          verdict == report::Verdict::kSupported || verdict == report::Verdict::kOpposite;
      const bool is_directed = study.report.claims[i].expect != report::Expect::kEquivalent;
      if (p) tests.push_back({*p, is_side && is_directed});
    }
  } catch (const UserError&) {
  }
  return tests;
}

report::Exhibit exhibit_of(config::Library& files, const std::string& name,
                           const std::vector<std::string>& overrides, const fs::path& results,
                           std::vector<std::string>& not_drawn) {
  const auto* document = files.find("experiment/" + name);
  if (document == nullptr) throw UserError(concat("experiment ", name, " is gone"));
  report::Exhibit exhibit{.name = name,
                          .title = text_at(document->root, "title"),
                          .topic = text_at(document->root, "topic")};
  for (const char* preset : kShownPresets) {
    auto arguments = overrides;
    arguments.push_back(std::string("preset=") + preset);
    try {
      refresh(load_study(name, arguments), not_drawn);
    } catch (const UserError& error) {
      // Its text may not be there, or it has no such preset: what was written before stands.
      std::cerr << fmt::format("{} (preset {}) is not updated: {}\n", name, preset, error.what());
    }
    if (!exhibit.summary.is_null()) continue;
    exhibit.folder = fs::path(name) / preset;
    exhibit.summary = read_summary(results / exhibit.folder);
  }
  if (!exhibit.summary.is_null()) {
    exhibit.core_time = report::core_time_of(results / exhibit.folder);
    exhibit.tests = tests_in(results / exhibit.folder);
  }
  return exhibit;
}

void write_gallery(const std::vector<std::string>& overrides) {
  const auto results = load_study("", overrides).results;
  require_writable(results);
  config::Library files(search_path());
  std::vector<report::Exhibit> exhibits;
  std::vector<std::string> not_drawn;
  std::size_t shown = 0;
  for (const auto& name : own_experiments()) {
    exhibits.push_back(exhibit_of(files, name, overrides, results, not_drawn));
    if (!exhibits.back().summary.is_null()) ++shown;
  }
  report::write_if_changed(results / "README.md", report::gallery_markdown(exhibits));
  report::write_if_changed(results / "index.html", report::gallery_html(exhibits));
  std::cout << fmt::format("{} of {} experiments have results\n  gallery  {}\n  page     {}\n",
                           shown, exhibits.size(), config::shown_path(results / "README.md"),
                           config::shown_path(results / "index.html"));
  if (!not_drawn.empty()) throw UserError(join(not_drawn, "\n"));
}

// Writes the report of the finished runs, prints it, and names the runs that it lacks.
// @throws UserError if no run is finished.
void redraw(const Study& study) {
  if (study.is_being_tuned()) {
    redraw(*study.tuning);
    std::cout << fmt::format("\nThe runs that are reported begin when {} is tuned.\n",
                             study.config.tune.key);
    return;
  }
  report_tuning(study);
  std::vector<const sweep::Run*> missing;
  const auto runs = study.needed_runs();
  for (const auto& run : runs) {
    if (!is_complete(state_of(run.directory))) missing.push_back(&run);
  }
  if (missing.size() == runs.size()) {
    throw UserError(fmt::format(
        "none of the {} runs of {} (preset {}) is finished in {}; run "
        "./difflab sweep {} first",
        runs.size(), study.name, study.preset, config::shown_path(study.results), study.name));
  }
  require_writable(study.output);
  std::cout << report::write_report(study.for_report()).text;
  if (missing.empty()) return;
  std::cout << fmt::format("\n{} of {} runs are not finished and not in the report:\n",
                           missing.size(), runs.size());
  for (const auto* run : missing) {
    std::cout << fmt::format("  {} ({})\n", run->label(), name_of(state_of(run->directory)));
  }
}

// A reference of which no run is here is bundled as it is.
void bundle(const Study& study) {
  const auto page = study.output / "report.html";
  if (finished_runs(study) > 0 || !fs::exists(page)) redraw(study);
  const auto file = study.output / (fs::path(study.name).filename().string() + ".bundle.html");
  report::write_if_changed(file, report::bundled_page(page));
  std::cout << fmt::format("  bundle   {} ({:.1f} MB)\n", config::shown_path(file),
                           static_cast<double>(fs::file_size(file)) / 1e6);
}

}  // namespace

void add_report_command(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Write an experiment's report again from its finished runs, or the gallery of all");
  command->alias("plot");
  command->add_option("experiment", options->study.name, "a file in experiments/, e.g. headline");
  command->add_option("overrides", options->study.overrides, "preset=…, key=value, results=DIR");
  command->add_flag("--all", options->all,
                    "every report whose runs are here, then results/README.md and index.html");
  command->add_flag("--bundle", options->bundle,
                    "also one file with everything in it, to send: NAME.bundle.html");
  command->add_option(
      "--from", options->from,
      "a report's folder, e.g. results/headline/reference: write it again from what "
      "lies there alone, with overrides of style");
  command->add_option("--to", options->to, "the folder that --from writes to; new or empty");
  command->callback([options] {
    auto& [name, overrides] = options->study;
    if (!options->from.empty() || !options->to.empty()) {
      if (options->from.empty() || options->to.empty()) {
        throw UserError("--from and --to belong together: a report's folder, and a new one");
      }
      if (options->all || (!name.empty() && name.find('=') == name.npos)) {
        throw UserError("--from cannot be combined with an experiment or --all");
      }
      if (!name.empty()) overrides.insert(overrides.begin(), name);
      return rebuild(options->from, options->to, overrides);
    }
    if (!options->all) {
      if (name.empty())
        throw UserError("expected an experiment (./difflab list experiments) or --all");
      return options->bundle ? bundle(load_study(name, overrides))
                             : redraw(load_study(name, overrides));
    }
    if (name.find('=') != name.npos)
      overrides.insert(overrides.begin(), name);  // results=DIR
    else if (!name.empty())
      throw UserError("an experiment and --all are given; expected one of them");
    write_gallery(overrides);
  });
}

}  // namespace difflab::cli
