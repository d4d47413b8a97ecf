#include "report/export/export.h"

#include <bit>
#include <cstdint>
#include <map>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 180;  // bytes; file systems hold 255
// TensorBoard reads every file whose name contains "tfevents". With a name of its own for each
// export it would add up those it has seen.
constexpr const char* kEventFile = "events.out.tfevents.0000000000.difflab";
constexpr const char* kTemporary = "difflab-export";

std::string safe_name(const std::string& label) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,=@";
  std::string name = label;
  for (auto& byte : name) {
    if (byte == ' ') byte = ',';
    if (kPlain.find(byte) == kPlain.npos) byte = '_';
  }
  // Neither hidden nor "..".
  if (name.starts_with('.')) name.front() = '_';
  return name.substr(0, kLongestName);
}

// When the run's first session began, in seconds since 1970; 0 if nothing says so.
double start_of(const RunDirectory& run) {
  auto provenance = read_provenance(run);
  if (!provenance) return 0;
  const Json& sessions = list_at(*provenance, "earlier_sessions");
  const Json& first = sessions.empty() ? *provenance : sessions.front();
  return static_cast<double>(recorded_time(first, "started").value_or(0));
}

// The few fields of TensorFlow's event.proto and summary.proto that a scalar needs:
//   Event          1 wall_time (double)   2 step (int64)   3 file_version (string)   5 summary
//   Summary        1 value (repeated)
//   Summary.Value  1 tag (string)   2 simple_value (float)
// A field begins with number << 3 | wire type: 0 varint, 1 eight bytes, 2 length and bytes, 5 four
// bytes.
enum Wire : unsigned { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

// Readers refuse a file that does not begin with this.
constexpr std::string_view kVersion = "brain.Event:2";

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
  }
  return bytes;
}

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7U) bytes += static_cast<char>((number & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(number);
}

std::string key(unsigned field, Wire wire) { return varint(field << 3U | wire); }

std::string text_field(unsigned field, std::string_view text) {
  return key(field, kBytes) + varint(text.size()) + std::string(text);
}
std::string double_field(unsigned field, double number) {
  return key(field, kEightBytes) + little_endian(std::bit_cast<std::uint64_t>(number));
}
std::string float_field(unsigned field, float number) {
  return key(field, kFourBytes) + little_endian(std::bit_cast<std::uint32_t>(number));
}
std::string integer_field(unsigned field, std::int64_t number) {
  return key(field, kVarint) + varint(static_cast<std::uint64_t>(number));
}

// So that a record may hold records with their checksums.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

std::string scalars_of(const Json& line) {
  std::string summary;
  for (const auto& [metric, value] : line.items()) {
    if (metric == "step" || !value.is_number()) continue;
    summary += text_field(1, text_field(1, metric) + float_field(2, value.get<float>()));
  }
  return summary;
}

}  // namespace

std::string metrics_csv(const std::vector<ExportedRun>& runs) {
  std::vector<std::string> keys;
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.axes) add_new(keys, key);
  }
  std::vector<std::string> head{"run"};
  head.insert(head.end(), keys.begin(), keys.end());
  head.insert(head.end(), {"step", "metric", "value"});
  std::string text = csv_line(head);
  for (const auto& run : runs) {
    std::vector<std::string> cells{run.id};
    for (const auto& key : keys) cells.push_back(value_of_axis(run.axes, key));
    for (const auto& line : read_metrics(run.directory)) {
      for (const auto& [metric, value] : line.items()) {
        if (metric == "step") continue;
        auto row = cells;
        row.insert(row.end(), {told_at(line, "step"), metric, told_at(line, metric.c_str())});
        text += csv_line(row);
      }
    }
  }
  return text;
}

std::string framed(std::string_view bytes) {
  const auto length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  return length + little_endian(masked_crc(length)) + std::string(bytes) +
         little_endian(masked_crc(bytes));
}

std::string event_file(const std::vector<Json>& lines, double start) {
  std::string file = framed(double_field(1, start) + text_field(3, kVersion));
  for (const auto& line : lines) {
    const auto step = line.find("step");
    file += framed(double_field(1, start + number_at(line, "train_seconds").value_or(0)) +
                   integer_field(2, step != line.end() && step->is_number_integer()
                                        ? step->get<std::int64_t>()
                                        : 0) +
                   text_field(5, scalars_of(line)));
  }
  return file;
}

std::vector<std::string> folder_names(const std::vector<ExportedRun>& runs) {
  std::map<std::string, int> counts;
  for (const auto& run : runs) ++counts[safe_name(run.label)];
  std::vector<std::string> names;
  for (const auto& run : runs) {
    const auto name = safe_name(run.label);
    names.push_back(counts[name] > 1 || name.empty() ? concat(name, ",", run.id) : name);
  }
  return names;
}

void export_tensorboard(const std::vector<ExportedRun>& runs, const fs::path& folder) {
  const auto names = folder_names(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto lines = read_metrics(runs[i].directory);
    if (lines.empty()) continue;
    const auto place = folder / names[i];
    make_directories(place);
    remove_abandoned_temporaries(place);
    // Under a name that TensorBoard passes over until the file is whole.
    write_file_atomically(place / kTemporary, event_file(lines, start_of(runs[i].directory)));
    std::error_code error;
    fs::rename(place / kTemporary, place / kEventFile, error);
    if (error) {
      throw UserError(
          concat("cannot replace ", (place / kEventFile).string(), ": ", error.message()));
    }
  }
}

}  // namespace difflab::report
