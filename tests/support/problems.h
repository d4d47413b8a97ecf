#pragma once

#include <string>
#include <string_view>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab::testing {

/// Collects the problems of a configuration as "key message" lines.
class Problems final : public config::Check {
 public:
  template <class Config>
  static std::string of(const Config& config) {
    return found([&](Problems& problems) { config.validate(problems); });
  }
  /// Those that check(problems) finds.
  template <class Check>
  static std::string found(const Check& check) {
    Problems problems;
    check(problems);
    return problems.text_;
  }
  void problem(std::string_view key, std::string_view message) override {
    text_ += concat(key, " ", message, "\n");
  }

 private:
  std::string text_;
};

}  // namespace difflab::testing
