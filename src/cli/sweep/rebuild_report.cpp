#include "cli/sweep/rebuild_report.h"

#include <unistd.h>

#include <iostream>
#include <string>
#include <system_error>

#include "report/archive/rebuild.h"
#include "report/report.h"
#include "study/project.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

// "results/x/" names the same folder as "results/x".
fs::path without_slash(const fs::path& path) {
  const auto plain = path.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

void require_free(const fs::path& from, const fs::path& to) {
  const auto source = fs::weakly_canonical(from), target = fs::weakly_canonical(to);
  const auto inside = target.lexically_relative(source);
  if (!inside.empty() && *inside.begin() != "..") {
    throw UserError(concat("--to ", to.string(), inside == "." ? " is " : " lies in ",
                           from.string(), "; expected a folder apart from it"));
  }
  if (fs::exists(to) && !(fs::is_directory(to) && fs::is_empty(to))) {
    throw UserError(concat("--to ", to.string(), " exists and is no empty folder"));
  }
}

// A folder beside `to` that gets its name when it is complete.
class Draft {
 public:
  explicit Draft(fs::path to)
      : to_(std::move(to)), path_(concat(to_.string(), ".partial-", ::getpid())) {
    make_directories(path_);
  }
  ~Draft() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& path() const { return path_; }
  void keep() {
    fs::rename(path_, to_);
    kept_ = true;
  }

 private:
  fs::path to_, path_;
  bool kept_ = false;
};

// What a summary says of the draft is true of the folder that it becomes.
std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

void rebuild(const fs::path& from, const fs::path& to) {
  const auto source = without_slash(from), target = without_slash(to);
  require_free(source, target);
  report::read_archive(source, target);  // nothing is made for what cannot be read
  Draft draft(target);
  const auto rewrite = [](const fs::path& folder, const fs::path& output) {
    auto [study, frame] = report::read_archive(folder, output);
    study.renderer = report::Renderer::below(find_checkout());
    return report::write_report(study, frame);
  };
  for (const auto* inner : {"tuning", "tuning/shorter"}) {
    if (fs::exists(source / inner / "runs.json")) rewrite(source / inner, draft.path() / inner);
  }
  const auto summary = rewrite(source, draft.path());
  draft.keep();
  std::cout << renamed(summary.text, draft.path().string(), target.string());
  require_drawn(summary);
}

}  // namespace difflab::cli
