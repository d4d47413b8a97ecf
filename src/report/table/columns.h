#pragma once

#include <string>
#include <vector>

#include "report/data/metric.h"

namespace difflab::report {

class Frame;
struct TableConfig;

/// The columns of a table, without times of runs that were not alone (data/company.h). A table that
/// compares nothing else keeps them.
/// @param left_out gets what is left out or doubtful, and why, as a sentence
std::vector<Metric> columns_of(const TableConfig& config, const Frame& frame, const Labels& labels,
                               std::string& left_out);

}  // namespace difflab::report
