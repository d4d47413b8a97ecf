#include <utility>

#include "config/grid/axes.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "run/input_files.h"
#include "run/run_config.h"
#include "study/load/load.h"

namespace difflab::study {

namespace fs = std::filesystem;

fs::path place_of(const config::Value& settings, const std::string& key, const fs::path& root) {
  const auto* value = settings.find_path(key);
  const bool typed = value != nullptr && value->source.file.starts_with("override ");
  return typed ? fs::current_path() : root;
}

RunConfig written_run(const config::Value& composed, const fs::path& root,
                      config::Problems& problems) {
  auto tree = composed;
  complete_stages(tree);
  auto run = config::read<RunConfig>(tree, "", problems);
  if (auto* file = text_file(run.task); file != nullptr && file->given()) {
    file->path = (place_of(tree, "task.file.path", root) / file->path).lexically_normal().string();
  }
  return run;
}

RunConfig checked_run(const config::Value& tree, const fs::path& root, config::Problems& problems) {
  auto run = config::read<RunConfig>(tree, "", problems);
  if (!problems.empty()) return run;
  config::PlacedCheck check(tree, "", problems);
  const auto place = [&](const std::string& key, const std::string& path) {
    return place_of(tree, key, root) / path;
  };
  resolve_input_files(run, place, check);
  return run;
}

void resolve(const std::vector<config::Point>& points, Study& study, config::Problems& problems) {
  for (const auto& point : points) {
    auto tree = point.config;
    complete_stages(tree);
    const auto run = checked_run(tree, study.root, problems);
    if (!problems.empty()) continue;
    const auto full = config::write(run);
    auto axes = point.axes;
    for (auto& [key, label] : axes) {  // a default of the structs, or no key of this kind
      const auto* value = full.find_path(key);
      if (label.empty()) label = value != nullptr ? config::label_of(*value) : "none";
    }
    study.add(run, std::move(axes));
  }
}

}  // namespace difflab::study
