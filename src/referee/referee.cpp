#include "referee/referee.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "report/data/format.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWidth = 100;
constexpr std::size_t kRuleWidth = 13;

const Rule& rule_named(const std::string& name) {
  return *std::ranges::find_if(rules(), [&](const Rule& rule) { return rule.name == name; });
}

// `text` in lines behind a first column.
std::string wrapped(const std::string& column, const std::string& text, const std::string& indent) {
  const auto body = report::wrap(text, kWidth - indent.size(), "");
  std::string lines;
  for (const auto& line : split(body, '\n')) {
    lines += lines.empty() ? "  " + report::pad_right(column, indent.size() - 2) : indent;
    lines += line + "\n";
  }
  return lines;
}

// The rule, what fails and where, and after the last of a rule what to do.
std::string told_lines(const std::vector<const Objection*>& own) {
  std::string text;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto& [experiment, rule, where, what, undecided] = *own[i];
    const bool first = i == 0 || own[i - 1]->rule != rule;
    const bool last = i + 1 == own.size() || own[i + 1]->rule != rule;
    const std::string indent(2 + kRuleWidth, ' ');
    text += wrapped(first ? rule : "", concat(where, ": ", what), indent);
    if (last) text += wrapped("", concat("-> ", rule_named(rule).advice), indent + "   ");
  }
  return text;
}

}  // namespace

std::vector<std::string> reference_names(const fs::path& results) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(results, none)) {
    if (fs::is_directory(entry.path() / "reference", none)) names.insert(entry.path().filename());
  }
  return {names.begin(), names.end()};
}

References read_references(const fs::path& results) {
  References all;
  for (const auto& name : reference_names(results)) {
    all.push_back(read_reference(name, results / name / "reference"));
  }
  return all;
}

std::vector<Objection> judge(const References& all) {
  std::vector<Objection> found;
  for (const Rule& rule : rules()) {
    Objections objections(rule.name);
    rule.check(all, objections);
    found.insert(found.end(), objections.list().begin(), objections.list().end());
  }
  return found;
}

std::string to_text(const std::vector<Objection>& objections) {
  std::map<std::string, std::vector<const Objection*>> by_experiment;
  for (const auto& one : objections) by_experiment[one.experiment].push_back(&one);
  std::string text;
  for (const auto& [name, own] : by_experiment) {
    text += concat(text.empty() ? "" : "\n", name, ": ", report::number_of(own.size(), "objection"),
                   "\n", told_lines(own));
  }
  return text;
}

Json to_json(const std::vector<std::string>& experiments,
             const std::vector<Objection>& objections) {
  Json names = Json::array();
  for (const Rule& rule : rules()) names.push_back(Json{{"name", rule.name}, {"asks", rule.asks}});
  Json list = Json::array();
  for (const auto& one : objections) {
    list.push_back(Json{{"experiment", one.experiment},
                        {"rule", one.rule},
                        {"where", one.where},
                        {"what", one.what},
                        {"undecided", one.undecided},
                        {"advice", rule_named(one.rule).advice}});
  }
  return {{"references", experiments}, {"rules", names}, {"objections", list}};
}

}  // namespace difflab::referee
