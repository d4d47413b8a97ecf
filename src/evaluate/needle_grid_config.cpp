#include <algorithm>
#include <string>
#include <utility>

#include "evaluate/needle_grid.h"

namespace difflab {
namespace {

/// Passes a cell's problems on under the key of the grid that made them.
class CellCheck final : public config::Check {
 public:
  CellCheck(config::Check& outer, std::string cell) : outer_(outer), cell_(std::move(cell)) {}
  void problem(std::string_view key, std::string_view message) override {
    const std::string_view grid_key = key == "length" ? "lengths" : "needles";
    outer_.problem(grid_key, concat("makes a cell (", cell_, ") whose ", key, " ", message));
  }

 private:
  config::Check& outer_;
  std::string cell_;
};

}  // namespace

void NeedleGridConfig::validate(config::Check& check) const {
  if (needles.empty()) check.problem("needles", "is empty; expected at least one number");
  if (queries.empty()) check.problem("queries", "is empty; expected at least one number");
  if (depths.empty()) check.problem("depths", "is empty; expected at least one depth");
  if (!needles.empty() && !queries.empty()) {
    const auto most = *std::max_element(needles.begin(), needles.end());
    for (const auto R : queries) {
      if (R > most) {
        check.problem("queries",
                      concat("asks for ", R, " needles; expected at most needles, ", most));
      }
    }
  }
}

void NeedleGridConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  const NeedleConfig* base = needles_of(task);
  if (base == nullptr) {
    check.problem("kind", "is needle_grid; expected a task with needles (needle, needle_recall)");
    return;
  }
  for (const auto N : needles) {
    for (const auto R : queries) {
      if (R > N) continue;
      for (const auto T : lengths.empty() ? std::vector{base->length} : lengths) {
        NeedleConfig cell = *base;
        cell.needles = N;
        cell.queries = R;
        cell.length = T;
        CellCheck cell_check(check, concat(N, " needles, ", R, " queries, ", T, " tokens"));
        cell.validate(cell_check);
      }
    }
  }
}

}  // namespace difflab
