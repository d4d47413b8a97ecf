#include "cli/runs/named_references.h"

#include <string_view>
#include <utility>

#include "config/override/override.h"
#include "referee/referee.h"
#include "study/project.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {

namespace {

constexpr std::string_view kResults = "results=";

}  // namespace

std::filesystem::path named_results(const std::vector<std::string>& words) {
  std::filesystem::path results;
  for (const auto& word : words) {
    if (!word.starts_with(kResults)) continue;
    const auto item = config::parse_override(word);  // as other commands read it
    const auto value = item.holds_sweep() ? config::Value() : item.to_value();
    if (value.is_null() || !value.is_scalar() || value.as_string().empty()) {
      throw UserError(concat(word, " names no folder; expected one, e.g. results=results; a name ",
                             "with a comma or brackets needs quotes: results='a,b'"));
    }
    results = value.as_string();
  }
  return results.empty() ? study::find_project() / "results" : results;
}

NamedReferences named_references(const std::vector<std::string>& words) {
  NamedReferences found;
  for (const auto& word : words) {
    if (word.starts_with(kResults)) continue;
    if (word.find('=') != word.npos) {
      throw UserError(concat("'", word, "' is not an experiment; expected names and results=DIR"));
    }
    found.names.push_back(word);
  }
  found.results = named_results(words);
  auto there = referee::reference_names(found.results);
  if (there.empty()) {
    throw UserError(concat(found.results.string(),
                           " holds no references; expected folders EXPERIMENT/reference"));
  }
  for (const auto& name : found.names) {
    if (is_among(name, there)) continue;
    throw UserError(concat("there is no reference of ", name, " in ", found.results.string(),
                           suggestion(name, there)));
  }
  if (found.names.empty()) found.names = std::move(there);
  return found;
}

}  // namespace difflab::cli
