#include "task/in_text/text.h"

#include <ATen/ATen.h>

#include "task/base/mixed_lengths.h"
#include "util/random.h"

namespace difflab {
namespace {

class TextTask final : public Task {
 public:
  TextTask(const TextConfig& config, const Corpus& corpus)
      : length_(config.length),
        tokenizer_(corpus.tokenizer),
        vocab_size_(corpus.tokenizer.vocab_size()) {
    const auto tokens = corpus.tokenizer.encode(corpus.text, corpus.name);
    const auto count = static_cast<std::int64_t>(tokens.size());
    splits_ = split_text(config, count);
    const auto all = at::from_blob(const_cast<std::int64_t*>(tokens.data()), {count}, at::kLong);
    tokens_ = all.to(vocab_size_ <= 256 ? at::kByte : at::kInt);  // to copies
    const auto train = all.narrow(0, splits_.train.begin, splits_.train.size());
    most_frequent_share_ =
        at::bincount(train).max().item<double>() / static_cast<double>(splits_.train.size());
  }

  std::int64_t vocab_size() const override { return vocab_size_; }
  std::int64_t sequence_length() const override { return length_; }
  std::vector<TaskPart> parts() const override { return {{"text", 1.0, this}}; }
  /// A guess that knows how often tokens come but no context: always the most frequent token of
  /// the training split.
  double chance_accuracy() const override { return most_frequent_share_; }
  std::string token_text(std::int64_t token) const override {
    return tokenizer_.decode(std::vector{token});
  }
  bool is_text() const override { return true; }

  Batch batch(std::uint64_t seed, Split split, std::int64_t index,
              std::int64_t size) const override {
    const TokenRange& range = splits_.of(split);
    auto starts = at::empty({size}, at::kLong);
    auto* start = starts.data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < size; ++row) {
      Random random{seed, stream_key("text"), static_cast<std::uint64_t>(split),
                    static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(row)};
      start[row] = range.begin + random.below(range.size() - length_);
    }
    const auto windows =
        tokens_.unfold(0, length_ + 1, 1).index_select(0, starts).to(at::kLong);  // [B, T + 1]
    return {windows.narrow(1, 0, length_).contiguous(), windows.narrow(1, 1, length_).contiguous()};
  }

 private:
  std::int64_t length_;
  Tokenizer tokenizer_;
  std::int64_t vocab_size_;
  TextSplits splits_{};
  at::Tensor tokens_;  // [tokens] uint8 or int32
  double most_frequent_share_ = 0;
};

}  // namespace

const TokenRange& TextSplits::of(Split split) const {
  return split == Split::kTrain ? train : split == Split::kValid ? valid : test;
}

std::unique_ptr<Task> TextConfig::build() const {
  const auto corpus = load_corpus(*this);
  return of_lengths(*this,
                    [&](const TextConfig& one) { return std::make_unique<TextTask>(one, corpus); });
}

}  // namespace difflab
