#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "util/text.h"

namespace difflab {

/// The vocabulary of a symbol task: ranges of tokens, one behind the other from 0, each with a
/// name that a person reads. Token 3 of a range "k" is shown as k3; a range of one token is shown
/// by its name alone.
class Symbols {
 public:
  struct Range {
    std::string_view name;
    std::int64_t count;
  };

  Symbols(std::initializer_list<Range> ranges) : ranges_(ranges) {
    for (const auto& range : ranges_) {
      begins_.push_back(size_);
      size_ += range.count;
    }
  }

  std::int64_t size() const { return size_; }  ///< V

  /// Token i of a range, ranges counted from 0.
  std::int64_t token(std::size_t range, std::int64_t i = 0) const { return begins_[range] + i; }

  bool holds(std::size_t range, std::int64_t token) const {
    return token >= begins_[range] && token < begins_[range] + ranges_[range].count;
  }

  /// @throws std::out_of_range for a token that is not in [0, size).
  std::string text(std::int64_t token) const {
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
      if (!holds(range, token)) continue;
      const auto& [name, count] = ranges_[range];
      return count == 1 ? std::string(name) : concat(name, token - begins_[range]);
    }
    throw std::out_of_range(concat("token ", token, " of a vocabulary of ", size_));
  }

 private:
  std::vector<Range> ranges_;
  std::vector<std::int64_t> begins_;
  std::int64_t size_ = 0;
};

}  // namespace difflab
