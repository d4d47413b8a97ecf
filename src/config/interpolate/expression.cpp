#include "config/interpolate/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "config/value/scalar.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr int kMaxDepth = 100;

bool truth(const Value& value, std::string_view what) {
  if (value.is_bool()) return value.as_bool();
  throw UserError(concat(what, " is ", describe(value), "; expected true or false"));
}

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.as_double() < b.as_double();
  if (a.is_string() && b.is_string()) return a.as_string() < b.as_string();
  throw UserError(concat("cannot compare ", describe(a), " with ", describe(b)));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// The whole result of an operation on whole numbers, or nothing if it has none in 64 bits.
std::optional<std::int64_t> whole(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (op == "+" && !__builtin_add_overflow(a, b, &result)) return result;
  if (op == "-" && !__builtin_sub_overflow(a, b, &result)) return result;
  if (op == "*" && !__builtin_mul_overflow(a, b, &result)) return result;
  if (b == -1 || b == 0) return std::nullopt;  // the smallest number has no opposite
  if (op == "//") return floor_div(a, b);
  if (op == "%") return a - floor_div(a, b) * b;
  return std::nullopt;
}

// Python's: exact, with the sign of the divisor. 1 % 0.1 is not 0, as 0.1 is a little more than
// that.
double remainder_of(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

double floor_of_quotient(double x, double y) {
  const double quotient = (x - remainder_of(x, y)) / y;  // a whole number but for rounding
  const double below = std::floor(quotient);
  return quotient - below > 0.5 ? below + 1 : below;
}

Value arithmetic(std::string_view op, const Value& a, const Value& b) {
  if (op == "+" && a.is_string() && b.is_string()) return Value(a.as_string() + b.as_string());
  if (!a.is_number() || !b.is_number()) {
    throw UserError(concat("cannot calculate ", describe(a), " ", op, " ", describe(b)));
  }
  if (a.is_int() && b.is_int()) {
    if (const auto result = whole(op, a.as_int(), b.as_int())) return Value(*result);
  }
  const double x = a.as_double(), y = b.as_double();
  if (y == 0 && (op == "/" || op == "//" || op == "%")) {
    throw UserError(concat("divides ", describe(a), " by 0"));
  }
  const double result = op == "+"    ? x + y
                        : op == "-"  ? x - y
                        : op == "*"  ? x * y
                        : op == "/"  ? x / y
                        : op == "//" ? floor_of_quotient(x, y)
                        : op == "%"  ? remainder_of(x, y)
                                     : std::pow(x, y);
  if (op == "**" && std::isfinite(x) && std::isfinite(y) && !std::isfinite(result)) {
    throw UserError(concat("cannot calculate ", describe(a), " ** ", describe(b)));
  }
  const bool stays_whole = a.is_int() && b.is_int() && op != "/" && (op != "**" || y >= 0);
  if (stays_whole && std::abs(result) < 0x1p53) return Value(static_cast<std::int64_t>(result));
  return Value(result);
}

/// Recursive descent, one function per level of binding. With `live_` off nothing is looked up or
/// calculated: that part cannot change the result.
class Evaluator {
 public:
  Evaluator(std::string_view text, const NameLookup& lookup) : text_(text), lookup_(lookup) {}

  Value run() {
    Value value = either();
    skip_blanks();
    if (next_ < text_.size()) fail(concat("unexpected ", text_.substr(next_)));
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw UserError(message); }

  void skip_blanks() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\n')) ++next_;
  }

  bool accept(std::string_view symbol) {
    skip_blanks();
    if (!text_.substr(next_).starts_with(symbol)) return false;
    next_ += symbol.size();
    return true;
  }

  /// A byte of a name; beyond ASCII all are.
  static bool in_name(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 128 || std::isalnum(byte) || c == '_';
  }

  bool accept_word(std::string_view word) {
    const std::size_t before = next_;
    if (accept(word) && (next_ == text_.size() || !in_name(text_[next_]))) return true;
    next_ = before;
    return false;
  }

  Value either() { return decided("or", true, &Evaluator::both); }
  Value both() { return decided("and", false, &Evaluator::negation); }

  /// Sides with `word` between them; one that is `decisive` leaves the others without effect.
  Value decided(std::string_view word, bool decisive, Value (Evaluator::*side)()) {
    constexpr std::string_view kWhat = "a side of and or or";
    Value left = (this->*side)();
    while (accept_word(word)) {
      const bool before = live_;
      live_ = live_ && truth(left, kWhat) != decisive;
      Value right = (this->*side)();
      if (live_) left = Value(truth(right, kWhat));
      live_ = before;
    }
    return left;
  }

  Value negation() {
    if (++depth_ > kMaxDepth) fail("brackets nested too deeply");
    Value value;
    if (accept_word("not")) {
      const Value inner = negation();
      value = live_ ? Value(!truth(inner, "what follows not")) : Value();
    } else {
      value = comparison();
    }
    --depth_;
    return value;
  }

  Value comparison() {
    Value left = sum();
    if (accept_word("in")) return contains(sum(), left);
    if (const std::size_t before = next_; accept_word("not")) {
      if (accept_word("in")) {
        const Value found = contains(sum(), left);
        return live_ ? Value(!found.as_bool()) : Value();
      }
      next_ = before;
    }
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!accept(op)) continue;
      const Value right = sum();
      if (!live_) return Value();
      if (op == "==") return Value(same_value(left, right));
      if (op == "!=") return Value(!same_value(left, right));
      const bool holds = op[0] == '<' ? less(left, right) : less(right, left);
      return Value(holds || (op.ends_with('=') && same_value(left, right)));
    }
    return left;
  }

  Value contains(const Value& list, const Value& item) const {
    if (!live_) return Value();
    if (!list.is_list()) fail(concat(describe(list), " stands after in; expected a list"));
    const auto is_item = [&](const Value& candidate) { return same_value(candidate, item); };
    return Value(std::any_of(list.items().begin(), list.items().end(), is_item));
  }

  Value calculated(std::string_view op, const Value& a, const Value& b) const {
    return live_ ? arithmetic(op, a, b) : Value();
  }

  Value sum() { return calculated_in_turn({"+", "-"}, &Evaluator::product); }
  Value product() { return calculated_in_turn({"//", "*", "/", "%"}, &Evaluator::sign); }

  Value calculated_in_turn(std::initializer_list<std::string_view> operators,
                           Value (Evaluator::*operand)()) {
    Value left = (this->*operand)();
    while (true) {
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](std::string_view symbol) { return accept(symbol); });
      if (found == operators.end()) return left;
      left = calculated(*found, left, (this->*operand)());
    }
  }

  Value sign() {
    if (++depth_ > kMaxDepth) fail("too many signs in a row");
    Value value = accept("-") ? calculated("-", Value(0), sign()) : power();
    --depth_;
    return value;
  }

  Value power() {
    Value base = primary();
    return accept("**") ? calculated("**", base, sign()) : base;
  }

  Value primary() {
    skip_blanks();
    if (accept("(")) {
      Value value = either();
      if (!accept(")")) fail("a ( has no closing )");
      return value;
    }
    if (accept("[")) return list();
    if (next_ == text_.size()) fail("expected a value at the end");
    const char first = text_[next_];
    if (first == '\'' || first == '"') return quoted(first);
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return number();
    if (accept("${")) {  // a name as it is written elsewhere
      if (next_ == text_.size() || !in_name(text_[next_])) fail("expected a key after ${");
      Value value = word();
      if (!accept("}")) fail("a ${ has no closing }");
      return value;
    }
    if (!in_name(first)) fail(concat("unexpected ", text_.substr(next_)));
    return word();
  }

  Value list() {
    Value items = Value::list();
    if (accept("]")) return items;
    do items.push_back(either());
    while (accept(","));
    if (!accept("]")) fail("a [ has no closing ]");
    return items;
  }

  Value quoted(char quote) {
    const auto end = text_.find(quote, next_ + 1);
    if (end == text_.npos) fail(concat("a ", std::string(1, quote), " has no closing one"));
    Value text(text_.substr(next_ + 1, end - next_ - 1));
    next_ = end + 1;
    return text;
  }

  Value number() {
    std::size_t end = next_;
    while (end < text_.size()) {
      const char c = text_[end], before = end > next_ ? text_[end - 1] : ' ';
      const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (!in_name(c) && c != '.' && !exponent_sign) break;
      ++end;
    }
    const std::string text(text_.substr(next_, end - next_));
    next_ = end;
    if (const auto whole_number = parse_int(text)) return Value(*whole_number);
    if (const auto fraction = parse_float(text)) return Value(*fraction);
    fail(concat(text, " is not a number"));
  }

  Value word() {
    const std::size_t begin = next_;
    while (next_ < text_.size()) {
      const char c = text_[next_];
      const auto bracket = c == '[' ? text_.find(']', next_) : text_.npos;
      if (bracket != text_.npos) next_ = bracket;
      if (!in_name(c) && c != '.' && c != '@' && bracket == text_.npos) break;
      ++next_;
    }
    const std::string name(text_.substr(begin, next_ - begin));
    if (name == "true" || name == "True") return Value(true);
    if (name == "false" || name == "False") return Value(false);
    if (name == "null" || name == "None") return Value();
    if (!live_) return Value();
    if (const Value* value = lookup_(name)) return *value;
    fail(concat("there is no key ", name, " (a text needs quotes: '", name, "')"));
  }

  std::string_view text_;
  const NameLookup& lookup_;
  std::size_t next_ = 0;
  int depth_ = 0;
  bool live_ = true;
};

}  // namespace

bool same_value(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
  return a == b;
}

Value evaluate_expression(std::string_view text, const NameLookup& lookup) {
  return Evaluator(text, lookup).run();
}

bool holds(std::string_view condition, const NameLookup& lookup) {
  return truth(evaluate_expression(condition, lookup), condition);
}

}  // namespace difflab::config
