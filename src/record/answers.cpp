#include "record/answers.h"

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::int64_t kAnswerSchema = 1;

std::filesystem::path file_of(const RunDirectory& run, const std::string& id) {
  return run.answers() / (id + ".json");
}

}  // namespace

std::optional<Answer> read_answer(const RunDirectory& run, const std::string& id) {
  std::error_code ignored;
  const auto file = file_of(run, id);
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  try {
    const auto json = Json::parse(read_file(file));
    if (json.at("schema") != kAnswerSchema || json.at("id") != id ||
        !json.at("metrics").is_object() || !json.at("details").is_object()) {
      return std::nullopt;
    }
    return Answer{id, json.at("evaluation"), json.at("metrics"), json.at("details"),
                  json.at("provenance")};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void write_answer(const RunDirectory& run, const Answer& answer) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(run.answers(), ignored)) {
    throw UserError(concat(run.answers().string(), ": is a link; expected a folder"));
  }
  make_directories(run.answers());
  const Json json = {{"schema", kAnswerSchema},         {"id", answer.id},
                     {"evaluation", answer.evaluation}, {"metrics", answer.metrics},
                     {"details", answer.details},       {"provenance", answer.provenance}};
  // A byte of a text that is no UTF-8 must not cost the answer.
  write_file_atomically(file_of(run, answer.id), dump_readable(json, 1) + "\n", Sync::kNothing);
}

}  // namespace difflab
