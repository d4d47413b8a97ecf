#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields.h"
#include "report/config_types.h"
#include "statistics/describe.h"

namespace difflab::report {

class Frame;
class Labels;
struct ReportConfig;
struct Study;

enum class Expect { kHigher, kLower };

/// Where a metric can show a difference. By default a share can between chance + .1 and .97.
struct Regime {
  std::optional<double> low;
  std::optional<double> high;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("low", low,
          "if both variants lie below, the metric tells nothing; null: of shares, chance + 0.1");
    visit("high", high, "if both lie above, it tells nothing; null: of shares, 0.97");
  }
};

/// What a source found, as something that runs can support or contradict: the metric of one variant
/// is higher or lower than that of another.
struct ClaimConfig {
  std::string text;
  std::string metric;
  std::string variant;
  std::string against;
  Expect expect = Expect::kHigher;
  std::string paper;
  TextMap where;
  double smallest = 0;  ///< effects no larger than this are none
  double margin = 0;    ///< the variants are equivalent if they differ by less; 0: not asked
  Regime regime = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("text", text, "what is claimed, one sentence without a figure");
    visit("metric", metric, "metric of result.json, or a derived one");
    visit("variant", variant, "value of the tables' first axis");
    visit("against", against, "value it is compared with; empty: the baseline");
    visit("expect", expect, "what the claim expects of the variant: higher or lower");
    visit("paper", paper, "the source's figures and the source, as text");
    visit("where", where, "value of every other axis but seed, e.g. {task.needles: 4}");
    visit("smallest", smallest, "a difference that is no larger does not count as one",
          config::at_least(0));
    visit("margin", margin,
          "the variants are called equivalent if they differ by less, in the metric's unit; 0 does "
          "not ask",
          config::at_least(0));
    visit("regime", regime, "where the metric can show a difference at all");
  }
  void validate(config::Check& check) const;
};

enum class Verdict {
  kSupported,      ///< p (Holm over the claims) and interval agree on the expected side
  kOpposite,       ///< on the other side
  kEquivalent,     ///< two one-sided tests say that they differ by less than the margin
  kUnresolved,     ///< none of these
  kUninformative,  ///< both variants lie where the metric cannot tell them apart
  kTooFew,         ///< fewer pairs than a verdict needs (pairs_for_verdict)
  kUnmeasured      ///< no pair of finished runs has the metric
};
std::string_view name_of(Verdict verdict);  ///< "supported", …

/// What the runs say to a claim.
struct Answer {
  Verdict verdict = Verdict::kUnmeasured;
  std::optional<double> difference;  ///< ours minus theirs
  std::optional<Interval> interval;
  std::optional<double> p;  ///< of no difference, adjusted for the number of claims (Holm)
  std::size_t pairs = 0;
  std::size_t needed = 0;  ///< pairs that a verdict needs
  std::string text;        ///< verdict, claim, figures with their interval, the source's figures
  std::string figures;     ///< the measured part alone, e.g. "needle accuracy: …, 5 paired seeds"
};

/// One answer per claim, in their order. Over all of them together a false verdict has a
/// probability of at most kAlpha: their exact p are adjusted (Holm), and the interval has to agree.
std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels);

/// The axis whose values are compared: the first row axis of the first table, else the first axis
/// but seed; "" if there is none.
std::string compared_axis(const ReportConfig& report, const std::vector<std::string>& axes);

}  // namespace difflab::report

template <>
struct difflab::config::EnumNames<difflab::report::Expect> {
  static constexpr std::array<std::pair<std::string_view, difflab::report::Expect>, 2> kNames = {
      {{"higher", difflab::report::Expect::kHigher}, {"lower", difflab::report::Expect::kLower}}};
};
