#include "study/run_rows.h"

#include <algorithm>
#include <set>

#include "config/value/scalar.h"
#include "config/value/yaml.h"
#include "record/status.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

void flatten(const Json& value, const std::string& name, RunRow& row, Lists lists) {
  const auto is_nested = [](const Json& item) { return item.is_structured(); };
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      flatten(child, concat(name, ".", key), row, lists);
    }
  } else if (lists == Lists::kSpread && value.is_array() && std::ranges::any_of(value, is_nested)) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(value[i], concat(name, "[", i, "]"), row, lists);
    }
  } else {
    row[name] = value;
  }
}

Json number_in(const std::string& word) {
  const auto value = config::plain_scalar(word);
  const Json json = value ? config::to_json(*value) : Json();
  return json.is_number() ? json : Json();
}

}  // namespace

RunRow read_run(const RunDirectory& run, Lists lists) {
  RunRow row{{"id", run.path.filename().string()}, {"directory", run.path.string()}};
  for (const char* key : {"step", "steps", "message", "commit", "host", "started", "finished"}) {
    row[key] = nullptr;
  }
  const auto standing = standing_of(run);
  row["state"] = name_of(standing.state);
  if (!standing.message.empty()) row["message"] = standing.message;
  if (standing.result) {
    flatten(standing.result->value("metrics", Json::object()), "metrics", row, lists);
    flatten(standing.result->value("censored", Json::object()), "bounds", row, lists);
  }
  if (const auto position = position_of(run); position.all() > 0) {
    row["step"] = position.done();
    row["steps"] = position.all();
  }
  const auto provenance = read_provenance(run).value_or(Json::object());
  for (const char* key : {"commit", "host", "started", "finished", "trained_in"}) {
    if (provenance.contains(key)) row[key] = provenance.at(key);
  }
  try {
    flatten(config::to_json(config::load_yaml(run.config())), "config", row, lists);
  } catch (const UserError&) {  // a run folder without its configuration still has a state
  }
  return row;
}

std::vector<RunRow> read_runs(const fs::path& results) {
  std::vector<RunRow> rows;
  for (const auto& folder : paths_in(results / "runs")) {
    if (fs::is_directory(folder)) rows.push_back(read_run({folder}));
  }
  return rows;
}

const Json* find_key(const RunRow& row, const std::string& key) {
  for (const auto& name : {key, concat(kOfConfig, key), concat(kOfMetrics, key)}) {
    if (const auto found = row.find(name); found != row.end()) return &found->second;
  }
  return nullptr;
}

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string cell_of(const RunRow& row, const std::string& name) {
  const auto found = row.find(name);
  return found == row.end() ? "" : cell_text(found->second);
}

bool less(const Json* a, const Json* b) {
  const bool has_a = a != nullptr && !a->is_null(), has_b = b != nullptr && !b->is_null();
  if (!has_a || !has_b) return has_a && !has_b;
  if (a->is_number() && b->is_number()) return a->get<double>() < b->get<double>();
  return cell_text(*a) < cell_text(*b);
}

RunFilter::RunFilter(const std::string& text) : text_(text) {
  const auto begin = text.find_first_of("<>=!");
  const auto end =
      std::min(begin == text.npos ? begin : text.find_first_not_of("<>=!", begin), text.size());
  if (begin != text.npos) {
    key_ = trimmed(text.substr(0, begin));
    comparison_ = text.substr(begin, end - begin);
    word_ = trimmed(text.substr(end));
  }
  static const std::set<std::string> kKnown{"=", "!=", "<", "<=", ">", ">="};
  if (key_.empty() || kKnown.count(comparison_) == 0) {
    throw UserError(concat("the filter is '", text,
                           "'; expected KEY=VALUE, or with != < <= > >= in place of ="));
  }
  const bool is_quoted =
      word_.size() >= 2 && (word_[0] == '"' || word_[0] == '\'') && word_.back() == word_[0];
  if (is_quoted) {
    word_ = word_.substr(1, word_.size() - 2);
  } else {
    number_ = number_in(word_);
  }
}

void RunFilter::require_comparable(const std::vector<RunRow>& rows) const {
  if (!is_order() || number_.is_number()) return;
  const bool are_numbers = std::ranges::any_of(rows, [&](const RunRow& row) {
    const Json* value = find_key(row, key_);
    return value != nullptr && value->is_number();
  });
  if (are_numbers || word_.empty()) {
    throw UserError(concat("the filter is '", text_, "', and '", word_,
                           "' is not a number; expected one, as in '", key_, comparison_, "0.5'"));
  }
}

bool RunFilter::accepts(const RunRow& row) const {
  const Json* found = find_key(row, key_);
  if (found == nullptr || found->is_null()) return comparison_ == "!=";
  const Json word = number_.is_number() && found->is_number() ? number_ : Json(word_);
  const bool below = less(found, &word), above = less(&word, found);
  if (comparison_ == "=") return !below && !above;
  if (comparison_ == "!=") return below || above;
  if (comparison_ == "<") return below;
  if (comparison_ == "<=") return !above;
  if (comparison_ == ">") return above;
  return !below;
}

}  // namespace difflab::study
