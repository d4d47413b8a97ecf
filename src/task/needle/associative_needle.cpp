#include "task/needle/associative_needle.h"

#include "task/base/symbol_task.h"
#include "task/needle/needle_places.h"
#include "task/needle/recall_mixture.h"

namespace difflab {
namespace {

using AssociativeConfig = AssociativeNeedleConfig;

/// Base of all kinds of sequence: the vocabulary and the world.
class WorldTask : public SymbolTask<AssociativeConfig> {
 public:
  WorldTask(const AssociativeConfig& config, std::string stream, std::string part)
      : SymbolTask(config, std::move(stream), std::move(part), config.length),
        sign_of_(Random{config.world, stream_key("world")}.distinct(config.things, config.things)) {
  }

 protected:
  std::int64_t token(std::size_t range, std::int64_t i = 0) const {
    return symbols_.token(range, i);
  }
  std::int64_t sign_of(std::int64_t thing) const {
    return token(AssociativeConfig::kSigns, sign_of_[static_cast<std::size_t>(thing)]);
  }

 private:
  std::vector<std::int64_t> sign_of_;  // π
};

enum class AskedBy { kThing, kSign };

class AskedNeedleTask final : public WorldTask {
 public:
  AskedNeedleTask(const AssociativeConfig& config, AskedBy asked, const std::string& name)
      : WorldTask(config, name + " needle", name), asked_(asked) {}

  /// Any name of the context.
  double chance_accuracy() const override { return 1 / static_cast<double>(config_.needles); }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    const auto N = config_.needles, noise = config_.noise();
    const auto names = random.distinct(N, config_.names);
    const auto things = random.distinct(N, config_.things);
    const auto first = random.below(N);
    const auto needle_at = place_needles(random, N, noise, first, config_.depth);

    std::size_t t = 0;
    input[t++] = token(AssociativeConfig::kBegin);
    for (std::int64_t gap = 0; gap <= noise; ++gap) {
      if (const auto needle = needle_at[static_cast<std::size_t>(gap)]; needle >= 0) {
        input[t++] = token(AssociativeConfig::kNames, names[static_cast<std::size_t>(needle)]);
        input[t++] = token(AssociativeConfig::kThings, things[static_cast<std::size_t>(needle)]);
      }
      if (gap < noise) {
        input[t++] = token(AssociativeConfig::kNoise, random.below(config_.noise_tokens));
      }
    }
    std::vector<std::int64_t> asked{first};
    for (const auto other : random.distinct(config_.queries - 1, N - 1)) {
      asked.push_back(other + (other >= first ? 1 : 0));
    }
    for (const auto needle : asked) {
      const auto thing = things[static_cast<std::size_t>(needle)];
      input[t++] = token(AssociativeConfig::kQuestion);
      input[t] =
          asked_ == AskedBy::kThing ? token(AssociativeConfig::kThings, thing) : sign_of(thing);
      target[t++] = token(AssociativeConfig::kNames, names[static_cast<std::size_t>(needle)]);
    }
  }

  AskedBy asked_;
};

class BarePairsTask final : public WorldTask {
 public:
  explicit BarePairsTask(const AssociativeConfig& config)
      : WorldTask(config, "bare pairs", "bare") {}

  /// The sign that stands behind the same thing earlier in the sequence, or any: of A things, the
  /// one after j others is new with probability (1 − 1/A)^j.
  double chance_accuracy() const override {
    const auto A = static_cast<double>(config_.things);
    const auto pairs = config_.length / 2;  // behind the begin token, the last perhaps half
    double fresh = 1, sum = 0;
    for (std::int64_t pair = 0; pair < pairs; ++pair, fresh *= 1 - 1 / A)
      sum += 1 - fresh + fresh / A;
    return sum / static_cast<double>(pairs);
  }

 private:
  void write_sample(Random& random, TokenSpan input, TokenSpan target) const override {
    input[0] = token(AssociativeConfig::kBegin);
    for (std::size_t t = 1; t < input.size(); ++t) {
      const auto thing = random.below(config_.things);
      input[t] = token(AssociativeConfig::kThings, thing);
      target[t] = sign_of(thing);
      if (++t < input.size()) input[t] = sign_of(thing);
    }
  }
};

class AssociativeNeedleTask final : public Task {
 public:
  explicit AssociativeNeedleTask(const AssociativeConfig& config)
      : config_(config),
        associative_(config, AskedBy::kSign, "associative"),
        direct_(config, AskedBy::kThing, "direct"),
        bare_(config) {}

  std::int64_t vocab_size() const override { return bare_.vocab_size(); }
  std::int64_t sequence_length() const override { return config_.length; }
  std::string token_text(std::int64_t token) const override { return bare_.token_text(token); }
  double chance_accuracy() const override { return associative_.chance_accuracy(); }
  std::vector<TaskPart> parts() const override {
    const auto direct = config_.direct_share, bare = config_.bare_share;
    std::vector<TaskPart> parts = {{"associative", 1 - direct - bare, &associative_}};
    if (direct > 0) parts.push_back({"direct", direct, &direct_});
    if (bare > 0) parts.push_back({"bare", bare, &bare_});
    return parts;
  }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    std::vector<at::Tensor> inputs, targets;
    std::vector<std::int64_t> sizes;
    std::int64_t left = size;
    const auto all = parts();
    for (auto part = all.rbegin(); part != all.rend(); ++part) {  // the first takes what is left
      const bool is_first = part + 1 == all.rend();
      const std::int64_t wanted = std::llround(part->share * static_cast<double>(size));
      const auto rows = is_first ? left : std::min(left, wanted);
      left -= rows;
      auto own = part->task->batch(seed, split, index, rows);
      inputs.insert(inputs.begin(), own.inputs);
      targets.insert(targets.begin(), own.targets);
      sizes.insert(sizes.begin(), rows);
    }
    return {at::cat(inputs), at::cat(targets), std::move(sizes)};
  }

 private:
  AssociativeConfig config_;
  AskedNeedleTask associative_, direct_;
  BarePairsTask bare_;
};

}  // namespace

std::unique_ptr<Task> AssociativeNeedleConfig::build() const {
  return with_recall<AssociativeNeedleTask>(*this);
}

}  // namespace difflab
