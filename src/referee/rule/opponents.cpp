// A head of DIFF has values twice as wide as its queries and a norm behind it, and there are half
// as many heads. Unless Transformers of that shape stand beside, a claim is about the shape (arXiv
// 2410.05258, table 6).
#include <algorithm>
#include <set>
#include <utility>

#include "referee/rule/rules.h"
#include "report/table/question.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

using Shape = std::pair<std::int64_t, bool>;  // heads, and whether a norm is behind each

bool is_kind(const report::FrameRun& run, const std::string& start) {
  return run.setting("model.attention.kind").starts_with(start);
}

Shape shape_of(const report::FrameRun& run) {
  const auto heads = report::number_at(run.plan.config, "model.attention.heads");
  const auto norm = run.setting("model.attention.head_norm");
  return {static_cast<std::int64_t>(heads.value_or(0)), !norm.empty() && norm != "none"};
}

// Names the ones of four shapes (h or h / 2 heads, each with and without a norm) that no
// Transformer among the runs has; h is their largest number of heads.
std::vector<std::string> missing(const std::vector<const report::FrameRun*>& runs) {
  std::set<Shape> there;
  for (const auto* run : runs) {
    if (is_kind(*run, "softmax")) there.insert(shape_of(*run));
  }
  const auto h = there.empty() ? 0 : there.rbegin()->first;
  std::vector<std::string> absent;
  for (const auto heads : {h, h / 2}) {
    for (const bool norm : {false, true}) {
      if (there.count({heads, norm}) > 0) continue;
      absent.push_back(concat(heads, heads == 1 ? " head" : " heads", norm ? " with a norm" : ""));
    }
  }
  return absent;
}

}  // namespace

void check_opponents(const Reference& one, Objections& objections) {
  if (!one.archive || !one.is_trained()) return;
  const auto& study = one.archive->study;
  const auto axis = one.compared_axis();
  std::set<std::string> said;
  for (const auto& claim : study.report.claims) {
    const auto against = report::compared_with(claim, study, one.archive->frame);
    std::vector<const report::FrameRun*> runs;
    for (const auto& run : one.archive->frame.runs()) {
      if (report::is_in_cell(claim, run)) runs.push_back(&run);
    }
    const auto is_of = [&](const std::string& variant, const std::string& kind) {
      return std::ranges::any_of(runs, [&](const auto* run) {
        return report::is_same_value(run->axis(axis), variant) && is_kind(*run, kind);
      });
    };
    const bool is_contrast = (is_of(claim.variant, "diff") && is_of(against, "softmax")) ||
                             (is_of(claim.variant, "softmax") && is_of(against, "diff"));
    if (!is_contrast || !claim.withdrawn.empty()) continue;
    const auto absent = missing(runs);
    if (absent.empty() || !said.insert(claim.text).second) continue;
    objections.object(one, concat("claim \"", claim.text, "\""),
                      concat("no Transformer with ", join(absent, ", none with ")));
  }
}

}  // namespace difflab::referee
