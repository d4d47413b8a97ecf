#include "record/log/event_log.h"

#include <fmt/format.h>

#include <thread>

#include "support/catch.h"

namespace difflab {
namespace {

struct EventBench {
  testing::TemporaryFolder folder;
  RunDirectory run{folder.path()};

  std::vector<int> steps() const {
    std::vector<int> found;
    for (const auto& event : read_events(run).records) found.push_back(event.at("step"));
    return found;
  }
};

// A log of more than `bytes` bytes, and where each of its records ends as the file system saw it.
struct LongLog : EventBench {
  std::string bytes;
  std::vector<std::size_t> ends;

  explicit LongLog(std::size_t length) {
    for (int step = 0; ends.empty() || ends.back() < length; ++step) {
      note_event(run, "checkpoint", {{"step", step}, {"message", std::string(step * 7 % 60, 'x')}});
      ends.push_back(fs::file_size(run.events()));
    }
    bytes = read_file(run.events());
  }
};

CATCH_TEST_CASE("events come back in order, with time, host and process") {
  const EventBench bench;
  CATCH_CHECK(read_events(bench.run).records.empty());
  note_event(bench.run, "start", {{"step", 0}});
  note_event(bench.run, "failure", {{"message", "two\nlines, \x1e and \xff bytes"}});
  const auto events = read_events(bench.run);
  CATCH_REQUIRE(events.records.size() == 2);
  CATCH_CHECK(events.gaps.empty());
  CATCH_CHECK(events.records[0]["event"] == "start");
  CATCH_CHECK(events.records[0]["process"] == ::getpid());
  CATCH_CHECK(events.records[0]["time"].get<std::string>().size() == 24);
  CATCH_CHECK(events.records[1]["message"] == "two\nlines, \x1e and \uFFFD bytes");
}

// Bit by bit, as the definition says.
std::uint32_t slow_crc32c(const std::string& bytes) {
  std::uint32_t rest = 0xFFFFFFFF;
  for (const char byte : bytes) {
    rest ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0x82F63B78 : 0);
  }
  return rest ^ 0xFFFFFFFF;
}

CATCH_TEST_CASE("a record is RS, length, checksum, JSON and a line end") {
  const EventBench bench;
  note_event(bench.run, "start");
  const auto bytes = read_file(bench.run.events());
  const auto payload = bytes.substr(bytes.find('{'));
  const auto length = fmt::format("{:08x}", payload.size());
  CATCH_CHECK(bytes == "\x1e" + length + " " +
                           fmt::format("{:08x}", slow_crc32c(length + payload)) + " " + payload);
  CATCH_CHECK(payload.ends_with("\"event\":\"start\"}\n"));
}

CATCH_TEST_CASE("a log cut at each of 4,096 places and appended to loses the torn record alone") {
  const LongLog log(4096);
  for (std::size_t cut = 0; cut < 4096; ++cut) {
    write_file_atomically(log.run.events(), log.bytes.substr(0, cut));
    note_event(log.run, "start", {{"step", -1}});
    note_event(log.run, "finish", {{"step", -2}});
    std::vector<int> expected;
    std::size_t whole = 0;  // the end of the last record before the cut
    for (const auto end : log.ends) {
      if (end > cut) break;
      expected.push_back(static_cast<int>(expected.size()));
      whole = end;
    }
    expected.push_back(-1);
    expected.push_back(-2);
    CATCH_INFO("cut at " << cut);
    CATCH_REQUIRE(log.steps() == expected);
    const auto gaps = read_events(log.run).gaps;
    CATCH_REQUIRE(gaps.size() == (cut == whole ? 0 : 1));
    if (cut != whole) {
      CATCH_REQUIRE(gaps[0].offset == whole);
      CATCH_REQUIRE(gaps[0].bytes == cut - whole);
    }
  }
}

CATCH_TEST_CASE("a changed byte anywhere loses its record alone") {
  const LongLog log(1500);
  const auto count = log.ends.size();
  for (std::size_t at = 0; at < log.bytes.size(); ++at) {
    for (const char damage : {'\x1e', '\0', '0', '\n', 'f'}) {
      if (log.bytes[at] == damage) continue;
      auto bytes = log.bytes;
      bytes[at] = damage;
      std::vector<int> expected;
      for (std::size_t i = 0; i < count; ++i) {
        const auto begin = i == 0 ? 0 : log.ends[i - 1];
        if (at < begin || at >= log.ends[i]) expected.push_back(static_cast<int>(i));
      }
      std::vector<int> found;
      for (const auto& event : parse_events(bytes).records) found.push_back(event.at("step"));
      CATCH_INFO("byte " << at << " is " << static_cast<int>(damage));
      CATCH_REQUIRE(found == expected);
    }
  }
}

CATCH_TEST_CASE("a length beyond the end or beyond reason, and noise, are passed over") {
  const LongLog log(300);
  std::string noise;
  for (int i = 0; i < 3000; ++i) noise += static_cast<char>(i * 7919 % 251);
  for (const std::string& before : {std::string("\x1e"
                                                "ffffffff 00000000 {}\n"),
                                    std::string("\x1e"
                                                "0000ffff 00000000 {}\n"),
                                    std::string("\x1e\x1e\x1e"), noise}) {
    const auto events = parse_events(before + log.bytes + before);
    CATCH_CHECK(events.records.size() == log.ends.size());
    CATCH_CHECK(events.gaps.size() == 2);
  }
}

CATCH_TEST_CASE("a message too long for a record is left out, the event is not") {
  const EventBench bench;
  note_event(bench.run, "failure", {{"message", std::string(1 << 20, 'x')}, {"step", 3}});
  note_event(bench.run, "start", {{"step", 4}});
  CATCH_CHECK(bench.steps() == std::vector<int>{3, 4});
}

CATCH_TEST_CASE("writers at the same time lose nothing") {
  const EventBench bench;
  constexpr int kWriters = 4, kEvents = 300;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEvents; ++i)
        note_event(bench.run, "x", {{"step", writer * kEvents + i}});
    });
  }
  for (auto& writer : writers) writer.join();
  auto steps = bench.steps();
  std::sort(steps.begin(), steps.end());
  CATCH_REQUIRE(steps.size() == kWriters * kEvents);
  for (int i = 0; i < kWriters * kEvents; ++i) CATCH_REQUIRE(steps[i] == i);
}

CATCH_TEST_CASE("a log that cannot be written is nobody's error") {
  const testing::TemporaryFolder folder;
  CATCH_CHECK_NOTHROW(note_event({folder.path() / "gone"}, "start"));
  CATCH_CHECK_FALSE(fs::exists(folder.path() / "gone"));
}

}  // namespace
}  // namespace difflab
