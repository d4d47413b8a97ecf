#include "report/page/gallery.h"

#include <algorithm>
#include <map>

#include "report/data/format.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "statistics/holm.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIntroduction =
    "Small models, trained and evaluated by this repository. An answer compares two variants on "
    "equal seeds: supported or opposite if its exact p, adjusted for the number of claims, and the "
    "95 % interval of the difference agree; equivalent within a margin; not resolved otherwise. "
    "Fewer than 8 pairs (16 of what happens or not) are no verdict. Not judged is what was "
    "reported "
    "before these rules; its figures stand.";

// Sentence on the cost of all runs; a run that several experiments share counts once.
std::string total_text(const std::vector<Exhibit>& exhibits) {
  CoreTime all;
  for (const Exhibit& exhibit : exhibits) {
    all.insert(exhibit.core_time.begin(), exhibit.core_time.end());
  }
  if (all.empty()) return "";
  return concat("All runs shown here and those of their tuning took ",
                core_hours_text(core_hours(all)),
                ". A run that several experiments share counts once.");
}

// How many verdicts on a direction are left if of all that are kept 5 % may be false on average:
// each experiment adjusts for its own claims alone.
std::string discoveries_text(const std::vector<Exhibit>& exhibits) {
  std::vector<double> all, directed;
  for (const Exhibit& exhibit : exhibits) {
    for (const auto& [p, takes_side] : exhibit.tests) {
      all.push_back(p);
      if (takes_side) directed.push_back(p);
    }
  }
  if (directed.empty()) return "";
  const auto limit = discovery_limit(all, kAlpha);
  const auto kept = std::ranges::count_if(directed, [&](double p) { return limit && p <= *limit; });
  return concat("Each experiment adjusts for its own claims. Of ", directed.size(),
                " verdicts on a direction, ", kept,
                " survive a false discovery rate of 5 % over all ", all.size(),
                " claims here with a p (Benjamini and Hochberg).");
}

// Remarks between the introduction and the experiments.
std::vector<std::string> remarks_on(const std::vector<Exhibit>& exhibits) {
  std::vector<std::string> all{discoveries_text(exhibits), total_text(exhibits)};
  std::erase(all, "");
  return all;
}

bool has_run(const Exhibit& exhibit) { return exhibit.summary.is_object(); }

std::string text_at(const Json& json, const char* key) { return json.value(key, std::string()); }

// A report from before verdicts were exact and corrected says nothing of pairs.
std::string verdict_of(const Json& answer) {
  return answer.contains("pairs") ? text_at(answer, "verdict") : "not judged";
}

const Json& answers_of(const Exhibit& exhibit) { return exhibit.summary.at("answers"); }

// "3 more claims: 1 supported, 2 not resolved", "" if there is no second one.
std::string others(const Exhibit& exhibit) {
  std::map<std::string, int> counts;
  int more = 0;
  for (std::size_t i = 1; i < answers_of(exhibit).size(); ++i, ++more) {
    ++counts[verdict_of(answers_of(exhibit)[i])];
  }
  if (more == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) parts.push_back(concat(count, " ", verdict));
  return concat(more, more == 1 ? " more claim: " : " more claims: ", join(parts));
}

std::string origin(const Exhibit& exhibit) {
  const Json& runs = exhibit.summary.at("runs");
  const std::string preset =
      concat("preset ", text_at(exhibit.summary, "preset"), ", ", runs.at("finished").dump(),
             " of ", runs.at("planned").dump(), " runs");
  if (exhibit.core_time.empty()) return preset;
  return concat(preset, ", ", core_hours_text(core_hours(exhibit.core_time)));
}

// A PNG, because an SVG in an <img> is set in whatever font the reader has.
fs::path thumbnail(const Exhibit& exhibit) {
  const std::string figure = text_at(exhibit.summary, "figure");
  return figure.empty() ? fs::path() : exhibit.folder / "figures" / (figure + ".png");
}

std::string markdown_row(const Exhibit& exhibit) {
  const bool plain = exhibit.name.find_first_of("`|\r\n") == std::string::npos;
  const std::string name = plain ? "`" + exhibit.name + "`" : escape_markdown(exhibit.name);
  std::vector<std::string> cells;
  if (!has_run(exhibit)) {
    cells = {name, escape_markdown(exhibit.question), "not run yet", "", "", ""};
  } else {
    const fs::path table = exhibit.folder / "table.md";
    const std::string linked = concat("[", name, "](", address(table), ")");
    std::string answer = escape_markdown(text_at(exhibit.summary, "best"));
    std::string measured;
    std::string source;
    if (!answers_of(exhibit).empty()) {
      const Json& first = answers_of(exhibit)[0];
      answer = concat("**", escape_markdown(verdict_of(first)),
                      "**: ", escape_markdown(text_at(first, "claim")));
      if (const auto more = others(exhibit); !more.empty()) answer += concat(" (", more, ")");
      measured = escape_markdown(text_at(first, "figures"));
      source = escape_markdown(text_at(first, "source"));
    }
    const fs::path picture = thumbnail(exhibit);
    const std::string image =
        picture.empty() ? ""
                        : concat("<a href=\"", address(picture), "\"><img src=\"", address(picture),
                                 "\" width=\"240\" alt=\"",
                                 escape_html(text_at(exhibit.summary, "figure")), "\"></a>");
    cells = {concat(linked, "<br>", escape_markdown(origin(exhibit))),
             escape_markdown(exhibit.question),
             answer,
             measured,
             source,
             image};
  }
  return "| " + join(cells, " | ") + " |\n";
}

constexpr const char* kGalleryStyle = R"css(
article { border-top: 1px solid var(--line); padding: 1.3rem 0; display: grid; gap: 0 2rem;
  grid-template-columns: minmax(0, 1fr) 20rem; align-items: start; }
article h2 { border: 0; margin: 0 0 .3rem; padding: 0; grid-column: 1 / -1; }
article img { width: 100%; height: auto; background: #fff; border-radius: 4px; display: block; }
article ul { padding: 0; margin: .8rem 0 0; list-style: none; }
article li { background: var(--soft); border-left: 4px solid var(--muted); padding: .5rem .8rem;
  margin: .5rem 0; }
li.supported { border-color: #009e73; }
li.opposite { border-color: #d55e00; }
li.equivalent { border-color: #0072b2; }
li p { margin: .2rem 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 1rem 0; }
@media (max-width: 48rem) { article { grid-template-columns: minmax(0, 1fr); }
  article > a { margin-top: 1rem; max-width: 26rem; } }
)css";

std::string answer_html(const Json& answer) {
  const std::string verdict = verdict_of(answer);
  std::string out =
      concat("<li class=\"", escape_html(verdict), "\"><p><strong>", escape_html(verdict),
             "</strong>: ", subscripts_html(text_at(answer, "claim")), "</p>\n<p class=\"muted\">",
             subscripts_html(text_at(answer, "figures")));
  if (const std::string source = text_at(answer, "source"); !source.empty()) {
    out += concat("<br>Source: ", subscripts_html(source));
  }
  return out + "</p></li>\n";
}

std::string article(const Exhibit& exhibit) {
  std::string out =
      concat("<article id=\"", escape_html(exhibit.name), "\">\n<h2>",
             subscripts_html(exhibit.title.empty() ? exhibit.name : exhibit.title),
             "</h2>\n<div>\n<p class=\"muted\"><code>", escape_html(exhibit.name), "</code>, ",
             has_run(exhibit) ? escape_html(origin(exhibit)) : "not run yet", "</p>\n<p>",
             subscripts_html(exhibit.question), "</p>\n");
  if (!has_run(exhibit)) return out + "</div>\n</article>\n";
  out += "<ul>\n";
  for (const Json& answer : answers_of(exhibit)) out += answer_html(answer);
  out += "</ul>\n";
  if (const std::string best = text_at(exhibit.summary, "best"); !best.empty()) {
    out += concat("<p>", subscripts_html(best), "</p>\n");
  }
  out += concat("<p>", link(exhibit.folder / "report.html", "Report"), " · ",
                link(exhibit.folder / "table.md", "table"), "</p>\n</div>\n");
  if (const fs::path picture = thumbnail(exhibit); !picture.empty()) {
    out += concat("<a href=\"", address(exhibit.folder / "report.html"), "\"><img src=\"",
                  address(picture), "\" alt=\"", escape_html(text_at(exhibit.summary, "figure")),
                  " of ", escape_html(exhibit.name), "\"></a>\n");
  }
  return out + "</article>\n";
}

}  // namespace

Json summary_json(const Study& study, const Summary& summary, const std::string& best,
                  const std::vector<Answer>& answers, const std::vector<Figure>& figures) {
  Json list = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    list.push_back(Json{{"verdict", name_of(answers[i].verdict)},
                        {"pairs", answers[i].pairs},
                        {"pairs_needed", answers[i].needed},
                        {"claim", study.report.claims[i].text},
                        {"figures", answers[i].figures},
                        {"source", study.report.claims[i].paper}});
  }
  std::string drawn;
  for (const Figure& figure : figures) {
    const bool wished = figure.name == study.report.thumbnail;
    if (figure.has_images && (wished || drawn.empty())) drawn = figure.name;
    if (wished) break;
  }
  return {{"experiment", study.name},
          {"preset", study.preset},
          {"title", study.title},
          {"question", study.question},
          {"command", study.command},
          {"runs", Json{{"planned", summary.planned}, {"finished", summary.finished}}},
          {"answers", std::move(list)},
          {"best", best},
          {"figure", drawn}};
}

std::string gallery_markdown(const std::vector<Exhibit>& exhibits) {
  std::string out =
      "# Results\n\nWritten by `./difflab report --all` from finished runs; `index.html` shows the "
      "same.\n" +
      wrap(kIntroduction, 100) + "\n\n";
  for (const auto& remark : remarks_on(exhibits)) out += wrap(remark, 100) + "\n\n";
  out +=
      "| experiment | question | answer | measured | source's figure | figure |\n"
      "| :-- | :-- | :-- | :-- | :-- | :-- |\n";
  for (const Exhibit& exhibit : exhibits) out += markdown_row(exhibit);
  return out;
}

std::string gallery_html(const std::vector<Exhibit>& exhibits) {
  std::string out = page_head("difflab: results", kGalleryStyle) + "<h1>Results</h1>\n<p>" +
                    escape_html(kIntroduction) + "</p>\n";
  for (const auto& remark : remarks_on(exhibits)) {
    out += concat("<p>", escape_html(remark), "</p>\n");
  }
  out += "<nav>\n";
  for (const Exhibit& exhibit : exhibits) {
    out += concat("<a href=\"#", address(exhibit.name), "\">", escape_html(exhibit.name), "</a>\n");
  }
  out += "</nav>\n";
  for (const Exhibit& exhibit : exhibits) out += article(exhibit);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace difflab::report
