#include "report/settings/study.h"

namespace difflab::report {

Renderer Renderer::below(const std::filesystem::path& root) {
  return {.python = root / ".venv" / "bin" / "python",
          .script = root / "src" / "report" / "page" / "render.py",
          .cache = root / ".difflab"};
}

Frame frame_of(const Study& study) {
  return {read_runs(study.runs, study.name), study.baseline, study.report.learned,
          study.report.derived};
}

}  // namespace difflab::report
