#include "task/sample_view.h"

#include <ATen/ATen.h>

#include "support/catch.h"
#include "task/base/symbols.h"
#include "task/task_config.h"

namespace difflab {
namespace {

/// Says the same sequence again and again.
class FixedTask final : public Task {
 public:
  FixedTask(std::vector<std::int64_t> input, std::vector<std::int64_t> target, bool is_text)
      : input_(std::move(input)), target_(std::move(target)), is_text_(is_text) {}
  std::int64_t vocab_size() const override { return 7; }
  std::int64_t sequence_length() const override { return static_cast<std::int64_t>(input_.size()); }
  std::vector<TaskPart> parts() const override { return {{"fixed", 1.0, this}}; }
  double chance_accuracy() const override { return 0.125; }
  Batch batch(std::uint64_t, Split, std::int64_t, std::int64_t size) const override {
    return {at::tensor(input_).repeat({size, 1}), at::tensor(target_).repeat({size, 1})};
  }
  std::string token_text(std::int64_t token) const override {
    if (is_text_) return std::string(1, "abc\n?12"[token]);
    return Symbols{{"B", 1}, {"k", 3}, {"v", 3}}.text(token);
  }
  bool is_text() const override { return is_text_; }

 private:
  std::vector<std::int64_t> input_, target_;
  bool is_text_;
};

CATCH_TEST_CASE("a sample of symbols shows what is to be predicted where") {
  const FixedTask task({0, 2, 4, 3, 5, 2}, {kIgnore, kIgnore, kIgnore, kIgnore, kIgnore, 4}, false);
  CATCH_CHECK(samples_text(samples_json(task, 0, Split::kTest, 2)) ==
              "T = 6 tokens, V = 7, chance 12.5 %\n"
              "a→b: b is to be predicted after a\n"
              "\nfixed, 100 % of a batch, sample 0\n"
              "  B k1 v0 k2 v1 k1→v0\n"
              "\nfixed, 100 % of a batch, sample 1\n"
              "  B k1 v0 k2 v1 k1→v0\n");
}

CATCH_TEST_CASE("a sample of text shows runs of what is to be predicted") {
  const FixedTask some({0, 1, 3, 2, 4, 5}, {kIgnore, kIgnore, 2, kIgnore, 5, 6}, true);
  CATCH_CHECK_THAT(samples_text(samples_json(some, 0, Split::kTest, 1)),
                   Contains("sample 0\n  ab\n  c?1\n"
                            "  scored: after token 2 comes \"c\"\n"
                            "  scored: after token 4 comes \"12\"\n"));
  const FixedTask all({0, 1}, {1, 2}, true);
  CATCH_CHECK_THAT(samples_text(samples_json(all, 0, Split::kTest, 1)),
                   Contains("  ab\n  scored: everywhere, the next token\n"));
}

CATCH_TEST_CASE("samples as JSON are the task's batch, part by part") {
  const NeedleRecallConfig config{.needle = {.length = 16, .needles = 2}};
  const auto task = build_task(config);
  const Json view = samples_json(*task, 7, Split::kValid, 3);
  CATCH_CHECK(view["length"] == 16);
  CATCH_CHECK(view["chance"] == 0.5);
  CATCH_REQUIRE(view["samples"].size() == 6);
  const auto needle = task->parts()[0].task->batch(7, Split::kValid, 0, 3);
  const auto& sample = view["samples"][2];
  CATCH_CHECK(sample["part"] == "needle");
  CATCH_CHECK(
      at::tensor(sample["tokens"].get<std::vector<std::int64_t>>()).equal(needle.inputs[2]));
  CATCH_REQUIRE(sample["scored"].size() == 1);
  CATCH_CHECK(sample["scored"][0]["position"] == 15);
  CATCH_CHECK(sample["scored"][0]["target"] == needle.targets[2][15].item<std::int64_t>());
  CATCH_CHECK(view["samples"][3]["part"] == "recall");
}

CATCH_TEST_CASE("bytes that are no text by themselves do not break the JSON") {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "umlauts.txt";
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "ä";  // two bytes each
  write_file_atomically(file, text);
  const TextConfig config{
      .file = {.path = file.string()}, .tokenizer = TokenizerKind::kByte, .length = 8};
  CATCH_CHECK_NOTHROW(samples_json(*config.build(), 0, Split::kTest, 1).dump());
}

}  // namespace
}  // namespace difflab
