#include "record/run_directory.h"

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

std::optional<Json> read_json(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) throw UserError(concat("cannot read ", path.string(), ": ", error.message()));
    return std::nullopt;
  }
  return Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
}

}  // namespace

void write_config(const RunDirectory& run, const std::string& text) {
  make_directories(run.path);
  std::error_code none;  // what is wrong the write says
  if (std::filesystem::exists(run.config(), none) && read_file(run.config()) == text) return;
  write_file_atomically(run.config(), text, Sync::kBytes);
}

std::optional<Json> read_result(const RunDirectory& run) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(run.result(), ignored) &&
      !std::filesystem::exists(run.result(), ignored)) {  // no result can ever be put there
    throw UserError(concat(run.result().string(), ": is a link to nothing; delete it"));
  }
  auto result = read_json(run.result());
  if (!result) return std::nullopt;
  const bool has_schema = result->is_object() && result->contains("schema");
  const auto metrics = has_schema ? result->find("metrics") : result->end();
  if (!has_schema || (metrics != result->end() && !metrics->is_null() && !metrics->is_object())) {
    throw UserError(
        concat(run.result().string(), ": is damaged (",
               has_schema ? "its metrics are no JSON object" : "no JSON object with a schema",
               "); delete its folder to run it again"));
  }
  if ((*result)["schema"] != kResultSchema) {
    throw UserError(concat(run.result().string(), ": has schema ", (*result)["schema"].dump(),
                           "; this difflab reads schema ", kResultSchema));
  }
  return result;
}

bool is_restored(const RunDirectory& run) {
  std::error_code none;
  if (std::filesystem::exists(run.checkpoint(), none)) return false;
  const auto provenance = read_provenance(run);
  return provenance && provenance->contains("restored_from");
}

std::optional<Json> read_provenance(const RunDirectory& run) {
  auto json = read_json(run.provenance());
  return json && json->is_object() ? json : std::nullopt;
}

std::optional<Json> read_status(const RunDirectory& run) {
  try {
    auto json = read_json(run.status());
    return json && json->is_object() ? json : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::vector<Json> read_metrics(const RunDirectory& run) {
  std::vector<Json> lines;
  if (!std::filesystem::exists(run.metrics())) return lines;
  const std::string text = read_file(run.metrics());
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    Json line = Json::parse(text.substr(begin, end - begin), nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      throw UserError(concat(run.metrics().string(), ":", lines.size() + 1,
                             ": is damaged (no JSON object); delete its folder to run it again"));
    }
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

}  // namespace difflab
