#include "report/settings/study.h"

#include <array>
#include <set>
#include <string_view>
#include <variant>

#include "report/data/learned.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Taken for learned, runs that never did would enter means of those that have.
void require_known_who_learned(const Study& study, const Frame& frame) {
  if (!study.report.learned.given()) return;
  std::set<std::string> asked;  // kinds of task of which it is known
  for (const auto& run : frame.runs()) {
    if (run.metric(kLearned)) asked.insert(run.setting("task.kind"));
  }
  for (const auto& run : frame.runs()) {
    if (run.state != RunState::kFinished || run.metric(kLearned)) continue;
    if (!run.provenance.contains("restored_from")) continue;
    const auto kind = run.setting("task.kind");
    if (!asked.empty() && asked.count(kind) == 0) continue;  // none of them measures it
    const auto folder = run.plan.directory.path.string();
    throw nobody_knows_who_learned(study.report.learned, folder, folder);
  }
}

}  // namespace

Renderer Renderer::below(const std::filesystem::path& root) {
  const auto script = root / "src" / "report" / "page" / "render.py";
  const auto python = installing_python();
  if (python.empty()) return {root / ".venv" / "bin" / "python", script, root / ".difflab"};
  const auto cache = environment("XDG_CACHE_HOME");
  const auto of_user = std::filesystem::path(environment("HOME")) / ".cache";
  return {python, script, (cache.empty() ? of_user : std::filesystem::path(cache)) / "difflab"};
}

Frame frame_of(const Study& study, std::vector<FrameRun> runs) {
  const auto& figures = study.report.figures;
  const bool draws_looks = std::ranges::any_of(
      figures, [](const auto& figure) { return is_of_looks(common_of(figure).source); });
  for (FrameRun& run : runs) {
    const auto looks = run.result.find(kLooks);
    if (draws_looks && looks != run.result.end()) run.looks = cells_of_looks(*looks);
  }
  return {std::move(runs), study.baseline, study.report.learned, study.report.derived,
          study.report.times};
}

Frame frame_of(const Study& study) {
  Frame frame = frame_of(study, read_runs(study.runs, study.name));
  require_known_who_learned(study, frame);
  return frame;
}

Labels labels_of(const Study& study, const Frame& frame) {
  const ReportConfig& report = study.report;
  std::vector<std::string> keys = frame.axes();
  for (const auto& table : report.tables) {
    keys.insert(keys.end(), table.columns.begin(), table.columns.end());
  }
  for (const auto& claim : report.claims) keys.push_back(claim.metric);
  EachKey add{"", [&](std::string_view name, const std::string& value) {
                static constexpr std::array<std::string_view, 4> kNoKeys = {"name", "title",
                                                                            "source", "against"};
                if (!is_among(name, kNoKeys) && value.find('.') != value.npos)
                  keys.push_back(value);
              }};
  for (auto figure : report.figures) {
    std::visit([&](auto& one) { one.visit_fields(add); }, figure);
  }
  return Labels(report.labels, keys);
}

}  // namespace difflab::report
