#include "report/page/page.h"

#include <algorithm>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/table/grid.h"
#include "report/table/table_files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string paragraph(const std::string& label, const std::string& text) {
  if (text.empty()) return "";
  return concat("<p><strong>", label, "</strong> ", subscripts_html(text), "</p>\n");
}

// JSON inside a <script>: no "<" may end it early.
std::string script_json(const Json& json) { return join(split(json.dump(), '<'), "\\u003c"); }

std::string header(const PageContent& page) {
  const Study& study = page.study;
  const auto answer = own_answer_html(page);
  const auto& runs = page.frame.runs();
  const auto with_result =
      std::ranges::count_if(runs, [](const FrameRun& run) { return run.has_result(); });
  return concat("<h1>", escape_html(study.title.empty() ? study.name : study.title),
                "</h1>\n<p class=\"muted\">experiment ", escape_html(study.name), ", preset ",
                escape_html(study.preset), ", ", with_result, " of ", runs.size(),
                " runs have a result</p>\n",
                answer.empty() ? "" : concat("<p class=\"answer\">", answer, "</p>\n"));
}

// Collapsed details for readers who want more; empty without content.
std::string folded(const std::string& summary, const std::string& content) {
  if (content.empty()) return "";
  return concat("<details><summary>", summary, "</summary>\n", content, "</details>\n");
}

std::string background(const Study& study) {
  std::string out = paragraph("Prediction.", study.prediction) + paragraph("Notes.", study.notes);
  if (!study.command.empty()) {
    out += concat("<p><strong>Again.</strong> <code>", escape_html(study.command), "</code></p>\n");
  }
  return paragraph("Question.", study.question) + folded("Prediction, notes and the command", out);
}

std::string drawing(const PageContent& page, const Figure& figure) {
  if (!page.bundle.empty()) {
    return concat("<div class=\"drawing\" data-name=\"", escape_html(figure.name),
                  "\" data-spec=\"spec-", escape_html(figure.name),
                  "\"></div>\n<script type=\"application/json\" id=\"spec-",
                  escape_html(figure.name), "\">", script_json(figure.drawing.spec), "</script>\n");
  }
  if (!figure.has_images) {
    return "<p class=\"warning\">Not drawn: the renderer is missing.</p>\n";
  }
  return concat("<div class=\"drawing\"><img src=\"", address("figures/" + figure.name + ".svg"),
                "\" alt=\"", escape_html(figure.drawing.spec["description"].get<std::string>()),
                "\"></div>\n");
}

std::string figure_html(const PageContent& page, const Figure& figure) {
  const auto file = [&](const char* extension) { return "figures/" + figure.name + extension; };
  std::string out =
      concat("<figure", figure.width == ColumnWidth::kDouble ? " class=\"wide\"" : "", ">\n",
             drawing(page, figure), "<figcaption>", escape_html(figure.name), ": ");
  if (figure.has_images) {
    out += concat(link(file(".pdf"), "PDF"), " · ", link(file(".svg"), "SVG"), " · ",
                  link(file(".png"), "PNG"), " · ");
  }
  return out + concat(link(file(".csv"), "data"), " · ", link(file(".vl.json"), "Vega-Lite"),
                      "</figcaption>\n</figure>\n");
}

// The figure that answers: the one the experiment names, else the first.
const Figure* opening_figure(const PageContent& page) {
  for (const Figure& figure : page.figures) {
    if (figure.name == page.study.report.thumbnail) return &figure;
  }
  return page.figures.empty() ? nullptr : &page.figures.front();
}

// Without a claim and a best model, the first table is the answer.
bool opens_with_table(const PageContent& page) {
  return page.answers.empty() && page.headline.empty() && !page.tables.empty();
}

std::string opening(const PageContent& page) {
  std::string answers;
  if (opens_with_table(page)) answers = to_html(main_grid(page.tables.front(), page.labels));
  if (!page.answers.empty()) {
    answers = claims_html(page);
    std::string sentences;
    for (const Answer& answer : page.answers) {
      sentences += concat("<p>", subscripts_html(answer.text), "</p>\n");
    }
    answers += folded("In sentences", sentences);
  }
  if (!page.headline.empty()) {
    answers += concat("<p class=\"answer\">", subscripts_html(page.headline), "</p>\n");
  }
  const Figure* figure = opening_figure(page);
  const std::string shown = figure != nullptr ? figure_html(page, *figure) : "";
  if (shown.empty() || answers.empty()) return answers + shown;
  const bool is_wide = figure->width == ColumnWidth::kDouble;
  return concat("<div class=\"opening", is_wide ? " broad" : "", "\">\n", shown, "<div>\n", answers,
                "</div>\n</div>\n");
}

std::string tables(const PageContent& page) {
  std::string out;
  for (const Table& table : page.tables) {
    const bool is_above = opens_with_table(page) && &table == &page.tables.front();
    const std::string title = page.tables.size() == 1 ? "Table" : table.title;
    out += concat("<h2>", escape_html(is_above ? "The table above" : title), "</h2>\n",
                  is_above ? "" : to_html(main_grid(table, page.labels)));
    if (!table.comparisons.empty()) {
      out += folded(concat("Against ", subscripts_html(table.baseline), ", paired by seed"),
                    to_html(paired_grid(table, page.labels)));
    }
    std::string notes = "<ul class=\"notes\">\n";
    for (const std::string& note : table.notes) {
      notes += concat("<li>", subscripts_html(note), "</li>\n");
    }
    out += folded("How to read it", notes + "</ul>\n");
    out += concat("<p class=\"muted\">", link(table.name + ".md", "Markdown"), " · ",
                  link(table.name + ".csv", "CSV"), " · ", link(table.name + ".tex", "LaTeX"),
                  "</p>\n");
  }
  return out;
}

std::string other_figures(const PageContent& page) {
  std::string out;
  for (const Figure& figure : page.figures) {
    if (&figure != opening_figure(page)) out += figure_html(page, figure);
  }
  return out.empty() ? "" : "<h2>Figures</h2>\n<div class=\"figures\">\n" + out + "</div>\n";
}

// "Diff_NanoGPT, seed 0".
std::string title_of(const FrameRun& run, const Frame& frame, const Labels& labels) {
  std::vector<std::string> parts;
  for (const std::string& axis : frame.axes()) {
    parts.push_back(axis == kSeedAxis ? concat("seed ", run.axis(axis))
                                      : labels.value(run.axis(axis)));
  }
  return join(parts);
}

constexpr const char* kUnnamed = "sample_text";

std::string sample_html(const Json& sample) {
  const std::string step =
      sample.contains("step") && sample["step"].is_number_integer()
          ? concat("<p class=\"muted\">step ", sample["step"].get<std::int64_t>(), "</p>\n")
          : "";
  return concat(step, "<pre><span class=\"muted\">",
                escape_html(sample.at("prompt").get<std::string>()), "</span>",
                escape_html(sample.at("text").get<std::string>()), "</pre>\n");
}

// The texts that trained models wrote, one run after the other; "" if no run has any.
std::string samples_html(const Frame& frame, const Labels& labels) {
  std::string out;
  for (const FrameRun& run : frame.runs()) {
    for (const auto& [name, samples] : texts_in(run.result)) {
      // The first one stands open, so that a reader sees what the others hold.
      out += concat("<details class=\"sample\"", out.empty() ? " open" : "", "><summary>",
                    subscripts_html(title_of(run, frame, labels)),
                    name == kUnnamed ? "" : escape_html(concat(", ", name)), "</summary>\n");
      for (const Json& sample : *samples) out += sample_html(sample);
      out += "</details>\n";
    }
  }
  return out.empty() ? "" : "<h2>What the models write</h2>\n" + out;
}

std::string tuning(const Study& study) {
  if (!study.tuned) return "";
  const std::filesystem::path figure = "tuning/figures/tuning.svg";
  std::error_code none;
  const auto picture =
      std::filesystem::exists(study.output / figure, none)
          ? concat("<figure><div class=\"drawing\"><img src=\"", address(figure.string()),
                   "\" alt=\"", escape_html(study.tuned->key),
                   " and the metric it was tuned by\"></div></figure>\n")
          : "";
  return concat("<h2>Tuning</h2>\n<p>", subscripts_html(study.tuned->text()), "</p>\n", picture,
                "<p>", link("tuning/report.html", "Its table, figure and runs"), " · ",
                link("tuning/table.csv", "CSV"), " · ", link("tuning/figures/tuning.pdf", "PDF"),
                "</p>\n");
}

std::string paper_settings(const PageContent& page) {
  if (page.settings.empty()) return "";
  std::string out = "<dl>\n";
  for (const auto& [group, name, value] : page.settings) {
    out += concat("<dt>", escape_html(group), ": ", subscripts_html(name), "</dt><dd>",
                  subscripts_html(value), "</dd>\n");
  }
  return folded("Settings, for a paper",
                concat(out, "</dl>\n<p>", link(kSettingsFile, "LaTeX"), "</p>\n"));
}

std::string settings(const Study& study) {
  const auto list = settings_list(study);
  if (list.empty()) return "";
  std::string out = "<dl>\n";
  for (const std::string& setting : list) {
    const std::size_t equal = setting.find('=');
    out += concat("<dt>", escape_html(setting.substr(0, equal)), "</dt><dd><code>",
                  escape_html(setting.substr(equal + 1)), "</code></dd>\n");
  }
  return folded("Settings that are equal in all runs", out + "</dl>\n");
}

std::string run_row(const PageContent& page, const FrameRun& run) {
  std::string out = "<tr>";
  const auto cell = [&](const std::string& html, const char* kind = "") {
    out += concat("<td", kind, ">", html, "</td>");
  };
  for (const std::string& axis : page.frame.axes()) {
    cell(subscripts_html(axis == kSeedAxis ? run.axis(axis) : page.labels.value(run.axis(axis))));
  }
  std::string status(shown(run.state));
  if (run.diverged_at) status += " at step " + format_number(*run.diverged_at, 0);
  cell(run.state == RunState::kFinished ? status
                                        : concat("<span class=\"warning\">", status, "</span>"));
  const auto seconds = run.metric("train_seconds");
  cell(seconds ? format_number(*seconds, 1) + " s" : "", " class=\"number\"");
  const auto place = std::filesystem::absolute(run.plan.directory.path)
                         .lexically_relative(std::filesystem::absolute(page.study.output));
  cell(concat("<code>", link(place, run.plan.id), "</code>"));
  std::string commit = told_at(run.provenance, "commit").substr(0, 12);
  if (told_at(run.provenance, "dirty") == "true") commit += " + changes";
  cell("<code>" + escape_html(commit) + "</code>");
  cell(escape_html(told_at(run.provenance, "host")));
  cell(escape_html(run.message), " class=\"wrap\"");
  return out + "</tr>\n";
}

std::string runs(const PageContent& page) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const std::string& axis : page.frame.axes()) {
    out += concat("<th>", subscripts_html(page.labels.axis(axis)), "</th>");
  }
  out +=
      "<th>status</th><th class=\"number\">training</th><th>run</th><th>commit</th><th>host</th>"
      "<th></th></tr></thead>\n<tbody>\n";
  for (const FrameRun& run : page.frame.runs()) out += run_row(page, run);
  return folded(concat("All ", page.frame.runs().size(), " runs"),
                out + "</tbody></table></div>\n");
}

// Each provenance key with its distinct values over the runs.
std::string provenance(const Frame& frame) {
  std::string out;
  for (const char* key : {"commit", "dirty", "compiler", "build_type", "libtorch", "cpu", "cores",
                          "host", "device", "threads"}) {
    std::vector<std::string> values;
    for (const FrameRun& run : frame.runs()) {
      if (auto value = told_at(run.provenance, key); !value.empty()) add_new(values, value);
    }
    if (!values.empty()) {
      out += concat("<dt>", key, "</dt><dd>", escape_html(join(values, "; ")), "</dd>\n");
    }
  }
  std::string begun;  // of all sessions: a table, which two clocks must not change, says no time
  for (const FrameRun& run : frame.runs()) {
    for (const Json& session : sessions_of(run.provenance)) {
      const auto started = told_at(session, "started");
      if (begun.empty() || (!started.empty() && started < begun)) begun = started;
    }
  }
  if (!begun.empty()) out += "<dt>first run started</dt><dd>" + escape_html(begun) + "</dd>\n";
  return folded("Provenance", out.empty() ? "" : "<dl>\n" + out + "</dl>\n");
}

}  // namespace

std::string address(const std::filesystem::path& path) {
  static constexpr std::string_view kPlain = "/-_.~";
  std::string out;
  for (const char letter : path.generic_string()) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || kPlain.find(letter) != std::string_view::npos) {
      out += letter;
    } else {
      static constexpr const char* kHex = "0123456789ABCDEF";
      out += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return out;
}

std::string link(const std::filesystem::path& path, const std::string& text) {
  return concat("<a href=\"", address(path), "\">", escape_html(text), "</a>");
}

std::string page_head(const std::string& title, const std::string& style) {
  return concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>",
      escape_html(title), "</title>\n<style>", kPageStyle, style,
      "</style>\n</head>\n<body>\n<main>\n");
}

std::string page_html(const PageContent& page) {
  std::string out = page_head(page.study.title.empty() ? page.study.name : page.study.title);
  out += header(page) + opening(page) + background(page.study) + tables(page) +
         other_figures(page) + samples_html(page.frame, page.labels) + tuning(page.study) +
         "<h2>Behind it</h2>\n" + paper_settings(page) + settings(page.study) + runs(page) +
         provenance(page.frame);
  out +=
      concat("<footer><p>All runs: ", link("runs.json", "runs.json"), "</p></footer>\n</main>\n");
  if (!page.bundle.empty() && !page.figures.empty()) {
    const auto place = page.shared.lexically_relative(std::filesystem::absolute(page.study.output));
    out += page.shared.empty() ? concat("<script>", page.bundle, "</script>\n")
                               : concat("<script src=\"", address(place), "\"></script>\n");
    out += concat("<script>", kPageScript, "</script>\n");
  }
  return out + "</body>\n</html>\n";
}

std::string runs_text(const Study& study, const Frame& frame) {
  std::vector<std::string> lines;  // a run on each
  const bool are_mixed = !restored_beside_new(frame).empty();
  for (const FrameRun& run : frame.runs()) {
    const auto& axes = run.plan.axes;
    Json one = {{"id", run.plan.id},
                {"axes", Json::object_t(axes.begin(), axes.end())},
                {"status", shown(run.state)},
                {"directory", std::filesystem::absolute(run.plan.directory.path)
                                  .lexically_relative(std::filesystem::absolute(study.output))
                                  .generic_string()}};
    if (run.diverged_at) one["diverged_at_step"] = *run.diverged_at;
    if (!run.message.empty()) one["message"] = run.message;
    for (const char* key : {"metrics", "censored"}) {
      if (const auto found = run.result.find(key); found != run.result.end()) one[key] = *found;
    }
    // A tuning has thousands of runs, so it keeps their numbers and drops the looks.
    if (const auto looks = run.result.find("looks");
        looks != run.result.end() && !study.is_tuning) {
      one["looks"] = *looks;
    }
    one["provenance"] = run.provenance;
    if (!are_mixed && one["provenance"].is_object()) {
      one["provenance"].erase("restored_from");  // of this machine
    }
    lines.push_back(one.dump());
  }
  return concat(
      "{\"experiment\":", Json(study.name).dump(), ",\"preset\":", Json(study.preset).dump(),
      ",\"command\":", Json(study.command).dump(), ",\"runs\":[\n", join(lines, ",\n"), "\n]}\n");
}

}  // namespace difflab::report
