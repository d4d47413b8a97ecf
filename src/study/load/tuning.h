#pragma once

#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
#include "study/study.h"

namespace difflab::cli {

/// How many values the grid of a variant may grow by at each of its two ends.
constexpr int kMostGrown = 3;

/// Gives a study with `tune` the runs that find the value of each variant, and, where these are
/// finished, what they say: study.tuning and study.tuned. It is read from the runs' files alone, so
/// a sweep that was killed and goes on takes the same decisions.
///
/// A value works if all its runs trained to the end and one of them learned (where the study says
/// what that means) and got there (where the metric is a time). The best of a variant is that of
/// which most seeds learned, then that with the best mean metric. If it lies at an edge, the
/// variant's grid grows by one value there, in the ratios of the grid, and with it the grids of
/// variants of which no value works.
///
/// Values that cannot be the best are left with one seed, unless tune.every_seed: first every value
/// is tried with the first seed, then those that learned with all, then the others of variants of
/// which no value learned with all seeds. The values that are found are those of every seed.
///
/// Variants of which no value works by then start again in runs of tune.longer steps, if that is
/// given, which take the place of the shorter ones.
///
/// With tune.again the best two values of each variant, its finalists, go on to as many more seeds,
/// and the better by all of these is taken. A finalist of which one of these runs diverged gives
/// its place to the next best. If the taken one lies at an edge, the grid grows as above.
/// @param points as they were composed, those of study.points
void tune(const std::vector<config::Point>& points, Study& study, config::Problems& problems);

/// The points with the values that were found, without those of variants that are not tunable. What
/// refers to the tuned key, ${train.lr}, follows it.
std::vector<config::Point> tuned_points(std::vector<config::Point> points, const Study& study,
                                        config::Problems& problems);

}  // namespace difflab::cli
