// The drawn report: needs the renderer in .venv, and Chromium and pdffonts for what a reader sees.
// What is not installed is named in a warning and skipped.
#include "report/example_study.h"
#include "report/page/figure_files.h"
#include "support/catch.h"
#include "util/process.h"

namespace difflab::report {
namespace {

/// Whether figures cannot be drawn, which it says.
bool lacks_renderer(const Renderer& renderer) {
  if (fs::exists(renderer.python)) {
    Process process({renderer.python.string(), "-c", "import vl_convert"});
    if (process.wait().success()) return false;
  }
  CATCH_WARN("SKIPPED: no vl-convert in .venv, so no figure was drawn");
  return true;
}

// What a program printed, and its exit code.
std::pair<std::string, int> output_of(const std::vector<std::string>& argv) {
  Process process(argv);
  process.close_input();
  std::string text;
  while (process.output_open()) {
    for (const std::string& line : process.read_lines(std::chrono::seconds(1))) text += line + "\n";
  }
  return {text, process.wait().code};
}

void check_fonts(const fs::path& figure) {
  const auto [fonts, code] = output_of({"/usr/bin/pdffonts", figure.string()});
  CATCH_INFO(figure << "\n" << fonts);
  CATCH_CHECK(code == 0);
  CATCH_CHECK(fonts.find("LiberationSans") != std::string::npos);
  CATCH_CHECK(fonts.find("Type 3") == std::string::npos);
  CATCH_CHECK(fonts.find(" no ") == std::string::npos);  // embedded, subset, with Unicode
}

StudyBuilder drawn_study() {
  StudyBuilder builder;
  fill_like_headline(builder);
  builder.study.report = headline_report();
  builder.study.renderer = Renderer::below(DIFFLAB_ROOT);
  builder.study.renderer.cache = builder.folder() / "cache";
  return builder;
}

CATCH_TEST_CASE("the page escapes what users wrote and needs nothing from a network") {
  StudyBuilder builder;
  fill_like_headline(builder);
  builder.study.report = headline_report();
  builder.study.title = "<script>alert('x')</script> & more";
  builder.study.question = "Is 1 < 2?";
  builder.study.report.labels.entries[3].second = "</script><b>DIFF</b>";
  builder.study.renderer.cache = builder.folder() / "cache";
  make_directories(builder.study.renderer.cache);
  write_file_atomically(builder.study.renderer.cache / "vega-bundle.js", "/* scripts */");
  write_report(builder.study);
  const std::string page = read_file(builder.study.output / "report.html");
  CATCH_CHECK(page.find("/* scripts */") != std::string::npos);
  CATCH_CHECK(page.find("<script>alert") == std::string::npos);
  CATCH_CHECK(page.find("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; more") !=
              std::string::npos);
  CATCH_CHECK(page.find("Is 1 &lt; 2?") != std::string::npos);
  CATCH_CHECK(page.find("<b>DIFF") == std::string::npos);
  CATCH_CHECK(page.find("out of memory &lt;at step 40&gt;") != std::string::npos);
  CATCH_CHECK(page.find("../../runs/diff-0") != std::string::npos);
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "url(http"}) {
    CATCH_CHECK(page.find(remote) == std::string::npos);
  }
}

CATCH_TEST_CASE("figures are drawn once, with embedded fonts, and again when their data change") {
  StudyBuilder builder = drawn_study();
  if (lacks_renderer(builder.study.renderer)) return;
  CATCH_REQUIRE(write_report(builder.study).warnings.empty());
  const fs::path figures = builder.study.output / "figures";
  CATCH_CHECK(read_file(figures / "learning.svg").find("<svg") != std::string::npos);
  CATCH_CHECK(read_file(figures / "learning.svg").find("\">init</tspan>") != std::string::npos);
  CATCH_CHECK(read_file(figures / "learning.png").substr(1, 3) == "PNG");
  std::size_t clipped = 0;
  for (const auto& file : fs::directory_iterator(figures)) {
    const auto svg = file.path().extension() == ".svg" ? read_file(file) : "";
    if (svg.find("id=\"clip") == std::string::npos) continue;
    ++clipped;
    CATCH_INFO(file.path());  // whatever was drawn before it in the same process
    CATCH_CHECK(svg.find("id=\"clip0\"") != std::string::npos);
  }
  CATCH_CHECK(clipped >= 1);
  // 3.3 inches are 237.6 points.
  CATCH_CHECK(read_file(figures / "learning.pdf").find("237.75") != std::string::npos);

  const auto drawn_at = fs::last_write_time(figures / "learning.pdf");
  write_report(builder.study);
  CATCH_CHECK(fs::last_write_time(figures / "learning.pdf") == drawn_at);

  fs::remove(figures / "accuracy.png");
  write_file_atomically(builder.study.runs[0].directory.path / "metrics.jsonl",
                        "{\"step\":10,\"needle_accuracy\":0.5}\n");
  write_report(builder.study);
  CATCH_CHECK(fs::exists(figures / "accuracy.png"));
  CATCH_CHECK(fs::last_write_time(figures / "learning.pdf") != drawn_at);

  if (!fs::exists("/usr/bin/pdffonts")) {
    CATCH_WARN("SKIPPED: no pdffonts (poppler-utils), so fonts were not checked");
    return;
  }
  for (const char* name : {"learning.pdf", "accuracy.pdf", "depth_length.pdf"}) {
    check_fonts(figures / name);
  }
}

CATCH_TEST_CASE("every kind of figure is drawn, with embedded fonts and none of Type 3") {
  StudyBuilder builder = drawn_study();
  if (lacks_renderer(builder.study.renderer)) return;
  builder.study.report.figures = other_figures();
  CATCH_CHECK(join(write_report(builder.study).warnings) == "");
  for (const FigureConfig& figure : builder.study.report.figures) {
    const std::string name = std::visit([](const auto& f) { return f.name; }, figure);
    CATCH_INFO(name);
    const fs::path base = builder.study.output / "figures" / name;
    CATCH_REQUIRE(fs::exists(base.string() + ".pdf"));
    const std::string data = read_file(base.string() + ".csv");
    CATCH_CHECK(std::count(data.begin(), data.end(), '\n') > 6);
    if (fs::exists("/usr/bin/pdffonts")) check_fonts(base.string() + ".pdf");
  }
}

CATCH_TEST_CASE("ticks are plain numbers, on short axes and on logarithmic ones") {
  StudyBuilder builder;
  builder.study.renderer = Renderer::below(DIFFLAB_ROOT);
  builder.study.renderer.cache = builder.folder() / "cache";
  if (lacks_renderer(builder.study.renderer)) return;
  builder.finished("diff", 0, {{"needle_accuracy", 0.9}});
  std::string curve;
  for (const int step : {5, 10}) {
    curve += Json{{"step", step}, {"valid_loss", step * 2000.0}}.dump() + "\n";
  }
  write_file_atomically(builder.study.runs[0].directory.path / "metrics.jsonl", curve);
  auto line = of_yaml<LineConfig>("name: short, y: valid_loss, color: model");
  LineConfig logarithmic = line;
  logarithmic.name = "log";
  logarithmic.x_scale = LineScale::kLog;
  logarithmic.y_scale = AxisScale::kLog;
  builder.study.report.figures = {line, logarithmic};
  CATCH_REQUIRE(write_report(builder.study).warnings.empty());
  for (const char* name : {"short.svg", "log.svg"}) {
    const std::string svg = read_file(builder.study.output / "figures" / name);
    CATCH_INFO(name);
    CATCH_CHECK(svg.find(">5</text>") != std::string::npos);
    CATCH_CHECK(svg.find(">10</text>") != std::string::npos);
    CATCH_CHECK(svg.find(">20,000</text>") != std::string::npos);
    CATCH_CHECK(svg.find("e+") == std::string::npos);
  }
}

CATCH_TEST_CASE("the page opens in Chromium, wide, on a phone and in the dark, without complaint") {
  StudyBuilder builder = drawn_study();
  if (lacks_renderer(builder.study.renderer)) return;
  for (const FigureConfig& figure : other_figures()) builder.study.report.figures.push_back(figure);
  write_report(builder.study);
  const fs::path page = builder.study.output / "report.html";
  CATCH_CHECK(fs::file_size(page) < 1'700'000);
  const auto [said, code] =
      output_of({builder.study.renderer.python.string(),
                 std::string(DIFFLAB_ROOT) + "/tests/report/open_report.py", page.string(),
                 std::to_string(builder.study.report.figures.size())});
  if (code == 77) {
    CATCH_WARN("SKIPPED: " << said);
    return;
  }
  CATCH_INFO(said);
  CATCH_CHECK(code == 0);
}

CATCH_TEST_CASE("a page says when the first of its runs started") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"needle_accuracy", 0.9}});
  builder.finished("diff", 1, {{"needle_accuracy", 0.8}});
  builder.study.output = builder.folder() / "output";
  const auto started = [&](std::size_t run, const char* sessions) {
    write_file_atomically(builder.study.runs[run].directory.path / "provenance.json", sessions);
  };
  started(0, R"({"commit": "0123456789abcdef0123", "started": "2026-02-01T00:00:00Z"})");
  started(1, R"({"started": "2026-03-01T00:00:00Z", "earlier_sessions": [
                 {"started": "2026-01-01T00:00:00Z"}]})");
  write_report(builder.study);
  CATCH_CHECK_THAT(read_file(builder.study.output / "report.html"),
                   Contains("<dt>first run started</dt><dd>2026-01-01T00:00:00Z</dd>"));
}

CATCH_TEST_CASE("without a claim and a best the first table stands beside the figure") {
  StudyBuilder builder = drawn_study();
  builder.study.report.claims.clear();
  builder.study.baseline.clear();
  builder.study.report.tables.resize(1);
  builder.study.report.tables[0].columns = {"parameters"};  // of which none is the best
  builder.study.title = "Where does λ_init lead?";
  write_report(builder.study);
  const std::string page = read_file(builder.study.output / "report.html");
  const auto opening = page.find("<div class=\"opening");
  const auto table = page.find("<table", opening), notes = page.find("The table above");
  CATCH_CHECK(page.find("<h1>Where does λ_init lead?</h1>") != std::string::npos);
  CATCH_REQUIRE(opening != std::string::npos);
  CATCH_REQUIRE(notes != std::string::npos);
  CATCH_CHECK(table < page.find("Prediction, notes and the command"));
  CATCH_CHECK(table < notes);
  // It stands there alone.
  const auto behind = page.find("Behind it", notes);
  CATCH_REQUIRE(behind != std::string::npos);
  CATCH_CHECK(page.substr(notes, behind - notes).find("<table") == std::string::npos);
}

CATCH_TEST_CASE("with claims, no best is named of rows that differ in more than the variant") {
  StudyBuilder builder;
  builder.study.baseline = "transformer";
  builder.study.output = builder.folder() / "output";
  for (int seed = 0; seed < 2; ++seed) {
    for (const char* pairs : {"4", "16"}) {
      for (const char* model : {"transformer", "diff"}) {
        builder.finished(model, seed + (*pairs == '4' ? 0 : 10), {{"test_loss", 0.5 + seed}});
        builder.study.runs.back().axes = {
            {"pairs", pairs}, {"model", model}, {"seed", std::to_string(seed)}};
      }
    }
  }
  auto& table = builder.study.report.tables.emplace_back();
  table.name = "table";
  table.rows.names = {"model", "pairs"};
  table.columns = {"test_loss"};
  const auto said = [&] { return write_report(builder.study).text; };
  CATCH_CHECK_THAT(said(), Contains("Best of 4 by test loss"));
  auto& claim = builder.study.report.claims.emplace_back();
  claim.text = "DIFF has a lower loss";
  claim.metric = "test_loss";
  claim.variant = "diff";
  claim.where.entries = {{"pairs", "4"}};
  CATCH_CHECK_THAT(said(), !Contains("Best of") && Contains("DIFF has a lower loss"));
}

}  // namespace
}  // namespace difflab::report
