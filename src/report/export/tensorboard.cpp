#include "report/export/tensorboard.h"

#include <bit>
#include <cstdint>

#include "util/hash.h"

// The few fields of TensorFlow's event.proto and summary.proto that a scalar needs:
//   Event          1 wall_time (double)   2 step (int64)   3 file_version (string)   5 summary
//   Summary        1 value (repeated)
//   Summary.Value  1 tag (string)   2 simple_value (float)
// A field begins with number << 3 | wire type: 0 varint, 1 eight bytes, 2 length and bytes, 5 four
// bytes.
namespace difflab::report {
namespace {

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

std::string framed(std::string_view bytes) {
  const auto length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  return length + little_endian(masked_crc(length)) + std::string(bytes) +
         little_endian(masked_crc(bytes));
}

std::string event_file(const std::vector<Json>& lines, double start) {
  std::string file = framed(double_field(1, start) + text_field(3, kVersion));
  for (const auto& line : lines) {
    const auto seconds = line.find("train_seconds");
    const bool timed = seconds != line.end() && seconds->is_number();
    const auto step = line.find("step");
    file += framed(double_field(1, start + (timed ? seconds->get<double>() : 0)) +
                   integer_field(2, step != line.end() && step->is_number_integer()
                                        ? step->get<std::int64_t>()
                                        : 0) +
                   text_field(5, scalars_of(line)));
  }
  return file;
}

}  // namespace difflab::report
