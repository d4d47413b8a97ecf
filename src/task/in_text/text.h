#pragma once

#include "task/base/task_kind.h"
#include "text/tokenizer.h"

namespace difflab {

enum class Split : std::uint64_t;

/// Next-token prediction on a text: a UTF-8 file, or generated text if none is given.
///
///   text      … sells 8 broken lamps. She wants the …
///   inputs    lamps            T = 5 tokens, one per character (or byte)
///   targets   amps.            the same window one token on
///
/// The text is cut by position: train, then valid, then test. A window of T + 1 tokens lies inside
/// one split, so nothing that is trained on is asked later, nor is any part of it. What the splits
/// share is the vocabulary: it is that of the whole text.
struct TextConfig : TaskKind<TextConfig> {
  static constexpr std::string_view kKind = "text";
  static constexpr std::string_view kAbout =
      "the next character or byte of a text file, or of generated text";
  static constexpr bool kEveryToken = true;  ///< each position asks for the next token

  InputFile file = {};                            ///< no path: generated text
  std::int64_t generated_characters = 1'000'000;  ///< without a file
  TokenizerKind tokenizer = TokenizerKind::kCharacter;
  std::int64_t length = 256;  ///< T
  std::vector<std::int64_t> lengths = {};
  double valid_share = 0.05;  ///< of the tokens
  double test_share = 0.05;   ///< of the tokens

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("file", file, "the text, UTF-8; without a path it is generated");
    visit("generated_characters", generated_characters,
          "characters of the generated text; counts only without a file", config::between(1, 1e9));
    visit("tokenizer", tokenizer, "what a token is: character (Unicode), byte or word");
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("valid_share", valid_share, "share of the text, after train, for choices",
          config::between(0, 1));
    visit("test_share", test_share, "share of the text, at its end, for what is reported",
          config::between(0, 1));
  }
  void validate(config::Check& check) const;

  /// Reads the file if its characters are the vocabulary. @throws UserError as load_vocabulary
  /// does.
  std::int64_t vocab_size() const;
  InputFile* input_file() { return &file; }
  /// The text that sequences of `size` tokens are cut from; 0 for those of the task.
  TextConfig text(std::int64_t size) const;
  /// Reads the text. @throws UserError as load_corpus does.
  Tokenizer read_tokenizer() const;

  /// Loads the text. @throws UserError as load_corpus and split_text do.
  std::unique_ptr<Task> build() const;
};

/// A text and the tokenizer that it was given.
struct Corpus {
  std::string name;  ///< the file's path, or "generated text"
  std::string text;
  Tokenizer tokenizer;
};

/// @throws UserError if the file cannot be read, is not the one that was planned with, or is no
/// UTF-8 where characters are to be the tokens.
Corpus load_corpus(const TextConfig& config);

/// The same for its vocabulary alone: of a data set that has not been fetched, the text is its
/// alphabet. @throws UserError as load_corpus does.
Corpus load_vocabulary(const TextConfig& config);

/// Tokens [begin, end) of a text.
struct TokenRange {
  std::int64_t begin, end;

  std::int64_t size() const { return end - begin; }
};

/// Where the splits lie; together they are the whole text.
struct TextSplits {
  TokenRange train, valid, test;

  const TokenRange& of(Split split) const;
};

/// Tokens of the text. Those of one text are counted once in a process.
/// @throws UserError as load_corpus
std::int64_t count_tokens(const TextConfig& config);

/// valid and test get their shares of `tokens`, rounded to whole tokens, train what is left.
/// @throws UserError if a split holds no window of T + 1 tokens, with the longest T that fits.
TextSplits split_text(const TextConfig& config, std::int64_t tokens);

}  // namespace difflab
