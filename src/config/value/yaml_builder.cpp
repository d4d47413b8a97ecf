#include "config/value/yaml_builder.h"

#include <yaml-cpp/exceptions.h>

#include <algorithm>

#include "config/value/scalar.h"
#include "util/text.h"

namespace difflab::config {
namespace {

// As kMaxLevels: far above any real configuration.
constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxExpandedBytes = 16 << 20;
constexpr std::size_t kMaxKeys = 5'000;
constexpr std::size_t kMaxProblems = 100;

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

/// Keys of `base` that `map` lacks, in front of its own, as PyYAML orders them.
void merge_under(Value& map, const Value& base) {
  Value merged = base;
  for (const Value::Entry& entry : map.entries()) {
    merged.set(entry.key, entry.value, entry.source);
  }
  merged.source = map.source;
  map = std::move(merged);
}

/// `- x` or `key: x`.
bool begins_entry(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  return word == "-" || (word.size() > 1 && word.back() == ':');
}

/// True if somebody forgot to close the quote that opens a YAML scalar at byte `begin`: nothing
/// closes it, or it takes in a line that begins with a key or `- ` no further right than the
/// scalar's own key, at `column`. YAML wants the lines of a quoted text further right.
bool is_left_open(std::string_view text, std::size_t begin, int column) {
  const char quote = text[begin];
  std::size_t end = begin + 1;
  for (; end < text.size(); ++end) {
    if (text[end] == '\\' && quote == '"') {
      ++end;
    } else if (text[end] == quote) {
      if (quote == '"' || end + 1 == text.size() || text[end + 1] != quote) break;
      ++end;
    }
  }
  if (end >= text.size()) return true;
  for (auto at = text.find('\n', begin); at < end; at = text.find('\n', at + 1)) {
    const auto first = text.find_first_not_of(" \t", at + 1);
    const auto line = text.substr(first, text.find('\n', first) - first);
    if (first - at <= static_cast<std::size_t>(column) && begins_entry(line)) return true;
  }
  return false;
}

}  // namespace

YamlBuilder::YamlBuilder(std::string name, std::string_view text)
    : name_(std::move(name)),
      text_(text),
      ascii_(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; })) {}

Source YamlBuilder::source_of(const YAML::Mark& mark) const {
  if (mark.is_null()) return {name_};
  int column = mark.column;
  const auto position = std::min(static_cast<std::size_t>(mark.pos), text_.size());
  if (!ascii_ && column <= mark.pos) {  // yaml-cpp counts bytes
    const auto before =
        text_.substr(position - static_cast<std::size_t>(column), static_cast<std::size_t>(column));
    column = static_cast<int>(std::count_if(before.begin(), before.end(), starts_character));
  }
  return {name_, mark.line + 1, column + 1};
}

void YamlBuilder::problem(const Source& source, std::string message) {
  if (problems_.size() < kMaxProblems) problems_.add(source, "", std::move(message));
}

void YamlBuilder::fail(const Source& source, std::string message) {
  problem(source, std::move(message));
  problems_.throw_if_any();
}

void YamlBuilder::count(const Value& value, const Source& source, std::size_t level) {
  if (++nodes_ > kMaxNodes) {
    fail(source,
         concat("the document has more than ", kMaxNodes, " values (aliases counted in full)"));
  }
  if (level > kMaxLevels) fail(source, concat("more than ", kMaxLevels, " levels of nesting"));
  if (value.is_string()) bytes_ += value.as_string().size();
  if (bytes_ > kMaxExpandedBytes) {
    fail(source, concat("the document's texts take more than ", kMaxExpandedBytes,
                        " bytes (aliases counted in full)"));
  }
  for (const Value& item : value.items()) count(item, source, level + 1);
  for (const Value::Entry& entry : value.entries()) count(entry.value, source, level + 1);
}

void YamlBuilder::limit_keys(std::size_t keys, const Source& source) {
  if (keys > kMaxKeys) fail(source, concat("a map has more than ", kMaxKeys, " keys"));
}

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (has_root_) problem(source_of(mark), "a second document starts here; expected one per file");
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Source source = source_of(mark);
  if (expects_key()) {
    problem(source, "a key is null or missing; expected a name");
    return add_key({"null", source});
  }
  Value value;
  value.source = source;
  add(std::move(value), anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Source source = source_of(mark);
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    problem(source, "an alias refers to the value it stands in");
  } else if (!expects_key()) {
    count(found->second, source, frames_.size());
    return add(found->second, 0);
  } else if (found->second.is_scalar()) {
    return add_key({found->second.as_string(), source});
  } else {
    problem(source, "a key is a list or map; expected a name");
  }
  expects_key() ? add_key({"", source}) : add(Value(), 0);
}

Value YamlBuilder::scalar(const std::string& tag, const std::string& text, const Source& source) {
  const bool core = tag.starts_with(kTagPrefix);
  const std::string type = core ? tag.substr(kTagPrefix.size()) : "";
  if (tag == "!" || type == "str") return Value(text);
  const bool known = type == "int" || type == "float" || type == "bool" || type == "null";
  if (tag != "?" && !known) {
    problem(source,
            concat("unknown tag ", tag, "; expected none, or !!str, !!int, !!float, !!bool"));
    return Value(text);
  }
  const std::optional<Value> value = plain_scalar(text);
  if (!value) {
    problem(source, concat(text, " does not fit into 64 bits"));
    return Value(text);
  }
  if (type == "float" && value->is_int()) return Value(value->as_double());
  if ((type == "int" && !value->is_int()) || (type == "float" && !value->is_double()) ||
      (type == "bool" && !value->is_bool()) || (type == "null" && !value->is_null())) {
    problem(source, concat("'", text, "' is tagged !!", type, ", which it is not"));
  }
  return *value;
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& raw) {
  Source source = source_of(mark);
  std::string text = raw;
  for (auto at = text.find(kMissingStandIn); at != text.npos; at = text.find(kMissingStandIn)) {
    text.replace(at, kMissingStandIn.size(), "???");
  }
  if (tag != "?") require_closed_quote(mark, source);
  if (expects_key()) {
    if (anchor) anchors_[anchor] = Value(text);
    return add_key({text, std::move(source), tag == "?" && text == "<<"});
  }
  Value value = scalar(tag, text, source);
  value.source = std::move(source);
  add(std::move(value), anchor);
}

void YamlBuilder::require_closed_quote(const YAML::Mark& mark, const Source& source) {
  auto quote = static_cast<std::size_t>(mark.pos);
  while (quote < text_.size() && (text_[quote] == '&' || text_[quote] == '!')) {  // &anchor, !!str
    quote = std::min(text_.find_first_of(" \n", quote), text_.size());
    quote = std::min(text_.find_first_not_of(" \n", quote), text_.size());
  }
  if (quote == text_.size() || (text_[quote] != '"' && text_[quote] != '\'')) return;
  const auto block = std::find_if(frames_.rbegin(), frames_.rend(),
                                  [](const Frame& frame) { return !frame.flow; });
  const Source& own = frames_.empty()           ? source
                      : block == frames_.rend() ? frames_[0].value.source
                      : block->key              ? block->key->source
                      : block->value.is_list()  ? block->value.source
                                                : source;
  if (!is_left_open(text_, quote, own.column)) return;
  fail(source,
       "the quote that opens here is not closed; expected a closing one, or, of a text of several "
       "lines, each further right than its key");
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  open(Value::list(), mark, tag, anchor, style);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  open(Value::map(), mark, tag, anchor, style);
}

void YamlBuilder::open(Value value, const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  value.source = source_of(mark);
  if (tag != "?" && tag != "!" && !tag.empty() && tag != concat(kTagPrefix, "map") &&
      tag != concat(kTagPrefix, "seq")) {
    problem(value.source, concat("unknown tag ", tag, "; expected none"));
  }
  count(value, value.source, frames_.size() + 1);
  frames_.push_back({std::move(value), anchor, style == YAML::EmitterStyle::Flow, std::nullopt});
}

void YamlBuilder::close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const Value& merged : frame.merges) {
    merge_under(frame.value, merged);
    limit_keys(frame.value.entries().size(), frame.value.source);
  }
  if (expects_key()) {
    problem(frame.value.source, "a key is a list or map; expected a name");
    return add_key({"", frame.value.source});
  }
  add(std::move(frame.value), frame.anchor);
}

bool YamlBuilder::expects_key() const {
  return !frames_.empty() && frames_.back().value.is_map() && !frames_.back().key;
}

void YamlBuilder::add_key(Key key) {
  Frame& frame = frames_.back();
  if (!key.merge) {
    const auto [first, added] = frame.seen.try_emplace(key.text, key.source);
    if (!added) {
      problem(key.source,
              concat("key ", key.text, " appears twice; it is already at ", first->second.text()));
    }
    limit_keys(frame.seen.size(), key.source);
  }
  frame.key = std::move(key);
}

void YamlBuilder::add(Value value, YAML::anchor_t anchor) {
  if (value.is_scalar()) count(value, value.source, frames_.size());
  if (anchor) {
    count(value, value.source, frames_.size());
    anchors_[anchor] = value;
  }
  if (frames_.empty()) {
    if (!has_root_) root_ = std::move(value);
    has_root_ = true;
    return;
  }
  Frame& frame = frames_.back();
  if (frame.value.is_list()) return frame.value.push_back(std::move(value));
  const Key key = *std::exchange(frame.key, std::nullopt);
  if (!key.merge) {
    // Duplicates were reported when the key came; appending keeps large maps linear.
    frame.value.mutable_entries().push_back({key.text, std::move(value), key.source});
    return;
  }
  const auto take = [&](const Value& map) {
    if (map.is_map()) return frame.merges.push_back(map);
    problem(key.source, "<< is given something else than a map or a list of maps");
  };
  if (!value.is_list()) return take(value);
  for (const Value& map : value.items()) take(map);
}

}  // namespace difflab::config
