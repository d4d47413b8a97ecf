#include "record/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

// Sorted by name, because looking a key up among 300,000 in their order would take a minute.
using HeaderJson = nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation

std::uint64_t item_size(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> kSizes = {
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1}};
  const auto found = kSizes.find(dtype);
  return found == kSizes.end() ? 0 : found->second;
}

[[noreturn]] void refuse(const std::string& name, std::string_view reason) {
  throw UserError(concat(name, ": not a valid safetensors file: ", reason));
}

// The number of bytes a tensor needs, or nothing if its shape is negative or overflows.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape,
                                        std::uint64_t item) {
  std::uint64_t count = item;
  for (const auto size : shape) {
    if (size < 0) return std::nullopt;
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

// A guess at what else a file is, for the message.
std::string_view guess(std::string_view start) {
  if (start.starts_with("PK\x03\x04")) return "; it looks like a zip (a PyTorch checkpoint?)";
  if (start.starts_with("\x80")) return "; it looks like a pickle, which runs code when opened";
  return "";
}

// Refuses what cannot be such a file by its size and first bytes, before more of it is read.
// @return the length of the header.
std::uint64_t check_start(std::string_view start, std::uint64_t file_size,
                          const std::string& name) {
  if (const auto what = stand_in(start, ""); !what.empty()) {
    throw UserError(concat(name, ": ", what));
  }
  if (start.size() < kSafetensorsLengthBytes) refuse(name, "shorter than its 8 length bytes");
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, start.data(), kSafetensorsLengthBytes);
  if (header_size > kMaxHeader || header_size > file_size - kSafetensorsLengthBytes) {
    refuse(name, concat("its header claims ", header_size, " bytes, the file has ",
                        file_size - kSafetensorsLengthBytes, guess(start)));
  }
  return header_size;
}

/// The first key that an object of a JSON text has twice; readers take one of the two or the other.
struct RepeatedKey final : nlohmann::json_sax<HeaderJson> {
  static std::optional<std::string> of(std::string_view text) {
    RepeatedKey reader;
    HeaderJson::sax_parse(text, &reader);
    return reader.repeated;
  }
  bool start_object(std::size_t) override { return open.emplace_back(), true; }
  bool key(string_t& key) override {
    if (!open.back().insert(key).second) repeated = key;
    return !repeated;
  }
  bool end_object() override { return open.pop_back(), true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

  std::vector<std::set<std::string>> open;
  std::optional<std::string> repeated;
};

// Infinity and NaN are the numbers whose exponent has all bits set.
template <class Bits>
bool has_full_exponent(std::string_view bytes, Bits exponent) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    if ((bits & exponent) == exponent) return true;
  }
  return false;
}

struct Entry {
  TensorBytes tensor;
  std::uint64_t begin = 0, end = 0;
};

Entry read_entry(const std::string& file, const std::string& name, const HeaderJson& entry,
                 std::string_view data) {
  const auto bad = [&](std::string_view reason) {
    refuse(file, concat("tensor ", name, ": ", reason));
  };
  const auto unsigned_list = [&](const char* key) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_array()) {
      bad(concat(key, " is missing or no list"));
    }
    std::vector<std::int64_t> values;
    for (const auto& value : entry[key]) {
      if (!value.is_number_unsigned() ||
          value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        bad(concat(key, " holds something else than whole numbers"));
      }
      values.push_back(value.get<std::int64_t>());
    }
    return values;
  };
  Entry result;
  result.tensor.name = name;
  result.tensor.shape = unsigned_list("shape");
  const auto offsets = unsigned_list("data_offsets");
  if (!entry.contains("dtype") || !entry["dtype"].is_string()) bad("dtype is missing");
  result.tensor.dtype = entry["dtype"].get<std::string>();
  const auto item = item_size(result.tensor.dtype);
  if (item == 0) bad(concat("unknown dtype ", result.tensor.dtype));
  if (offsets.size() != 2 || offsets[0] > offsets[1]) bad("data_offsets is not begin and end");
  result.begin = static_cast<std::uint64_t>(offsets[0]);
  result.end = static_cast<std::uint64_t>(offsets[1]);
  if (result.end > data.size()) bad("its data lie beyond the end of the file");
  if (byte_count(result.tensor.shape, item) != result.end - result.begin) {
    bad("shape and data_offsets disagree");
  }
  result.tensor.bytes = data.substr(result.begin, result.end - result.begin);
  return result;
}

constexpr const char* kKey = "seal";
// In the header's text; inside another text the quotes would stand behind backslashes.
constexpr std::string_view kField = "\"seal\":\"";
constexpr std::size_t kSealDigits = 64;

// Where the seal's digits stand in the header, npos if it has none.
std::size_t place_of_seal(std::string_view header) {
  const auto field = header.find(kField);
  if (field == header.npos || header.size() - field < kField.size() + kSealDigits)
    return header.npos;
  return field + kField.size();
}

// Seal of a file: of the header with zeros in the seal's place, and of the data.
std::string seal_of(std::string header, std::size_t place, std::string_view data) {
  header.replace(place, kSealDigits, kSealDigits, '0');
  return sha256_hex(header + sha256_hex(data));
}

}  // namespace

Safetensors Safetensors::read(const std::filesystem::path& path) {
  const auto start = read_file(path, kStandInBytes);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error) check_start(start, size, path.string());
  return parse(read_file(path), path.string());
}

Safetensors Safetensors::parse(std::string bytes, const std::string& name) {
  Safetensors file;
  file.name_ = name;
  file.bytes_ = std::move(bytes);
  const auto header_size =
      check_start(std::string_view(file.bytes_).substr(0, kStandInBytes), file.bytes_.size(), name);
  file.data_begin_ = kSafetensorsLengthBytes + header_size;
  const auto text = std::string_view(file.bytes_).substr(kSafetensorsLengthBytes, header_size);
  const auto header = HeaderJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) refuse(name, "its header is not a JSON object");
  if (const auto key = RepeatedKey::of(text))
    refuse(name, concat("its header has ", *key, " twice"));

  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      if (!value.is_object()) refuse(name, "its metadata is not a JSON object");
      for (const auto& [field, content] : value.items()) {
        if (!content.is_string()) refuse(name, "its metadata holds something else than text");
        file.metadata_[field] = content.get<std::string>();
      }
    } else {
      entries.push_back(read_entry(name, key, value, file.data()));
    }
  }
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t expected = 0;
  for (auto& entry : entries) {
    if (entry.begin != expected) {
      refuse(name, concat("tensor ", entry.tensor.name, " overlaps another or leaves a gap"));
    }
    expected = entry.end;
    file.tensors_.push_back(std::move(entry.tensor));
  }
  if (expected != file.data().size()) refuse(name, "there are bytes after the last tensor");
  return file;
}

bool is_finite(const TensorBytes& tensor) {
  if (tensor.dtype == "F64") return !has_full_exponent(tensor.bytes, 0x7ff0'0000'0000'0000u);
  if (tensor.dtype == "F32") return !has_full_exponent(tensor.bytes, 0x7f80'0000u);
  if (tensor.dtype == "BF16") return !has_full_exponent(tensor.bytes, std::uint16_t{0x7f80});
  if (tensor.dtype == "F16") return !has_full_exponent(tensor.bytes, std::uint16_t{0x7c00});
  return true;
}

const TensorBytes& Safetensors::at(std::string_view name) const {
  for (const auto& tensor : tensors_) {
    if (tensor.name == name) return tensor;
  }
  std::vector<std::string> names;
  for (const auto& tensor : tensors_) names.push_back(tensor.name);
  throw UserError(concat(name_, ": has no tensor ", name, suggestion(name, names)));
}

std::string to_safetensors(const std::vector<TensorBytes>& tensors,
                           const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data start aligned
  const std::uint64_t length = text.size();
  std::string bytes(kSafetensorsLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kSafetensorsLengthBytes);
  bytes.reserve(kSafetensorsLengthBytes + text.size() + offset);
  bytes += text;
  for (const auto& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

std::string to_sealed_safetensors(const std::vector<TensorBytes>& tensors,
                                  std::map<std::string, std::string> metadata) {
  metadata[kKey] = std::string(kSealDigits, '0');
  auto bytes = to_safetensors(tensors, metadata);
  std::size_t data_size = 0;
  for (const auto& tensor : tensors) data_size += tensor.bytes.size();
  const auto data_begin = bytes.size() - data_size;
  const std::string header =
      bytes.substr(kSafetensorsLengthBytes, data_begin - kSafetensorsLengthBytes);
  const auto place = place_of_seal(header);
  const auto seal = seal_of(header, place, std::string_view(bytes).substr(data_begin));
  bytes.replace(kSafetensorsLengthBytes + place, kSealDigits, seal);
  return bytes;
}

Safetensors read_sealed_safetensors(const std::filesystem::path& path) {
  auto file = Safetensors::read(path);
  require_seal(file, path.string());
  return file;
}

void require_seal(const Safetensors& file, const std::string& name) {
  const auto header = file.header();
  const auto place = place_of_seal(header);
  const auto given = file.metadata_at(kKey);
  const bool old = file.metadata_at("format") == "difflab checkpoint 1" && given.empty();
  const bool matches = old ? file.metadata_at("data_sha256") == sha256_hex(file.data())
                           : place != header.npos && header.substr(place, kSealDigits) == given &&
                                 given == seal_of(std::string(header), place, file.data());
  if (!matches) throw UserError(concat(name, ": is damaged (its checksum does not match)"));
}

}  // namespace difflab
