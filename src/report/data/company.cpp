#include "report/data/company.h"

#include <algorithm>
#include <ctime>
#include <tuple>

#include "record/provenance.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Load of an idle system beside a run.
constexpr double kIdle = 0.1;  // cores

struct Span {
  std::string id, host;
  std::time_t from, to;
};

// Two runs that were at work on one machine at the same time. Times are in whole seconds, in which
// several runs may have been at work one after the other.
std::string together(std::vector<Span> spans) {
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (std::size_t j = i + 1; j < spans.size() && spans[j].from < spans[i].to; ++j) {
      const bool is_same = spans[j].id == spans[i].id;  // which several variants share
      if (spans[j].host == spans[i].host && !is_same)
        return concat(spans[i].id, " and ", spans[j].id);
    }
  }
  return "";
}

}  // namespace

Company company_of(const std::vector<std::pair<std::string, const Json*>>& runs) {
  Company company;
  std::vector<Span> spans;
  std::string busy;
  for (const auto& [id, provenance] : runs) {
    const auto cores =
        provenance == nullptr ? std::nullopt : number_at(*provenance, "cores_busy_elsewhere");
    if (!cores) {
      company.known = false;
    } else if (*cores > kIdle && busy.empty()) {
      busy = concat(id, " beside ", *cores, " busy cores");
    }
    if (provenance == nullptr) continue;
    // Nobody has recorded the other work beside a session that was interrupted.
    if (provenance->contains("earlier_sessions") && busy.empty())
      busy = concat(id, ", which was interrupted and continued, beside unknown work");
    const auto from = recorded_time(*provenance, "started");
    const auto to = recorded_time(*provenance, "finished");
    if (from && to) spans.push_back({id, provenance->value("host", ""), *from, *to});
  }
  company.with = together(std::move(spans));
  if (company.with.empty()) company.with = busy;
  return company;
}

Company company_of(const std::vector<const FrameRun*>& runs) {
  std::vector<std::pair<std::string, const Json*>> all;
  for (const FrameRun* run : runs) {
    if (run->has_result()) all.emplace_back(run->plan.id, &run->provenance);
  }
  return company_of(all);
}

}  // namespace difflab::report
