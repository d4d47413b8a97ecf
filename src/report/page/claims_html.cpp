#include <algorithm>
#include <regex>
#include <set>

#include "report/data/format.h"
#include "report/page/page.h"
#include "report/settings/report_config.h"
#include "report/table/grid.h"
#include "util/text.h"

namespace difflab::report {
namespace {

/// Claims from `first` to before `last` are one written with a list in its where.
struct Family {
  std::size_t first, last;
  std::set<std::string> axes;  ///< whose values they differ in
};

// The text with "…" for what it calls a claim's values of these axes, where they stand as words.
std::string without_values(const std::string& text, const ClaimConfig& claim,
                           const std::set<std::string>& axes, const Labels& labels) {
  std::string out = text;
  for (const auto& [axis, value] : claim.where.entries) {
    const auto label = labels.value(value);
    if (axes.count(axis) == 0) continue;
    auto at = out.rfind(label);
    while (at != out.npos && !is_word(out, at, label.size())) {
      at = at == 0 ? out.npos : out.rfind(label, at - 1);
    }
    if (at != out.npos) out.replace(at, label.size(), "…");
  }
  return out;
}

bool ask_alike(const ClaimConfig& a, const ClaimConfig& b) {
  return a.metric == b.metric && a.variant == b.variant && a.against == b.against &&
         a.expect == b.expect && a.smallest == b.smallest && a.margin == b.margin &&
         a.withdrawn == b.withdrawn;
}

std::set<std::string> differing_axes(const ClaimConfig& a, const ClaimConfig& b) {
  std::set<std::string> axes;
  for (const auto& [axis, value] : a.where.entries) {
    if (b.where.find(axis) != value) axes.insert(axis);
  }
  return axes;
}

std::vector<Family> families_of(const std::vector<ClaimConfig>& claims, const Labels& labels) {
  std::vector<Family> families;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!families.empty()) {
      Family& last = families.back();
      const ClaimConfig& first = claims[last.first];
      auto axes = differing_axes(first, claims[i]);
      axes.insert(last.axes.begin(), last.axes.end());
      if (ask_alike(first, claims[i]) &&
          first.where.entries.size() == claims[i].where.entries.size() &&
          without_values(first.text, first, axes, labels) ==
              without_values(claims[i].text, claims[i], axes, labels)) {
        last = {last.first, i + 1, axes};
        continue;
      }
    }
    families.push_back({i, i + 1, {}});
  }
  return families;
}

// The metric, the bounds of equivalence where that is asked, and the sources.
std::string about(const PageContent& page, const Family& family) {
  const auto& claims = page.study.report.claims;
  const ClaimConfig& claim = claims[family.first];
  const Answer& answer = page.answers[family.first];
  const Metric metric = metric_of(claim.metric);
  std::string out = page.labels.heading(metric);
  if (claim.expect == Expect::kEquivalent) {
    const double margin = claim.margin_with(page.study.report.times);
    const bool is_ratio = answer.found && answer.found->is_ratio;
    out += is_ratio ? concat("; asks whether they are equivalent: a ratio of ",
                             format_number(1 / (1 + margin), 2), " to ",
                             format_number(1 + margin, 2), "; p is of one beyond")
                    : concat("; asks whether they are equivalent, within ", metric.text(margin),
                             "; p is of more");
  }
  if (!claim.withdrawn.empty()) out += "; withdrawn: " + claim.withdrawn;
  std::vector<std::string> sources;
  for (std::size_t i = family.first; i < family.last; ++i) {
    if (!claims[i].paper.empty()) add_new(sources, claims[i].paper);
  }
  return out + (sources.empty() ? "" : "; source: " + join(sources, "; "));
}

std::string verdict_html(const PageContent& page, std::size_t at,
                         const std::set<std::string>& axes) {
  const Answer& answer = page.answers[at];
  const ClaimConfig& claim = page.study.report.claims[at];
  const Metric metric = metric_of(claim.metric);
  std::vector<std::string> values, details;
  for (const auto& [axis, value] : claim.where.entries) {
    if (axes.count(axis) == 0) continue;
    const auto label = page.labels.value(value);
    values.push_back(parse_number(label) ? concat(page.labels.axis(axis), " ", label) : label);
  }
  const auto& found = answer.found;
  if (found && found->interval) {
    details.push_back(range_text(metric, found->interval, found->is_ratio));
  }
  if (answer.p) details.push_back(named_p(*answer.p));
  const bool too_few = answer.verdict == Verdict::kTooFew && answer.pairs() < answer.needed;
  details.push_back(concat("n = ", answer.pairs(), too_few ? concat(" of ", answer.needed) : ""));
  const std::string verdict(name_of(answer.verdict));
  const auto small = [](const std::string& text) {
    return text.empty() ? "" : concat("<span class=\"muted\">", subscripts_html(text), "</span>");
  };
  return concat("<div class=\"", verdict, "\">", small(join(values)), "\n<span><strong>", verdict,
                "</strong> ", found ? effect_cell(metric, *found) : "", "</span>\n",
                small(join(details)), "</div>\n");
}

// The effects of the claims of a place, or their verdicts, one if they are all the same; none while
// a claim has no verdict.
std::vector<std::string> told_of(const PageContent& page, const AnswerPlace& place) {
  if (place.last >= page.answers.size()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = place.first; i <= place.last; ++i) {
    const Answer& answer = page.answers[i];
    if (answer.verdict == Verdict::kTooFew || !answer.found) return {};
    const Metric metric = metric_of(page.study.report.claims[i].metric);
    parts.push_back(place.is_effect ? effect_cell(metric, *answer.found)
                                    : std::string(name_of(answer.verdict)));
  }
  const bool is_one = std::set(parts.begin(), parts.end()).size() == 1;
  if (is_one && !place.is_effect) parts.resize(1);
  return parts;
}

}  // namespace

std::string own_answer_html(const PageContent& page) {
  bool is_whole = !page.study.report.answer.empty();
  const auto out = filled_answer(page.study.report.answer, [&](const AnswerPlace& place) {
    const auto parts = told_of(page, place);
    is_whole = is_whole && !parts.empty();
    return join(parts);
  });
  if (!is_whole) return "";
  static const std::regex sentence("^.*?[.?!](?= )");
  std::smatch first;
  const bool has_more = std::regex_search(out, first, sentence);
  const auto end = has_more ? static_cast<std::size_t>(first.length()) : out.size();
  std::string html = concat("<strong>", subscripts_html(out.substr(0, end)), "</strong>",
                            subscripts_html(out.substr(end)));
  replace_all(html, "× ", "×\u00a0");
  return html;
}

std::string claims_html(const PageContent& page) {
  const auto& claims = page.study.report.claims;
  const bool any_ratio = std::ranges::any_of(
      page.answers, [](const Answer& answer) { return answer.found && answer.found->is_ratio; });
  std::string out = "<div class=\"claims\">\n";
  if (any_ratio) {
    out +=
        "<p class=\"muted\">×: ratio of geometric means to what a claim compares with; below 1 is "
        "sooner. Then its 95 % interval, p (Holm) and the pairs of runs.</p>\n";
  }
  for (const Family& family : families_of(claims, page.labels)) {
    const ClaimConfig& first = claims[family.first];
    out += concat("<div class=\"claim\"><div>",
                  subscripts_html(without_values(first.text, first, family.axes, page.labels)),
                  "<br><span class=\"muted\">", subscripts_html(about(page, family)),
                  "</span></div>\n<div class=\"verdicts\">\n");
    for (std::size_t i = family.first; i < family.last; ++i)
      out += verdict_html(page, i, family.axes);
    out += "</div></div>\n";
  }
  return out + "</div>\n";
}

}  // namespace difflab::report
