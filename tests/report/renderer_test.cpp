// The renderer as another program: whatever it meets or does, a report is whole or as it was.
#include "report/example_study.h"
#include "report/page/figure_files.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

// A study of one figure, and a shell script that stands in for Python.
struct Scripted {
  explicit Scripted(const std::string& script) {
    builder.finished("diff", 0, {{"loss", 0.5}});
    builder.finished("diff", 1, {{"loss", 0.25}});
    builder.study.report.figures = {of_yaml<IntervalConfig>("name: loss, y: model, x: loss")};
    auto& renderer = builder.study.renderer;
    renderer.python = builder.folder() / "python";
    renderer.script = renderer.python;
    renderer.cache = builder.folder() / "cache";
    write_file_atomically(renderer.python, "#!/bin/sh\nread job\n" + script);
    fs::permissions(renderer.python, fs::perms::owner_all);
  }
  fs::path figure(const char* extension) const {
    return builder.study.output / "figures" / concat("loss", extension);
  }

  StudyBuilder builder;
};

CATCH_TEST_CASE("a renderer that fails leaves old figures whole, and the report says why") {
  struct Failure {
    const char *script, *why;
  };
  for (const auto& [script, why] : std::initializer_list<Failure>{
           {"echo 'no memory is left' >&2; exit 1", "exit code 1: no memory is left"},
           {"kill -9 $$", "killed by signal 9"},
           {"echo nonsense; exit 0", "ended with exit code 0"},
           {"echo '{\"name\": \"loss\", \"error\": \"a bad label\"}'; read word",
            "loss is not drawn: a bad label"}}) {
    CATCH_INFO(script);
    Scripted study(script);
    make_directories(study.builder.study.output / "figures");
    const char* const all[] = {".svg", ".pdf", ".png", ".csv", ".vl.json"};
    for (const char* old : all) write_file_atomically(study.figure(old), "of earlier runs");
    const Summary summary = write_report(study.builder.study);
    CATCH_CHECK(summary.has_failed_to_draw);
    CATCH_CHECK_THAT(join(summary.warnings), Contains(why));
    CATCH_CHECK_THROWS(require_drawn(summary));
    for (const char* old : all) CATCH_CHECK(read_file(study.figure(old)) == "of earlier runs");
    CATCH_CHECK(fs::exists(study.builder.study.output / "runs.json"));
  }
}

CATCH_TEST_CASE("nothing of a report is written before its figures are drawn") {
  Scripted study("");
  const auto seen = study.builder.folder() / "seen";
  const auto& output = study.builder.study.output;
  const auto draw = concat("ls -R ", output.string(), " > ", seen.string(),
                           "\necho '{\"name\": \"loss\", \"error\": null}'\nread word\n",
                           "[ \"$word\" = write ] && for e in svg pdf png; do echo drawn > ",
                           study.figure("").string(), ".$e; done\n");
  write_file_atomically(study.builder.study.renderer.python, "#!/bin/sh\nread job\n" + draw);
  fs::permissions(study.builder.study.renderer.python, fs::perms::owner_all);
  CATCH_CHECK(write_report(study.builder.study).warnings.empty());
  CATCH_CHECK(read_file(seen) == concat(output.string(), ":\n"));
  CATCH_CHECK(read_file(study.figure(".png")) == "drawn\n");
  CATCH_CHECK(fs::exists(study.figure(".vl.json")));
}

CATCH_TEST_CASE("the caller's environment does not change what is drawn") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"loss", 0.5}});
  builder.study.report.figures = {of_yaml<IntervalConfig>("name: loss, y: model, x: loss")};
  builder.study.renderer = Renderer::below(DIFFLAB_ROOT);
  builder.study.renderer.cache = builder.folder() / "cache";
  if (!fs::exists(builder.study.renderer.python)) {
    CATCH_WARN("SKIPPED: no .venv, so nothing was drawn");
    return;
  }
  write_file_atomically(builder.folder() / "json.py", "raise SystemExit(9)\n");
  write_file_atomically(builder.folder() / "usercustomize.py", "raise SystemExit(9)\n");
  const std::pair<const char*, std::string> variables[] = {
      {"PYTHONHOME", "/nowhere"},
      {"PYTHONPATH", builder.folder().string()},
      {"PYTHONSTARTUP", "/nowhere"},
      {"LC_ALL", "C"}};
  for (const auto& [name, value] : variables) {
    CATCH_INFO(name);
    const char* before = std::getenv(name);
    const std::string kept = before != nullptr ? before : "";
    ::setenv(name, value.c_str(), 1);
    const Summary summary = write_report(builder.study);
    before != nullptr ? ::setenv(name, kept.c_str(), 1) : ::unsetenv(name);
    CATCH_CHECK(join(summary.warnings) == "");
    CATCH_CHECK(fs::remove(builder.study.output / "figures" / "loss.png"));
  }
}

CATCH_TEST_CASE("a label's control characters reach no figure, page, table or terminal") {
  for (const char* control :
       {"\x1b", "\x01", "\x7f", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\uffff"}) {
    Scripted study("exit 3");
    auto& report = study.builder.study.report;
    report.labels.entries = {{"diff", concat("DI", control, "FF")},
                             {"loss", concat("lo", control, "ss")}};
    report.tables = {TableConfig()};
    report.tables[0].columns = {"loss"};
    study.builder.study.title = concat("ti", control, "tle");
    const Summary summary = write_report(study.builder.study);
    CATCH_CHECK(summary.text.find(control) == std::string::npos);
    CATCH_CHECK_THAT(summary.text, Contains("DI FF"));
    for (const char* file : {"table.md", "table.tex", "table.csv", "figures/loss.csv",
                             "figures/loss.vl.json", "report.html"}) {
      CATCH_INFO(file);
      const auto text = read_file(study.builder.study.output / file);
      CATCH_CHECK(text.find(control) == std::string::npos);
      CATCH_CHECK(text.find("\\u001b") == std::string::npos);
    }
  }
}

CATCH_TEST_CASE("a committed page shares the scripts of a file that exists, no other page does") {
  Scripted study("exit 3");
  make_directories(study.builder.study.renderer.cache);
  write_file_atomically(study.builder.study.renderer.cache / "vega-bundle.js", "/* scripts */");
  const auto results = study.builder.folder() / "results";
  const auto page_in = [&](const char* folder) {
    study.builder.study.output = results / folder;
    write_report(study.builder.study);
    return read_file(results / folder / "report.html");
  };
  CATCH_CHECK_THAT(page_in("mine/reference"), Contains("/* scripts */"));
  write_file_atomically(results / "figures.js", "");
  const std::pair<const char*, const char*> sharing[] = {
      {"mine/reference", "src=\"../../figures.js\""},
      {"mine/reference.partial-7", "src=\"../../figures.js\""},
      {"mine/reference/tuning", "src=\"../../../figures.js\""},
      {"mine/reference/tuning/shorter", "src=\"../../../../figures.js\""}};
  for (const auto& [folder, link] : sharing) {
    CATCH_CHECK_THAT(page_in(folder), Contains(link) && !Contains("/* scripts */"));
  }
  CATCH_CHECK(read_file(results / "figures.js") == "/* scripts */");
  for (const char* own : {"mine/default", "mine/references", "mine/default-1234"}) {
    CATCH_CHECK_THAT(page_in(own), Contains("/* scripts */") && !Contains("src="));
  }
}

}  // namespace
}  // namespace difflab::report
