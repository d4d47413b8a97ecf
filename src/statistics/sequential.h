#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "statistics/holm.h"

namespace difflab {

/// How much of a one-sided `alpha` may be spent once a share t of the planned data is there, by the
/// function of Lan & DeMets (1983) that is like O'Brien & Fleming's bounds:
/// 2 − 2Φ(z(1 − alpha/2) / √t), which is alpha at t = 1 and next to nothing early.
double spent_alpha(double alpha, double t);

/// Levels for a two-sided test that is done at several looks at data which grow, `shares` of what
/// is planned (ascending, the last at most 1): as often as one looks, a p below the level of its
/// look happens with probability `alpha` at most without an effect. Half of alpha is spent on each
/// side by `spent_alpha`; the bounds of a standard normal walk come from Armitage, McPherson &
/// Rowe's recursion (1969), integrated numerically to about 1e-6 of a z value.
/// @throws std::invalid_argument if shares do not ascend within (0, 1] or alpha is not in (0, 1)
std::vector<double> levels_of_looks(std::span<const double> shares, double alpha);

/// Several questions that are asked at the same looks, each until it is answered. Over all
/// questions and looks together a false answer has probability `alpha` at most: open questions
/// share alpha evenly, and one that is answered leaves its part to the others (Holm's rule with
/// spending functions: Maurer & Bretz 2013). A question with a margin is answered by one of its two
/// tests, of which at most one can be false; it leaves its part only if both have rejected, as in
/// holm_of_questions.
class SequentialQuestions {
 public:
  /// @throws std::invalid_argument as levels_of_looks
  SequentialQuestions(std::size_t questions, std::span<const double> shares, double alpha);

  /// The next look, with the p of each question; those of answered ones are not read.
  /// @throws std::logic_error after the last look, std::invalid_argument if p are not as many
  void look(std::span<const TwoWayP> p);

  bool is_answered(std::size_t question) const { return states_.at(question).answered; }
  /// What the p of the question were compared with when it was answered, or at the last look.
  double level(std::size_t question) const { return states_.at(question).level; }
  std::size_t open() const;
  std::size_t looks() const { return looks_; }

 private:
  struct State {
    bool answered = false;
    bool shares = true;  // alpha
    double level = 0;
  };

  std::vector<std::vector<double>> levels_;  // of each look, by how many share alpha, less one
  std::size_t looks_ = 0, most_looks_;
  std::vector<State> states_;
};

}  // namespace difflab
