#include "task/in_text/text.h"

#include <ATen/ATen.h>

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "support/catch.h"
#include "task/base/task.h"
#include "task/task_config.h"
#include "util/hash.h"

namespace difflab {
namespace {

/// A text in a file of its own.
class TextFile {
 public:
  explicit TextFile(std::string_view text) { write_file_atomically(path(), text); }
  std::string path() const { return folder_.path() / "text.txt"; }

 private:
  testing::TemporaryFolder folder_;
};

// 20 characters: the tokens of a … t are 0 … 19. Of 20 tokens 0.2 are 4, so train is a … l
// (tokens 0 … 11), valid m … p (12 … 15) and test q … t (16 … 19).
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrst";

TextConfig small(const TextFile& file, std::int64_t length) {
  return {.file = {.path = file.path()}, .length = length, .valid_share = 0.2, .test_share = 0.2};
}

// U+0100 … U+03FF, 768 characters of two bytes each; 0.2 of them are 153.6, rounded to 154.
std::string distinct_characters() {
  std::string text;
  for (int code = 0x100; code < 0x400; ++code) {
    text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  }
  return text;
}

/// The first tokens of all rows of many batches.
std::set<std::int64_t> starts(const Task& task, Split split) {
  std::set<std::int64_t> found;
  for (std::int64_t index = 0; index < 20; ++index) {
    const auto inputs = task.batch(1, split, index, 50).inputs;
    for (std::int64_t row = 0; row < 50; ++row) found.insert(inputs[row][0].item<std::int64_t>());
  }
  return found;
}

CATCH_TEST_CASE("a window is T tokens of the text and, as targets, the tokens one on") {
  const TextFile file(kAlphabet);
  const auto task = small(file, 3).build();
  CATCH_CHECK(task->vocab_size() == 20);
  CATCH_CHECK(task->sequence_length() == 3);
  for (const auto split : {Split::kTrain, Split::kValid, Split::kTest}) {
    const auto [inputs, targets, parts] = task->batch(7, split, 2, 40);
    CATCH_REQUIRE(inputs.sizes() == (at::IntArrayRef{40, 3}));
    CATCH_REQUIRE(targets.sizes() == (at::IntArrayRef{40, 3}));
    CATCH_CHECK(inputs.scalar_type() == at::kLong);
    CATCH_CHECK((inputs.is_contiguous() && targets.is_contiguous()));
    // In this text each character's token is its place.
    CATCH_CHECK(inputs.equal(inputs.narrow(1, 0, 1) + at::arange(3)));
    CATCH_CHECK(targets.equal(inputs + 1));
  }
}

CATCH_TEST_CASE("every window of a split is drawn, and none that touches another split") {
  const TextFile file(kAlphabet);
  const auto task = small(file, 3).build();
  // Windows of 4 tokens in train's 12: starts 0 … 8; in the 4 of valid and of test: one each.
  CATCH_CHECK(starts(*task, Split::kTrain) == std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(starts(*task, Split::kValid) == std::set<std::int64_t>{12});
  CATCH_CHECK(starts(*task, Split::kTest) == std::set<std::int64_t>{16});
}

CATCH_TEST_CASE("nothing of one split is ever seen in another") {
  // A text whose characters tell their split: 700 of a, 200 of b, 100 of c.
  const TextFile file(std::string(700, 'a') + std::string(200, 'b') + std::string(100, 'c'));
  for (const std::int64_t length : {1, 7, 64, 99}) {
    const TextConfig config{
        .file = {.path = file.path()}, .length = length, .valid_share = 0.2, .test_share = 0.1};
    const auto task = config.build();
    for (const auto split : {Split::kTrain, Split::kValid, Split::kTest}) {
      for (std::int64_t index = 0; index < 50; ++index) {
        const auto [inputs, targets, parts] = task->batch(3, split, index, 32);
        const auto own = static_cast<std::int64_t>(split);  // a, b, c are tokens 0, 1, 2
        CATCH_REQUIRE(inputs.eq(own).all().item<bool>());
        CATCH_REQUIRE(targets.eq(own).all().item<bool>());
      }
    }
  }
}

CATCH_TEST_CASE("windows come evenly from all of the split") {
  const TextFile file(distinct_characters());
  const auto inputs = small(file, 3).build()->batch(0, Split::kTrain, 0, 4'000).inputs;
  // Train has 768 − 2 · 154 = 460 tokens and so 457 windows of 4; a character's token is its place.
  std::vector<int> quarter(4);
  for (std::int64_t row = 0; row < 4'000; ++row) {
    ++quarter[static_cast<std::size_t>(inputs[row][0].item<std::int64_t>() * 4 / 457)];
  }
  // 1,000 ± 5 standard deviations of a fair draw, √(4000·¼·¾) = 27
  for (const int count : quarter) CATCH_CHECK(std::abs(count - 1'000) < 137);
}

CATCH_TEST_CASE("a text's batches are a function of seed, split and index alone") {
  const TextConfig config{.generated_characters = 20'000, .length = 32};
  const auto task = config.build(), again = config.build();
  const auto batch = task->batch(5, Split::kTrain, 7, 16);
  again->batch(5, Split::kTrain, 6, 16);  // what was asked before does not matter
  const auto same = again->batch(5, Split::kTrain, 7, 16);
  CATCH_CHECK(batch.inputs.equal(same.inputs));
  CATCH_CHECK(batch.targets.equal(same.targets));
  CATCH_CHECK(batch.inputs.narrow(0, 0, 4).equal(task->batch(5, Split::kTrain, 7, 4).inputs));
  CATCH_CHECK_FALSE(batch.inputs.equal(task->batch(6, Split::kTrain, 7, 16).inputs));
  CATCH_CHECK_FALSE(batch.inputs.equal(task->batch(5, Split::kTrain, 8, 16).inputs));
  CATCH_CHECK_FALSE(task->batch(5, Split::kValid, 7, 16)
                        .inputs.equal(task->batch(5, Split::kTest, 7, 16).inputs));
}

CATCH_TEST_CASE("splits with the same text in them draw other windows") {
  const TextFile file(distinct_characters() + distinct_characters() + distinct_characters());
  const TextConfig config{
      .file = {.path = file.path()}, .length = 8, .valid_share = 1.0 / 3, .test_share = 1.0 / 3};
  const auto task = config.build();
  const auto train = task->batch(5, Split::kTrain, 0, 16).inputs;
  const auto valid = task->batch(5, Split::kValid, 0, 16).inputs;
  const auto test = task->batch(5, Split::kTest, 0, 16).inputs;
  CATCH_CHECK_FALSE(train.equal(valid));
  CATCH_CHECK_FALSE(train.equal(test));
  CATCH_CHECK_FALSE(valid.equal(test));
}

CATCH_TEST_CASE("chance is the share of the training split's most frequent token") {
  // Train, the first 12 of 20: a 5, b 4, c 3; the c behind it do not count.
  const TextFile file(
      "abcabcabcaba"
      "cccccccc");
  const auto task = small(file, 3).build();
  CATCH_CHECK(task->chance_accuracy() == Approx(5.0 / 12));
  const auto parts = task->parts();
  CATCH_REQUIRE(parts.size() == 1);
  CATCH_CHECK(parts[0].name == "text");
}

CATCH_TEST_CASE("bytes and characters of one file are other tokens") {
  const TextFile file("äöüäöüäöüäöüäöüäöüäö");  // 20 characters, 40 bytes, ä ö ü
  TextConfig config = small(file, 3);
  CATCH_CHECK(config.build()->batch(0, Split::kTrain, 0, 20).inputs.max().item<std::int64_t>() ==
              2);
  CATCH_CHECK(config.vocab_size() == 3);
  config.tokenizer = TokenizerKind::kByte;
  const auto inputs = config.build()->batch(0, Split::kTrain, 0, 20).inputs;
  CATCH_CHECK(inputs.max().item<std::int64_t>() == 0xC3);  // ä is C3 A4
  CATCH_CHECK(inputs.min().item<std::int64_t>() == 0xA4);
  CATCH_CHECK(config.vocab_size() == 256);
}

CATCH_TEST_CASE("more than 256 characters fit, too") {
  const TextFile file(distinct_characters());
  const auto task = small(file, 3).build();
  CATCH_CHECK(task->vocab_size() == 768);
  const auto test = task->batch(0, Split::kTest, 0, 20);
  CATCH_CHECK(test.inputs.min().item<std::int64_t>() >= 768 - 154);
  CATCH_CHECK(test.targets.equal(test.inputs + 1));
}

CATCH_TEST_CASE("every task's config knows the size of vocabulary and sequence") {
  const TextFile file(kAlphabet);
  const TaskConfig configs[] = {NeedleConfig{.length = 40, .noise_tokens = 5, .keys = 7},
                                NeedleRecallConfig{.needle = {.length = 48, .values = 9}},
                                RecallConfig{.length = 16, .tokens = 77},
                                TextConfig{.generated_characters = 9'000, .length = 21},
                                TextConfig{.tokenizer = TokenizerKind::kByte},
                                small(file, 3)};
  for (const auto& config : configs) {
    const auto task = build_task(config);
    CATCH_CHECK(vocab_size(config) == task->vocab_size());
    CATCH_CHECK(sequence_length(config) == task->sequence_length());
  }
  CATCH_CHECK(vocab_size(configs[2]) == 77);
  CATCH_CHECK(sequence_length(configs[0]) == 40);
}

CATCH_TEST_CASE("a split too short for a window is refused with the length that fits") {
  const TextFile file(kAlphabet);
  CATCH_CHECK_NOTHROW(small(file, 3).build());
  CATCH_CHECK_THROWS_AS(small(file, 4).build(), UserError);
  CATCH_CHECK_THROWS_WITH(small(file, 4).build(),
                          Contains(file.path()) && Contains("has only 4 of the 20 tokens") &&
                              Contains("the longest length that fits is 3"));
  TextConfig none = small(file, 3);
  none.test_share = 0;
  CATCH_CHECK_THROWS_WITH(none.build(), Contains("test has only 0") && Contains("no length fits"));
}

CATCH_TEST_CASE("generated text that is too short is refused before anything is built") {
  const auto read = [](const std::string& yaml) {
    return config::read<TaskConfig>(config::parse_yaml(yaml, "x.yaml"), "task");
  };
  CATCH_CHECK_NOTHROW(read("{kind: text, generated_characters: 2000, length: 99}"));
  // 5 % of 2,000 are 100 tokens, a window of 99 + 1.
  CATCH_CHECK_THROWS_WITH(read("{kind: text, generated_characters: 2000, length: 100}"),
                          Contains("x.yaml:1:") && Contains("task.length is 100") &&
                              Contains("the longest length that fits is 99"));
  CATCH_CHECK_THROWS_WITH(read("{kind: text, valid_share: 0.5, test_share: 0.5}"),
                          Contains("less than 1 together"));
  CATCH_CHECK_THROWS_WITH(read("{kind: text, tokenizer: bytes}"), Contains("did you mean byte?"));
  CATCH_CHECK_NOTHROW(read("{kind: text, file: {path: not/there/yet.txt}}"));
}

CATCH_TEST_CASE("a text that is missing, changed or no UTF-8 is the user's error") {
  TextConfig config{.file = {.path = "/nowhere/tinyshakespeare.txt"}};
  CATCH_CHECK_THROWS_AS(config.build(), UserError);
  CATCH_CHECK_THROWS_WITH(config.build(), Contains("/nowhere/tinyshakespeare.txt does not exist") &&
                                              Contains("./difflab data tinyshakespeare --from"));
  // Its characters are known, and those that needles add; its words are not.
  CATCH_CHECK(config.vocab_size() == 65);
  TextNeedleConfig needles{.file = config.file};
  CATCH_CHECK(needles.vocab_size() == 65 + 10);  // nine digits (it has "3") and a quotation mark
  config.tokenizer = needles.tokenizer = TokenizerKind::kWord;
  CATCH_CHECK_THROWS_AS(config.vocab_size(), UserError);
  CATCH_CHECK_THROWS_AS(needles.vocab_size(), UserError);
  const TextFile file(kAlphabet);
  config = small(file, 3);
  config.file.sha256 = sha256_hex(kAlphabet);
  CATCH_CHECK_NOTHROW(config.build());
  write_file_atomically(file.path(), "abcdefghijklmnopqrsT");
  CATCH_CHECK_THROWS_WITH(config.build(), Contains("has changed since the sweep was planned"));

  const TextFile latin("abcdefghij\nklmnopq\xE9rs");
  CATCH_CHECK_THROWS_WITH(small(latin, 3).build(),
                          Contains(latin.path() + ":2: ") && Contains("is not UTF-8"));
  config = small(latin, 3);
  config.tokenizer = TokenizerKind::kByte;
  CATCH_CHECK_NOTHROW(config.build());
}

}  // namespace
}  // namespace difflab
