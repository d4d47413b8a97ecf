#include "record/run_directory.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

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

using IsType = bool (*)(const Json&);

bool is_null_or_object(const Json& json) { return json.is_null() || json.is_object(); }
bool is_text(const Json& json) { return json.is_string(); }
bool is_amount(const Json& json) { return json.is_number(); }
bool is_null_or_amount(const Json& json) {
  return json.is_null() || json.is_number() || json.is_boolean();
}

struct TypedField {
  const char* name;
  IsType is;
  const char* type;
};

// Problem with the optional fields of an object; empty if there is none.
std::string problem_of_fields(const Json& object, std::initializer_list<TypedField> fields) {
  for (const auto& [name, is, type] : fields) {
    const auto found = object.find(name);
    if (found != object.end() && !is(*found)) return concat("'", name, "' is not ", type);
  }
  return "";
}

// Rows that a report looks into: cells, and samples of text.
std::string problem_of_rows(const Json& details, const char* list) {
  for (const Json& row : list_at(details, list)) {
    if (!row.is_object()) return concat("one of its ", list, " is not a JSON object");
    const auto problem = problem_of_fields(
        row,
        {{"step", is_amount, "a number"}, {"prompt", is_text, "text"}, {"text", is_text, "text"}});
    if (!problem.empty()) return concat("in one of its ", list, " ", problem);
  }
  return "";
}

// Problem with a result as a whole; empty if its fields can be read.
std::string problem_of(const Json& result) {
  if (!result.is_object() || !result.contains("schema")) return "no JSON object with a schema";
  auto problem = problem_of_fields(result, {{"id", is_text, "text"},
                                            {"status", is_text, "text"},
                                            {"diverged_at_step", is_amount, "a number"},
                                            {"metrics", is_null_or_object, "a JSON object"},
                                            {"censored", is_null_or_object, "a JSON object"},
                                            {"evaluations", is_null_or_object, "a JSON object"}});
  if (!problem.empty()) return problem;
  for (const char* of : {"metrics", "censored"}) {
    for (const auto& [name, value] : object_at(result, of).items()) {
      if (!is_null_or_amount(value)) return concat("'", of, ".", name, "' is not a number");
    }
  }
  for (const auto& [name, details] : object_at(result, "evaluations").items()) {
    if (!details.is_object()) return concat("its evaluation ", name, " is not a JSON object");
    for (const char* list : {"cells", "samples"}) {
      problem = problem_of_rows(details, list);
      if (!problem.empty()) return concat("its evaluation ", name, ": ", problem);
    }
  }
  return "";
}

}  // namespace

void write_config(const RunDirectory& run, const std::string& text) {
  make_directories(run.path);
  std::error_code none;  // what is wrong the write says
  if (std::filesystem::exists(run.config(), none) && read_file(run.config()) == text) return;
  write_file_atomically(run.config(), text, Sync::kBytes);
}

void require_own_files(const RunDirectory& run) {
  for (const auto& path : {run.path, run.claims(), run.answers(), run.kept(), run.log(),
                           run.events(), run.status(), run.metrics()}) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) continue;
    if (::access(path.c_str(), W_OK) == 0) continue;
    const int error = errno;
    const auto* owner = ::getpwuid(info.st_uid);
    throw UserError(fmt::format(
        "cannot write {}: {} (it belongs to {}, mode {:o}); who shares a results folder needs a "
        "common group, setgid folders and umask 002",
        path.string(), std::strerror(error),
        owner != nullptr ? owner->pw_name : std::to_string(info.st_uid), info.st_mode & 0777U));
  }
}

std::optional<Json> read_result(const RunDirectory& run) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(run.result(), ignored) &&
      !std::filesystem::exists(run.result(), ignored)) {  // no result can ever be put there
    throw UserError(concat(run.result().string(), ": is a link to nothing; delete it"));
  }
  auto result = read_json(run.result());
  if (!result) return std::nullopt;
  if (const auto problem = problem_of(*result); !problem.empty()) {
    throw UserError(concat(run.result().string(), ": is damaged (", problem,
                           "); delete its folder to run it again"));
  }
  if ((*result)["schema"] != kResultSchema) {
    throw UserError(concat(run.result().string(), ": has schema ", (*result)["schema"].dump(),
                           "; this difflab reads schema ", kResultSchema));
  }
  const auto id = string_at(*result, "id"), name = run.path.filename().string();
  // A folder that somebody gave another name to says nothing.
  const bool is_named_by_id =
      name.size() == 16 && name.find_first_not_of("0123456789abcdef") == name.npos;
  if (is_named_by_id && result->contains("id") && id != name) {
    throw UserError(concat(run.result().string(), ": is the result of run ", id, ", not of ", name,
                           "; delete the folder ", name, " to run that again"));
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
  auto texts = split(read_file(run.metrics()), '\n');
  texts.pop_back();  // what a crash left torn, or nothing
  for (const auto& text : texts) {
    Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      throw UserError(
          concat(run.metrics().string(), ":", lines.size() + 1,
                 ": is damaged (not a JSON object); delete the run's folder to run it again"));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace difflab
