#pragma once

#include <type_traits>

#include "config/schema/fields.h"
#include "report/example_study.h"
#include "support/catch.h"

namespace difflab::report {

using Names = std::set<std::string>;

inline constexpr const char* kCells = "grid";  // the evaluation that the small study has

/// The keys that a kind refuses, e.g. because nothing stands there.
class Refused final : public config::Check {
 public:
  template <class Config>
  static Names by(Config config) {
    Refused refused;
    config.visit_fields(refused);
    if constexpr (requires { config.validate(refused); }) config.validate(refused);
    return refused.keys_;
  }
  void problem(std::string_view key, std::string_view) override { keys_.emplace(key); }
  template <class T>
  void operator()(std::string_view key, T& member, std::string_view, config::Range range = {}) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (member.empty() && range.low >= 1) keys_.emplace(key);
    }
  }

 private:
  Names keys_;
};

inline bool is_common(std::string_view key) {
  return key == "name" || key == "title" || key == "source";
}

/// Calls visit(key, text, description) for the texts of a figure that are its kind's own.
template <class Visit>
struct OwnTexts {
  const Visit& visit;

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view about, config::Range = {}) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (!is_common(key)) visit(std::string(key), member, about);
    }
  }
};
template <class Kind, class Visit>
void for_own_texts(Kind& kind, const Visit& visit) {
  OwnTexts<Visit> texts{visit};
  kind.visit_fields(texts);
}

/// A figure of the small study: its first axis is the model, and what else may not be left out is a
/// number of the same name, which all rows have.
template <class Kind>
Kind filled() {
  Kind figure;
  figure.name = "small";
  bool has_axis = false;
  for_own_texts(figure, [&](const std::string&, std::string& member, std::string_view about) {
    if (has_axis || !member.empty() || !about.starts_with("axis")) return;
    member = "model";
    has_axis = true;
  });
  const Names missing = Refused::by(figure);
  if (missing.count("source") > 0) figure.source = kCells;
  for_own_texts(figure, [&](const std::string& key, std::string& member, std::string_view) {
    if (member.empty() && missing.count(key) > 0) member = key;
  });
  return figure;
}

template <class Visit, class... Kinds>
void for_every_kind(const Visit& visit, std::type_identity<std::variant<Kinds...>>) {
  const auto with_name = [&](auto figure) {
    CATCH_INFO(figure.kKind);
    visit(figure);
  };
  (with_name(filled<Kinds>()), ...);
}
template <class Visit>
void for_every_kind(const Visit& visit) {
  for_every_kind(visit, std::type_identity<FigureConfig>{});
}

/// Two models and two seeds. Every text of every kind is a number of the metrics, of the cells and
/// of the curve.
struct SmallStudy {
  SmallStudy() {
    for (const char* model : {"transformer", "diff"}) {
      for (int seed = 0; seed < 2; ++seed) {
        const double level = 0.2 + 0.3 * (model[0] == 'd') + 0.05 * seed;
        Json cells = Json::array(), curve = Json::array();
        for (int i = 0; i < 4; ++i) {
          cells.push_back(numbers(level + 0.04 * i));
          curve.push_back(numbers(level + 0.04 * i));
          curve.back()["step"] = 10 * i;
        }
        builder.finished(model, seed, numbers(level),
                         {{"evaluations", Json{{kCells, Json{{"cells", cells}}}}}});
        std::string lines;
        for (const Json& line : curve) lines += line.dump() + "\n";
        write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl", lines);
      }
    }
  }

  template <class Kind>
  Drawing draw(const Kind& figure, const StyleConfig& style = {}) const {
    const Labels labels(builder.study.report.labels);
    auto drawing = figure.draw(frame_of(builder.study), Style{labels, style});
    style.apply(drawing.spec);
    return drawing;
  }

  StudyBuilder builder;

 private:
  static Json numbers(double value) {
    Json row = {{"step", 100 * value}};
    for_every_kind([&](auto figure) {
      for_own_texts(figure, [&](const std::string& key, std::string&, std::string_view) {
        row[key] = value;
      });
    });
    return row;
  }
};

}  // namespace difflab::report
