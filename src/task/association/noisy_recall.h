#pragma once

#include "task/base/names.h"
#include "task/base/task_kind.h"

namespace difflab {

/// In-context recall with noise: key-value pairs, their keys drawn again and again from a map that
/// belongs to the sequence, with noise from a vocabulary of its own between them (noisy recall of
/// MAD, Poli et al. 2024, arXiv 2403.17844).
///
///   inputs    B k3 v8 n n k1 v2 n k3 v8 n n k1     T = 13, noise 0.35
///   targets   . .  .  . . .  .  . v8 .  . . v2     . kIgnore
///
/// Every key that the sequence has shown before is a question. Of the T tokens behind B (the last
/// value is only asked for), floor((1 − noise) · T / 2) pairs are shown, the rest is noise; pairs
/// lie anywhere, never with noise inside. The last key is one that was shown. With `pairs` so many
/// are shown, and T follows from the share of noise. With `noise_names` keys, each sequence draws
/// which of the symbols k are its keys; the others are its noise:
///
///   inputs    B k3 v8 k9 k6 k1 v2 k6 k3 v8 k9 k9 k1      k3 and k1 are keys
///   targets   . .  .  .  .  .  .  .  v8 .  .  .  v2
struct NoisyRecallConfig : TaskKind<NoisyRecallConfig> {
  static constexpr std::string_view kKind = "noisy_recall";
  static constexpr std::string_view kAbout =
      "pairs that come again and again, with noise between them (MAD, arXiv 2403.17844)";

  std::int64_t length = 64;  ///< T, unless `pairs` is given
  std::vector<std::int64_t> lengths = {};
  std::optional<std::int64_t> pairs = {};
  double noise = 0.5;              ///< share of the tokens that are noise
  std::int64_t keys = 8;           ///< distinct keys
  std::int64_t values = 16;        ///< distinct values; a sequence gives each key another one
  std::int64_t noise_tokens = 16;  ///< distinct noise symbols
  NoiseNames noise_names = NoiseNames::kOwn;
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  std::int64_t shown() const;            ///< pairs shown in a sequence
  std::int64_t smallest_length() const;  ///< with two pairs, one of them a question

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("length", length, "tokens T of a sequence, unless pairs is given",
          config::between(4, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("pairs", pairs, "pairs shown, from which T follows; null: as many as length has room for",
          config::between(2, 100'000));
    visit("noise", noise, "share of the tokens that are noise", config::between(0, 0.95));
    visit("keys", keys, "distinct keys", config::between(1, 1'000'000));
    visit("values", values, "distinct values", config::between(2, 1'000'000));
    visit("noise_tokens", noise_tokens, "distinct noise symbols", config::between(1, 1'000'000));
    visit("noise_names", noise_names, kAboutNoiseNames);
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const;

  std::int64_t sequence_length() const;
  enum Range : std::size_t { kBegin, kNoise, kKeys, kValues };
  Symbols vocabulary() const;

  /// Expected in a sequence: questions, and those that a guess among the values shown so far gets
  /// right, which with m distinct keys shown are 1/m of them.
  struct Questions {
    double asked = 0, right = 0;
  };
  Questions questions() const;

  std::unique_ptr<Task> build() const;
};

}  // namespace difflab
