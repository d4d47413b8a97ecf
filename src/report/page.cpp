#include "report/page.h"

#include <algorithm>

#include "report/format.h"
#include "report/grid.h"
#include "report/samples.h"
#include "report/table_files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string paragraph(const std::string& label, const std::string& text) {
  if (text.empty()) return "";
  return concat("<p><strong>", label, "</strong> ", escape_html(text), "</p>\n");
}

// JSON inside a <script>: no "<" may end it early.
std::string script_json(const Json& json) {
  std::string out;
  for (const char letter : json.dump()) {
    if (letter == '<') {
      out += "\\u003c";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string header(const PageContent& page) {
  const Study& study = page.study;
  const auto& runs = page.frame.runs();
  const auto with_result =
      std::count_if(runs.begin(), runs.end(), [](const FrameRun& run) { return run.has_result(); });
  std::string out = concat("<h1>", escape_html(study.title.empty() ? study.name : study.title),
                           "</h1>\n<p class=\"muted\">experiment ", escape_html(study.name),
                           ", preset ", escape_html(study.preset), ", ", with_result, " of ",
                           runs.size(), " runs have a result</p>\n");
  for (const Answer& answer : page.answers) {
    out += concat("<p class=\"answer\">", subscripts_html(answer.text), "</p>\n");
  }
  if (!page.headline.empty()) {
    out += concat("<p class=\"answer\">", subscripts_html(page.headline), "</p>\n");
  }
  out += paragraph("Question.", study.question);
  out += paragraph("Prediction.", study.prediction);
  out += paragraph("Notes.", study.notes);
  if (!study.command.empty()) {
    out += concat("<p><strong>Again.</strong> <code>", escape_html(study.command), "</code></p>\n");
  }
  return out;
}

std::string tables(const PageContent& page) {
  std::string out;
  for (const Table& table : page.tables) {
    out += concat("<h2>", escape_html(page.tables.size() == 1 ? "Table" : table.title), "</h2>\n",
                  to_html(main_grid(table, page.labels)));
    if (!table.comparisons.empty()) {
      out += concat("<h3>Against ", subscripts_html(table.baseline), ", paired by seed</h3>\n",
                    to_html(paired_grid(table, page.labels)));
    }
    out += "<ul class=\"notes\">\n";
    for (const std::string& note : table.notes) {
      out += concat("<li>", subscripts_html(note), "</li>\n");
    }
    out += concat("</ul>\n<p class=\"muted\">", link(table.name + ".md", "Markdown"), " · ",
                  link(table.name + ".csv", "CSV"), " · ", link(table.name + ".tex", "LaTeX"),
                  "</p>\n");
  }
  return out;
}

std::string figures(const PageContent& page) {
  if (page.figures.empty()) return "";
  std::string out = "<h2>Figures</h2>\n<div class=\"figures\">\n";
  for (const Figure& figure : page.figures) {
    const std::filesystem::path base = std::filesystem::path("figures") / figure.name;
    const auto file = [&](const char* extension) {
      return std::filesystem::path(base.string() + extension);
    };
    out += concat("<figure", figure.width == ColumnWidth::kDouble ? " class=\"wide\"" : "", ">\n");
    if (!page.bundle.empty()) {
      out += concat(
          "<div class=\"drawing\" data-name=\"", escape_html(figure.name), "\" data-spec=\"spec-",
          escape_html(figure.name), "\"></div>\n<script type=\"application/json\" id=\"spec-",
          escape_html(figure.name), "\">", script_json(figure.drawing.spec), "</script>\n");
    } else if (figure.has_images) {
      out +=
          concat("<div class=\"drawing\"><img src=\"", address(file(".svg")), "\" alt=\"",
                 escape_html(figure.drawing.spec["description"].get<std::string>()), "\"></div>\n");
    } else {
      out += "<p class=\"warning\">Not drawn: the renderer is missing.</p>\n";
    }
    out += concat("<figcaption>", escape_html(figure.name), ": ");
    if (figure.has_images) {
      out += concat(link(file(".pdf"), "PDF"), " · ", link(file(".svg"), "SVG"), " · ",
                    link(file(".png"), "PNG"), " · ");
    }
    out += concat(link(file(".csv"), "data"), " · ", link(file(".vl.json"), "Vega-Lite"),
                  "</figcaption>\n</figure>\n");
  }
  return out + "</div>\n";
}

std::string settings(const Study& study) {
  const auto list = settings_list(study);
  if (list.empty()) return "";
  std::string out = "<h2>Settings</h2>\n<details><summary>Equal in all runs</summary>\n<dl>\n";
  for (const std::string& setting : list) {
    const std::size_t equal = setting.find('=');
    out += concat("<dt>", escape_html(setting.substr(0, equal)), "</dt><dd><code>",
                  escape_html(setting.substr(equal + 1)), "</code></dd>\n");
  }
  return out + "</dl></details>\n";
}

std::string provenance_text(const FrameRun& run, const char* key) {
  const auto found = run.provenance.find(key);
  if (found == run.provenance.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string run_row(const PageContent& page, const FrameRun& run) {
  std::string out = "<tr>";
  const auto cell = [&](const std::string& html, const char* kind = "") {
    out += concat("<td", kind, ">", html, "</td>");
  };
  for (const std::string& axis : page.frame.axes()) {
    cell(subscripts_html(axis == kSeedAxis ? run.axis(axis) : page.labels.value(run.axis(axis))));
  }
  std::string status(name_of(run.state));
  if (run.diverged_at) status += " at step " + format_number(*run.diverged_at, 0);
  cell(run.state == RunState::kFinished ? status
                                        : concat("<span class=\"warning\">", status, "</span>"));
  const auto seconds = run.metric("train_seconds");
  cell(seconds ? format_number(*seconds, 1) + " s" : "", " class=\"number\"");
  const auto place = std::filesystem::absolute(run.plan.directory)
                         .lexically_relative(std::filesystem::absolute(page.study.output));
  cell(concat("<code>", link(place, run.plan.id), "</code>"));
  std::string commit = provenance_text(run, "commit").substr(0, 12);
  if (provenance_text(run, "dirty") == "true") commit += " + changes";
  cell("<code>" + escape_html(commit) + "</code>");
  cell(escape_html(provenance_text(run, "host")));
  cell(escape_html(run.message), " class=\"wrap\"");
  return out + "</tr>\n";
}

std::string runs(const PageContent& page) {
  std::string out = "<h2>Runs</h2>\n<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& axis : page.frame.axes()) {
    out += concat("<th>", subscripts_html(page.labels.axis(axis)), "</th>");
  }
  out +=
      "<th>status</th><th class=\"number\">training</th><th>run</th><th>commit</th><th>host</th>"
      "<th></th></tr></thead>\n<tbody>\n";
  for (const FrameRun& run : page.frame.runs()) out += run_row(page, run);
  return out + "</tbody></table></div>\n";
}

// Each provenance key with its distinct values over the runs.
std::string provenance(const Frame& frame) {
  std::string out;
  for (const char* key : {"commit", "dirty", "compiler", "build_type", "libtorch", "cpu", "cores",
                          "host", "device", "threads"}) {
    std::vector<std::string> values;
    for (const FrameRun& run : frame.runs()) {
      std::string value = provenance_text(run, key);
      if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end()) {
        values.push_back(std::move(value));
      }
    }
    if (!values.empty()) {
      out += concat("<dt>", key, "</dt><dd>", escape_html(join(values, "; ")), "</dd>\n");
    }
  }
  return out.empty() ? "" : "<h2>Provenance</h2>\n<dl>\n" + out + "</dl>\n";
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
  out += header(page) + tables(page) + figures(page) + samples_html(page.frame, page.labels) +
         settings(page.study) + runs(page) + provenance(page.frame);
  out +=
      concat("<footer><p>All runs: ", link("runs.json", "runs.json"), "</p></footer>\n</main>\n");
  if (!page.bundle.empty() && !page.figures.empty()) {
    out += concat("<script>", page.bundle, "</script>\n<script>", kPageScript, "</script>\n");
  }
  return out + "</body>\n</html>\n";
}

Json runs_json(const Study& study, const Frame& frame) {
  Json list = Json::array();
  for (const FrameRun& run : frame.runs()) {
    Json axes = Json::object();
    for (const auto& [axis, value] : run.plan.axes) axes[axis] = value;
    Json one = {{"id", run.plan.id},
                {"axes", std::move(axes)},
                {"status", name_of(run.state)},
                {"directory", std::filesystem::absolute(run.plan.directory)
                                  .lexically_relative(std::filesystem::absolute(study.output))
                                  .generic_string()}};
    if (run.diverged_at) one["diverged_at_step"] = *run.diverged_at;
    if (!run.message.empty()) one["message"] = run.message;
    one["provenance"] = run.provenance;
    list.push_back(std::move(one));
  }
  return {{"experiment", study.name},
          {"preset", study.preset},
          {"command", study.command},
          {"runs", std::move(list)}};
}

}  // namespace difflab::report
