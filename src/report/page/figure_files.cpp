#include "report/page/figure_files.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <variant>

#include "util/error.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

// What cannot be looked at, in a folder that only somebody else may enter, is not there for us.
bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

constexpr const char* kImages[] = {".svg", ".pdf", ".png"};
constexpr int kNoConverter = 3;  // exit code of render.py without its library

fs::path file(const Study& study, const Figure& figure, const char* extension) {
  return study.output / "figures" / (figure.name + extension);
}

fs::path bundle_path(const Renderer& renderer) { return renderer.cache / "vega-bundle.js"; }

std::string spec_text(const Figure& figure) { return figure.drawing.spec.dump(1) + "\n"; }

bool holds(const fs::path& path, const std::string& bytes) {
  std::error_code error;
  return fs::file_size(path, error) == bytes.size() && !error && read_file(path) == bytes;
}

bool is_current(const Study& study, const Figure& figure) {
  return std::all_of(std::begin(kImages), std::end(kImages),
                     [&](const char* image) { return is_there(file(study, figure, image)); }) &&
         holds(file(study, figure, ".vl.json"), spec_text(figure));
}

// Why the renderer cannot even be started; empty if it can.
std::string missing_part(const Renderer& renderer) {
  for (const fs::path& part : {renderer.python, renderer.script}) {
    if (!is_there(part)) return part.string() + " is missing";
  }
  return "";
}

struct RendererAnswer {
  std::map<std::string, std::string> errors;  // by figure; empty text: drawn
  std::string failure;                        // of the program as a whole
};

RendererAnswer ask_renderer(const Renderer& renderer, const Json& job) {
  RendererAnswer answer;
  Process process({renderer.python.string(), renderer.script.string()});
  process.send(job.dump());
  process.close_input();
  while (process.output_open()) {
    for (const std::string& line : process.read_lines(std::chrono::seconds(1))) {
      const Json said = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!said.is_object()) continue;
      const Json& error = said["error"];
      answer.errors[said["name"]] = error.is_string() ? error.get<std::string>() : "";
    }
  }
  const ExitStatus status = process.wait();
  if (status.signal == 0 && status.code == kNoConverter) {
    answer.failure = concat("the Python package vl-convert-python is not installed in ",
                            renderer.python.string());
  } else if (!status.success() && answer.errors.empty()) {
    answer.failure =
        concat(renderer.script.string(), " ended with ", status.text(), ": ", process.error_tail());
  }
  return answer;
}

Json job_for(const Study& study, const std::vector<Figure*>& figures, bool needs_bundle) {
  Json job = {{"bundle", nullptr}, {"figures", Json::array()}};
  if (needs_bundle) job["bundle"] = fs::absolute(bundle_path(study.renderer)).string();
  for (const Figure* figure : figures) {
    Json one = {{"name", figure->name}, {"spec", figure->drawing.spec}};
    for (const char* image : kImages) {
      one[image + 1] = fs::absolute(file(study, *figure, image)).string();
    }
    job["figures"].push_back(std::move(one));
  }
  return job;
}

void remove_images(const Study& study, const Figure& figure) {
  for (const char* image : kImages) {
    std::error_code ignored;
    fs::remove(file(study, figure, image), ignored);
  }
}

std::vector<std::string> render(const Study& study, const std::vector<Figure*>& stale,
                                bool needs_bundle) {
  std::vector<std::string> warnings;
  std::string failure = missing_part(study.renderer);
  RendererAnswer answer;
  if (failure.empty()) {
    if (needs_bundle) make_directories(study.renderer.cache);
    answer = ask_renderer(study.renderer, job_for(study, stale, needs_bundle));
    failure = answer.failure;
  }
  if (!failure.empty()) {
    warnings.push_back(concat("Figures are not drawn: ", failure,
                              ". Tables, figure data and specifications are complete."));
  }
  for (Figure* figure : stale) {
    const auto said = answer.errors.find(figure->name);
    figure->has_images = said != answer.errors.end() && said->second.empty();
    if (figure->has_images) continue;
    remove_images(study, *figure);
    if (said != answer.errors.end()) {
      warnings.push_back(concat("Figure ", figure->name, " is not drawn: ", said->second));
    }
  }
  return warnings;
}

}  // namespace

void write_if_changed(const fs::path& path, const std::string& bytes) {
  if (!holds(path, bytes)) write_file_atomically(path, bytes);
}

std::vector<Figure> draw_figures(const Study& study, const Frame& frame, const Style& style) {
  std::vector<Figure> figures;
  for (const FigureConfig& config : study.report.figures) {
    std::visit(
        [&](const auto& figure) {
          figures.push_back(
              {.name = figure.name, .width = figure.width, .drawing = figure.draw(frame, style)});
        },
        config);
  }
  return figures;
}

RenderOutcome write_figures(const Study& study, std::vector<Figure>& figures) {
  RenderOutcome outcome;
  if (figures.empty()) return outcome;
  make_directories(study.output / "figures");
  std::vector<Figure*> stale;
  for (Figure& figure : figures) {
    figure.has_images = is_current(study, figure);
    if (!figure.has_images) stale.push_back(&figure);
  }
  const fs::path bundle = bundle_path(study.renderer);
  const bool needs_bundle = !is_there(bundle);
  // Images are replaced one by one: if that is cut off, nobody may take them for current.
  for (const Figure* figure : stale) {
    std::error_code none;
    fs::remove(file(study, *figure, ".vl.json"), none);
  }
  if (!stale.empty() || needs_bundle) outcome.warnings = render(study, stale, needs_bundle);
  for (const Figure& figure : figures) {
    write_if_changed(file(study, figure, ".csv"), figure.drawing.csv());
    write_if_changed(file(study, figure, ".vl.json"), spec_text(figure));
  }
  if (is_there(bundle)) outcome.bundle = read_file(bundle);
  return outcome;
}

}  // namespace difflab::report
