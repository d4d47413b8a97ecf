#pragma once

#include <string>

#include "report/data/frame.h"
#include "report/data/metric.h"

namespace difflab::report {

/// The texts that trained models wrote (evaluation sample_text), one run after the other, as a
/// section of the page; "" if no run has any.
std::string samples_html(const Frame& frame, const Labels& labels);

}  // namespace difflab::report
