// What a reader of the source may count on within a function.
#include <cctype>
#include <regex>

#include "support/source_files.h"

namespace {

using difflab::testing::source_files;

constexpr int kMostLines = 60;

// The text with blanks in place of comments and of what is quoted; lines stay where they are.
std::string code_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  static const std::regex quoted(
      R"re(//[^\n]*|/\*[^]*?\*/|R"(\w*)\([^]*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\])')re");
  std::string code;
  std::size_t end = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), quoted), none; found != none; ++found) {
    const auto begin = static_cast<std::size_t>(found->position());
    const auto match = found->str();
    // The ' in 1'000 opens nothing.
    const bool separator = match.front() == '\'' && begin > 0 && std::isxdigit(text[begin - 1]);
    code += text.substr(end, begin - end);
    for (const char byte : match) code += separator || byte == '\n' ? byte : ' ';
    end = begin + match.size();
  }
  return code + text.substr(end);
}

struct Function {
  std::string head;
  int line, lines;
};

// Every piece in braces behind a list of parameters, lambdas with one, too.
std::vector<Function> functions_of(const std::string& code) {
  static const std::regex parameters(
      R"re(\)\s*(const|noexcept|override|mutable|\s|HWY_ATTR|->[\w\s:<>,*&]+|:\s[^;]*)*$)re");
  static const std::regex other(R"re(^\s*(if|for|while|switch|catch|else|namespace)\b)re");
  struct Open {
    std::string head;
    int line;
  };
  std::vector<Open> open;
  std::vector<Function> found;
  int line = 1;
  std::string head;
  for (const char byte : code) {
    if (byte == '{') open.push_back({head, line});
    if (byte == '}' && !open.empty()) {
      const auto& begun = open.back();
      if (std::regex_search(begun.head, parameters) && !std::regex_search(begun.head, other)) {
        found.push_back({begun.head, begun.line, line - begun.line + 1});
      }
      open.pop_back();
    }
    line += byte == '\n';
    head = byte == '{' || byte == '}' || byte == ';' ? "" : head + byte;
  }
  CATCH_CHECK(open.empty());
  return found;
}

CATCH_TEST_CASE("functions are seen with their lines") {
  const auto code = code_of({
      "namespace x {",
      "int f(int a) {  // not here: {",
      "  const auto g = [&](int b) {",
      "    return b + 1'000 + '{' + \"{\"[0];",
      "  };",
      "  if (a) {",
      "    return R\"({{{)\"[0];",
      "  }",
      "  return g(a);",
      "}",
      "S::S(int a) : a_(a) {}",
      "struct T {",
      "  int a = 3;",
      "};",
      "}",
  });
  const auto found = functions_of(code);
  CATCH_REQUIRE(found.size() == 3);
  CATCH_CHECK((found[0].line == 3 && found[0].lines == 3));
  CATCH_CHECK((found[1].line == 2 && found[1].lines == 9));
  CATCH_CHECK((found[2].line == 11 && found[2].lines == 1));
}

CATCH_TEST_CASE("functions have at most 60 lines") {
  std::size_t functions = 0;
  for (const auto& file : source_files()) {
    CATCH_INFO(file.path);
    for (const auto& function : functions_of(code_of(file.lines))) {
      CATCH_INFO(file.path.string()
                 << ':' << function.line << ": " << function.lines << " lines" << function.head);
      CATCH_CHECK(function.lines <= kMostLines);
      ++functions;
    }
  }
  CATCH_CHECK(functions > 2000);
}

// Of LibTorch before 2.13 {0, 2} is also a list of named dimensions, where 0 is a pointer.
CATCH_TEST_CASE("axes that begin with 0 say what they are") {
  const std::regex ambiguous(R"re(\.\w+\(\{0, \w+\}\s*[,)])re");
  CATCH_CHECK(std::regex_search(std::string("x.sum({0, 2})"), ambiguous));
  for (const auto& file : source_files()) {
    CATCH_INFO(file.path);
    CATCH_CHECK_FALSE(std::regex_search(code_of(file.lines), ambiguous));
  }
}

CATCH_TEST_CASE("exit codes have names") {
  const std::regex number(R"re(\bexit\(\s*\d)re");
  const std::regex returned(R"re(\breturn [1-9]\d*;)re");
  for (const auto& file : source_files()) {
    const bool of_main = file.path.filename() == "main.cpp";
    const auto code = code_of(file.lines);
    CATCH_INFO(file.path);
    CATCH_CHECK_FALSE(std::regex_search(code, number));
    if (of_main) CATCH_CHECK_FALSE(std::regex_search(code, returned));
  }
}

}  // namespace
