// difflab referee: what a hostile referee would say of the committed references.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "config/compose/compose.h"
#include "referee/referee.h"
#include "study/project.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

struct RefereeOptions {
  std::vector<std::string> words;
  bool json = false;
};

// The words: names of experiments, and at most results=DIR.
struct Selection {
  fs::path results;
  std::vector<std::string> names;
};

Selection selection_of(const std::vector<std::string>& words) {
  static constexpr std::string_view kResults = "results=";
  Selection selection;
  for (const auto& word : words) {
    if (word.starts_with(kResults)) {
      selection.results = word.substr(kResults.size());
    } else if (word.find('=') != word.npos) {
      throw UserError(concat("'", word, "' is no experiment; expected names and results=DIR"));
    } else {
      selection.names.push_back(word);
    }
  }
  if (selection.results.empty()) selection.results = find_project() / "results";
  return selection;
}

// The references that are asked for, all if none is named.
std::vector<std::string> asked_for(const Selection& selection, const referee::References& all) {
  std::vector<std::string> there;
  for (const auto& one : all) there.push_back(one.name);
  if (there.empty()) {
    throw UserError(concat(selection.results.string(),
                           " holds no references; expected folders EXPERIMENT/reference"));
  }
  for (const auto& name : selection.names) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    throw UserError(concat("there is no reference of ", name, " in ", selection.results.string(),
                           suggestion(name, there)));
  }
  return selection.names.empty() ? there : selection.names;
}

}  // namespace

void add_referee_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RefereeOptions>();
  CLI::App* command = app.add_subcommand(
      "referee", "Judge the committed references: what each may not say, where, what to do");
  command->add_option("experiments", options->words,
                      "names below results/ that have a reference; none: all; results=DIR says "
                      "where");
  command->add_flag("--json", options->json, "the objections as JSON");
  command->callback([options, &exit_code] {
    const auto selection = selection_of(options->words);
    const auto all = referee::read_references(selection.results);
    const auto names = asked_for(selection, all);
    auto objections = referee::judge(all);
    std::erase_if(objections, [&](const auto& one) {
      return std::find(names.begin(), names.end(), one.experiment) == names.end();
    });
    if (!objections.empty()) exit_code = kFailed;
    if (options->json) {
      std::cout << referee::to_json(names, objections).dump(1) << '\n';
    } else if (objections.empty()) {
      std::cout << fmt::format("{} references, {} rules: nothing to object\n", names.size(),
                               referee::rules().size());
    } else {
      std::cout << referee::to_text(objections)
                << fmt::format("\n{} objections to {} references\n", objections.size(),
                               names.size());
    }
  });
}

}  // namespace difflab::cli
