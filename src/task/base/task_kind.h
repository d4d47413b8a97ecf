#pragma once

// Includes, base and checks that the header of every kind of task needs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "config/schema/input_file.h"
#include "task/base/lengths.h"
#include "task/base/symbols.h"
#include "util/text.h"

namespace difflab {

class Task;

constexpr std::string_view kAboutRecallShare = "share of each batch that is cyclic repetition";

/// Base of every kind of task, with the defaults that a kind overrides by declaring the same name.
template <class Kind>
struct TaskKind {
  static constexpr bool kEveryToken = false;  ///< each position asks for the next token
  /// Names of Task::parts() but for repetition, also of parts with a share of 0.
  static constexpr std::array<std::string_view, 1> kParts = {Kind::kKind};
  /// Share of each batch that is cyclic repetition (recall_mixture.h); a field of most kinds.
  static constexpr double recall_share = 0;

  std::int64_t sequence_length() const { return self().length; }          ///< T
  std::int64_t vocab_size() const { return self().vocabulary().size(); }  ///< V

  /// Keys and values of the shares that all parts but the first, which gets the rest, have of what
  /// is no repetition.
  std::vector<std::pair<std::string_view, double>> part_shares() const { return {}; }

  /// Names of the tokens, by which people and other tasks know them. A task on text has none, but
  /// the next three: the file that it may read, the TextConfig that sequences of `size` tokens are
  /// cut from (0: those of the task), and the tokenizer.
  std::nullopt_t vocabulary() const { return std::nullopt; }
  InputFile* input_file() { return nullptr; }
  std::nullopt_t text(std::int64_t) const { return std::nullopt; }
  std::nullopt_t read_tokenizer() const { return std::nullopt; }

 private:
  const Kind& self() const { return static_cast<const Kind&>(*this); }
};

/// A number of a configuration under its key.
struct KeyedNumber {
  std::string_view key;
  std::int64_t value;
};

/// The problem of a number that another one bounds, if it has one.
inline void check_at_most(const KeyedNumber& number, const KeyedNumber& most,
                          config::Check& check) {
  if (number.value <= most.value) return;
  check.problem(number.key,
                concat("is ", number.value, "; expected at most ", most.key, ", ", most.value));
}
inline void check_at_least(const KeyedNumber& number, const KeyedNumber& least,
                           std::string_view why, config::Check& check) {
  if (number.value >= least.value) return;
  check.problem(number.key, concat("is ", number.value, "; expected at least ", least.key, ", ",
                                   least.value, ", ", why));
}

}  // namespace difflab
