#include "report/export/export.h"

#include "support/catch.h"

namespace difflab::report {
namespace {

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

struct Bench {
  testing::TemporaryFolder folder;
  std::vector<ExportedRun> runs;

  void add(const std::string& id, const std::string& label,
           std::vector<std::pair<std::string, std::string>> axes, const std::string& metrics) {
    const RunDirectory directory{folder.path() / "runs" / id};
    fs::create_directories(directory.path);
    std::ofstream(directory.metrics()) << metrics;
    runs.push_back({id, label, std::move(axes), directory});
  }
};

CATCH_TEST_CASE("a TFRecord has the masked checksums of its length and its bytes") {
  // crc32c("123456789") is E3069283; rotated right by 15 it is 2507C60D, and with A282EAD8 added
  // C78AB0E5. The checksum of the length 9 was found bit by bit.
  CATCH_CHECK(framed("123456789") == from_hex("0900000000000000"
                                              "37f97139"
                                              "313233343536373839"
                                              "e5b08ac7"));
}

CATCH_TEST_CASE("an event file begins with its version and holds one event for each line") {
  const auto file = event_file({{{"step", 300}, {"loss", 1.5}, {"none", nullptr}, {"word", "x"}}},
                               /*start=*/2);
  const std::string version = from_hex(
                                  "090000000000000040"  // wall_time = 2.0
                                  "1a0d") +             // file_version, 13 bytes
                              "brain.Event:2";
  const std::string event = from_hex(
                                "090000000000000040"  // wall_time = 2.0
                                "10ac02"              // step = 300
                                "2a0d"                // summary, 13 bytes
                                "0a0b"                // value, 11 bytes
                                "0a04") +             // tag, 4 bytes
                            "loss" +
                            from_hex("150000c03f");  // simple_value = 1.5
  CATCH_CHECK(file == framed(version) + framed(event));
}

CATCH_TEST_CASE("the table in long form has a column for each varied key") {
  Bench bench;
  bench.add(
      "aa", "x", {{"model", "diff"}, {"seed", "0"}},
      "{\"step\":0,\"valid_loss\":4.25,\"lr\":null}\n{\"step\":5,\"valid_loss\":1e-07}\n{\"st");
  bench.add("bb", "y", {{"model", "a \"b\", c"}, {"train.lr", "0.1"}},
            "{\"step\":2,\"valid_loss\":3}\n");
  CATCH_CHECK(metrics_csv(bench.runs) ==
              "run,model,seed,train.lr,step,metric,value\n"
              "aa,diff,0,,0,valid_loss,4.25\n"
              "aa,diff,0,,0,lr,\n"
              "aa,diff,0,,5,valid_loss,1e-07\n"
              "bb,\"a \"\"b\"\", c\",,0.1,2,valid_loss,3\n");
}

CATCH_TEST_CASE("folders are named by labels that cannot lead anywhere else") {
  const std::string id = "0123456789abcdef";
  const auto name_of = [&](const std::string& label) {
    return folder_names({{id, label, {}, {}}}).front();
  };
  CATCH_CHECK(name_of("model=diff seed=0") == "model=diff,seed=0");
  CATCH_CHECK(name_of("init=/etc/passwd") == "init=_etc_passwd");
  CATCH_CHECK(name_of("..") == "_.");
  CATCH_CHECK(name_of(".hidden") == "_hidden");
  CATCH_CHECK(name_of("a\nb$(x)λ") == "a_b__x___");
  CATCH_CHECK(name_of("") == "," + id);
  CATCH_CHECK(name_of(std::string(5000, 'x')).size() < 200);
  CATCH_CHECK(folder_names({{"1", "a/b", {}, {}}, {"2", "a b", {}, {}}, {"3", "a?b", {}, {}}}) ==
              std::vector<std::string>{"a_b,1", "a,b", "a_b,3"});
}

CATCH_TEST_CASE("an export to the same folder replaces the files and leaves nothing else") {
  Bench bench;
  bench.add("aa", "seed=0", {}, "{\"step\":0,\"loss\":4}\n");
  bench.add("bb", "seed=1", {}, "");
  const auto logs = bench.folder.path() / "logs";
  export_tensorboard(bench.runs, logs);
  std::ofstream(bench.runs[0].directory.metrics()) << "{\"step\":1,\"loss\":3}\n";
  export_tensorboard(bench.runs, logs);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(logs)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  CATCH_REQUIRE(files.size() == 1);
  CATCH_CHECK(files[0].parent_path() == logs / "seed=0");
  CATCH_CHECK(files[0].filename().string().find("tfevents") != std::string::npos);
  CATCH_CHECK(read_file(files[0]) == event_file({{{"step", 1}, {"loss", 3}}}, 0));
}

CATCH_TEST_CASE("an export begins when the first session of a run did") {
  Bench bench;
  bench.add("aa", "seed=0", {}, "{\"step\":0,\"loss\":4}\n");
  std::ofstream(bench.runs[0].directory.path / "provenance.json")
      << R"({"started": "2026-01-01T00:20:00Z", "earlier_sessions": [
             {"started": "2026-01-01T00:00:00Z"}, {"started": "2026-01-01T00:10:00Z"}]})";
  const auto logs = bench.folder.path() / "logs";
  export_tensorboard(bench.runs, logs);
  const auto file = fs::recursive_directory_iterator(logs);
  std::string bytes;
  for (const auto& entry : file) {
    if (entry.is_regular_file()) bytes = read_file(entry.path());
  }
  CATCH_CHECK(bytes == event_file({{{"step", 0}, {"loss", 4}}}, /*start=*/1'767'225'600));
}

CATCH_TEST_CASE("what cannot be written is an error, and what was there stays") {
  Bench bench;
  bench.add("aa", "seed=0", {}, "{\"step\":0,\"loss\":4}\n");
  write_file_atomically(bench.folder.path() / "logs", "a file");
  CATCH_CHECK_THROWS_AS(export_tensorboard(bench.runs, bench.folder.path() / "logs"), UserError);
  CATCH_CHECK(read_file(bench.folder.path() / "logs") == "a file");
}

}  // namespace
}  // namespace difflab::report
