#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace difflab {

/// The bytes before the header of a safetensors file: its length.
inline constexpr std::size_t kSafetensorsLengthBytes = 8;

/// One tensor of a safetensors file; `bytes` are little-endian, row-major, without gaps.
struct TensorBytes {
  std::string name;
  std::string dtype;  ///< "F64", "F32", "I64", …
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

/// False if a tensor holds NaN or infinity.
bool is_finite(const TensorBytes& tensor);

/// A safetensors file in memory (format: 8 bytes of header length, a JSON header, the data).
class Safetensors {
 public:
  /// Reads and checks a whole file: header length, JSON, types, shapes, offsets (inside the data,
  /// in order, no overlap, no gap) before anything is believed.
  /// @throws UserError naming the file and what is wrong with it.
  static Safetensors read(const std::filesystem::path& path);
  static Safetensors parse(std::string bytes, const std::string& name);

  /// Views into this object, in the order of the file's data.
  const std::vector<TensorBytes>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The text of a key of the metadata; "" if there is no such key.
  std::string metadata_at(const std::string& key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? "" : found->second;
  }
  /// @throws UserError naming the file if there is no such tensor.
  const TensorBytes& at(std::string_view name) const;
  /// The text of the JSON header, with the blanks that align the data.
  std::string_view header() const {
    return std::string_view(bytes_).substr(kSafetensorsLengthBytes,
                                           data_begin_ - kSafetensorsLengthBytes);
  }
  /// All tensor bytes, to compare with a checksum.
  std::string_view data() const { return std::string_view(bytes_).substr(data_begin_); }

  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;
  Safetensors(Safetensors&&) = default;

 private:
  Safetensors() = default;
  std::string name_;
  std::string bytes_;
  std::size_t data_begin_ = 0;
  std::vector<TensorBytes> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The bytes of a file that holds these tensors in this order.
std::string to_safetensors(const std::vector<TensorBytes>& tensors,
                           const std::map<std::string, std::string>& metadata);

/// A safetensors file with a checksum over header and data in its metadata ("seal"), so that a
/// changed bit anywhere is noticed. Any reader of safetensors files can read it.
std::string to_sealed_safetensors(const std::vector<TensorBytes>& tensors,
                                  std::map<std::string, std::string> metadata);

/// Reads such a file, and those of format "difflab checkpoint 1", whose checksum covers the data
/// alone. @throws UserError naming the file if it cannot be read, has no seal or another one.
Safetensors read_sealed_safetensors(const std::filesystem::path& path);

/// The same for a file that was read. @throws UserError
void require_seal(const Safetensors& file, const std::string& name);

}  // namespace difflab
