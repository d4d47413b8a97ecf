#pragma once

#include <string>
#include <vector>

namespace difflab::report {

class Frame;
class Labels;
struct Study;

/// One line of the settings of a study: what it is and its value, in words and numbers.
struct Setting {
  std::string group;  ///< Compared, Model, Training, Tuning, Seeds, Statistics or Software
  std::string name;
  std::string value;
};

/// How the study was made, for the appendix of a paper, from the configurations and records of the
/// runs that have a result. A setting that differs between runs has all its values; one that no run
/// has is left out. Empty without such a run, and for a tuning, of which the study that it is for
/// tells.
std::vector<Setting> settings_of(const Study& study, const Frame& frame, const Labels& labels);

/// A booktabs tabular, 240 pt wide: one column of a two-column page.
std::string settings_tex(const std::vector<Setting>& settings, const std::string& study);

constexpr const char* kSettingsFile = "settings.tex";

}  // namespace difflab::report
