#pragma once

#include <string>

#include "sweep/plan/run.h"

namespace difflab::sweep {

/// Decides while a sweep goes on which of its runs are needed. It decides from the runs' files
/// alone, so that a sweep that was killed and goes on later, on as many workers as it likes, takes
/// the same decisions.
class Selection {
 public:
  enum class Verdict {
    kGoOn,
    kWait,   ///< it has begun and pauses, as others have to come as far first
    kLater,  ///< it shall not begin yet, and may never have to
    kDrop,   ///< it is not needed any more
  };

  Selection() = default;
  virtual ~Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  /// Decides what the files of the runs allow to decide.
  /// @throws UserError if they lack what the decision needs.
  virtual void look() = 0;
  /// As of the last look().
  virtual Verdict verdict(const Run& run) const = 0;
  /// A run failed: it is not waited for any more.
  virtual void give_up(const Run& run) = 0;

  /// Whether runs may be dropped that have begun.
  virtual bool ends_runs() const = 0;
  /// How it was decided, as a sentence for the report; empty: the report says it itself.
  virtual std::string note() const { return ""; }
  /// Why runs are dropped, as a clause.
  virtual std::string reason() const = 0;
  /// What is decided and how, for the head of a sweep: "train.lr: 4 values, …".
  virtual std::string about() const = 0;
  /// One word for that: "search".
  virtual std::string name() const = 0;
};

}  // namespace difflab::sweep
