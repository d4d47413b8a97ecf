#include "config/schema/input_file.h"

#include <stdexcept>

#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

void InputFile::validate(config::Check& check) const {
  // The system would stop reading at a zero byte and open another file.
  if (path.find('\0') != path.npos) {
    check.problem("path", "contains a zero byte; expected the path of a file");
  }
  if (sha256.empty()) return;
  if (!is_sha256(sha256)) {
    check.problem("sha256",
                  concat("is '", sha256, "'; expected 64 digits 0-9 and a-f, or nothing"));
  } else if (!given()) {
    check.problem("sha256", "is given without a path; expected both or neither");
  }
}

std::string InputFile::read() const {
  if (!given()) throw std::logic_error("an input file without a path is read");
  std::string bytes = read_file(path);
  if (sha256.empty()) return bytes;
  if (const std::string found = sha256_hex(bytes); found != sha256) {
    throw UserError(concat(path, " has changed since the sweep was planned: expected SHA-256 ",
                           sha256, ", found ", found));
  }
  return bytes;
}

}  // namespace difflab
