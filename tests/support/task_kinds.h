#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "task/task_config.h"

namespace difflab::testing {

template <std::size_t... Kinds>
std::vector<TaskConfig> one_of_each(std::index_sequence<Kinds...>) {
  return {TaskConfig(std::in_place_index<Kinds>)...};
}

/// Every kind of task, with its defaults.
inline std::vector<TaskConfig> one_of_each() {
  return one_of_each(std::make_index_sequence<std::variant_size_v<TaskConfig>>());
}

/// Calls check(config) with the defaults of every kind of task.
template <class CheckOne>
void for_each_kind(CheckOne check) {
  for (const auto& config : one_of_each()) std::visit(check, config);
}

}  // namespace difflab::testing
