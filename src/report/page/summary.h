#pragma once

#include <string>
#include <vector>

namespace difflab::report {

struct Summary {
  std::string text;  ///< to print as it is: tables, notes, the paths that were written
  int planned = 0;
  int finished = 0;  ///< with a result, diverged ones included
  int diverged = 0;
  int failed = 0;                     ///< ended without a result
  double drawing_seconds = 0;         ///< wall-clock, for figures
  bool has_failed_to_draw = false;    ///< though a renderer is there
  std::vector<std::string> warnings;  ///< e.g. the renderer is missing; part of `text`, too
};

}  // namespace difflab::report
