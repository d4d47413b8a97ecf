#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
#include "report/settings/report_config.h"
#include "study/study.h"

namespace difflab::study {

/// Where a path in the configuration starts. One given on the command line is meant from where the
/// user is, one in a file from the project.
std::filesystem::path place_of(const config::Value& settings, const std::string& key,
                               const std::filesystem::path& root);

/// A composed run as its configuration says it, with the path of its text absolute; no file is
/// looked at.
RunConfig written_run(const config::Value& composed, const std::filesystem::path& root,
                      config::Problems& problems);

/// A run as a configuration says it, with its input files: their paths absolute, their hashes
/// filled in. Complete if there are no problems.
/// @param tree of a run, stages complete
RunConfig checked_run(const config::Value& tree, const std::filesystem::path& root,
                      config::Problems& problems);

/// Adds composed points to a study, checked and with their input files. If there are problems, none
/// may be added.
void resolve(const std::vector<config::Point>& points, Study& study, config::Problems& problems);

/// Tunes nothing where the tuned key is set by a stronger word than `tune`: the command line is
/// stronger than the experiment's own file, and that is stronger than those which it builds on.
void leave_tuning(const config::Study& composed, Study& study);

/// Fits tables, figures and claims to the axes that the command line has added to those of the
/// files or taken from them. An added axis joins rows and facets, and a claim that names no value
/// of it is made for each. What asks for an axis that is gone is left out, unless the runs have
/// the value that it asks for.
/// @param study with its points
void follow_axes(const config::Study& composed, Study& study);

/// Names in a study that refer to nothing: its baseline, the variants of its claims and where they
/// are asked, metrics of tables, figures, claims, events and tuning. Each would leave something
/// out, or wait for an event that never comes, unnoticed until the last run has ended. Variants and
/// values that the command line took out of the sweep are no problem.
std::vector<report::ReportProblem> check_names(const Study& study);

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

/// A group of train.groups whose pattern matches no parameter of any of the models that are trained
/// with it is a slip of the pen. It may miss some models of a sweep: *.lambda_* misses the
/// Transformer.
void check_parameter_groups(const std::vector<const RunConfig*>& runs, config::Problems& problems);

}  // namespace difflab::study
