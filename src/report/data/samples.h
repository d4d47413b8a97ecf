#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"

namespace difflab::report {

/// Texts that a run's models wrote (evaluation sample_text, under any name): the evaluation's name
/// and its samples, each with `prompt` and `text`, and `step` if it was asked at steps.
std::vector<std::pair<std::string, const Json*>> texts_in(const Json& result);

/// The texts that trained models wrote, one run after the other, as a
/// section of the page; "" if no run has any.
std::string samples_html(const Frame& frame, const Labels& labels);

}  // namespace difflab::report
