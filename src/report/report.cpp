#include "report/report.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "report/archive/rebuild.h"
#include "report/data/format.h"
#include "report/page/figure_files.h"
#include "report/page/page.h"
#include "report/table/claim.h"
#include "report/table/table_files.h"
#include "util/error.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"
#include "util/timing.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSummaryWidth = 100;

void require_fit(const Study& study, const Frame& frame) {
  std::vector<std::string> lines;
  std::set<std::string> single;
  for (const auto& axis : frame.axes()) {
    if (axis != kSeedAxis && frame.values(axis).size() == 1) single.insert(axis);
  }
  for (const auto& [key, message] : check_report(study.report, frame.axes(), single)) {
    lines.push_back(concat(study.name, ": ", key, " ", message));
  }
  if (!lines.empty()) throw UserError(join(lines, "\n"));
}

/// The files of a report, kept until all are there: a report that is cut off stays as it was.
class ReportFiles {
 public:
  explicit ReportFiles(const fs::path& folder) : folder_(folder) {}

  void add(const std::string& name, std::string bytes) {
    files_.emplace_back(folder_ / name, std::move(bytes));
  }
  /// The file of an earlier report goes.
  void leave_out(const std::string& name) { left_out_.push_back(folder_ / name); }
  void add_if(bool is_there, const std::string& name, const auto& text) {
    is_there ? add(name, text()) : leave_out(name);
  }

  /// One beside the report, for several of them.
  void add_shared(const fs::path& file, const std::string& bytes) {
    files_.emplace_back(file, bytes);
  }

  void write(Pictures& pictures) const {
    const SignalsHeld held;  // nothing but a kill cuts off what is written
    for (const auto& file : left_out_) fs::remove(file);
    pictures.write();
    for (const auto& [file, bytes] : files_) write_if_changed(file, bytes);
  }

 private:
  fs::path folder_;
  std::vector<std::pair<fs::path, std::string>> files_;
  std::vector<fs::path> left_out_;
};

// Committed pages, results/NAME/reference/report.html, share the scripts of results/figures.js if
// that exists; every other page holds them. Empty, or that file.
fs::path shared_scripts(const fs::path& output) {
  for (auto folder = fs::absolute(output).lexically_normal(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.stem() != "reference") continue;  // of reference.partial-123, too
    auto file = folder.parent_path().parent_path() / "figures.js";
    return fs::exists(file) ? file : fs::path();
  }
  return {};
}

std::vector<Table> make_tables(const Study& study, const Frame& frame, const Labels& labels,
                               const std::vector<Answer>& answers, ReportFiles& files) {
  std::vector<Table> tables;
  for (const TableConfig& config : study.report.tables) {
    Table table = build_table(config, study, frame, labels);
    if (tables.empty()) {
      for (const Answer& answer : answers) table.answers.push_back(answer.text);
    }
    add_notes(table, study, frame, labels);
    const bool is_compared = !table.comparisons.empty();  // else those of an earlier baseline go
    files.add(table.name + ".md", table_markdown(table, labels));
    // No paper prints the grid of a tuning; settings.tex says what it found.
    files.add_if(!study.is_tuning, table.name + ".tex", [&] { return table_tex(table, labels); });
    files.add(table.name + ".csv", table_csv(table));
    files.add_if(is_compared, table.name + ".paired.csv", [&] { return paired_csv(table); });
    files.add_if(is_compared, table.name + ".paired.tex",
                 [&] { return paired_tex(table, labels); });
    tables.push_back(std::move(table));
  }
  return tables;
}

// From the metric that the study names, else the first that is compared, else the first that has a
// better direction.
std::string best_sentence(const Study& study, const Frame& frame, const std::vector<Table>& tables,
                          const Labels& labels) {
  for (const Table& table : tables) {
    // Claims answer what was asked. The best of rows that differ in more than the variant, such as
    // the task, would be the one of the easiest setting.
    if (!study.report.claims.empty() && table.axes.size() > 1) continue;
    std::string metric = study.report.headline;
    if (metric.empty() && !table.comparisons.empty()) {
      metric = table.columns[table.comparisons[0].column].key;
    }
    if (metric.empty()) {
      const auto found = std::ranges::find_if(
          table.columns, [](const Metric& column) { return column.better != Better::kNeither; });
      if (found != table.columns.end()) metric = found->key;
    }
    if (std::string text = headline(table, frame, metric, labels); !text.empty()) return text;
  }
  return "";
}

std::string file_list(const Study& study, const std::vector<Table>& tables,
                      const std::vector<Figure>& figures) {
  const auto line = [&](const std::string& label, const fs::path& path) {
    return "  " + pad_right(label, 9) + path.string() + "\n";
  };
  std::string out;
  for (const Table& table : tables) {
    out += line("table", study.output / (table.name + ".{md,csv,tex}"));
  }
  std::vector<std::string> drawn, data_only;
  for (const Figure& figure : figures)
    (figure.has_images ? drawn : data_only).push_back(figure.name);
  const auto names = [&](const std::vector<std::string>& list) {
    return study.output / "figures" / (list.size() == 1 ? list[0] : "{" + join(list, ",") + "}");
  };
  if (!study.report.claims.empty()) out += line("claims", study.output / "claims.{csv,tex}");
  if (!drawn.empty()) out += line("figures", names(drawn).string() + ".{pdf,svg,png}");
  if (!data_only.empty()) out += line("data", names(data_only).string() + ".{csv,vl.json}");
  if (fs::exists(study.output / kSettingsFile)) {
    out += line("settings", study.output / kSettingsFile);
  }
  return out + line("report", study.output / "report.html");
}

Summary count_runs(const Frame& frame) {
  Summary summary;
  for (const FrameRun& run : frame.runs()) {
    ++summary.planned;
    if (run.has_result()) ++summary.finished;
    if (run.state == RunState::kDiverged) ++summary.diverged;
    if (run.state == RunState::kFailed) ++summary.failed;
  }
  return summary;
}

}  // namespace

Summary write_report(const Study& study) { return write_report(study, frame_of(study)); }

Summary write_report(const Study& study, const Frame& frame) {
  require_fit(study, frame);
  const Labels labels = labels_of(study, frame);
  make_directories(study.output);
  ReportFiles files(study.output);
  const std::vector<Answer> answers = answer_claims(study, frame, labels);
  const std::vector<Table> tables = make_tables(study, frame, labels, answers, files);
  const std::string claims = kClaimsFile;
  files.add_if(!answers.empty(), claims + ".csv", [&] { return claims_csv(study, answers); });
  files.add_if(!answers.empty(), claims + ".tex",
               [&] { return claims_tex(study, answers, labels); });
  const auto settings = settings_of(study, frame, labels);
  files.add_if(!settings.empty(), kSettingsFile,
               [&] { return settings_tex(settings, study.name); });
  files.leave_out("methods.tex");  // of an older difflab
  Summary summary = count_runs(frame);
  std::vector<Figure> figures;
  std::optional<Pictures> pictures;
  {
    const Timed drawing(summary.drawing_seconds);
    figures = draw_figures(study, frame, Style{labels, study.report.style});
    pictures.emplace(study, figures);
  }
  const std::string sentence = best_sentence(study, frame, tables, labels);
  files.add("summary.json",
            summary_json(study, summary, sentence, answers, figures).dump(1) + "\n");
  files.add("runs.json", runs_text(study, frame));
  files.add(kObservationsFile, observations_text(study, frame));
  const auto shared = pictures->bundle().empty() ? fs::path() : shared_scripts(study.output);
  if (!shared.empty()) files.add_shared(shared, pictures->bundle());
  files.add("report.html", page_html({.study = study,
                                      .frame = frame,
                                      .labels = labels,
                                      .tables = tables,
                                      .answers = answers,
                                      .figures = figures,
                                      .headline = sentence,
                                      .settings = settings,
                                      .bundle = pictures->bundle(),
                                      .shared = shared}));
  files.write(*pictures);
  for (const Table& table : tables) summary.text += table_terminal(table, labels) + "\n";
  for (const Answer& answer : answers) {
    summary.text += wrap(answer.text, kSummaryWidth, "  ") + "\n\n";
  }
  if (!sentence.empty()) summary.text += wrap(sentence, kSummaryWidth) + "\n\n";
  for (const std::string& warning : pictures->warnings()) {
    summary.text += wrap("Warning: " + warning, kSummaryWidth) + "\n";
  }
  summary.text = without_controls(summary.text + file_list(study, tables, figures));
  summary.warnings = pictures->warnings();
  summary.has_failed_to_draw = pictures->has_failed();
  return summary;
}

void require_drawn(const Summary& summary) {
  if (summary.has_failed_to_draw) {
    throw UserError(concat("the report lacks figures: ", join(summary.warnings, "\n")));
  }
}

}  // namespace difflab::report
