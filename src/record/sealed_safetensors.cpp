#include "record/sealed_safetensors.h"

#include <string_view>

#include "util/error.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

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
