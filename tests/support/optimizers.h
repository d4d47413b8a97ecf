#pragma once

#include "support/catch.h"
#include "train/optimizer/optimizer_config.h"

namespace difflab::testing {

/// Calls test(kind) for every optimiser with its defaults.
template <class Test, std::size_t Kind = 0>
void for_each_optimizer(Test test) {
  if constexpr (Kind < std::variant_size_v<OptimizerConfig>) {
    const std::variant_alternative_t<Kind, OptimizerConfig> kind;
    {
      CATCH_INFO(kind.kKind);
      test(kind);
    }
    for_each_optimizer<Test, Kind + 1>(test);
  }
}

}  // namespace difflab::testing
