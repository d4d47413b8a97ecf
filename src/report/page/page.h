#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/page/figure_files.h"
#include "report/page/settings_tex.h"
#include "report/table/claim.h"
#include "report/table/table.h"

namespace difflab::report {

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

/// runs.json: the runs with status, all metrics, what looks for events saw, and provenance. A
/// reader can compute the tables again, and when another bound was met.
std::string runs_text(const Study& study, const Frame& frame);

/// The beginning of a page, up to and with <main>; `style` is added to the page's own.
std::string page_head(const std::string& title, const std::string& style = "");

/// A path as an address, relative to the page, and a link to it.
std::string address(const std::filesystem::path& path);
std::string link(const std::filesystem::path& path, const std::string& text);

/// The page's style sheet and its script (page_assets.cpp).
extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace difflab::report
