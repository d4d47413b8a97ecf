#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "task/base/rows.h"
#include "task/base/symbols.h"

namespace difflab {

/// A task of one kind of question in the symbols of its configuration. Its sequences are written
/// one by one, each with a random stream of its own.
template <class Config>
class SymbolTask : public Task {
 public:
  /// @param stream names the random numbers, and @param part the question
  SymbolTask(const Config& config, std::string stream, std::string part, std::int64_t length)
      : config_(config),
        symbols_(config.vocabulary()),
        stream_(std::move(stream)),
        part_(std::move(part)),
        length_(length) {}
  SymbolTask(const Config& config, std::string stream)
      : SymbolTask(config, std::move(stream), std::string(Config::kKind),
                   config.sequence_length()) {}

  std::int64_t vocab_size() const override { return symbols_.size(); }
  std::int64_t sequence_length() const override { return length_; }
  std::vector<TaskPart> parts() const override { return {{part_, 1.0, this}}; }
  std::string token_text(std::int64_t token) const override { return symbols_.text(token); }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    return batch_of_rows(stream_, seed, split, index, size, length_,
                         [&](Random& random, TokenSpan input, TokenSpan target) {
                           write_sample(random, input, target);
                         });
  }

 protected:
  /// Every token of the input, and the targets where something is asked.
  virtual void write_sample(Random& random, TokenSpan input, TokenSpan target) const = 0;

  const Config config_;
  const Symbols symbols_;

 private:
  const std::string stream_, part_;
  const std::int64_t length_;
};

}  // namespace difflab
