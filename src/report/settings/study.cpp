#include "report/settings/study.h"

#include "report/data/learned.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Taken for learned, runs that never did would enter means of those that have.
void require_known_who_learned(const Study& study, const Frame& frame) {
  if (!study.report.learned.given()) return;
  for (const auto& run : frame.runs()) {
    if (run.state != RunState::kFinished || run.metric(kLearned)) continue;
    if (!run.provenance.contains("restored_from")) continue;
    throw UserError(
        concat("learned.metric: ", run.plan.directory.string(),
               " was restored without the lines of ", study.report.learned.metric,
               ", so that nobody knows whether it learned; delete the folder to have it "
               "trained"));
  }
}

}  // namespace

Renderer Renderer::below(const std::filesystem::path& root) {
  return {.python = root / ".venv" / "bin" / "python",
          .script = root / "src" / "report" / "page" / "render.py",
          .cache = root / ".difflab"};
}

Frame frame_of(const Study& study) {
  Frame frame{read_runs(study.runs, study.name), study.baseline, study.report.learned,
              study.report.derived};
  require_known_who_learned(study, frame);
  return frame;
}

}  // namespace difflab::report
