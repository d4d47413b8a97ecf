#pragma once

#include <string>
#include <vector>

#include "report/table/table.h"
#include "util/json.h"

namespace difflab::report {

struct Study;

/// The first 12 digits of a session's commit, with a word if its tree had been changed; "" if none.
std::string commit_text(const Json& session);

/// Fills `table.notes` (what ± means, seeds, censoring, chance, code and machine) and
/// `table.settings`.
void add_notes(Table& table, const Study& study, const Frame& frame, const Labels& labels);

std::string table_markdown(const Table& table, const Labels& labels);
std::string table_tex(const Table& table, const Labels& labels);
/// The comparisons, which need some; a file of their own, so that a paper places them by
/// themselves.
std::string paired_tex(const Table& table, const Labels& labels);
std::string table_terminal(const Table& table, const Labels& labels);

/// One line per row; per metric m: mean_m, low_m, high_m, median_m, n_m, censored_m, above_m.
std::string table_csv(const Table& table);

/// One line per comparison: row axes, metric, difference, low, high, p, pairs, censored.
std::string paired_csv(const Table& table);

/// "task.length=64, train.steps=1600": what the study states, else what all run configurations
/// share, flattened.
std::vector<std::string> settings_list(const Study& study);

}  // namespace difflab::report
