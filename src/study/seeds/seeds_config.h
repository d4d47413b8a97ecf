#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab::cli {

enum class SeedsUntil { kSwept, kResolved };

}  // namespace difflab::cli

namespace difflab {

template <>
struct config::EnumNames<cli::SeedsUntil> {
  static constexpr std::array<std::pair<std::string_view, cli::SeedsUntil>, 2> kNames{{
      {"swept", cli::SeedsUntil::kSwept},
      {"resolved", cli::SeedsUntil::kResolved},
  }};
};

}  // namespace difflab

namespace difflab::cli {

/// How many seeds a study has: those that its sweep names, or as many as its claims need
/// (study/seeds/until_resolved.h).
struct SeedsConfig {
  SeedsUntil until = SeedsUntil::kSwept;
  std::int64_t from = 8;
  std::int64_t to = 32;
  std::int64_t look_every = 4;

  bool follow_claims() const { return until == SeedsUntil::kResolved; }
  /// After how many seeds claims are looked at: from, from + look_every, …, and after the last.
  std::vector<std::size_t> looks() const {
    std::vector<std::size_t> looks;
    for (auto seeds = from; seeds < to; seeds += look_every) {
      looks.push_back(static_cast<std::size_t>(seeds));
    }
    looks.push_back(static_cast<std::size_t>(to));
    return looks;
  }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("until", until,
          "swept: the seeds of the sweep; resolved: seeds 0, 1, … instead, more of them to the "
          "variants of claims that are not resolved");
    visit("from", from, "seeds that every variant has", config::at_least(2));
    visit("to", to, "the most that one gets", config::between(2, 1000));
    visit("look_every", look_every, "seeds that are added before the claims are looked at again",
          config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (to < from) {
      check.problem("to", concat("is ", to, " with from ", from, "; expected at least from"));
    } else if (looks().size() > 100) {
      check.problem("look_every", concat("is ", look_every, ", which makes ", looks().size(),
                                         " looks; expected at most 100"));
    }
  }
};

}  // namespace difflab::cli
