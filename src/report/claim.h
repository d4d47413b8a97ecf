#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields.h"
#include "report/config_types.h"

namespace difflab::report {

class Frame;
class Labels;
struct ReportConfig;
struct Study;

enum class Expect { kHigher, kLower };

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

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("text", text, "what is claimed, one sentence without a figure");
    visit("metric", metric, "metric of result.json, or a derived one");
    visit("variant", variant, "value of the tables' first axis");
    visit("against", against, "value it is compared with; empty: the baseline");
    visit("expect", expect, "what the claim expects of the variant: higher or lower");
    visit("paper", paper, "the source's figures and the source, as text");
    visit("where", where, "value of every other axis but seed, e.g. {task.needles: 4}");
  }
  void validate(config::Check& check) const;
};

enum class Verdict {
  kSupported,   ///< the 95 % interval of the paired difference lies on the expected side of zero
  kOpposite,    ///< on the other side
  kUnresolved,  ///< it includes zero, or there are too few pairs, or censored ones
  kUnmeasured   ///< no pair of finished runs has the metric
};
std::string_view name_of(Verdict verdict);  ///< "supported", …

/// What the runs say to a claim.
struct Answer {
  Verdict verdict = Verdict::kUnmeasured;
  std::string text;     ///< verdict, claim, figures with their interval, the source's figures
  std::string figures;  ///< the measured part alone, e.g. "needle accuracy: …, 5 paired seeds"
};

/// One answer per claim, in their order.
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
