#pragma once

#include <memory>
#include <vector>

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "report/data/frame.h"
#include "report/figure/style.h"
#include "report/report.h"
#include "support/temporary_folder.h"

namespace difflab::report {

using testing::TemporaryFolder;

/// Writes the files of run directories by hand, as the worker would.
class StudyBuilder {
 public:
  /// Axes model × seed below a folder of its own; no renderer.
  StudyBuilder();
  const std::filesystem::path& folder() const { return folder_->path(); }

  /// Plans a run and returns its directory, which does not exist yet.
  std::filesystem::path plan(const std::string& model, int seed);
  /// Plans a run that finished with these metrics.
  void finished(const std::string& model, int seed, const Json& metrics,
                const Json& more = Json::object());
  void status(const std::filesystem::path& run, const Json& status);
  /// The report's only table.
  void table(std::vector<std::string> columns, std::vector<std::string> rows = {});

  Study study;

 private:
  std::shared_ptr<TemporaryFolder> folder_ = std::make_shared<TemporaryFolder>();
};

/// A figure or claim as the YAML between the braces of its list has it.
template <class Config>
Config of_yaml(const std::string& text) {
  return config::read<Config>(config::parse_yaml("{" + text + "}", "x.yaml"));
}

/// A figure of the study, with the study's labels.
Drawing draw(const StudyBuilder& builder, const auto& figure) {
  const Labels labels(builder.study.report.labels);
  return figure.draw(frame_of(builder.study), Style{labels});
}

/// A finished run whose evaluation `grid` has these cells.
void with_cells(StudyBuilder& builder, const std::string& model, int seed, const Json& cells);

/// Eight variants and three seeds with made-up but plausible curves and needle grids, one diverged
/// run, one failed and one never started: what a real report has to cope with.
void fill_like_headline(StudyBuilder& builder);

/// The tables and figures of the headline experiment.
ReportConfig headline_report();

/// One figure of every other kind and layout, over the same runs.
std::vector<FigureConfig> other_figures();

}  // namespace difflab::report
