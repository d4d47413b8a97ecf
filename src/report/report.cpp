#include "report/report.h"

#include <algorithm>

#include "report/archive/observations.h"
#include "report/data/format.h"
#include "report/page/figure_files.h"
#include "report/page/gallery.h"
#include "report/page/methods.h"
#include "report/page/page.h"
#include "report/table/claims_files.h"
#include "report/table/table_files.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"
#include "util/timing.h"

namespace difflab::report {
namespace {

constexpr std::size_t kSummaryWidth = 100;

void require_fit(const Study& study, const Frame& frame) {
  std::vector<std::string> lines;
  for (const auto& [key, message] : check_report(study.report, frame.axes())) {
    lines.push_back(concat(study.name, ": ", key, " ", message));
  }
  if (!lines.empty()) throw UserError(join(lines, "\n"));
}

std::vector<Table> write_tables(const Study& study, const Frame& frame, const Labels& labels,
                                const std::vector<Answer>& answers) {
  std::vector<Table> tables;
  for (const TableConfig& config : study.report.tables) {
    Table table = build_table(config, study, frame, labels);
    if (tables.empty()) {
      for (const Answer& answer : answers) table.answers.push_back(answer.text);
    }
    add_notes(table, study, frame, labels);
    write_if_changed(study.output / (table.name + ".md"), table_markdown(table, labels));
    write_if_changed(study.output / (table.name + ".tex"), table_tex(table, labels));
    write_if_changed(study.output / (table.name + ".csv"), table_csv(table));
    const auto paired = study.output / (table.name + ".paired");
    if (!table.comparisons.empty()) {
      write_if_changed(paired.string() + ".csv", paired_csv(table));
      write_if_changed(paired.string() + ".tex", paired_tex(table, labels));
    } else {  // those of an earlier baseline
      std::filesystem::remove(paired.string() + ".csv");
      std::filesystem::remove(paired.string() + ".tex");
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

void write_claims(const Study& study, const std::vector<Answer>& answers, const Labels& labels) {
  const auto csv = study.output / concat(kClaimsFile, ".csv");
  const auto tex = study.output / concat(kClaimsFile, ".tex");
  if (!answers.empty()) {
    write_if_changed(csv, claims_csv(study, answers));
    write_if_changed(tex, claims_tex(study, answers, labels));
  } else {
    std::filesystem::remove(csv);
    std::filesystem::remove(tex);
  }
}

void write_methods(const Study& study, const std::vector<MethodsParagraph>& methods) {
  const auto tex = study.output / kMethodsFile;
  if (methods.empty()) {
    std::filesystem::remove(tex);
  } else {
    write_if_changed(tex, methods_tex(methods, study.name));
  }
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
      const auto found =
          std::find_if(table.columns.begin(), table.columns.end(),
                       [](const Metric& column) { return column.better != Better::kNeither; });
      if (found != table.columns.end()) metric = found->key;
    }
    if (std::string text = headline(table, frame, metric, labels); !text.empty()) return text;
  }
  return "";
}

std::string file_list(const Study& study, const std::vector<Table>& tables,
                      const std::vector<Figure>& figures) {
  const auto line = [&](const std::string& label, const std::filesystem::path& path) {
    return "  " + pad_right(label, 8) + path.string() + "\n";
  };
  std::string out;
  for (const Table& table : tables) {
    out += line("table", study.output / (table.name + ".{md,csv,tex}"));
  }
  std::vector<std::string> drawn;
  std::vector<std::string> data_only;
  for (const Figure& figure : figures)
    (figure.has_images ? drawn : data_only).push_back(figure.name);
  const auto names = [&](const std::vector<std::string>& list) {
    return study.output / "figures" / (list.size() == 1 ? list[0] : "{" + join(list, ",") + "}");
  };
  if (!study.report.claims.empty()) out += line("claims", study.output / "claims.{csv,tex}");
  if (!drawn.empty()) out += line("figures", names(drawn).string() + ".{pdf,svg,png}");
  if (!data_only.empty()) out += line("data", names(data_only).string() + ".{csv,vl.json}");
  if (std::filesystem::exists(study.output / kMethodsFile)) {
    out += line("methods", study.output / kMethodsFile);
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
  const Labels labels(study.report.labels);
  make_directories(study.output);
  const std::vector<Answer> answers = answer_claims(study, frame, labels);
  const std::vector<Table> tables = write_tables(study, frame, labels, answers);
  write_claims(study, answers, labels);
  const auto methods = methods_of(study, frame, labels);
  write_methods(study, methods);
  double drawing_seconds = 0;
  std::vector<Figure> figures;
  RenderOutcome rendered;
  {
    const Timed drawing(drawing_seconds);
    figures = draw_figures(study, frame, Style{labels});
    rendered = write_figures(study, figures);
  }
  const std::string sentence = best_sentence(study, frame, tables, labels);
  Summary summary = count_runs(frame);
  summary.drawing_seconds = drawing_seconds;
  write_if_changed(study.output / "summary.json",
                   summary_json(study, summary, sentence, answers, figures).dump(1) + "\n");
  write_if_changed(study.output / "runs.json", runs_json(study, frame).dump(1) + "\n");
  write_if_changed(study.output / kObservationsFile, observations_text(study, frame));
  write_if_changed(study.output / "report.html", page_html({.study = study,
                                                            .frame = frame,
                                                            .labels = labels,
                                                            .tables = tables,
                                                            .answers = answers,
                                                            .figures = figures,
                                                            .headline = sentence,
                                                            .methods = methods,
                                                            .bundle = rendered.bundle}));
  for (const Table& table : tables) summary.text += table_terminal(table, labels) + "\n";
  for (const Answer& answer : answers) {
    summary.text += wrap(answer.text, kSummaryWidth, "  ") + "\n\n";
  }
  if (!sentence.empty()) summary.text += wrap(sentence, kSummaryWidth) + "\n\n";
  for (const std::string& warning : rendered.warnings) {
    summary.text += wrap("Warning: " + warning, kSummaryWidth) + "\n";
  }
  summary.text += file_list(study, tables, figures);
  summary.warnings = std::move(rendered.warnings);
  return summary;
}

}  // namespace difflab::report
