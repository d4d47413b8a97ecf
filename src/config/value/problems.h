#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/value/value.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {

/// One thing wrong with a configuration.
struct Problem {
  Source source;        ///< where to look
  std::string path;     ///< the key concerned, e.g. "train.steps"
  std::string message;  ///< the whole sentence: "train.steps is 0; expected at least 1"

  /// "experiments/x.yaml:7:3: train.steps is 0; expected at least 1"
  std::string text() const {
    const std::string where = source.text();
    return where.empty() ? message : concat(where, ": ", message);
  }
};

/// All problems found so far, so that a user sees them together. Equal ones are kept once.
class Problems {
 public:
  void add(Source source, std::string path, std::string message) {
    ++reports_;
    Problem problem{std::move(source), std::move(path), std::move(message)};
    if (seen_.insert(problem.text()).second) items_.push_back(std::move(problem));
  }
  void add(const Problems& others) {
    for (const Problem& problem : others.items_) add(problem.source, problem.path, problem.message);
  }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  /// How often something was reported, equal problems counted each time.
  std::size_t reports() const { return reports_; }
  const std::vector<Problem>& items() const { return items_; }
  /// One line per problem, in the order in which they were found.
  std::string text() const {
    std::vector<std::string> lines;
    for (const Problem& problem : items_) lines.push_back(problem.text());
    return join(lines, "\n");
  }
  /// @throws UserError with text() if there is any problem.
  void throw_if_any() const {
    if (!empty()) throw UserError(text());
  }

 private:
  std::vector<Problem> items_;
  std::set<std::string> seen_;
  std::size_t reports_ = 0;
};

}  // namespace difflab::config
