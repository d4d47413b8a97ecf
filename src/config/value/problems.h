#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/value/value.h"

namespace difflab::config {

/// One thing wrong with a configuration.
struct Problem {
  Source source;        ///< where to look
  std::string path;     ///< the key concerned, e.g. "train.steps"
  std::string message;  ///< the whole sentence: "train.steps is 0; expected at least 1"

  /// "experiments/x.yaml:7:3: train.steps is 0; expected at least 1"
  std::string text() const;
};

/// All problems found so far, so that a user sees them together. Equal ones are kept once.
class Problems {
 public:
  void add(Source source, std::string path, std::string message);
  void add(const Problems& others);

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  /// How often something was reported, equal problems counted each time.
  std::size_t reports() const { return reports_; }
  const std::vector<Problem>& items() const { return items_; }
  /// One line per problem, in the order in which they were found.
  std::string text() const;
  /// @throws UserError with text() if there is any problem.
  void throw_if_any() const;

 private:
  std::vector<Problem> items_;
  std::set<std::string> seen_;
  std::size_t reports_ = 0;
};

}  // namespace difflab::config
