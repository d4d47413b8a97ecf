#include "record/log/metrics_log.h"
#include "support/catch.h"

namespace difflab {
namespace {

struct MetricsBench {
  testing::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "metrics.jsonl";
  MetricsTail tail{file};

  void append(const std::string& text) const { std::ofstream(file, std::ios::app) << text; }
  std::vector<int> steps() {
    std::vector<int> found;
    const auto news = tail.look();
    if (news.again) found.push_back(-1);
    for (const auto& line : news.lines) found.push_back(line["step"]);
    return found;
  }
};

using Steps = std::vector<int>;

CATCH_TEST_CASE("a tail gives every line once, a torn one when it is whole") {
  MetricsBench bench;
  CATCH_CHECK(bench.steps().empty());
  bench.append("{\"step\":1}\n{\"step\":2}\n{\"st");
  CATCH_CHECK(bench.steps() == Steps{1, 2});
  CATCH_CHECK(bench.steps().empty());
  bench.append("ep\":3}\n");
  CATCH_CHECK(bench.steps() == Steps{3});
}

CATCH_TEST_CASE("a tail cut anywhere into two looks gives the same lines") {
  const std::string text = "{\"step\":1}\n{\"step\":22}\n{\"step\":333}\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    MetricsBench bench;
    bench.append(text.substr(0, cut));
    auto found = bench.steps();
    bench.append(text.substr(cut));
    for (const int step : bench.steps()) found.push_back(step);
    CATCH_INFO("cut at " << cut);
    CATCH_CHECK(found == Steps{1, 22, 333});
  }
}

CATCH_TEST_CASE("a tail notices a file that was cut, cut and grown again, replaced, or is gone") {
  MetricsBench bench;
  bench.append("{\"step\":1}\n{\"step\":2,\"s\":0.5}\n");
  CATCH_CHECK(bench.steps() == Steps{1, 2});
  std::filesystem::resize_file(bench.file, 11);
  CATCH_CHECK(bench.steps() == Steps{-1, 1});
  bench.append("{\"step\":2,\"s\":0.6}\n{\"step\":3}\n");
  CATCH_CHECK(bench.steps() == Steps{2, 3});
  std::filesystem::resize_file(bench.file, 11);
  bench.append("{\"step\":2,\"s\":0.7}\n{\"step\":9}\n");  // as long as before
  CATCH_CHECK(bench.steps() == Steps{-1, 1, 2, 9});
  write_file_atomically(bench.file, "{\"step\":5}\n");
  CATCH_CHECK(bench.steps() == Steps{-1, 5});
  std::filesystem::remove(bench.file);
  CATCH_CHECK(bench.steps() == Steps{-1});
  CATCH_CHECK(bench.steps().empty());
  bench.append("{\"step\":1}\n");
  CATCH_CHECK(bench.steps() == Steps{1});
}

CATCH_TEST_CASE("a damaged line costs a tail that line") {
  MetricsBench bench;
  bench.append("{\"step\":1}\n}{\n[]\n{\"step\":3}\n");
  CATCH_CHECK(bench.steps() == Steps{1, 3});
  CATCH_CHECK(bench.steps().empty());
}

}  // namespace
}  // namespace difflab
