#include "study/overrides.h"

#include <algorithm>
#include <iterator>

namespace difflab::cli {
namespace {

// The key of an override as it is typed: train.lr of "+train.lr=1e-3"; "" if it has none.
std::string overridden_key(std::string_view text) {
  const auto begin = text.find_first_not_of("+~");
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find('=') - begin));
}

bool changes_nothing(std::string_view text) {
  const std::string key = overridden_key(text);
  return key == "results" || key == "launcher" || key.starts_with("launcher.");
}

}  // namespace

bool is_override(std::string_view word) {
  return word.find('=') != word.npos || (word.starts_with('~') && !word.starts_with("~/"));
}

std::vector<std::string> that_change_something(const std::vector<std::string>& overrides) {
  std::vector<std::string> kept;
  std::remove_copy_if(overrides.begin(), overrides.end(), std::back_inserter(kept),
                      changes_nothing);
  return kept;
}

}  // namespace difflab::cli
