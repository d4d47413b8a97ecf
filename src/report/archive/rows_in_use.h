#pragma once

#include <set>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/settings/report_config.h"
#include "util/json.h"

namespace difflab::report {

/// The rows of a run, cells and lines of its curve, that a report looks at, with the keys that it
/// asks them for. Everything else of a run's details is left to its directory.
class RowsInUse {
 public:
  explicit RowsInUse(const ReportConfig& report);

  /// Packed lines of the run's curve; null if nothing draws or asks it.
  Json curve_of(const FrameRun& run) const;

  /// Source → packed cells; what the models wrote (texts_in) as it is.
  Json evaluations_of(const FrameRun& run) const;

 private:
  struct Use {
    std::string source;  ///< empty: the curve
    TextMap where;
  };
  template <class Config>
  void add(Config config);
  bool draws(const FrameRun& run, const std::string& source, const Json& cell) const;
  Json pack(const std::vector<const Json*>& rows) const;

  std::vector<Use> uses_;
  std::set<std::string> keys_;
};

/// Rows as packed by RowsInUse.
/// @throws Json::exception if they are not.
std::vector<Json> unpack(const Json& packed);

}  // namespace difflab::report
