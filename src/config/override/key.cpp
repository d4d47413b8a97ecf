#include "config/override/lexer.h"
#include "config/override/override.h"

namespace difflab::config {
namespace {

class KeyParser {
 public:
  KeyParser(std::string_view text, Override& result) : text_(text), result_(result) {}

  /// The position after the key.
  std::size_t parse() {
    if (accept("++")) {
      result_.type = Override::Type::kForceAdd;
    } else if (accept("+")) {
      result_.type = Override::Type::kAdd;
    } else if (accept("~")) {
      result_.type = Override::Type::kDelete;
    }
    const std::size_t start = next_;
    if (!group()) path();
    result_.key = text_.substr(start, next_ - start);
    if (accept("@")) {
      const std::size_t package = next_;
      path();
      result_.package = text_.substr(package, next_ - package);
    }
    return next_;
  }

 private:
  bool accept(std::string_view token) {
    if (!text_.substr(next_).starts_with(token)) return false;
    next_ += token.size();
    return true;
  }

  std::string_view rest() const { return text_.substr(next_); }

  /// A name: letters, digits, _ and -, in paths also $.
  bool name(bool dollars) {
    const std::size_t start = next_;
    while (!rest().empty()) {
      if (dollars && rest()[0] == '$') {
        ++next_;
      } else if (const std::size_t length = identifier_length(rest()); length > 0) {
        next_ += length;
      } else if (next_ > start && (rest()[0] == '-' || (rest()[0] >= '0' && rest()[0] <= '9'))) {
        ++next_;
      } else {
        break;
      }
    }
    return next_ > start;
  }

  bool number() {
    const std::size_t length = whole_number_length(rest());
    next_ += length;
    return length > 0;
  }

  /// a/b, where no part is a path itself. Takes nothing if it is none.
  bool group() {
    const std::size_t start = next_;
    if (!name(/*dollars=*/false) || !rest().starts_with('/')) {
      next_ = start;
      return false;
    }
    while (accept("/")) {
      if (!name(/*dollars=*/false)) fail("expected the name of a config group here");
    }
    return true;
  }

  /// a, a.b.0, 0.a, a[0].b or nothing.
  void path() {
    const bool begins_with_number = number();
    if (!begins_with_number && !name(/*dollars=*/true)) return;
    for (bool alone = true;; alone = false) {
      if (accept(".")) {
        if (!number() && !name(/*dollars=*/true)) fail("expected a key here");
      } else if (accept("[")) {
        if (!number() && !name(/*dollars=*/true)) fail("expected a number here");
        if (!accept("]")) fail("expected ] here");
      } else if (alone && begins_with_number) {
        fail("a number alone is no key");
      } else {
        return;
      }
    }
  }

  [[noreturn]] void fail(std::string message) const {
    throw SyntaxError{next_, std::move(message)};
  }

  std::string_view text_;
  std::size_t next_ = 0;
  Override& result_;
};

}  // namespace

std::size_t parse_override_key(std::string_view text, Override& result) {
  return KeyParser(text, result).parse();
}

}  // namespace difflab::config
