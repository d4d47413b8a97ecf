#include "config/value/problems.h"

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {

std::string Problem::text() const {
  const std::string where = source.text();
  return where.empty() ? message : concat(where, ": ", message);
}

void Problems::add(Source source, std::string path, std::string message) {
  ++reports_;
  Problem problem{std::move(source), std::move(path), std::move(message)};
  if (seen_.insert(problem.text()).second) items_.push_back(std::move(problem));
}

void Problems::add(const Problems& others) {
  for (const Problem& problem : others.items_) add(problem.source, problem.path, problem.message);
}

std::string Problems::text() const {
  std::vector<std::string> lines;
  for (const Problem& problem : items_) lines.push_back(problem.text());
  return join(lines, "\n");
}

void Problems::throw_if_any() const {
  if (!empty()) throw UserError(text());
}

}  // namespace difflab::config
