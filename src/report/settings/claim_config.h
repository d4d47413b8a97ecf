#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "config/value/problems.h"
#include "report/data/config_types.h"

namespace difflab::report {

/// As claims' `against`: the best of the study's opponents.
inline constexpr std::string_view kBestOpponent = "best";

enum class Expect { kHigher, kLower, kEquivalent };

/// A source's finding, as a statement that runs can support or contradict: the metric of one
/// variant is higher or lower than that of another, or differs by less than a margin.
struct ClaimConfig {
  std::string text, metric, variant, against;
  Expect expect = Expect::kHigher;
  std::string paper;
  TextMap where;
  double smallest = 0;  ///< effects no larger than this are none
  double margin = 0;    ///< the variants are equivalent if they differ by less; 0: not asked
  std::string withdrawn;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit(
        "text", text,
        "what is claimed, one sentence without a figure; {AXIS} stands for the label of its value "
        "in where",
        config::given());
    visit("metric", metric, "metric of result.json, or a derived one", config::given());
    visit("variant", variant, "value of the tables' first axis", config::given());
    visit("against", against,
          "value it is compared with, or best: that of the opponents; empty: the baseline");
    visit("expect", expect,
          "what the claim expects of the variant: higher, lower, or equivalent within the margin");
    visit("paper", paper, "the source's figures and the source, as text, with {AXIS} as in text");
    visit(
        "where", where,
        "value of every other axis but seed, e.g. {task.needles: 4}; a list makes a claim of each "
        "of its values");
    visit("smallest", smallest,
          "a difference that is no larger does not count as one; of ratios a share",
          config::at_least(0));
    visit("margin", margin,
          "the variants are called equivalent if they differ by less, in the metric's unit, of "
          "ratios a share; 0 does not ask",
          config::at_least(0));
    visit("withdrawn", withdrawn,
          "why the claim gets no verdict, a sentence; p still counts it among the claims");
  }
  void validate(config::Check& check) const;
  /// Its own margin, or where it expects equivalence and has none, that of the study's times.
  double margin_with(const TimesConfig& times) const {
    return margin > 0 || expect != Expect::kEquivalent ? margin : times.margin.value;
  }
};

/// The variants that a claim may be compared with: all opponents where it names the best.
inline std::vector<std::string> others_of(const ClaimConfig& claim, const std::string& baseline,
                                          const std::vector<std::string>& opponents) {
  if (claim.against == kBestOpponent) return opponents;
  return {claim.against.empty() ? baseline : claim.against};
}

/// Writes out the claims of an experiment's settings: one whose `where` holds lists becomes one
/// claim for each combination of their values, the last axis fastest, and {AXIS} in `text` and
/// `paper` becomes the label of the axis' value in `where`. What is no claim is left to the reader.
void expand_claims(config::Value& settings, config::Problems& problems);

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::Expect> = names("higher", "lower",
                                                                               "equivalent");
