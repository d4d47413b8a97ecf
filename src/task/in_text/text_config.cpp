#include <filesystem>
#include <map>
#include <tuple>

#include "task/in_text/text.h"
#include "text/data_set.h"
#include "text/generated_text.h"
#include "util/error.h"

namespace difflab {
namespace {

constexpr std::uint64_t kGeneratedSeed = 0;  // one text for all seeds of a run
constexpr std::int64_t kMostForWords = 10'000'000;
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
  check_lengths(lengths, length, 1, check);
  if (valid_share + test_share >= 1) {
    check.problem("test_share", concat("is ", test_share, " with valid_share ", valid_share,
                                       "; expected less than 1 together, the rest is train"));
  } else if (!file.given() && tokenizer == TokenizerKind::kWord &&
             generated_characters > kMostForWords) {
    check.problem("generated_characters",
                  concat("is ", generated_characters, " with tokenizer: word; expected at most ",
                         kMostForWords));
  } else if (!file.given()) {
    if (const auto problem = misfit(*this, count_tokens(*this)); !problem.empty()) {
      check.problem("length", problem);
    }
  }
}

// A sweep of a thousand runs counts a text once.
std::int64_t count_tokens(const TextConfig& config) {
  static std::map<std::tuple<std::string, TokenizerKind, std::int64_t>, std::int64_t> known;
  const bool generated = !config.file.given();
  // The generated text is ASCII, and its first characters are the same however long it is.
  if (generated && config.tokenizer != TokenizerKind::kWord) return config.generated_characters;
  auto& tokens =
      known[{config.file.sha256, config.tokenizer, generated ? config.generated_characters : 0}];
  if (tokens == 0) {
    tokens = generated
                 ? Tokenizer::count(config.tokenizer,
                                    generated_text(config.generated_characters, kGeneratedSeed))
                 : Tokenizer::count(config.tokenizer, config.file.read(), config.file.path);
  }
  return tokens;
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
  if (!file.given() && tokenizer == TokenizerKind::kCharacter) {
    return static_cast<std::int64_t>(generated_alphabet().size());
  }
  return load_vocabulary(*this).tokenizer.vocab_size();
}

namespace {

Tokenizer tokenizer_of(TokenizerKind kind, std::string_view text, std::string_view name) {
  if (kind == TokenizerKind::kByte) return Tokenizer::bytes();
  return kind == TokenizerKind::kWord ? Tokenizer::words_of(text, name)
                                      : Tokenizer::characters_of(text, name);
}

}  // namespace

TextConfig TextConfig::text(std::int64_t size) const {
  return with_length(*this, size > 0 ? size : length);
}

Tokenizer TextConfig::read_tokenizer() const { return load_corpus(*this).tokenizer; }

Corpus load_corpus(const TextConfig& config) {
  if (!config.file.given()) {
    auto text = generated_text(config.generated_characters, kGeneratedSeed);
    const bool by_word = config.tokenizer == TokenizerKind::kWord;
    auto tokenizer =
        tokenizer_of(config.tokenizer, by_word ? text : generated_alphabet(), kGeneratedName);
    return {kGeneratedName, std::move(text), std::move(tokenizer)};
  }
  const std::string& name = config.file.path;
  std::error_code unknown;  // what cannot be looked at, read says why
  if (!std::filesystem::exists(name, unknown) && !unknown) {
    throw UserError(concat("the text task's file ", name, " does not exist", how_to_get(name)));
  }
  std::string text = config.file.read();
  auto tokenizer = tokenizer_of(config.tokenizer, text, name);
  return {name, std::move(text), std::move(tokenizer)};
}

Corpus load_vocabulary(const TextConfig& config) {
  const auto* set = config.file.given() ? data_set_of(config.file.path) : nullptr;
  std::error_code unknown;
  const bool is_known = set != nullptr && config.tokenizer == TokenizerKind::kCharacter;
  if (!is_known || std::filesystem::exists(config.file.path, unknown) || unknown) {
    return load_corpus(config);
  }
  return {config.file.path, std::string(set->alphabet), Tokenizer::characters_of(set->alphabet)};
}

}  // namespace difflab
