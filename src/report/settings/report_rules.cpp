#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string_view>

#include "report/data/frame.h"
#include "report/settings/report_config.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '-' &&
         std::ranges::all_of(name, [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
         });
}

// The names of one list of outputs ("tables", "figures"): each is a file's, and its own. Checked
// here for every kind there is or will be, because a name with a path in it would be written there.
std::set<std::string> output_names(std::string_view list, const auto& outputs, const auto& name_of,
                                   config::Check& check) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = name_of(outputs[i]);
    if (!is_file_name(name)) {
      check.problem(concat(list, "[", i, "].name"),
                    concat("is '", name, "'; expected letters, digits, _ and -"));
    } else if (!names.insert(name).second) {
      check.problem(list, concat("has two ", list, " named '", name, "'"));
    }
  }
  return names;
}

// The rules of one table or figure against the axes of the sweep.
class AxisRules : public FigureRules {
 public:
  AxisRules(std::string place, const std::vector<std::string>& axes,
            const std::set<std::string>& single, std::vector<ReportProblem>& problems)
      : place_(std::move(place)), axes_(axes), problems_(problems), used_(single) {}

  void must_be_axis(std::string_view key, const std::string& name) override {
    used_.insert(name);
    if (name.empty() || is_among(name, axes_)) return;
    problems_.push_back(
        {concat(place_, ".", key),
         concat("names '", name, "', which the sweep does not vary", suggestion(name, axes_))});
  }
  void may_be_axis(const std::string& name) override { used_.insert(name); }
  void may_use_any_axis() override { used_.insert(axes_.begin(), axes_.end()); }
  /// Averaging over anything but repetitions would mix variants.
  void must_use_all(std::string_view how) {
    for (const std::string& axis : axes_) {
      if (axis == kSeedAxis || used_.count(axis) > 0) continue;
      problems_.push_back({place_, concat("would average over axis '", axis, "'; ", how)});
    }
  }

 private:
  std::string place_;
  const std::vector<std::string>& axes_;
  std::vector<ReportProblem>& problems_;
  std::set<std::string> used_;
};

void check_answer(const ReportConfig& report, std::vector<ReportProblem>& problems) {
  const auto rest = filled_answer(report.answer, [&](const AnswerPlace& place) {
    if (place.first > place.last || place.last >= report.claims.size()) {
      problems.push_back({"answer", concat("names ", place.text, " of ", report.claims.size(),
                                           " claims, the first of which is 0")});
    }
    return "";
  });
  if (rest.find("{claim") != rest.npos) {
    problems.push_back({"answer",
                        "has a {claim… that names no part of a claim; expected {claims.0.verdict} "
                        "or {claims.0-2.effect}"});
  }
}

}  // namespace

std::string filled_answer(const std::string& answer,
                          const std::function<std::string(const AnswerPlace&)>& fill) {
  static const std::regex kPlace(R"(\{claims\.(\d{1,4})(?:-(\d{1,4}))?\.(verdict|effect)\})");
  std::string out, rest = answer;
  for (std::smatch found; std::regex_search(rest, found, kPlace); rest = found.suffix().str()) {
    const std::size_t first = std::stoul(found[1]);
    const std::size_t last = found[2].matched ? std::stoul(found[2]) : first;
    out += found.prefix().str() + fill({found.str(), first, last, found[3] == "effect"});
  }
  return out + rest;
}

void TableConfig::validate(config::Check& check) const {
  if (columns.empty()) check.problem("columns", "is empty; expected at least one metric");
  for (const std::string& metric : compare) {
    if (!is_among(metric, columns)) {
      check.problem("compare",
                    concat("names '", metric, "', not a column", suggestion(metric, columns)));
    }
  }
}

bool TableConfig::compares(const Metric& column) const {
  if (!compare.empty()) return is_among(column.key, compare);
  return column.better != Better::kNeither && !column.is_time();
}

void ReportConfig::validate(config::Check& check) const {
  const auto of_tables = output_names(
      "tables", tables, [](const TableConfig& one) -> auto& { return one.name; }, check);
  for (const auto& [name, what] : {std::pair(kClaimsFile, "the table of claims is"),
                                   std::pair("settings", "the table of settings is")}) {
    if (of_tables.count(name) == 0) continue;
    check.problem("tables", concat("has one named '", name, "', as ", what, "; expected another"));
  }
  const auto drawn = output_names(
      "figures", figures, [](const FigureConfig& one) -> auto& { return common_of(one).name; },
      check);
  std::set<std::string> names;
  for (const DerivedConfig& config : derived) {
    const std::string& name = std::visit(
        [](const auto& d) -> const auto& { return d.name; }, config);
    if (!names.insert(name).second) {
      check.problem("derived", concat("has two metrics named '", name, "'"));
    }
  }
  // figures=[] asks for none, and the file that it is said of need not be changed for that.
  if (!thumbnail.empty() && !drawn.empty() && drawn.count(thumbnail) == 0) {
    check.problem("thumbnail", concat("is '", thumbnail, "', which is not a figure",
                                      suggestion(thumbnail, {drawn.begin(), drawn.end()})));
  }
}

std::vector<ReportProblem> check_report(const ReportConfig& report,
                                        const std::vector<std::string>& axes,
                                        const std::set<std::string>& single) {
  std::vector<ReportProblem> problems;
  check_answer(report, problems);
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const std::string place = concat("tables[", i, "]");
    if (report.tables[i].rows.names.empty()) continue;
    AxisRules rules(place, axes, single, problems);
    for (const std::string& axis : report.tables[i].rows.names) rules.must_be_axis("rows", axis);
    rules.must_use_all("add it to rows");
  }
  for (std::size_t i = 0; i < report.claims.size(); ++i) {
    AxisRules rules(concat("claims[", i, "]"), axes, single, problems);
    rules.may_be_axis(compared_axis(report, axes));
    for (const auto& entry : report.claims[i].where.entries)
      rules.must_be_axis("where", entry.first);
    rules.must_use_all("say with where which of its values is meant");
  }
  for (std::size_t i = 0; i < report.figures.size(); ++i) {
    AxisRules rules(concat("figures[", i, "]"), axes, single, problems);
    std::visit(
        [&](auto figure) {
          figure.check_names(rules);
          for (const auto& entry : figure.where.entries) rules.may_be_axis(entry.first);
          std::vector<std::string> keys;
          EachKey each{"axis", [&](auto key, auto&) { keys.emplace_back(key); }};
          figure.visit_fields(each);
          rules.must_use_all(
              concat("name it as ", join(keys, " or "), ", or keep one value with where"));
        },
        report.figures[i]);
  }
  for (std::size_t i = 0; i < report.derived.size(); ++i) {
    AxisRules rules(concat("derived[", i, "]"), axes, single, problems);
    EachKey each{"axis", [&](auto key, auto& name) { rules.must_be_axis(key, name); }};
    std::visit([&](auto derived) { derived.visit_fields(each); }, report.derived[i]);
  }
  return problems;
}

std::string compared_axis(const ReportConfig& report, const std::vector<std::string>& axes) {
  if (!report.tables.empty() && !report.tables[0].rows.names.empty()) {
    return report.tables[0].rows.names[0];
  }
  const auto first =
      std::ranges::find_if(axes, [](const std::string& axis) { return axis != kSeedAxis; });
  return first == axes.end() ? "" : *first;
}

void ClaimConfig::validate(config::Check& check) const {
  if (variant == against) {
    check.problem("against", "is the variant itself; expected another one");
  }
}

}  // namespace difflab::report

namespace difflab {
template report::ReportConfig config::read(const config::Value&, const std::string&);
template config::Value config::write(report::ReportConfig);
}  // namespace difflab
