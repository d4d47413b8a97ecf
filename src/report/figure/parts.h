#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/figure/style.h"
#include "statistics/describe.h"

namespace difflab::report {

/// The runs that share all keys, with one number each.
struct Group {
  std::vector<Json> keys;  ///< null for an empty key name
  std::vector<const FrameRun*> runs;
  std::vector<double> values;  ///< per run; several rows of one run are averaged first,
                               ///< because only runs are independent
  double average = 0;
  std::optional<Interval> interval;  ///< over the runs; empty for one, and where any is censored
  std::size_t censored = 0;  ///< runs whose time never came: their value is what it is longer than
  std::int64_t right = 0;    ///< Σ `correct` of the rows that count their answers
  std::int64_t answers = 0;  ///< Σ `n` of those rows

  std::size_t n() const { return values.size(); }
};

/// Groups `rows` by the values of `keys` and averages `measure`. Ordered by the keys, the first
/// one outermost: an axis in sweep order, numbers ascending. Rows without the measure are left out,
/// and but for curves those of runs that have not learned what it asks. A run's time that never
/// came counts as long as it was waited for: a mean over the others would be the shorter, the fewer
/// got there.
std::vector<Group> aggregate(const Frame& frame, const std::vector<Observation>& rows,
                             const std::vector<std::string>& keys, const std::string& measure);

/// Each group minus the one that differs from it in `axis` alone, with the value `against` there,
/// run by run of equal seed, with the interval that tables give the differences. Groups of
/// `against` itself, and those without a partner, are left out. `keys` are those of the groups.
std::vector<Group> differences(const Frame& frame, const std::vector<Group>& groups,
                               const std::vector<std::string>& keys, const std::string& axis,
                               const std::string& against, const Metric& metric);

/// "Mean and 95 % interval over 3 runs" and the like.
std::string describe_spread(const std::vector<Group>& groups, bool shows_interval);

/// "Diverged: DIFF (step 120). Without a result: DIFF V2 (1 of 3)" for the runs behind a figure
/// that are missing from it, and which have not learned; empty if all is well.
/// @param where of the figure; keys of cells say nothing of runs
std::string describe_gaps(const Frame& frame, const std::string& axis, const TextMap& where,
                          const Labels& labels);

/// A key of a group as text; "" for null.
std::string key_text(const Json& key);

/// The label of the look that belongs to a key of a group, or the key itself made readable.
std::string label_of(const Json& key, const std::vector<Series>& series, const Labels& labels);

/// Title of a legend: the axis' name if all labels are bare numbers, which say nothing without it;
/// null if the labels speak for themselves.
Json legend_title(const std::vector<Series>& series, const std::string& axis, const Labels& labels);
/// The columns of a legend below a figure of one column, half of which has room for 30 letters.
int legend_columns(const std::vector<Series>& series);

/// Chance levels of `measure`, distinct and ascending: its own of the rows if they are cells that
/// state it (`chance` is that of `accuracy`), else what the results say.
std::vector<double> chance_levels(const std::vector<Observation>& rows, const std::string& measure);

/// "dashed: chance" for one level, "chance 0.125 to 0.25" for several, which get no rule; empty for
/// none.
std::string describe_chance(const std::vector<double>& levels);

/// A layer with a rule at a value of `channel` ("x" or "y"), which its datum has under `name`.
Json rule_at(const char* name, const Json& value, const char* channel, Json mark);

/// A dashed rule at the chance level if there is just one; an array of layers.
Json chance_rules(const std::vector<double>& levels, const char* channel);

/// "mean", "low", "high" (null without an interval) and "n" of a group, as fields of a datum.
Json spread_fields(const Group& group);

/// Takes intervals that reach 0 or less from values that a log axis shows, which would show nothing
/// else. How many.
std::size_t drop_intervals_at_zero(Json& values);

/// "2 intervals reach 0 and are not shown"; empty for none.
std::string describe_dropped(std::size_t intervals);

/// The columns `keys`, mean_M, low_M, high_M, n and one row per group, for the figure's CSV.
void add_csv(Drawing& drawing, const std::vector<std::string>& keys, const std::string& measure,
             const std::vector<Group>& groups);

/// An axis whose ticks are plain numbers (10, 0.003, 20,000), not what Vega makes of few of them
/// (1e+1).
Json number_axis(Json axis);

/// A channel of an encoding: a number with its axis, whose ticks are plain (number_axis), or a name
/// with its legend.
Json number_channel(const char* field, const Json& title, const Json& scale, const Json& axis);
Json name_channel(const char* field, const Json& title, const Json& scale, const Json& legend);

/// Pixels between panels side by side: the last tick of one and the first of the next have room.
constexpr int kPanelGap = 22;

/// How many of `panels` stand side by side, `most` at best: rows as even as can be, and none with
/// one panel alone where that can be avoided.
int panels_across(std::size_t panels, int most);

/// True if the last row of panels is not full.
bool has_gap(const std::vector<Series>& panels, int columns);

/// Splits a figure into panels, one per value, `columns` side by side; `panel` has marks and size.
/// `axis` is whose values they are, told with them unless they are models, which have names.
void split_into_panels(Json& spec, const std::vector<Series>& panels, const std::string& axis,
                       const Labels& labels, int columns, Json panel);

/// A plot of `lines`, which a legend tells apart, in one panel or in one for each of `panels`.
struct Plot {
  const FigureCommon& figure;
  const Style& style;
  const std::string& facet;  ///< axis of the panels
  const std::vector<Series>& lines;
  const std::vector<Series>& panels;
  int rows_beside = 0;  ///< of the legend, which a plot without panels has room for below it
  int gap = kPanelGap;  ///< pixels between panels
};

/// Gives the layers of such a plot their sizes.
void lay_out_plot(Json& spec, const Plot& plot, Json layers);

/// The field of a tooltip with its name, and the format of a number.
constexpr const char* kFourDigits = ".4~f";
Json told_field(const char* field, const Json& title, const char* format = nullptr);

/// Makes the whole picture, labels and legend included, as wide as the figure, and so high below
/// its heading.
void fit_into(Json& spec, const FigureCommon& figure, const Style& style, int height);

}  // namespace difflab::report
