#pragma once

#include <string>

#include "report/page/page.h"

namespace difflab::report {

/// The study's own answer with the verdicts and effects of its claims in it, its first sentence in
/// bold, e.g. "<strong>Yes.</strong> It takes × 0.78 of the steps (supported)". Empty without one,
/// and while a claim that it names has no verdict.
std::string own_answer_html(const PageContent& page);

/// The claims as HTML: a row for those that differ in one or more values of their where, in it each
/// one's verdict, effect, interval, p and pairs.
std::string claims_html(const PageContent& page);

}  // namespace difflab::report
