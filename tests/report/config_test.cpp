#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "report/settings/report_config.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

ReportConfig read_yaml(const std::string& text) {
  return config::read<ReportConfig>(config::parse_yaml(text, "x.yaml"));
}

std::string problem_in(const std::string& text) {
  return testing::error_of([&] { read_yaml(text); });
}

constexpr const char* kWhole = R"(
headline: needle_accuracy
labels: {diff: DIFF V1, 8: eight heads}
tables:
  - {name: table, rows: model, columns: [parameters, needle_accuracy], compare: [needle_accuracy]}
  - {name: by_length, rows: [model, task.length], columns: [accuracy]}
figures:
  - {name: learning, mark: line, x: step, y: needle_accuracy, color: model, band: ci95}
  - {name: accuracy, mark: interval, y: model, x: needle_accuracy, width: double}
  - {name: depth_length, mark: heatmap, x: length, y: depth, value: accuracy, source: needle_grid,
     facet: model, where: {needles: 4, queries: 1}}
)";

CATCH_TEST_CASE("tables and figures are read from YAML, mark picks the kind of figure") {
  const ReportConfig report = read_yaml(kWhole);
  CATCH_REQUIRE(report.tables.size() == 2);
  CATCH_CHECK(report.tables[0].rows.names == std::vector<std::string>{"model"});
  CATCH_CHECK(report.tables[1].rows.names == std::vector<std::string>{"model", "task.length"});
  CATCH_CHECK(report.labels.find("diff") == "DIFF V1");
  CATCH_CHECK(report.labels.find("8") == "eight heads");
  CATCH_REQUIRE(report.figures.size() == 3);
  CATCH_CHECK(std::get<LineConfig>(report.figures[0]).color == "model");
  CATCH_CHECK(std::get<IntervalConfig>(report.figures[1]).width == ColumnWidth::kDouble);
  const auto& heatmap = std::get<HeatmapConfig>(report.figures[2]);
  CATCH_CHECK(heatmap.where.find("needles") == "4");
  CATCH_CHECK(heatmap.width == ColumnWidth::kDouble);
}

CATCH_TEST_CASE("a report configuration survives writing and reading") {
  const config::Value written = config::write(read_yaml(kWhole));
  CATCH_CHECK(written.find_path("figures[0].mark")->as_string() == "line");
  CATCH_CHECK(config::write(config::read<ReportConfig>(written)) == written);
}

CATCH_TEST_CASE("the figure of the gallery is one that is drawn, if any is") {
  constexpr const char* kFigure = "figures: [{name: learning, mark: line, x: step, y: loss}]\n";
  CATCH_CHECK(problem_in(std::string(kFigure) + "thumbnail: learnin\n") ==
              "x.yaml:2:12: thumbnail is 'learnin', which is not a figure; did you mean learning?");
  CATCH_CHECK(problem_in(std::string(kFigure) + "thumbnail: learning\n") == "");
  CATCH_CHECK(problem_in("figures: []\nthumbnail: learning\n") == "");
}

CATCH_TEST_CASE("mistakes in tables and figures are named with their place") {
  CATCH_CHECK(problem_in("figures:\n  - {name: a, mark: lines, x: step, y: loss}\n") ==
              "x.yaml:2:21: figures[0].mark is 'lines'; did you mean line?");
  CATCH_CHECK(problem_in("figures:\n  - {name: a, x: step}\n").find("has no mark") !=
              std::string::npos);
  CATCH_CHECK(problem_in("figures: [{name: a/b, mark: line, y: loss}]\n")
                  .find("is 'a/b'; expected letters, digits, _ and -") != std::string::npos);
  CATCH_CHECK(problem_in("figures: [{name: a, mark: interval, y: model}]\n").find("x is missing") !=
              std::string::npos);
  CATCH_CHECK(problem_in("tables: [{rows: model, columns: []}]\n").find("columns is empty") !=
              std::string::npos);
  CATCH_CHECK(problem_in("tables: [{columns: [a_loss], compare: [b_loss]}]\n")
                  .find("names 'b_loss', not a column; did you mean a_loss?") != std::string::npos);
  CATCH_CHECK(
      problem_in("tables: [{columns: [a]}, {columns: [b]}]\n").find("two tables named 'table'") !=
      std::string::npos);
}

}  // namespace
}  // namespace difflab::report
