#pragma once

#include <cstdint>

#include "config/schema/fields.h"

namespace difflab {

/// Pairs of key and value that make it harder to tell which value is asked for.
struct NeedleDistractors {
  std::int64_t near = 0;        ///< per question, with its key but for the last token
  std::int64_t same_value = 0;  ///< with other keys, all with the value of one needle, any of them
  std::int64_t stale = 0;       ///< per question, with its key and another value, before its needle

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("near", near, "pairs per question whose key differs from its key in the last token alone",
          config::between(0, 1'000));
    visit("same_value", same_value,
          "pairs with other keys that all repeat the value of one needle, whichever is drawn",
          config::between(0, 1'000));
    visit("stale", stale, "pairs per question, before its needle, with its key and another value",
          config::between(0, 1'000));
  }
};

}  // namespace difflab
