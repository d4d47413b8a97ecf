#include "report/example_study.h"

#include <cmath>
#include <utility>

#include "util/files.h"
#include "util/random.h"
#include "util/text.h"

namespace difflab::report {

namespace fs = std::filesystem;

StudyBuilder::StudyBuilder() {
  study.name = "headline";
  study.preset = "default";
  study.title = "Which part finds needles?";
  study.question = "Which part of the design makes a small model find needles?";
  study.baseline = "transformer";
  study.output = folder() / "headline" / "default";
}

fs::path StudyBuilder::plan(const std::string& model, int seed) {
  const std::string id = concat(model, "-", seed);
  PlannedRun run;
  run.id = id;
  run.axes = {{"model", model}, {"seed", concat(seed)}};
  run.config = {{"model", Json{{"name", model}}},
                {"train", Json{{"steps", 1600}, {"lr", 0.003}}},
                {"seed", seed}};
  run.directory = {folder() / "runs" / id};
  study.runs.push_back(run);
  return run.directory.path;
}

void StudyBuilder::finished(const std::string& model, int seed, const Json& metrics,
                            const Json& more) {
  const fs::path run = plan(model, seed);
  make_directories(run);
  Json result = {
      {"schema", 1}, {"id", run.filename().string()}, {"status", "finished"}, {"metrics", metrics}};
  result.update(more);
  write_file_atomically(run / "result.json", result.dump());
  const Json provenance = {{"commit", "0123456789abcdef0123"},
                           {"dirty", false},
                           {"libtorch", "2.13.0"},
                           {"cpu", "AMD EPYC 7003"},
                           {"host", "quiet"},
                           {"compiler", "GNU 12.2.0"},
                           {"device", "cpu"}};
  write_file_atomically(run / "provenance.json", provenance.dump());
}

void StudyBuilder::status(const fs::path& run, const Json& status) {
  make_directories(run);
  write_file_atomically(run / "status.json", status.dump());
}

void StudyBuilder::table(std::vector<std::string> columns, std::vector<std::string> rows) {
  TableConfig table;
  table.columns = std::move(columns);
  table.rows.names = std::move(rows);
  study.report.tables = {table};
}

namespace {

struct Variant {
  const char* name;
  double half_step;  // where its curve passes one half
  double ceiling;
};

double noise(Random& random, double size) { return size * random.normal(); }

Json grid_cells(const Variant& variant, Random& random) {
  Json cells = Json::array();
  for (const int length : {64, 128, 256, 512}) {
    for (const int depth : {0, 25, 50, 75, 100}) {
      const double fade = std::exp(-0.5 * std::log2(length / 64.0));
      const double share = std::clamp(variant.ceiling * fade + noise(random, 0.04), 0.0, 1.0);
      const int correct = static_cast<int>(std::lround(share * 200));
      cells.push_back(Json{{"needles", 4},
                           {"queries", 1},
                           {"length", length},
                           {"depth", depth},
                           {"samples", 200},
                           {"n", 200},
                           {"correct", correct},
                           {"accuracy", correct / 200.0},
                           {"chance", 0.25}});
    }
  }
  return cells;
}

// Where attention goes: parts with sum 1.
Json attention_cells(const Variant& variant, Random& random) {
  Json cells = Json::array();
  for (const int depth : {0, 25, 50, 75, 100}) {
    const double answer = std::clamp(0.4 * variant.ceiling + noise(random, 0.03), 0.02, 0.6);
    const double bos = 0.3 * (1 - answer);
    const double before = 0.5 * (1 - answer) * depth / 100;
    const double after = 0.5 * (1 - answer) - before;
    const std::pair<const char*, double> parts[] = {{"begin", bos},
                                                    {"before", before},
                                                    {"answer", answer},
                                                    {"after", after},
                                                    {"question", 0.2 * (1 - answer)}};
    for (const auto& [region, share] : parts) {
      cells.push_back(Json{{"depth", depth}, {"region", region}, {"share", share}});
    }
  }
  return cells;
}

// Absolute logits, a few of them far out where the ceiling is low.
Json logit_cells(const Variant& variant, Random& random) {
  Json cells = Json::array();
  for (int i = 0; i < 400; ++i) {
    const double logit =
        std::abs(random.normal()) * (i % 40 == 0 ? 9 * (1.1 - variant.ceiling) + 2 : 1);
    cells.push_back(Json{{"logit", logit + 0.01}});
  }
  return cells;
}

}  // namespace

void with_cells(StudyBuilder& builder, const std::string& model, int seed, const Json& cells) {
  builder.finished(model, seed, {{"steps", 10}},
                   {{"evaluations", Json{{"grid", Json{{"cells", cells}}}}}});
}

void fill_like_headline(StudyBuilder& builder) {
  const Variant variants[] = {{"transformer", 1500, 0.55},
                              {"transformer_head_norm", 1450, 0.5},
                              {"transformer_half_heads", 1400, 0.58},
                              {"diff", 500, 1.0},
                              {"diff_no_norm", 1300, 0.45},
                              {"diff_lambda_0.8", 560, 1.0},
                              {"diff_lambda_0.5", 620, 0.99},
                              {"diff_v2", 1200, 0.4}};
  for (std::size_t v = 0; v < std::size(variants); ++v) {
    const Variant& variant = variants[v];
    for (int seed = 0; seed < 3; ++seed) {
      if (v == 4 && seed == 2) {
        builder.status(
            builder.plan(variant.name, seed),
            {{"state", "failed"}, {"step", 40}, {"message", "out of memory <at step 40>"}});
        continue;
      }
      if (v == 7 && seed == 2) {
        builder.plan(variant.name, seed);
        continue;
      }
      Random random{v, static_cast<std::uint64_t>(seed)};
      const bool diverges = v == 2 && seed == 1;
      const double half = variant.half_step * (1 + noise(random, 0.06));
      std::string curve;
      double accuracy = 0;
      Json reached = nullptr;
      for (int step = 50; step <= (diverges ? 700 : 1600); step += 50) {
        accuracy = 0.25 + (variant.ceiling - 0.25) / (1 + std::exp(-(step - half) / 90)) +
                   noise(random, 0.012);
        accuracy = std::clamp(accuracy, 0.0, 1.0);
        if (reached.is_null() && accuracy >= 0.9) reached = step;
        curve += Json{{"step", step}, {"train_loss", 2.5 - accuracy}, {"lr", 0.003}}.dump() + "\n";
        curve += Json{{"step", step}, {"needle_accuracy", accuracy}, {"valid_loss", 2.6 - accuracy}}
                     .dump() +
                 "\n";
      }
      if (v == 6 && seed == 0) reached = nullptr;
      Json metrics = {{"parameters", 123520 + 32 * v},
                      {"steps", 1600},
                      {"needle_accuracy", accuracy},
                      {"needle_accuracy_chance", 0.03125},
                      {"valid_loss", 2.6 - accuracy},
                      {"steps_to_90_accuracy", reached},
                      {"train_seconds", 65 + noise(random, 2)},
                      {"tokens_per_second", 21000 + noise(random, 300)}};
      Json more = {
          {"evaluations", Json{{"needle_grid", Json{{"cells", grid_cells(variant, random)}}},
                               {"attention", Json{{"cells", attention_cells(variant, random)}}},
                               {"logits", Json{{"cells", logit_cells(variant, random)}}}}}};
      if (reached.is_null()) more["censored"] = Json{{"steps_to_90_accuracy", 1600}};
      if (diverges) {
        more = {{"status", "diverged"}, {"diverged_at_step", 720}};
        metrics = {{"parameters", 123520 + 32 * v},   {"steps", 720},
                   {"needle_accuracy", nullptr},      {"valid_loss", nullptr},
                   {"steps_to_90_accuracy", nullptr}, {"train_seconds", 30.0}};
      }
      builder.finished(variant.name, seed, metrics, more);
      write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl", curve);
    }
  }
}

ReportConfig headline_report() {
  ReportConfig report;
  TableConfig table;
  table.rows.names = {"model"};
  table.columns = {"parameters",           "needle_accuracy", "valid_loss",
                   "steps_to_90_accuracy", "train_seconds",   "tokens_per_second"};
  report.tables = {table};
  report.labels.entries = {{"transformer", "Transformer"},
                           {"transformer_head_norm", "Transformer + head norm"},
                           {"transformer_half_heads", "Transformer, half heads"},
                           {"diff", "DIFF"},
                           {"diff_no_norm", "DIFF − head norm"},
                           {"diff_lambda_0.8", "DIFF, λ_init 0.8"},
                           {"diff_lambda_0.5", "DIFF, λ_init 0.5"},
                           {"diff_v2", "DIFF V2"}};
  auto learning = of_yaml<LineConfig>("name: learning, y: needle_accuracy, color: model");
  auto accuracy = of_yaml<IntervalConfig>("name: accuracy, y: model, x: needle_accuracy");
  auto grid = of_yaml<HeatmapConfig>(
      "name: depth_length, source: needle_grid, x: length, y: depth, value: accuracy, facet: "
      "model, where: {needles: 4, queries: 1}");
  report.figures = {learning, accuracy, grid};
  return report;
}

std::vector<FigureConfig> other_figures() {
  auto difference = of_yaml<HeatmapConfig>(
      "name: difference, source: needle_grid, x: length, y: depth, value: accuracy, facet: model, "
      "against: transformer");
  auto attention = of_yaml<LineConfig>(
      "name: attention, source: attention, x: depth, y: share, color: region, facet: model");
  auto logits = of_yaml<HistogramConfig>("name: logits, source: logits, x: logit, color: model");
  auto speed =
      of_yaml<ScatterConfig>("name: speed, x: tokens_per_second, y: valid_loss, color: model");
  auto when =
      of_yaml<SurvivalConfig>("name: when, event: steps_to_90_accuracy, color: model, band: ci95");
  auto length = of_yaml<LineConfig>(
      "name: length, source: needle_grid, x: length, y: accuracy, color: model, x_scale: log");
  LineConfig panels = length;
  panels.name = "panels";
  panels.color = "";
  panels.facet = "model";
  panels.width = ColumnWidth::kDouble;
  auto intervals = of_yaml<IntervalConfig>("name: intervals, y: model, x: steps_to_90_accuracy");
  return {difference, attention, logits, speed, when, length, panels, intervals};
}

}  // namespace difflab::report
