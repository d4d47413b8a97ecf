#include "text/tokenizer.h"

#include "support/catch.h"
#include "util/random.h"

namespace difflab {
namespace {

using Tokens = std::vector<std::int64_t>;

CATCH_TEST_CASE("the characters of a text are its tokens in the order of their code points") {
  // Counted by hand: \n U+0A, space U+20, A U+41, b U+62, z U+7A, é U+E9, λ U+3BB, € U+20AC,
  // 😀 U+1F600 are tokens 0 … 8.
  const std::string text = "zAb b\nλ😀é€z";
  const auto tokenizer = Tokenizer::characters_of(text);
  CATCH_CHECK(tokenizer.vocab_size() == 9);
  CATCH_CHECK(tokenizer.encode(text) == Tokens{4, 2, 3, 1, 3, 0, 6, 8, 5, 7, 4});
  CATCH_CHECK(tokenizer.decode(Tokens{6, 1, 8, 0}) == "λ 😀\n");
}

CATCH_TEST_CASE("a word takes the blank before it, every other character stands alone") {
  const std::string text = "For Lima is: 407.  Ünï  x";
  const auto tokenizer = Tokenizer::words_of(text);
  std::vector<std::string> words;
  for (const auto token : tokenizer.encode(text)) words.push_back(tokenizer.decode(Tokens{token}));
  CATCH_CHECK(words == std::vector<std::string>{"For", " Lima", " is", ":", " ", "4", "0", "7", ".",
                                                " ", " Ünï", " ", " x"});
  CATCH_CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  CATCH_CHECK(tokenizer.vocab_size() == 11);
  CATCH_CHECK(Tokenizer::count(TokenizerKind::kWord, text) == 13);
  CATCH_CHECK(Tokenizer::count(TokenizerKind::kCharacter, text) == 25);
  CATCH_CHECK(Tokenizer::count(TokenizerKind::kByte, text) == 27);
  CATCH_CHECK_THROWS_WITH(
      tokenizer.encode("For Lina", "the prompt"),
      Contains("the prompt: the word ' Lina' at byte offset 3") && Contains("did you mean  Lima?"));
  CATCH_CHECK((Tokenizer::words_of("bb a") == Tokenizer::words_of("bb a a")));
  // Letters of any script, but neither dashes nor curly quotes.
  const std::string foreign = "“Ça”—dit ἄλφα… ß ×";
  const auto words_of = [](const std::string& written) {
    const auto known = Tokenizer::words_of(written);
    std::vector<std::string> found;
    for (const auto token : known.encode(written)) found.push_back(known.decode(Tokens{token}));
    return found;
  };
  CATCH_CHECK(words_of(foreign) ==
              std::vector<std::string>{"“", "Ça", "”", "—", "dit", " ἄλφα", "…", " ß", " ", "×"});
  CATCH_CHECK_FALSE((Tokenizer::words_of("b a") == Tokenizer::words_of("b c")));
}

CATCH_TEST_CASE("a byte is its own token") {
  const auto tokenizer = Tokenizer::bytes();
  CATCH_CHECK(tokenizer.vocab_size() == 256);
  CATCH_CHECK(tokenizer.encode("aé\xFF") == Tokens{97, 0xC3, 0xA9, 0xFF});
  CATCH_CHECK(tokenizer.decode(Tokens{0xE2, 0x82, 0xAC}) == "€");
}

CATCH_TEST_CASE("what is encoded comes back, whatever it is") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  CATCH_CHECK(Tokenizer::bytes().decode(Tokenizer::bytes().encode(bytes)) == bytes);
  CATCH_CHECK(Tokenizer::bytes().encode("").empty());

  // The ends of every length of UTF-8: U+0000 is one byte … U+10FFFF are four.
  const std::vector<std::string> characters = {std::string(1, '\0'),
                                               "\x7F",
                                               "\xC2\x80",
                                               "\xDF\xBF",
                                               "\xE0\xA0\x80",
                                               "\xED\x9F\xBF",
                                               "\xEE\x80\x80",
                                               "\xEF\xBF\xBF",
                                               "\xF0\x90\x80\x80",
                                               "\xF4\x8F\xBF\xBF",
                                               "\r",
                                               "e\u0301",
                                               "\uFEFF"};
  Random random{1};
  for (int round = 0; round < 100; ++round) {
    std::string text;
    for (int i = 0; i < 50; ++i) {
      text += characters[static_cast<std::size_t>(
          random.below(static_cast<std::int64_t>(characters.size())))];
    }
    const auto tokenizer = Tokenizer::characters_of(text);
    const auto tokens = tokenizer.encode(text);
    CATCH_REQUIRE(tokenizer.decode(tokens) == text);
    CATCH_REQUIRE(static_cast<std::int64_t>(std::set(tokens.begin(), tokens.end()).size()) ==
                  tokenizer.vocab_size());  // every token occurs: none is spent in vain
  }
}

CATCH_TEST_CASE("an unknown character is named, with what the corpus holds") {
  const auto tokenizer = Tokenizer::characters_of("hello\n");
  CATCH_CHECK_THROWS_AS(tokenizer.encode("hé"), UserError);
  CATCH_CHECK_THROWS_WITH(tokenizer.encode("heé", "the prompt"),
                          Contains("the prompt: the character 'é' (U+00E9) at byte offset 2") &&
                              Contains("the 5 characters of the corpus: \\nehlo"));
  std::string many;
  for (char32_t code = 0x4E00; code < 0x4E00 + 250; ++code) {  // 4E00 is E4 B8 80
    many += {static_cast<char>(0xE4), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
             static_cast<char>(0x80 | (code & 0x3F))};
  }
  CATCH_CHECK_THROWS_WITH(Tokenizer::characters_of(many).encode("x"),
                          Contains("the 250 characters") && Contains("and 50 more"));
}

CATCH_TEST_CASE("text that is not UTF-8 is refused with its line and byte offset") {
  // Latin-1 é; cut short; a stray continuation; overlong /; a surrogate; above U+10FFFF.
  for (const std::string bad :
       {"\xE9 ", "\xE2\x82", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    const std::string text = "né\nab" + bad;  // n, two bytes, \n, a, b: offset 6 in line 2
    CATCH_CHECK_THROWS_AS(Tokenizer::characters_of(text), UserError);
    CATCH_CHECK_THROWS_WITH(Tokenizer::characters_of(text, "poem.txt"),
                            Contains("poem.txt:2: the byte 0x") && Contains("at offset 6 ") &&
                                Contains("tokenizer: byte"));
  }
}

CATCH_TEST_CASE("a token outside the vocabulary is a bug of the caller") {
  CATCH_CHECK_THROWS_AS(Tokenizer::bytes().decode(Tokens{256}), std::out_of_range);
  CATCH_CHECK_THROWS_AS(Tokenizer::characters_of("ab").decode(Tokens{2}), std::out_of_range);
  CATCH_CHECK_THROWS_AS(Tokenizer::characters_of("ab").decode(Tokens{-1}), std::out_of_range);
}

}  // namespace
}  // namespace difflab
