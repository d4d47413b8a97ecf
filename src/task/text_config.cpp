#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "task/data_set.h"
#include "task/generated_text.h"
#include "task/text.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::uint64_t kGeneratedSeed = 0;  // one text for all seeds of a run
constexpr const char* kGeneratedName = "generated text";

TextSplits cut(const TextConfig& config, std::int64_t tokens) {
  const auto share = [&](double part) { return std::llround(part * static_cast<double>(tokens)); };
  const std::int64_t test = tokens - share(config.test_share);
  const std::int64_t valid = test - share(config.valid_share);
  return {.train = {0, valid}, .valid = {valid, test}, .test = {test, tokens}};
}

// Why some split holds no window, as a clause about the length; "" if all do.
std::string misfit(const TextConfig& config, std::int64_t tokens) {
  const auto [train, valid, test] = cut(config, tokens);
  const auto [size, split] =
      std::min({std::pair(train.size(), "train"), std::pair(valid.size(), "valid"),
                std::pair(test.size(), "test")});
  if (size > config.length) return "";
  const std::string advice = size > 1 ? concat("the longest length that fits is ", size - 1)
                                      : "no length fits; expected a longer text or a larger share";
  return concat("is ", config.length, ", but ", split, " has only ", size, " of the ", tokens,
                " tokens and a window takes length + 1; ", advice);
}

}  // namespace

void TextConfig::validate(config::Check& check) const {
  if (valid_share + test_share >= 1) {
    check.problem("test_share", concat("is ", test_share, " with valid_share ", valid_share,
                                       "; expected less than 1 together, the rest is train"));
  } else if (!file.given()) {
    // Generated text is ASCII: a token per character with either tokenizer.
    if (const auto problem = misfit(*this, generated_characters); !problem.empty()) {
      check.problem("length", problem);
    }
  }
}

TextSplits split_text(const TextConfig& config, std::int64_t tokens) {
  if (const auto problem = misfit(config, tokens); !problem.empty()) {
    throw UserError(concat(config.file.given() ? config.file.path : kGeneratedName,
                           ": the length of the text task ", problem));
  }
  return cut(config, tokens);
}

std::int64_t TextConfig::vocab_size() const {
  if (tokenizer == TokenizerKind::kByte) return Tokenizer::bytes().vocab_size();
  if (!file.given()) return static_cast<std::int64_t>(generated_alphabet().size());
  return load_corpus(*this).tokenizer.vocab_size();
}

Corpus load_corpus(const TextConfig& config) {
  const bool by_byte = config.tokenizer == TokenizerKind::kByte;
  if (!config.file.given()) {
    return {kGeneratedName, generated_text(config.generated_characters, kGeneratedSeed),
            by_byte ? Tokenizer::bytes() : Tokenizer::characters_of(generated_alphabet())};
  }
  const std::string& name = config.file.path;
  std::error_code unknown;  // what cannot be looked at, read says why
  if (!std::filesystem::exists(name, unknown) && !unknown) {
    throw UserError(concat("the text task's file ", name, " does not exist", how_to_get(name)));
  }
  std::string text = config.file.read();
  auto tokenizer = by_byte ? Tokenizer::bytes() : Tokenizer::characters_of(text, name);
  return {name, std::move(text), std::move(tokenizer)};
}

}  // namespace difflab
