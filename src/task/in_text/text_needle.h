#pragma once

#include "task/base/task_kind.h"
#include "task/in_text/text.h"
#include "task/needle/recall.h"

namespace difflab {

/// Needles in text: sentences that give cities a number, hidden in a haystack, and a question for R
/// of the N cities at the end (the wording of the multi-needle test of LWM, arXiv 2402.08268, which
/// the DIFF paper uses; its rules are those of the needle task).
///
///   … Clara lives in Saltford and The special magic number for Lima is: 4071386. sells 8 lamps. …
///
///   … What is the special magic number for Lima? 4071386
///
/// Digits of the answer are scored, each with the right ones before it. Several cities are joined
/// with commas and "and", their numbers with ", ". Cities and numbers are distinct. The first
/// city's needle has exactly round(depth/100 · H) of the H haystack tokens before it, be that
/// inside a word; H is what the needles and the question leave of T. The haystack is a window of
/// the split's part of the text, so no haystack is seen in two splits.
struct TextNeedleConfig : TaskKind<TextNeedleConfig> {
  static constexpr std::string_view kKind = "text_needle";
  static constexpr std::string_view kAbout =
      "sentences with a number hidden in text, asked for at the end";

  InputFile file = {};                            ///< no path: generated text
  std::int64_t generated_characters = 1'000'000;  ///< without a file
  TokenizerKind tokenizer = TokenizerKind::kCharacter;
  std::int64_t length = 512;  ///< T
  std::vector<std::int64_t> lengths = {};
  std::int64_t needles = 4;          ///< N
  std::int64_t queries = 1;          ///< R
  std::optional<double> depth = {};  ///< %, nothing draws it per sample
  std::int64_t digits = 7;           ///< of a number
  std::string needle = " The special magic number for {city} is: {number}. ";
  std::optional<std::string> question = {};  ///< nothing: the one above
  double valid_share = 0.05;                 ///< of the text
  double test_share = 0.05;                  ///< of the text
  double edge_needle_share = 0;  ///< share of sequences with a needle, any, at 0 or 100 %
  double recall_share = 0;  ///< share of each batch that is cyclic repetition (recall_mixture.h)

  /// The shortest sequence with at least one haystack token per needle, whatever cities are drawn.
  std::int64_t smallest_length() const;
  /// " The special magic number for Lima is: 4071386. "
  std::string needle_of(std::string_view city, std::int64_t number) const;
  /// "\n\nWhat are the special magic numbers for Lima, Oslo and Rome? "
  std::string question_about(const std::vector<std::string_view>& cities) const;
  /// Where the r-th number begins, as the position of its first digit in the T + 1 tokens.
  std::int64_t answer_begin(std::int64_t r) const;
  TextConfig haystack() const;  ///< the text that windows are cut from

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("file", file, "the haystack, UTF-8; without a path it is generated");
    visit("generated_characters", generated_characters,
          "characters of the generated text; counts only without a file", config::between(1, 1e9));
    visit("tokenizer", tokenizer, "what a token is: character (Unicode), byte or word");
    visit("length", length, "tokens T of a sequence", config::between(1, 1'000'000));
    visit("lengths", lengths, kAboutLengths, config::between(1, 1'000'000));
    visit("needles", needles, "needles N hidden in a sequence", config::between(1, 1'000'000));
    visit("queries", queries, "needles R that are asked for", config::between(1, 1'000'000));
    visit("depth", depth, "where the asked needle lies, in % of the haystack; null draws it",
          config::between(0, 100));
    visit("edge_needle_share", edge_needle_share,
          "share of sequences in which one of the N needles, any, lies at 0 or 100 %, where a long "
          "haystack hardly ever has one; only if depth is null",
          config::between(0, 1));
    visit("digits", digits, "digits of a number", config::between(1, 18));
    visit(
        "needle", needle,
        "a needle, with the blanks that part it from the text; {city} and {number} are filled in");
    visit(
        "question", question,
        "the question, after which the numbers follow; {cities} is filled in, several with commas "
        "and \"and\"; null asks for their special magic numbers");
    visit("valid_share", valid_share, "share of the text, after train, for choices",
          config::between(0, 1));
    visit("test_share", test_share, "share of the text, at its end, for what is reported",
          config::between(0, 1));
    visit("recall_share", recall_share, kAboutRecallShare, config::between(0, 1));
  }
  void validate(config::Check& check) const;

  /// Reads the file if its characters are the vocabulary. @throws UserError as load_vocabulary
  /// does.
  std::int64_t vocab_size() const;
  InputFile* input_file() { return &file; }
  /// The haystack of sequences of `size` tokens; 0 for those of the task.
  TextConfig text(std::int64_t size) const;
  /// Reads the text. @throws UserError as load_corpus does.
  Tokenizer read_tokenizer() const;

  /// Per digit, of a guess among those numbers of the context that begin with the digits given.
  /// Exact for distinct numbers and any `digits`.
  double chance() const;

  /// Loads the text. @throws UserError as load_corpus and split_text do.
  std::unique_ptr<Task> build() const;
};

/// Tokenizer of the text that also knows the characters or words of needles and questions.
Tokenizer tokenizer_with_needles(const TextNeedleConfig& config, const Corpus& corpus);

}  // namespace difflab
