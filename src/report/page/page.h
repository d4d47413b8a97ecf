#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/page/figure_files.h"
#include "report/table/claim.h"
#include "report/table/table.h"

namespace difflab::report {

/// One line of the settings of a study: what it is and its value, in words and numbers.
struct Setting {
  std::string group;  ///< Compared, Model, Training, Tuning, Seeds, Statistics or Software
  std::string name;
  std::string value;
};

/// How the study was made, for the appendix of a paper, from the configurations and records of the
/// runs that have a result. A setting that differs between runs has all its values; one that no run
/// has is left out. Empty without such a run, and for a tuning, of which the study that it is for
/// tells.
std::vector<Setting> settings_of(const Study& study, const Frame& frame, const Labels& labels);

/// A booktabs tabular, 240 pt wide: one column of a two-column page.
std::string settings_tex(const std::vector<Setting>& settings, const std::string& study);

constexpr const char* kSettingsFile = "settings.tex";

/// Content of report.html.
struct PageContent {
  const Study& study;
  const Frame& frame;
  const Labels& labels;
  const std::vector<Table>& tables;
  const std::vector<Answer>& answers;
  const std::vector<Figure>& figures;
  const std::string& headline;
  const std::vector<Setting>& settings;
  const std::string& bundle;  ///< JavaScript; without it pictures stand in for the figures
  const std::filesystem::path& shared;  ///< the file that holds it; empty: the page does
};

/// report.html: one file that needs nothing else, also without a network, or but the shared
/// scripts.
std::string page_html(const PageContent& content);

/// A report's page with all that it links to inside: scripts and pictures, tables and data as
/// downloads, pages in folders below it. Other links, such as those to runs, become their words. It
/// opens anywhere, without a network. @throws UserError if a file cannot be read
std::string bundled_page(const std::filesystem::path& page);

/// runs.json: the runs with status, all metrics, what looks for events saw, and provenance. A
/// reader can compute the tables again, and when another bound was met.
std::string runs_text(const Study& study, const Frame& frame);

/// The study's own answer with the verdicts and effects of its claims in it, its first sentence in
/// bold, e.g. "<strong>Yes.</strong> It takes × 0.78 of the steps (supported)". Empty without one,
/// and while a claim that it names has no verdict.
std::string own_answer_html(const PageContent& page);

/// The claims as HTML: a row for those that differ in one or more values of their where, in it each
/// one's verdict, effect, interval, p and pairs.
std::string claims_html(const PageContent& page);

/// The beginning of a page, up to and with <main>; `style` is added to the page's own.
std::string page_head(const std::string& title, const std::string& style = "");

/// A path as an address, relative to the page, and a link to it.
std::string address(const std::filesystem::path& path);
std::string link(const std::filesystem::path& path, const std::string& text);

/// The page's style sheet and its script (page.css, page.js).
extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace difflab::report
