#include "text/data_set.h"

#include <array>
#include <vector>

#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::array kDataSets = {
    DataSet{
        .name = "tinyshakespeare",
        .url = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/"
               "input.txt",
        .bytes = 1'115'394,
        .sha256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        .alphabet = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        .source = "40,000 lines from Shakespeare's plays, collected by Andrej Karpathy for "
                  "char-rnn (2015)",
        .licence = "the plays are in the public domain; char-rnn is under the MIT licence",
    },
};

}  // namespace

std::string DataSet::file_name() const { return concat(name, ".txt"); }

std::span<const DataSet> data_sets() { return kDataSets; }

const DataSet& find_data_set(std::string_view name) {
  std::vector<std::string> names;
  for (const DataSet& set : kDataSets) {
    if (set.name == name) return set;
    names.emplace_back(set.name);
  }
  throw UserError(concat("there is no data set ", name, suggestion(name, names)));
}

void check_data_set(const DataSet& set, std::string_view bytes, std::string_view origin) {
  const std::string found = sha256_hex(bytes);
  if (found == set.sha256) return;
  throw UserError(concat(origin, " is not ", set.name, ": expected ", set.bytes,
                         " bytes with SHA-256 ", set.sha256, ", found ", bytes.size(),
                         " bytes with SHA-256 ", found));
}

DataState data_state(const DataSet& set, const std::filesystem::path& file) {
  std::error_code unknown;  // what cannot be looked at, read_file says why
  if (!std::filesystem::exists(file, unknown) && !unknown) return DataState::kMissing;
  return sha256_hex(read_file(file)) == set.sha256 ? DataState::kCorrect : DataState::kWrong;
}

const DataSet* data_set_of(const std::filesystem::path& file) {
  for (const DataSet& set : kDataSets) {
    if (file.filename() == set.file_name()) return &set;
  }
  return nullptr;
}

std::string how_to_get(const std::filesystem::path& file) {
  const auto* set = data_set_of(file);
  return set == nullptr ? ""
                        : concat("; ./difflab data ", set->name, " --from download fetches it");
}

}  // namespace difflab
