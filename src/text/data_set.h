#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace difflab {

/// A published text that `difflab data` puts into the project's folder data/ and that is known by
/// its content: wherever the bytes come from, they are these or they are refused.
struct DataSet {
  std::string_view name;
  std::string_view url;
  std::int64_t bytes;
  std::string_view sha256;
  std::string_view alphabet;  ///< its characters, each once, so that V is known without the file
  std::string_view source;    ///< what it is and who made it
  std::string_view licence;   ///< what may be done with it

  /// Its file inside the folder data/: NAME.txt.
  std::string file_name() const;
};

/// All data sets. To add one: add a row in data_set.cpp.
std::span<const DataSet> data_sets();

/// @throws UserError with the nearest right name.
const DataSet& find_data_set(std::string_view name);

/// @param origin where the bytes are from, for the message.
/// @throws UserError with what was expected and found if they are not this data set.
void check_data_set(const DataSet& set, std::string_view bytes, std::string_view origin);

enum class DataState { kMissing, kWrong, kCorrect };

/// Tells if the file is there and holds this data set. @throws UserError if it cannot be read.
DataState data_state(const DataSet& set, const std::filesystem::path& file);

/// The data set that a path means, whether its file is there or not; null if it means none.
const DataSet* data_set_of(const std::filesystem::path& file);

/// "; ./difflab data NAME --from download fetches it" for a path that ends like a data set's file,
/// else "".
std::string how_to_get(const std::filesystem::path& file);

}  // namespace difflab
