#include "report/data/pairs.h"

#include <cmath>

#include "report/data/format.h"
#include "report/data/learned.h"
#include "statistics/distributions.h"
#include "statistics/paired.h"
#include "statistics/share.h"
#include "util/text.h"

namespace difflab::report {
namespace {

double p_of(const Pairs& pairs, const Metric& metric) {
  if (metric.outcome != Outcome::kHappened) return sign_flip_p(pairs.differences);
  const auto count = [&](double difference) {
    return std::ranges::count(pairs.differences, difference);
  };
  return mcnemar_p(count(1), count(-1));
}

}  // namespace

Pairs pair_runs(const Frame& frame, const std::vector<const FrameRun*>& ours,
                const std::vector<const FrameRun*>& theirs,
                const std::vector<std::string>& compared, const Metric& metric) {
  Pairs pairs;
  pairs.is_ratio = is_ratio(metric, frame.times());
  for (const FrameRun* run : ours) {
    for (const FrameRun* partner : theirs) {
      if (!frame.are_partners(*run, *partner, compared)) continue;
      if (!run->has_result() || !partner->has_result()) {
        ++pairs.missing;
        continue;
      }
      const auto value = run->reached(metric.key);
      const auto reference = partner->reached(metric.key);
      if (!value || !reference) {
        const auto is_lost = [](const FrameRun& one, const std::optional<double>& found) {
          return !found && one.state == RunState::kDiverged;
        };
        pairs.diverged += is_lost(*run, value) || is_lost(*partner, reference) ? 1 : 0;
        continue;
      }
      if (is_unlearned(*run, metric) || is_unlearned(*partner, metric)) {
        ++pairs.unlearned;
        continue;
      }
      bool censored = false;
      for (const FrameRun* one : {run, partner}) {
        const auto bound = one->censored_above(metric.key);
        if (!bound) {
          pairs.latest = std::max(pairs.latest, one->metric(metric.key).value_or(0));
          continue;
        }
        censored = true;
        pairs.horizon = std::min(*bound, pairs.horizon.value_or(*bound));
      }
      pairs.censored += censored ? 1 : 0;
      pairs.ours.push_back(*value);
      pairs.theirs.push_back(*reference);
    }
  }
  for (std::size_t i = 0; i < pairs.ours.size(); ++i) {
    if (pairs.horizon) {
      pairs.ours[i] = std::min(pairs.ours[i], *pairs.horizon);
      pairs.theirs[i] = std::min(pairs.theirs[i], *pairs.horizon);
    }
    for (double* time : {&pairs.ours[i], &pairs.theirs[i]}) {
      if (pairs.is_ratio) *time = log_of_time(*time);
    }
    pairs.differences.push_back(pairs.ours[i] - pairs.theirs[i]);
  }
  return pairs;
}

bool are_too_many(std::size_t lost, std::size_t all) {
  constexpr double kMost = 0.1;  // the rest would be a choice of those that went well
  return static_cast<double>(lost) > kMost * static_cast<double>(all);
}

LogTimes::LogTimes(const Pairs& pairs)
    : pairs_(pairs.differences.size()),
      pairing_p_(pairing_p(pairs.ours, pairs.theirs, &correlation_)),
      is_paired_(pairs_ >= kFewestFlipped && pairing_p_ <= kAlike),
      test_(is_paired_ ? ShiftTest::paired(pairs.differences)
                       : ShiftTest::unpaired(pairs.ours, pairs.theirs)) {}

std::string LogTimes::reason() const {
  if (pairs_ < kFewestFlipped) {
    return concat("permutations of all runs (fewer than ", kFewestFlipped, " pairs)");
  }
  const auto found =
      concat("intraclass correlation ", format_number(correlation_, 2), ", ", named_p(pairing_p_));
  return is_paired_ ? concat("sign flips of the pairs (alike: ", found, ")")
                    : concat("permutations of all runs (pairs not alike: ", found, ")");
}

std::optional<Contrast> contrast(const Pairs& pairs, const Metric& metric) {
  if (pairs.differences.empty()) return std::nullopt;
  Contrast found{.pairs = pairs.differences.size(),
                 .ours = mean(pairs.ours),
                 .theirs = mean(pairs.theirs),
                 .difference = mean(pairs.differences),
                 .is_ratio = pairs.is_ratio};
  if (pairs.is_ratio) {
    const LogTimes test(pairs);
    for (double* center : {&found.ours, &found.theirs}) *center = std::exp(*center);
    found.interval = test.interval();
    found.p = test.p();
    found.test = test.reason();
  } else {
    found.interval = interval_of_difference(pairs.differences, metric);
    found.p = p_of(pairs, metric);
  }
  return found;
}

double equivalence_p(const Pairs& pairs, const Metric& metric, double margin) {
  const auto& differences = pairs.differences;
  if (pairs.is_ratio && !differences.empty()) {
    return LogTimes(pairs).equivalence_p(std::log1p(margin));
  }
  if (metric.outcome != Outcome::kHappened || differences.empty()) {
    return difflab::equivalence_p(differences, margin);
  }
  const auto n = static_cast<std::int64_t>(differences.size());
  const auto equal = std::ranges::count(differences, 0.0);
  return difflab::equivalence_p(n - equal, n, margin);
}

double beyond_margin_p(const Pairs& pairs, const Metric& metric, double margin) {
  if (pairs.differences.empty() || metric.outcome == Outcome::kHappened) return 1;
  const double center = mean(pairs.differences);
  const double shift = std::copysign(pairs.is_ratio ? std::log1p(margin) : margin, center);
  if (std::abs(center) <= std::abs(shift)) return 1;
  if (pairs.is_ratio) return LogTimes(pairs).p(shift);
  auto left = pairs.differences;
  for (double& difference : left) difference -= shift;
  return sign_flip_p(left);
}

std::string effect_text(const Metric& metric, double effect, bool is_ratio) {
  if (!is_ratio) return metric.signed_text(effect);
  const double ratio = std::exp(effect);
  return format_number(ratio, ratio < 0.1 ? 3 : 2);
}

std::string range_text(const Metric& metric, const std::optional<Interval>& range, bool is_ratio,
                       std::string_view between) {
  return range ? concat(effect_text(metric, range->low, is_ratio), between,
                        effect_text(metric, range->high, is_ratio))
               : "";
}

bool is_ratio(const Metric& metric, const TimesConfig& times) {
  return times.compare == Compared::kRatios && metric.outcome == Outcome::kTimeToEvent;
}

bool is_resolved(const Contrast& found, double adjusted_p) {
  const auto& interval = found.interval;
  return adjusted_p <= kAlpha && interval && (interval->low > 0 || interval->high < 0);
}

std::size_t pairs_for_verdict(const Metric& metric, std::size_t questions,
                              const TimesConfig& times) {
  std::size_t pairs = metric.outcome == Outcome::kHappened ? 16 : 8;
  const auto smallest = [&] {
    const auto n = static_cast<std::int64_t>(pairs);
    if (!is_ratio(metric, times)) return smallest_sign_flip_p(n);
    return (1 + LogTimes::kAlike) * 2 * std::exp(-log_binomial(2 * n, n));
  };
  while (smallest() * static_cast<double>(std::max<std::size_t>(questions, 1)) > kAlpha) {
    ++pairs;
  }
  return pairs;
}

}  // namespace difflab::report
