// needle: accuracy of trained models by length and depth.

#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/sweep/ask_and_report.h"
#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/page/figure_files.h"
#include "report/table/grid.h"
#include "util/hash.h"

namespace difflab::cli {
namespace {

constexpr const char* kName = "needle_map";
constexpr std::size_t kMapWidth = 100;

struct NeedleOptions : AskOptions {
  std::vector<std::string> typed;
  std::string lengths = "";
  std::string depths = "0:100:25";
  std::string needles = "";
  std::string queries = "1";
  std::int64_t samples = 100;
};

// "64,256" as a list; "0:100:25" from 0 to 100 in steps of 25.
Json numbers_of(const std::string& option, const std::string& text) {
  const auto number = [&](const std::string& word) {
    const Json value = Json::parse(word, nullptr, /*allow_exceptions=*/false);
    if (!value.is_number()) {
      throw UserError(
          concat("--", option, " is '", text, "'; expected numbers such as 64,256 or 0:100:25"));
    }
    return value;
  };
  Json numbers = Json::array();
  for (const auto& word : split(text, ',')) {
    const auto range = split(word, ':');
    if (range.size() == 1) {
      numbers.push_back(number(word));
      continue;
    }
    if (range.size() != 3 || number(range[2]).get<double>() <= 0) {
      throw UserError(concat("--", option, " is '", text,
                             "'; expected FROM:TO:STEP with a step above 0, such as 0:100:25"));
    }
    const double from = number(range[0]), to = number(range[1]), step = number(range[2]);
    const double steps = (to - from) / step + 1e-9;
    if (steps < 0) {
      throw UserError(concat("--", option, " is '", text, "', which goes from ", range[0],
                             " down to ", range[1], "; expected FROM below TO, such as 0:100:25"));
    }
    if (steps > 1000) throw UserError(concat("--", option, " is '", text, "': too many numbers"));
    const auto count = static_cast<std::int64_t>(steps);
    for (std::int64_t i = 0; i <= count; ++i) {
      const double value = from + static_cast<double>(i) * step;
      const auto whole = static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15));
      numbers.push_back(static_cast<double>(whole) == value ? Json(whole) : Json(value));
    }
  }
  return numbers;
}

Json evaluation_of(const NeedleOptions& options) {
  Json evaluation{{"kind", "needle_grid"}, {"name", kName}};
  if (!options.lengths.empty()) evaluation["lengths"] = numbers_of("lengths", options.lengths);
  evaluation["depths"] = numbers_of("depths", options.depths);
  if (!options.needles.empty()) evaluation["needles"] = numbers_of("needles", options.needles);
  evaluation["queries"] = numbers_of("queries", options.queries);
  evaluation["samples"] = options.samples;
  return evaluation;
}

/// Key of a map: a number of needles and of questions, at one step of the training.
struct MapKey {
  std::int64_t needles, queries, step;  // step -1: at the end

  static MapKey of(const Json& cell) {
    return {cell.at("needles"), cell.at("queries"), cell.value("step", std::int64_t{-1})};
  }
  auto operator<=>(const MapKey&) const = default;
  std::string title() const {
    const auto text =
        fmt::format("{} needle{}, {} asked", needles, needles == 1 ? "" : "s", queries);
    return step < 0 ? text : fmt::format("{}, after {} steps", text, step);
  }
  std::string name() const {
    const auto text = fmt::format("needles_{}_asked_{}", needles, queries);
    return step < 0 ? text : fmt::format("{}_step_{}", text, step);
  }
  Json where() const {
    Json cells{{"needles", needles}, {"queries", queries}};
    if (step >= 0) cells["step"] = step;
    return cells;
  }
};

Json cells_of_map(const sweep::Run& run) {
  const auto result = read_result(run.directory);
  if (!result || !result->at("evaluations").contains(kName)) return Json::array();
  return result->at("evaluations").at(kName).at("cells");
}

// Runs that differ by the seed alone, in sweep order.
using Seeds = std::pair<Axes, std::vector<sweep::Run>>;
std::vector<Seeds> by_variant(const Study& study) {
  std::vector<Seeds> variants;
  for (const auto& run : sweep::distinct(study.points)) {
    const auto axes = report::without_seed(run.axes);
    auto found = std::ranges::find(variants, axes, &Seeds::first);
    if (found == variants.end()) found = variants.insert(found, {axes, {}});
    found->second.push_back(run);
  }
  return variants;
}

// One table for each map, means over the seeds: lengths down, depths across.
std::string maps_of(const Seeds& variant) {
  std::map<MapKey, std::map<std::int64_t, std::map<double, std::vector<Json>>>> maps;
  std::set<double> depths;
  for (const auto& run : variant.second) {
    for (const auto& cell : cells_of_map(run)) {
      depths.insert(cell.at("depth").get<double>());
      maps[MapKey::of(cell)][cell.at("length")][cell.at("depth")].push_back(cell);
    }
  }
  auto shown = variant.second.front();
  shown.axes = variant.first;
  std::string text;
  for (const auto& [key, rows] : maps) {
    report::Grid grid{.columns = {{"tokens"}}, .rows = {}, .rules = {}};
    for (const double depth : depths) grid.columns.push_back({fmt::format("depth {:g} %", depth)});
    double chance = 0;
    std::size_t runs = 0;
    for (const auto& [length, cells] : rows) {
      std::vector<std::string> row{fmt::format("{}", length)};
      for (const double depth : depths) {
        const auto cell = cells.find(depth);
        row.emplace_back();
        if (cell == cells.end()) continue;
        double sum = 0;
        for (const auto& one : cell->second) sum += one.at("accuracy").get<double>();
        row.back() = fmt::format("{:.3f}", sum / static_cast<double>(cell->second.size()));
        chance = cell->second.front().at("chance");
        runs = std::max(runs, cell->second.size());
      }
      grid.rows.push_back(std::move(row));
    }
    text += fmt::format("\n{}, {} (chance {:.3f}{})\n\n{}", shown.label(), key.title(), chance,
                        runs > 1 ? fmt::format(", mean of {} runs", runs) : "",
                        report::to_terminal(grid, kMapWidth));
  }
  return text;
}

// The axis whose values are panels side by side: the one that the experiment's table compares, e.g.
// model, else the first.
std::string panels_of(const Study& study) {
  std::vector<std::string> axes;
  for (const auto& [axis, value] : report::without_seed(study.points.front().axes))
    axes.push_back(axis);
  const auto compared = report::compared_axis(study.config.report, axes);
  return axes.empty() ? "" : is_among(compared, axes) ? compared : axes.front();
}

// Settings in which runs differ, without the seed and that axis: each gets a picture of its own.
std::vector<Axes> settings_of(const Study& study, const std::string& panels) {
  std::vector<Axes> settings;
  for (const auto& run : study.points) {
    auto axes = report::without_seed(run.axes);
    std::erase_if(axes, [&](const auto& axis) { return axis.first == panels; });
    report::add_new(settings, std::move(axes));
  }
  return settings;
}

Json figures_of(const Study& study) {
  std::set<MapKey> maps;
  for (const auto& run : study.points) {
    for (const auto& cell : cells_of_map(run)) maps.insert(MapKey::of(cell));
  }
  const auto panels = panels_of(study);
  const auto settings = settings_of(study, panels);
  Json figures = Json::array();
  for (const auto& key : maps) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
      Json figure{{"mark", "heatmap"},
                  {"name", i == 0 ? key.name() : fmt::format("{}_{}", key.name(), i + 1)},
                  {"title", key.title()},
                  {"x", "length"},
                  {"y", "depth"},
                  {"value", "accuracy"},
                  {"facet", panels},
                  {"source", kName},
                  {"where", key.where()}};
      for (const auto& [axis, value] : settings[i]) {
        figure["where"][axis] = value;
        figure["title"] = concat(figure["title"].get<std::string>(), ", ", axis, "=", value);
      }
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

// A line for each run and cell: the run's axes, then what was asked and found.
std::string cells_csv(const Study& study) {
  std::vector<std::string> keys;
  for (const auto& run : study.points) {
    for (const auto& [axis, value] : run.axes) report::add_new(keys, axis);
  }
  for (const char* key : {"needles", "queries", "step", "length", "depth", "n", "correct"}) {
    keys.emplace_back(key);
  }
  auto lines = report::csv_line(keys);
  for (const auto& run : sweep::distinct(study.points)) {
    std::map<std::string, std::string> line(run.axes.begin(), run.axes.end());
    for (const auto& cell : cells_of_map(run)) {
      for (const auto& [key, value] : cell.items()) line[key] = value.dump();
      std::vector<std::string> words;
      for (const auto& key : keys) words.push_back(line[key]);
      lines += report::csv_line(words);
    }
  }
  return lines;
}

// A folder for each question, so that no answer overwrites another.
std::filesystem::path output_of(const Study& study, const NeedleOptions& options) {
  const Json question{options.typed, options.on, options.at, evaluation_of(options)};
  return study.results / "needle" /
         concat(study.name, "-", sha256_hex(question.dump()).substr(0, 6));
}

// The maps as pictures, with a page that holds them, and needles.csv.
report::Summary draw_maps(const Study& study, const NeedleOptions& options) {
  const Json figures = figures_of(study);
  auto page = study.for_report();
  page.title = "Needles by length and depth";
  page.command = program_name() + " needle";
  for (const auto& word : options.typed) page.command += " " + quoted_for_shell(word);
  page.report = config::read<report::ReportConfig>(config::from_json({{"figures", figures}}));
  page.output = output_of(study, options);
  auto summary = report::write_report(page);
  const auto csv = page.output / "needles.csv";
  report::write_if_changed(csv, cells_csv(study));
  for (const auto& warning : summary.warnings) std::cout << warning << '\n';
  for (const auto& figure : figures) {
    const auto file = concat(figure["name"].get<std::string>(), ".png");
    std::cout << "picture    " << config::shown_path(page.output / "figures" / file) << '\n';
  }
  std::cout << "cells      " << config::shown_path(csv) << '\n';
  return summary;
}

int needle(NeedleOptions& options) {
  for (const auto& word : options.words) {
    if (word.starts_with("evaluate")) {
      throw UserError(concat(word, ": needle asks for needles alone; expected ./difflab evaluate"));
    }
  }
  options.typed = options.words;
  options.words.push_back(
      concat("evaluate=", override_text(Json::array({evaluation_of(options)}))));
  auto asked = find_asked(options.words, options.results, options.on, options.at);
  if (sweep::batch_system(asked.study.config.launcher)) {
    throw UserError(
        "launcher: needle waits for its answers; expected launcher=local or ssh, or ./difflab "
        "evaluate");
  }
  asked.study.output.clear();  // no report of the experiment is written
  return ask_and_report(asked, options.json, [&] {
    for (const auto& variant : by_variant(asked.study)) std::cout << maps_of(variant);
    std::cout << '\n';
    auto summary = draw_maps(asked.study, options);
    std::cout << std::flush;
    return summary;
  });
}

}  // namespace

void add_needle_command(CLI::App& app) {
  const auto options = std::make_shared<NeedleOptions>();
  CLI::App* command = app.add_subcommand(
      "needle", "Evaluate trained models on needles: accuracy by length and depth");
  command->add_option("--lengths", options->lengths,
                      "tokens, e.g. 64,256,1024; by default the trained length");
  command->add_option("--depths", options->depths,
                      "of the asked needle in % of the text, e.g. 0,50,100 or 0:100:25");
  command->add_option("--needles", options->needles, "how many there are, e.g. 1,2,4,8");
  command->add_option("--queries", options->queries, "how many of them are asked");
  command->add_option("--samples", options->samples, "sequences for each cell");
  options->add_to(
      *command, "an experiment with its overrides, runs (folder, id or its beginning) or weights");
  command->callback([options] { exit_with(needle(*options)); });
}

}  // namespace difflab::cli
