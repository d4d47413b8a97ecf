// What a page says to its claims: those written as one in one row, and the study's own answer.
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

// DIFF recalls 4 pairs in half of the Transformer's steps, 16 in twice as many: eight seeds each.
struct Asked {
  Asked() {
    builder.study.output = builder.folder() / "output";
    builder.study.baseline = "transformer";
    for (const auto& [pairs, ratio] : {std::pair{"4", 0.5}, std::pair{"16", 2.0}}) {
      for (int seed = 0; seed < 8; ++seed) {
        for (const auto& [model, share] :
             {std::pair{"transformer", 1.0}, std::pair{"diff", ratio}}) {
          const double steps = share * 400 * std::exp(0.01 * ((3 * seed) % 8));
          builder.finished(model, seed + (ratio < 1 ? 0 : 50), {{"steps_to_found", steps}});
          builder.study.runs.back().axes = {
              {"pairs", pairs}, {"model", model}, {"seed", std::to_string(seed)}};
        }
      }
    }
    builder.study.report = of_yaml<ReportConfig>(
        "times: {compare: ratios, margin: 10 %}, labels: {pairs: key-value pairs}, tables: [{name: "
        "table, rows: [model, pairs], columns: [steps_to_found]}], claims: ["
        "{text: DIFF recalls 4 pairs sooner, metric: steps_to_found, variant: diff, where: {pairs: "
        "4}, expect: lower, paper: arXiv 2410.04}, "
        "{text: DIFF recalls 16 pairs sooner, metric: steps_to_found, variant: diff, where: "
        "{pairs: 16}, expect: lower, paper: arXiv 2410.04}, "
        "{text: DIFF recalls 16 pairs as soon, metric: steps_to_found, variant: diff, where: "
        "{pairs: 16}, expect: equivalent}]");
  }
  std::string page() const {
    write_report(builder.study);
    return read_file(builder.study.output / "report.html");
  }
  StudyBuilder builder;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

CATCH_TEST_CASE("claims that differ in values of their where share a row of the page") {
  Asked asked;
  const std::string page = asked.page();
  CATCH_CHECK(count_of(page, "<div class=\"claim\">") == 2);
  CATCH_CHECK_THAT(page, Contains("<div class=\"claim\"><div>DIFF recalls … pairs sooner<br>") &&
                             Contains("steps to found; source: arXiv 2410.04</span>"));
  const auto first = page.find("key-value pairs 4</span>\n<span><strong>supported</strong> × 0.50");
  const auto second =
      page.find("key-value pairs 16</span>\n<span><strong>opposite</strong> × 2.00");
  CATCH_CHECK(first < second);
  CATCH_CHECK(second < page.size());
  CATCH_CHECK(count_of(page, "n = 8</span>") == 3);
  // The third asks something else of the same runs.
  CATCH_CHECK_THAT(
      page, Contains("<div class=\"claim\"><div>DIFF recalls 16 pairs as soon<br>") &&
                Contains("are equivalent: a ratio of 0.91 to 1.10; p is of one beyond</span>"));
}

CATCH_TEST_CASE("claims that differ in more than a value of their where have rows of their own") {
  Asked asked;
  auto& claims = asked.builder.study.report.claims;
  const ClaimConfig second = claims[1];
  const auto rows = [&](auto change) {
    claims[1] = second;
    change(claims[1]);
    return count_of(asked.page(), "<div class=\"claim\">");
  };
  CATCH_CHECK(rows([](auto&) {}) == 2);
  CATCH_CHECK(rows([](auto& claim) { claim.text = "DIFF needs fewer steps"; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.expect = Expect::kHigher; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.smallest = 0.1; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.margin = 0.1; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.withdrawn = "It asks the wrong thing"; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.against = "diff"; }) == 3);
  CATCH_CHECK(rows([](auto& claim) { claim.paper = "another"; }) == 2);
  CATCH_CHECK_THAT(asked.page(), Contains("source: arXiv 2410.04; another</span>"));
}

CATCH_TEST_CASE("an answer opens the page with the verdicts and effects of the claims it names") {
  Asked asked;
  auto& answer = asked.builder.study.report.answer;
  CATCH_CHECK(count_of(asked.page(), "class=\"answer\"") == 0);
  answer =
      "Yes. Sooner by {claims.0-1.effect} ({claims.0.verdict}; {claims.1-2.verdict}; "
      "{claims.0-1.verdict}) & <so>.";
  CATCH_CHECK_THAT(asked.page(), Contains("<p class=\"answer\"><strong>Yes.</strong> Sooner by "
                                          "×\u00a00.50, ×\u00a02.00 (supported; opposite; "
                                          "supported, opposite) &amp; &lt;so&gt;.</p>"));
  // Of too few runs it would say more than they do.
  asked.builder.study.runs.erase(asked.builder.study.runs.begin() + 2,
                                 asked.builder.study.runs.begin() + 16);
  CATCH_CHECK(count_of(asked.page(), "class=\"answer\"") == 0);
}

CATCH_TEST_CASE("an answer names claims that there are") {
  const auto problem = [](const std::string& answer) {
    const auto report = of_yaml<ReportConfig>(
        "claims: [{text: a, metric: loss, variant: diff}], answer: '" + answer + "'");
    const auto found = check_report(report, {});
    return found.empty() ? "" : found.front().key + " " + found.front().message;
  };
  CATCH_CHECK(problem("as {claims.0.verdict}, or {so}") == "");
  CATCH_CHECK(problem("{claims.0-1.effect}") ==
              "answer names {claims.0-1.effect} of 1 claims, the first of which is 0");
  CATCH_CHECK_THAT(problem("{claims.0.p}"), Contains("answer has a {claim… that names no part"));
  CATCH_CHECK_THAT(problem("{claim.0.verdict}"), Contains("that names no part"));
}

}  // namespace
}  // namespace difflab::report
