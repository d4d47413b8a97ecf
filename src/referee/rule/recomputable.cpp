// A reader can compute every table, verdict and figure again from the folder.
#include <algorithm>
#include <filesystem>

#include "record/status.h"
#include "referee/rule/rules.h"
#include "report/report.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

namespace fs = std::filesystem;

std::size_t without_metrics(const Reference& one) {
  std::size_t count = 0;
  for (const Json& run : one.runs) {
    const auto state = run_state_of(run.value("status", ""));
    if (state && is_complete(*state) && !run.contains("metrics")) ++count;
  }
  return count;
}

bool is_made_again(const fs::path& file) {
  static constexpr const char* kExtensions[] = {".csv", ".md", ".tex", ".vl.json"};
  const auto name = file.filename().string();
  return std::ranges::any_of(kExtensions, [&](const char* end) { return name.ends_with(end); });
}

bool differs(const fs::path& made, const fs::path& stands) {
  return !fs::exists(stands) || read_file(made) != read_file(stands);
}

// Which figure it shows depends on whether pictures could be drawn.
bool summary_differs(const fs::path& made, const fs::path& stands) {
  if (!fs::exists(stands)) return true;
  Json ours = report::read_object(made), theirs = report::read_object(stands);
  ours.erase("figure");
  theirs.erase("figure");
  return ours != theirs;
}

// The names, below `root`, of files that no report of today makes (`stale`), and of files that
// `folder` gives otherwise today: tables, their comparisons, data and specifications of figures,
// the answers; pictures need a renderer.
void add_changed(const fs::path& folder, const fs::path& root, std::vector<std::string>& changed,
                 std::vector<std::string>& stale) {
  const ScratchFolder scratch("referee");
  const auto archive = report::read_archive(folder, scratch.path());
  report::write_report(archive.study, archive.frame);
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
    if (!entry.is_regular_file()) continue;
    const fs::path& made = entry.path();
    const auto stands = folder / made.lexically_relative(scratch.path());
    const bool is_summary = made.filename() == "summary.json";
    if (is_summary ? summary_differs(made, stands) : is_made_again(made) && differs(made, stands)) {
      changed.push_back(stands.lexically_relative(root).generic_string());
    }
  }
  // Readers would take files left by an earlier report for today's.
  for (const auto* part : {"", "figures"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder / part, none)) {
      const auto made = scratch.path() / entry.path().lexically_relative(folder);
      if (is_made_again(entry.path()) && !fs::exists(made)) {
        stale.push_back(entry.path().lexically_relative(root).generic_string());
      }
    }
  }
}

void make_again(const Reference& one, Objections& objections) {
  std::vector<std::string> changed, stale;
  add_changed(one.folder, one.folder, changed, stale);
  for (const char* part : {"tuning", "tuning/shorter"}) {
    if (fs::exists(one.folder / part / "runs.json")) {
      add_changed(one.folder / part, one.folder, changed, stale);
    }
  }
  if (!stale.empty()) {
    std::ranges::sort(stale);
    objections.object(one, stale.front(),
                      concat("no report of today makes ", join(stale),
                             "; delete what is left of an ", "earlier one"));
  }
  if (changed.empty()) return;
  std::ranges::sort(changed);  // a file system lists them in any order
  objections.object(
      one, changed.front(),
      concat(changed.size(), " files differ from what the folder gives today: ", join(changed)));
}

}  // namespace

void check_recomputable(const Reference& one, Objections& objections) {
  for (const auto& reason : one.unreadable) objections.cannot_check(one, "the folder", reason);
  if (const auto count = without_metrics(one); count > 0) {
    objections.object(one, "runs.json",
                      concat(count, " of ", one.runs.size(), " runs have no metrics there"));
  }
  if (!one.archive) {
    objections.object(one, "the folder", one.why_no_archive);
    return;
  }
  try {
    make_again(one, objections);
  } catch (const UserError& error) {
    objections.object(one, "the folder", concat("cannot be made again: ", error.what()));
  }
}

}  // namespace difflab::referee
