#include "report/page/figure_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <variant>

#include "report/data/format.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

// A path in a folder that we may not enter counts as missing.
bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

constexpr const char* kImages[] = {".svg", ".pdf", ".png"};
constexpr int kNoConverter = 3;  // exit code of render.py without its library
constexpr int kNotWritten = 4;

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
  return std::ranges::all_of(
             kImages, [&](const char* image) { return is_there(file(study, figure, image)); }) &&
         holds(file(study, figure, ".vl.json"), spec_text(figure));
}

// Why the renderer cannot even be started; empty if it can.
std::string missing_part(const Renderer& renderer) {
  for (const fs::path& part : {renderer.python, renderer.script}) {
    if (!is_there(part)) return part.string() + " is missing";
  }
  return "";
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

// Error of each figure, "" if it was drawn; figures that the renderer did not reach are absent.
std::map<std::string, std::string> errors_of(Process& renderer, std::size_t figures) {
  std::map<std::string, std::string> errors;
  while (errors.size() < figures && renderer.output_open()) {
    for (const std::string& line : renderer.read_lines(std::chrono::seconds(1))) {
      const Json said = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!said.is_object()) continue;
      const Json& error = said["error"];
      errors[said["name"]] = error.is_string() ? error.get<std::string>() : "";
    }
  }
  return errors;
}

bool is_limited() {
  rlimit addresses{};
  return ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_max != RLIM_INFINITY;
}

bool has_old_picture(const Study& study, const Figure& figure) {
  return std::ranges::any_of(
      kImages, [&](const char* image) { return is_there(file(study, figure, image)); });
}

// A label may hold what a picture cannot.
void leave_out_controls(Json& json) {
  if (json.is_string()) json = without_controls(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& part : json) leave_out_controls(part);
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
          style.config.apply(figures.back().drawing.spec);
          leave_out_controls(figures.back().drawing.spec);
        },
        config);
  }
  return figures;
}

Pictures::Pictures(const Study& study, std::vector<Figure>& figures)
    : study_(study), figures_(figures) {
  if (figures.empty()) return;
  std::vector<Figure*> stale;
  for (Figure& figure : figures) {
    figure.has_images = is_current(study, figure);
    if (!figure.has_images) stale.push_back(&figure);
  }
  const fs::path bundle = bundle_path(study.renderer);
  const bool needs_bundle = !is_there(bundle);
  if (!stale.empty() || needs_bundle) draw(stale, needs_bundle);
  if (is_there(bundle)) bundle_ = read_file(bundle);
}

void Pictures::draw(const std::vector<Figure*>& stale, bool needs_bundle) {
  const Renderer& paths = study_.renderer;
  std::string failure = missing_part(paths);
  std::map<std::string, std::string> errors;
  if (failure.empty()) {
    if (needs_bundle) make_directories(paths.cache);
    // -I: no variable and no folder of the caller's changes which modules it loads.
    renderer_ = std::make_unique<Process>(
        std::vector<std::string>{paths.python.string(), "-I", "-X", "utf8", paths.script.string()});
    renderer_->send(job_for(study_, stale, needs_bundle).dump() + "\n");
    errors = errors_of(*renderer_, stale.size());
  }
  if (renderer_ && stale.empty()) renderer_->close_input();
  if (renderer_ && (stale.empty() || errors.size() < stale.size())) {  // it ends, or has ended
    const ExitStatus status = renderer_->wait();
    const bool is_missing = status.signal == 0 && status.code == kNoConverter;
    const bool is_through = status.success() && stale.empty();
    has_failed_ = !is_through && !is_missing;
    if (is_missing) {
      failure = concat("the Python package vl-convert-python is not installed in ",
                       paths.python.string());
    } else if (!is_through) {
      failure = concat(paths.script.string(), " ended with ", status.text(),
                       is_limited() ? " (ulimit -v bounds its memory)" : "", ": ",
                       renderer_->error_tail());
    }
    errors.clear();
    renderer_.reset();
  }
  if (!failure.empty()) {
    warnings_.push_back(concat("Figures are not drawn: ", failure,
                               ". Tables are complete; pictures of an earlier report stay, with "
                               "their data and specifications."));
  }
  for (Figure* figure : stale) {
    const auto said = errors.find(figure->name);
    if (said == errors.end()) continue;
    figure->has_images = said->second.empty();
    if (figure->has_images) {
      drawn_.push_back(figure);
    } else {
      has_failed_ = true;
      warnings_.push_back(concat("Figure ", figure->name, " is not drawn: ", said->second));
    }
  }
}

void Pictures::write() {
  if (figures_.empty()) return;
  make_directories(study_.output / "figures");
  // Pictures are replaced one by one: if that is cut off, nobody may take them for current.
  for (const Figure* figure : drawn_) {
    std::error_code none;
    fs::remove(file(study_, *figure, ".vl.json"), none);
  }
  if (!drawn_.empty()) {
    renderer_->send("write\n");
    renderer_->close_input();
    const ExitStatus status = renderer_->wait();
    if (status.signal != 0 || status.code == kNotWritten) {
      throw UserError(
          concat("figures were not written: ", renderer_->error_tail(), " (", status.text(), ")"));
    }
  }
  for (const Figure& figure : figures_) {
    if (!figure.has_images && has_old_picture(study_, figure)) continue;
    write_if_changed(file(study_, figure, ".csv"), figure.drawing.csv());
    write_if_changed(file(study_, figure, ".vl.json"), spec_text(figure));
  }
}

}  // namespace difflab::report
