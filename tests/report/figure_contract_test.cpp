// What every kind of figure must do, whatever it draws. A new kind is covered by being in the
// variant: its fields are filled by what they say of themselves (Filled).

#include "config/schema/writer.h"
#include "report/every_figure.h"

namespace difflab::report {
namespace {

// The fields that a specification reads, and those that its data and transforms have.
void find_fields(const Json& spec, Names& read, Names& there) {
  if (spec.is_array()) {
    for (const Json& item : spec) find_fields(item, read, there);
  }
  if (!spec.is_object()) return;
  for (const auto& [key, value] : spec.items()) {
    if (key == "values" && value.is_array()) {
      for (const Json& row : value) {
        for (const auto& entry : row.items()) there.insert(entry.key());
      }
    } else if (key == "field" && value.is_string()) {
      read.insert(value.get<std::string>());
    } else if (key == "as") {
      const Json names = value.is_array() ? value : Json::array({value});
      for (const Json& name : names) there.insert(name.get<std::string>());
    } else {
      find_fields(value, read, there);
    }
  }
}

void check_drawing(const Drawing& drawing) {
  CATCH_CHECK(drawing.spec["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json");
  CATCH_CHECK(Json::parse(drawing.spec.dump()) == drawing.spec);  // NaN would come back as null
  Names read, there;
  find_fields(drawing.spec, read, there);
  CATCH_CHECK_FALSE(read.empty());
  for (const auto& field : read) {
    CATCH_INFO("the specification reads the field " << field);
    CATCH_CHECK(there.count(field) == 1);
  }
  CATCH_CHECK_FALSE(drawing.columns.empty());
  CATCH_CHECK(Names(drawing.columns.begin(), drawing.columns.end()).size() ==
              drawing.columns.size());
  for (const auto& row : drawing.rows) CATCH_CHECK(row.size() == drawing.columns.size());
}

CATCH_TEST_CASE("a figure of every kind draws small rows, the same way each time") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    CATCH_CHECK(Refused::by(figure).empty());  // it says of all that it needs that it is missing
    for (const char* source : {"", kCells}) {
      if (figure.source == kCells && *source == '\0') continue;  // it needs cells
      CATCH_INFO("source '" << source << "'");
      figure.source = source;
      const Drawing drawing = study.draw(figure);
      check_drawing(drawing);
      CATCH_CHECK_FALSE(drawing.rows.empty());
      const std::string csv = drawing.csv();
      CATCH_CHECK_THAT(csv, Contains("transformer") && Contains("diff"));
      const Drawing again = study.draw(figure);
      CATCH_CHECK(again.spec == drawing.spec);
      CATCH_CHECK(again.csv() == csv);
      // The same with each further axis that it may have.
      for_own_texts(figure, [&](const std::string&, std::string& axis, std::string_view about) {
        if (!axis.empty() || !about.starts_with("axis")) return;
        axis = "seed";
        check_drawing(study.draw(figure));
        axis = "";
      });
    }
  });
}

CATCH_TEST_CASE("a figure of every kind has the title and the width that it was given") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    CATCH_CHECK_FALSE(study.draw(figure).spec["title"]["text"].dump() == "\"\"");
    figure.title = "Of its own";
    int narrower = 0;
    for (const auto width : {ColumnWidth::kSingle, ColumnWidth::kDouble}) {
      figure.width = width;
      const Json spec = study.draw(figure).spec;
      CATCH_CHECK_THAT(spec["title"]["text"].dump(), Contains("Of its own"));
      if (!spec.contains("width")) continue;  // its panels have one
      CATCH_CHECK((spec["width"] > narrower && spec["width"] <= pixels(width)));
      narrower = spec["width"];
    }
  });
}

CATCH_TEST_CASE("a figure of every kind keeps to what where names, and may have nothing to draw") {
  const SmallStudy study;
  for_every_kind([&](auto figure) {
    const auto all = study.draw(figure).rows.size();
    figure.where.entries = {{"model", "diff"}};
    const Drawing one = study.draw(figure);
    check_drawing(one);
    CATCH_CHECK((!one.rows.empty() && one.rows.size() < all));
    figure.where.entries = {{"model", "nobody"}};
    const Drawing none = study.draw(figure);
    CATCH_CHECK(none.rows.empty());
    CATCH_CHECK(Json::parse(none.spec.dump()) == none.spec);
  });
}

std::string problem_of(const ReportConfig& report) {
  return testing::error_of([&] { config::read<ReportConfig>(config::write(report)); });
}

CATCH_TEST_CASE("no kind of figure and no table takes a name that is not a plain file's") {
  for (const char* name : {"", "../../../evil", "a/b", "/tmp/a", "..", ".", "-a", "a b", "a\nb"}) {
    CATCH_INFO("name '" << name << "'");
    for_every_kind([&](auto figure) {
      ReportConfig report;
      report.figures = {figure};
      CATCH_CHECK(problem_of(report) == "");
      figure.name = name;
      report.figures = {filled<IntervalConfig>(), figure};
      CATCH_CHECK_THAT(
          problem_of(report),
          Contains(concat("figures[1].name is '", name, "'; expected letters, digits, _ and -")));
    });
    TableConfig table;
    table.name = name;
    table.columns = {"loss"};
    ReportConfig report;
    report.tables = {table};
    CATCH_CHECK_THAT(problem_of(report), Contains(concat("tables[0].name is '", name, "'; exp")));
  }
}

CATCH_TEST_CASE("a figure of every kind says what it is, and refuses an axis that is not swept") {
  for_every_kind([](auto figure) {
    using Kind = decltype(figure);
    CATCH_CHECK(Kind::kKindKey == "mark");
    CATCH_CHECK_FALSE(Kind::kAbout.empty());
    CATCH_CHECK(Kind::kAbout.find('\n') == std::string_view::npos);
    ReportConfig report;
    report.figures = {figure};
    CATCH_CHECK(check_report(report, {"model", "seed"}).empty());
    for_own_texts(figure, [&](const std::string& key, std::string& member, std::string_view about) {
      if (!about.starts_with("axis with")) return;
      CATCH_INFO(key);
      const auto before = std::exchange(member, "modle");
      figure.source = "";
      report.figures = {figure};
      const auto problems = check_report(report, {"model", "seed"});
      CATCH_CHECK(std::any_of(problems.begin(), problems.end(), [&](const auto& problem) {
        return problem.key == concat("figures[0].", key) &&
               problem.message.find("did you mean model?") != std::string::npos;
      }));
      member = before;
    });
  });
}

CATCH_TEST_CASE("an axis that a figure does not use is to be named as a key that its kind has") {
  for_every_kind([](auto figure) {
    ReportConfig report;
    report.figures = {figure};
    std::set<std::string> own;
    for_own_texts(figure, [&](const std::string& key, auto&, auto) { own.insert(key); });
    for (const auto& problem : check_report(report, {"model", "noise", "seed"})) {
      CATCH_INFO(problem.message);
      const std::string begin = "would average over axis 'noise'; name it as ";
      CATCH_REQUIRE(problem.message.starts_with(begin));
      const auto keys = problem.message.substr(begin.size());
      for (const auto& word : split(keys.substr(0, keys.find(", or keep")), ' ')) {
        CATCH_CHECK((word == "or" || own.count(word) == 1));
      }
    }
  });
}

}  // namespace
}  // namespace difflab::report
