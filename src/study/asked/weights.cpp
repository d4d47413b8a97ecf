#include "study/asked/weights.h"

#include <vector>

#include "config/value/yaml.h"
#include "record/run_directory.h"
#include "record/safetensors.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".safetensors";

std::vector<fs::path> weights_in(const fs::path& folder) {
  auto files = paths_in(folder);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != kExtension; });
  return files;
}

}  // namespace

bool is_weights(const fs::path& name) {
  std::error_code none;
  if (name.extension() == kExtension) return fs::is_regular_file(name, none);
  const RunDirectory run{name};
  return fs::is_directory(name, none) && !fs::exists(run.checkpoint(), none) &&
         !weights_in(name).empty();
}

Weights read_weights(const fs::path& name) {
  auto file = name;
  if (fs::is_directory(name)) {
    const auto files = weights_in(name);
    if (files.size() > 1) {
      throw UserError(
          concat(name.string(), ": holds ", files.size(), " files of weights; name one of them"));
    }
    file = files.front();
  }
  file = fs::absolute(file).lexically_normal();
  const auto beside = file.parent_path() / "config.yaml";
  if (fs::exists(beside)) return {file, config::load_yaml(beside)};
  const auto json = Json::parse(Safetensors::read(file).metadata_at("config"), nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw UserError(concat(file.string(),
                           ": has no configuration in it; expected one from difflab export, or a "
                           "config.yaml beside it that says at least model and task"));
  }
  return {file, config::from_json(json)};
}

}  // namespace difflab::cli
