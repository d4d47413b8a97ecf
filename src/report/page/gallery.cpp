#include "report/page/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/page/page.h"
#include "statistics/holm.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIntroduction =
    "Small models, trained and evaluated by this repository. An answer compares two variants: "
    "supported or opposite if its exact p, adjusted for the number of claims, and the 95 % "
    "interval of the effect agree; equivalent within a margin; not resolved otherwise. A report "
    "has all claims of its experiment.";

double core_seconds(const Json& session) {
  return session_seconds(session).value_or(0) * number_at(session, "threads").value_or(1);
}

void add_core_time(const fs::path& record, CoreTime& runs) {
  if (!fs::exists(record)) return;
  const Json json = Json::parse(read_file(record), nullptr, /*allow_exceptions=*/false);
  for (const Json& run : list_at(json, "runs")) {
    if (!run.is_object()) continue;
    const Json id = run.value("id", Json());
    const Json provenance = run.value("provenance", Json());
    if (!id.is_string() || !provenance.is_object()) continue;
    double seconds = core_seconds(provenance);
    for (const Json& earlier : list_at(provenance, "earlier_sessions")) {
      seconds += core_seconds(earlier);
    }
    runs[id.get<std::string>()] = seconds;
  }
}

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

bool has_run(const Exhibit& exhibit) { return exhibit.summary.is_object(); }

const Json& answers_of(const Exhibit& exhibit) { return exhibit.summary.at("answers"); }

std::size_t claims_of(const Exhibit& exhibit) {
  return has_run(exhibit) ? answers_of(exhibit).size() : 0;
}

// "3 more claims: 1 supported, 2 not resolved", "" if there is no second one.
std::string others(const Exhibit& exhibit) {
  std::map<std::string, int> counts;
  int more = 0;
  for (std::size_t i = 1; i < answers_of(exhibit).size(); ++i, ++more) {
    ++counts[string_at(answers_of(exhibit)[i], "verdict")];
  }
  if (more == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) parts.push_back(concat(count, " ", verdict));
  return concat(more, more == 1 ? " more claim: " : " more claims: ", join(parts));
}

std::string origin(const Exhibit& exhibit) {
  const Json& runs = exhibit.summary.at("runs");
  const std::string preset =
      concat("preset ", string_at(exhibit.summary, "preset"), ", ", runs.at("finished").dump(),
             " of ", runs.at("planned").dump(), " runs");
  if (exhibit.core_time.empty()) return preset;
  return concat(preset, ", ", core_hours_text(core_hours(exhibit.core_time)));
}

// A PNG, because an SVG in an <img> is set in whatever font the reader has.
fs::path thumbnail(const Exhibit& exhibit) {
  const std::string figure = string_at(exhibit.summary, "figure");
  return figure.empty() ? fs::path() : exhibit.folder / "figures" / (figure + ".png");
}

// Cells of the same table, for Markdown or HTML.
struct Markup {
  bool html;

  std::string text(const std::string& plain) const {
    return html ? subscripts_html(plain) : escape_markdown(plain);
  }
  std::string strong(const std::string& plain) const {
    return html ? concat("<strong>", text(plain), "</strong>") : concat("**", text(plain), "**");
  }
  std::string code(const std::string& plain) const {
    if (html) return concat("<code>", escape_html(plain), "</code>");
    return plain.find_first_of("`|\r\n") == plain.npos ? "`" + plain + "`" : text(plain);
  }
  std::string linked(const fs::path& folder, const std::string& words) const {
    return html ? link(folder / "report.html", words)
                : concat("[", text(words), "](", address(folder / "table.md"), ")");
  }
  std::string row(const std::vector<std::string>& cells, bool heads = false) const {
    if (!html) return concat("| ", join(cells, " | "), " |\n");
    const std::string begin = heads ? "<th>" : "<td>", end = heads ? "</th>" : "</td>";
    return concat("<tr>", begin, join(cells, end + begin), end, "</tr>\n");
  }
  std::string heading(const std::string& words) const {
    return html ? concat("<h2>", text(words), "</h2>\n") : concat("## ", text(words), "\n\n");
  }
  std::string paragraph(const std::string& words) const {
    if (words.empty()) return "";
    return html ? concat("<p>", text(words), "</p>\n") : wrap(words, 100) + "\n\n";
  }
};

// "× 0.91 [0.87, 0.95]" and the two means, of an answer's figures; all of them without an interval.
std::vector<std::string> effect_of(const std::string& figures) {
  static const std::regex kEffect(
      R"(^(.*?)(?:, geometric means)?, (difference|ratio) (\S+), 95 % interval (\S+) to (\S+), \d)");
  std::smatch found;
  if (!std::regex_search(figures, found, kEffect)) return {figures};
  return {concat(found[2] == "ratio" ? "× " : "", found[3].str(), " [", found[4].str(), ", ",
                 found[5].str(), "]"),
          found[1]};
}

std::string row_of(const Exhibit& exhibit, const Markup& in) {
  const auto title = exhibit.title.empty() ? exhibit.name : exhibit.title;
  if (!has_run(exhibit)) {
    return in.row(
        {concat(in.text(title), "<br>", in.code(exhibit.name), ", not run yet"), "", "", "", ""});
  }
  auto answer = in.text(string_at(exhibit.summary, "best"));
  std::string effect, source, image;
  if (!answers_of(exhibit).empty()) {
    const Json& first = answers_of(exhibit)[0];
    answer =
        concat(in.strong(string_at(first, "verdict")), ": ", in.text(string_at(first, "claim")));
    if (const auto more = others(exhibit); !more.empty()) answer += "<br>" + in.text(more);
    std::vector<std::string> lines;
    for (const auto& line : effect_of(string_at(first, "figures"))) lines.push_back(in.text(line));
    effect = join(lines, "<br>");
    source = in.text(string_at(first, "source"));
  }
  if (const auto picture = thumbnail(exhibit); !picture.empty()) {
    image = concat("<a href=\"", address(picture), "\"><img src=\"", address(picture),
                   "\" width=\"240\" alt=\"", escape_html(string_at(exhibit.summary, "figure")),
                   "\"></a>");
  }
  return in.row({concat(in.linked(exhibit.folder, title), "<br>", in.code(exhibit.name), ", ",
                        in.text(origin(exhibit))),
                 answer, effect, source, image});
}

// Remarks on all, then a table for each topic. Topics and experiments with the most claims come
// first, experiments without a topic last.
std::string gallery(const std::vector<Exhibit>& exhibits, const Markup& in) {
  auto sorted = exhibits;
  std::ranges::stable_sort(sorted, std::ranges::greater(), claims_of);
  std::map<std::string, std::pair<std::size_t, std::string>> by_topic;  // claims, rows
  for (const Exhibit& exhibit : sorted) {
    auto& [claims, rows] = by_topic[exhibit.topic];
    claims += claims_of(exhibit);
    rows += row_of(exhibit, in);
  }
  std::vector<std::pair<std::string, std::pair<std::size_t, std::string>>> topics(by_topic.begin(),
                                                                                  by_topic.end());
  std::ranges::stable_sort(topics, std::ranges::greater(), [](const auto& topic) {
    return std::pair(!topic.first.empty(), topic.second.first);
  });
  auto out = concat(in.paragraph(kIntroduction), in.paragraph(discoveries_text(exhibits)),
                    in.paragraph(total_text(exhibits)));
  for (const auto& [topic, members] : topics) {
    out += topics.size() == 1 ? "" : in.heading(topic.empty() ? "Others" : topic);
    out += in.html ? "<table>\n" : "";
    out += in.row({"experiment", "answer", "effect, 95 % interval", "published", "figure"}, true);
    out += in.html ? "" : "| :-- | :-- | :-- | :-- | :-- |\n";
    out += members.second + (in.html ? "</table>\n" : "\n");
  }
  return out;
}

constexpr const char* kGalleryStyle = R"css(
table { width: 100%; }
td { white-space: normal; vertical-align: top; border-top: 1px solid var(--line); }
td:nth-child(1), td:nth-child(2) { min-width: 13rem; }
td img { width: 12rem; height: auto; background: #fff; border-radius: 4px; display: block; }
@media (max-width: 60rem) { tr, td { display: block; border: 0; padding: .15rem 0; }
  tr { border-top: 1px solid var(--line); padding: .6rem 0; } th { display: none; }
  td img { width: 100%; max-width: 26rem; } }
)css";

}  // namespace

Json summary_json(const Study& study, const Summary& summary, const std::string& best,
                  const std::vector<Answer>& answers, const std::vector<Figure>& figures) {
  Json list = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    list.push_back(Json{{"verdict", name_of(answers[i].verdict)},
                        {"pairs", answers[i].pairs()},
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

CoreTime core_time_of(const fs::path& report) {
  CoreTime runs;
  add_core_time(report / "runs.json", runs);
  add_core_time(report / "tuning" / "runs.json", runs);
  add_core_time(report / "tuning" / "shorter" / "runs.json", runs);
  return runs;
}

double core_hours(const CoreTime& runs) {
  double seconds = 0;
  for (const auto& [id, value] : runs) seconds += value;
  return seconds / 3600;
}

std::string core_hours_text(double hours) {
  return hours < .05 ? "less than 0.1 core-hours" : fmt::format("{:.1f} core-hours", hours);
}

std::string gallery_markdown(const std::vector<Exhibit>& exhibits) {
  auto all = gallery(exhibits, {.html = false});
  all.pop_back();
  return "# Results\n\nWritten by `./difflab report --all` from finished runs; `index.html` shows "
         "the same.\n" +
         all;
}

std::string gallery_html(const std::vector<Exhibit>& exhibits) {
  return concat(page_head("difflab: results", kGalleryStyle), "<h1>Results</h1>\n",
                gallery(exhibits, {.html = true}), "</main>\n</body>\n</html>\n");
}

}  // namespace difflab::report
