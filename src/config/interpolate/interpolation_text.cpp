#include "config/interpolate/interpolation_text.h"

#include <algorithm>
#include <utility>

#include "config/override/override.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr int kMaxNesting = 50;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// Text and interpolations up to the end, or inside quotes up to the closing quote.
  Template text(char quote = '\0') {
    Template result;
    std::string literal;
    while (!done() && (quote == '\0' || text_[next_] != quote)) {
      const std::size_t run = backslashes();
      if (quote != '\0' && at(next_ + run) == quote && run % 2 == 1) {
        literal.append(run / 2, '\\') += quote;
        next_ += run + 1;
      } else if (at(next_ + run) == '$' && at(next_ + run + 1) == '{') {
        literal.append(run / 2, '\\');
        next_ += run;
        if (run % 2 == 1) {
          literal += "${";
          next_ += 2;
        } else {
          add_literal(result, literal);
          result.parts.push_back(interpolation());
        }
      } else if (run > 0) {
        const bool closes = quote != '\0' && at(next_ + run) == quote;
        literal.append(closes ? run / 2 : run, '\\');
        next_ += run;
      } else {
        literal += text_[next_++];
      }
    }
    add_literal(result, literal);
    return result;
  }

 private:
  using Shared = std::shared_ptr<const Interpolation>;

  bool done() const { return next_ >= text_.size(); }
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  char peek() const { return at(next_); }
  bool accept(char c) {
    if (done() || peek() != c) return false;
    ++next_;
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++next_;
  }
  std::size_t backslashes() const {
    return std::min(text_.find_first_not_of('\\', next_), text_.size()) - next_;
  }
  [[noreturn]] void fail(std::size_t start, std::string_view message) const {
    throw UserError(concat(text_.substr(start, 60), " ", message));
  }

  static void add_literal(Template& result, std::string& literal) {
    if (!literal.empty()) result.parts.emplace_back(std::exchange(literal, ""));
  }

  Shared interpolation() {
    const std::size_t start = next_;
    if (++depth_ > kMaxNesting) fail(start, "has ${ nested too deeply");
    next_ += 2;
    skip_blanks();
    auto result = std::make_shared<Interpolation>();
    while (accept('.')) ++result->dots;
    read_path(*result, start);
    skip_blanks();
    if (peek() == ':' && result->dots == 0) {
      ++next_;
      result->resolver = resolver_name(*result, start);
      result->path.clear();
      read_arguments(result->arguments, '}', start);
    } else if (!accept('}')) {
      fail(start,
           done() ? "has no closing }" : "cannot be understood; expected a path such as a.b");
    }
    result->text = text_.substr(start, next_ - start);
    --depth_;
    return result;
  }

  void read_path(Interpolation& result, std::size_t start) {
    while (true) {
      const bool has_bracket = accept('[');
      result.path.push_back(key(start));
      if (has_bracket && !accept(']')) fail(start, "has no closing ]");
      if (peek() != '[' && !accept('.')) return;
    }
  }

  /// Interpolations, and characters up to one of `ends`; those behind the last interpolation go to
  /// `literal`.
  Template pieces(std::string_view ends, std::string& literal) {
    Template result;
    while (!done()) {
      if (peek() == '$' && at(next_ + 1) == '{') {
        add_literal(result, literal);
        result.parts.push_back(interpolation());
      } else if (ends.find(peek()) != std::string_view::npos) {
        break;
      } else {
        if (peek() == '\\' && next_ + 1 < text_.size()) literal += text_[next_++];
        literal += text_[next_++];
      }
    }
    return result;
  }

  /// One key: characters that mean nothing else, and interpolations.
  Template key(std::size_t start) {
    std::string literal;
    Template result = pieces("\\{}()[]:. \t'\",", literal);
    add_literal(result, literal);
    if (result.parts.empty()) fail(start, "names no key; expected a path such as a.b");
    return result;
  }

  std::string resolver_name(const Interpolation& result, std::size_t start) const {
    std::vector<std::string> words;
    for (const Template& part : result.path) {
      const auto* word =
          part.parts.size() == 1 ? std::get_if<std::string>(&part.parts[0]) : nullptr;
      if (!word) fail(start, "has a resolver whose name is not plain text");
      words.push_back(*word);
    }
    return join(words, ".");
  }

  void read_arguments(std::vector<Argument>& arguments, char close, std::size_t start) {
    skip_blanks();
    if (accept(close)) return;
    do arguments.push_back(argument(start));
    while (accept(','));
    if (!accept(close)) fail(start, concat("has no closing ", std::string(1, close)));
  }

  Argument argument(std::size_t start) {
    if (++depth_ > kMaxNesting) fail(start, "has brackets nested too deeply");
    skip_blanks();
    Argument result;
    if (peek() == '\'' || peek() == '"') {
      const char quote = text_[next_++];
      result.data = text(quote);
      if (!accept(quote)) fail(start, "has a quote that is not closed");
    } else if (accept('[')) {
      std::vector<Argument> items;
      read_arguments(items, ']', start);
      result.data = std::move(items);
    } else if (accept('{')) {
      result.data = map(start);
    } else {
      result = unquoted();
    }
    skip_blanks();
    --depth_;
    return result;
  }

  Argument::Map map(std::size_t start) {
    Argument::Map entries;
    skip_blanks();
    if (accept('}')) return entries;
    do {
      const auto colon = std::min(text_.find_first_of(":,{}", next_), text_.size());
      const Element key = parse_override_value(text_.substr(next_, colon - next_));
      next_ = colon;
      if (contains_sweep(key) || !accept(':')) fail(start, "has a map without a key: value");
      entries.push_back({to_value(key).as_string(), argument(start)});
    } while (accept(','));
    if (!accept('}')) fail(start, "has no closing }");
    return entries;
  }

  /// Up to the next comma or bracket; a text without interpolations is typed as in an override.
  Argument unquoted() {
    std::string literal;
    Template result = pieces(",}]", literal);
    while (!literal.empty() && literal.back() == ' ') literal.pop_back();
    if (!result.parts.empty()) {
      add_literal(result, literal);
      return {std::move(result)};
    }
    const Element element = parse_override_value(literal);
    return {contains_sweep(element) ? Value(literal) : to_value(element)};
  }

  std::string_view text_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

Template parse_template(std::string_view text) { return Parser(text).text(); }

}  // namespace difflab::config
