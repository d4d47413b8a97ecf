#include "record/log/event_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr char kSeparator = '\x1E';
constexpr std::size_t kHexDigits = 8;
constexpr std::size_t kHeader = 1 + kHexDigits + 1 + kHexDigits + 1;
constexpr std::size_t kLongest = 64 << 10;  // of JSON and line end; the reader believes no more

std::string utc_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(milliseconds / 1000), milliseconds % 1000);
}

std::string checksum_of(std::string_view length, std::string_view payload) {
  return fmt::format("{:08x}", crc32c(concat(length, payload)));
}

std::string record_of(const Json& event) {
  // Messages may quote any bytes; a record must be JSON all the same.
  const auto payload = dump_readable(event) + "\n";
  const auto length = fmt::format("{:08x}", payload.size());
  return concat(kSeparator, length, ' ', checksum_of(length, payload), ' ', payload);
}

struct Record {
  Json event;
  std::size_t bytes;
};

// The record that begins with the first byte, if it is whole.
std::optional<Record> whole_record(std::string_view bytes) {
  if (bytes.size() < kHeader) return std::nullopt;
  if (bytes[1 + kHexDigits] != ' ' || bytes[kHeader - 1] != ' ') return std::nullopt;
  const auto length_text = bytes.substr(1, kHexDigits);
  const auto checksum = bytes.substr(1 + kHexDigits + 1, kHexDigits);
  const auto length = parse_whole<std::size_t>(length_text, /*base=*/16);
  if (!length || *length > kLongest || bytes.size() - kHeader < *length) return std::nullopt;
  const auto payload = bytes.substr(kHeader, *length);
  if (checksum_of(length_text, payload) != checksum) return std::nullopt;
  Json event = Json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return std::nullopt;
  return Record{std::move(event), kHeader + *length};
}

constexpr const char* kTimeEvent = "time";

}  // namespace

void note_event(const RunDirectory& run, std::string_view what, const Json& details) {
  Json event = {{"time", utc_milliseconds()},
                {"host", host_name()},
                {"process", ::getpid()},
                {"event", what}};
  event.update(details);
  auto record = record_of(event);
  if (record.size() > kLongest) {
    event.erase("message");
    event["cut"] = true;
    record = record_of(event);
  }
  const int file = ::open(run.events().c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, record.data(), record.size());
  ::close(file);
}

Events parse_events(std::string_view bytes) {
  Events events;
  std::size_t read = 0;  // the end of the last whole record
  const auto note_gap = [&](std::size_t end) {
    if (end > read) events.gaps.push_back({read, end - read});
  };
  for (auto at = bytes.find(kSeparator); at != bytes.npos; at = bytes.find(kSeparator, at)) {
    auto record = whole_record(bytes.substr(at));
    if (!record) {
      ++at;
      continue;
    }
    note_gap(at);
    events.records.push_back(std::move(record->event));
    at += record->bytes;
    read = at;
  }
  note_gap(bytes.size());
  return events;
}

Events read_events(const RunDirectory& run, std::uint64_t from) {
  try {
    const auto bytes = read_file(run.events());
    return parse_events(std::string_view(bytes).substr(std::min<std::size_t>(from, bytes.size())));
  } catch (const UserError&) {  // there is none
    return {};
  }
}

std::uint64_t length_of_events(const RunDirectory& run) {
  std::error_code none;
  const auto length = std::filesystem::file_size(run.events(), none);
  return none ? 0 : length;
}

const std::vector<TimeSpent::Part>& TimeSpent::parts() {
  static const std::vector<Part> parts{
      {"training", "training", &TimeSpent::training},
      {"events", "event checks", &TimeSpent::events},
      {"validation", "validation", &TimeSpent::validation},
      {"checkpoints", "checkpoints", &TimeSpent::checkpoints},
      {"evaluation", "evaluation", &TimeSpent::evaluation},
  };
  return parts;
}

TimeSpent& TimeSpent::operator+=(const TimeSpent& other) {
  for (const auto& part : parts()) this->*part.seconds += other.*part.seconds;
  return *this;
}

double TimeSpent::sum() const {
  double all = 0;
  for (const auto& part : parts()) all += this->*part.seconds;
  return all;
}

Json TimeSpent::json() const {
  Json json = Json::object();
  constexpr double kMicroseconds = 1e6;  // what is below is noise, and long
  for (const auto& part : parts()) {
    json[part.key] = std::round(this->*part.seconds * kMicroseconds) / kMicroseconds;
  }
  return json;
}

void note_time(const RunDirectory& run, const TimeSpent& spent) {
  if (spent.sum() > 0) note_event(run, kTimeEvent, spent.json());
}

TimeSpent time_spent(const RunDirectory& run, std::uint64_t from) {
  TimeSpent all;
  for (const auto& event : read_events(run, from).records) {
    if (event.value("event", Json()) != kTimeEvent) continue;
    for (const auto& part : TimeSpent::parts()) {
      const auto found = event.find(part.key);
      if (found != event.end() && found->is_number()) all.*part.seconds += found->get<double>();
    }
  }
  return all;
}

}  // namespace difflab
