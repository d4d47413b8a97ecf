#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// Builds a Value from the events of yaml-cpp's parser, whose own node tree knows no duplicate
/// keys, has no limits and types scalars by another version of YAML.
class YamlBuilder final : public YAML::EventHandler {
 public:
  /// Reads as ??? wherever it stands in a text: U+FDD0, which Unicode promises never to assign.
  static constexpr std::string_view kMissingStandIn = "\xEF\xB7\x90";

  /// `text` is what the parser reads, with ??? for its stand-in; it must outlive the builder.
  YamlBuilder(std::string name, std::string_view text);

  Problems& problems() { return problems_; }
  Value take_root() { return std::move(root_); }
  Source source_of(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  struct Key {
    std::string text;
    Source source;
    bool merge = false;  ///< a plain <<
  };
  /// A list or map that is being read.
  struct Frame {
    Value value;
    YAML::anchor_t anchor;
    bool flow;                                       ///< written in [ ] or { }
    std::optional<Key> key;                          ///< whose value comes next
    std::unordered_map<std::string, Source> seen{};  ///< keys so far
    std::vector<Value> merges{};                     ///< what << brings in
  };

  void open(Value value, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style);
  /// @throws UserError for a quote whose text goes on to the next one that somebody wrote
  void require_closed_quote(const YAML::Mark& mark, const Source& source);
  void close();
  void add(Value value, YAML::anchor_t anchor);
  void add_key(Key key);
  bool expects_key() const;
  Value scalar(const std::string& tag, const std::string& text, const Source& source);
  /// Counts what a value at some level adds to the document. @throws UserError beyond the limits
  void count(const Value& value, const Source& source, std::size_t level);
  /// @throws UserError if a map has too many keys to be searched one by one
  void limit_keys(std::size_t keys, const Source& source);
  void problem(const Source& source, std::string message);
  /// A problem that nothing behind it can be read after. @throws UserError
  void fail(const Source& source, std::string message);

  std::string name_;
  std::string_view text_;
  bool ascii_;
  Value root_;
  bool has_root_ = false;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  Problems problems_;
};

}  // namespace difflab::config
