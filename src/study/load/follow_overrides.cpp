#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "config/grid/axes.h"
#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "report/data/frame.h"
#include "study/load/load.h"
#include "util/text.h"

namespace difflab::study {
namespace {

/// Who says something, the stronger the later.
enum class Voice { kNobody, kOtherFile, kOwnFile, kTyped };

Voice voice_of(const config::Source& source, const config::Study& composed) {
  if (source.file.starts_with("override ")) return Voice::kTyped;
  return source.file == composed.file ? Voice::kOwnFile : Voice::kOtherFile;
}

Voice loudest(const config::Value& tree, const config::Study& composed) {
  auto loud = voice_of(tree.source, composed);
  if (tree.is_map()) loud = Voice::kNobody;
  for (const auto& entry : tree.entries()) loud = std::max(loud, loudest(entry.value, composed));
  return loud;
}

/// The axes that a figure names, as its check_names tells.
struct NamedAxes : report::FigureRules {
  std::set<std::string> axes = {};
  bool any = false;

  void must_be_axis(std::string_view, const std::string& name) override { axes.insert(name); }
  void may_be_axis(const std::string& name) override { axes.insert(name); }
  void may_use_any_axis() override { any = true; }
};

/// The texts among the fields of a figure, by name.
struct TextFields {
  std::map<std::string_view, std::string*> found = {};

  template <class Field, class... Rest>
  void operator()(std::string_view name, Field& field, Rest&&...) {
    if constexpr (std::is_same_v<Field, std::string>) found[name] = &field;
  }
  std::string* find(std::string_view name) const {
    const auto place = found.find(name);
    return place == found.end() ? nullptr : place->second;
  }
};

template <class Figure>
bool is_valid(const Figure& figure) {
  config::Problems problems;
  config::read<Figure>(config::write(figure), "", problems);
  return problems.empty();
}

class AxesFollower {
 public:
  AxesFollower(const config::Study& composed, Study& study)
      : composed_(composed),
        study_(study),
        report_(study.config.report),
        compared_(report::compared_axis(report_, keys_of(composed.written_axes))) {
    const auto written = keys_of(composed.written_axes);
    axes_ = keys_of(composed.axes);
    for (const auto& axis : axes_) {
      if (axis != report::kSeedAxis && !is_among(axis, written)) added_.push_back(axis);
    }
    for (const auto& axis : written) {
      if (!is_among(axis, axes_)) removed_.push_back(axis);
    }
  }

  void follow() {
    if (added_.empty() && removed_.empty() && !composed_.is_narrowed) return;
    follow_in_tables();
    follow_in_claims();
    std::vector<report::FigureConfig> figures;
    for (const auto& figure : report_.figures) {
      std::visit([&](const auto& one) { follow_in_figure(one, figures); }, figure);
    }
    report_.figures = std::move(figures);
    const auto is_thumbnail = [&](const auto& figure) {
      return std::visit([&](const auto& one) { return one.name == report_.thumbnail; }, figure);
    };
    if (std::ranges::none_of(report_.figures, is_thumbnail)) {
      report_.thumbnail.clear();
    }
  }

 private:
  static std::vector<std::string> keys_of(const std::vector<config::Axis>& axes) {
    std::vector<std::string> keys;
    for (const auto& axis : axes) {
      if (!is_among(axis.key, keys)) keys.push_back(axis.key);
    }
    return keys;
  }

  bool has_runs(const Axes& wanted) const {
    return std::ranges::any_of(study_.points, [&](const auto& point) {
      return std::ranges::all_of(wanted, [&](const auto& one) {
        return report::is_same_value(report::value_of_axis(point.axes, one.first), one.second);
      });
    });
  }

  // True if the files may give the axis this value; a wrong one is reported elsewhere.
  bool may_be_written(const std::string& key, const std::string& value) const {
    return std::ranges::any_of(composed_.written_axes, [&](const config::Axis& axis) {
      const auto& values = axis.values;
      const auto is_it = [&](const config::Value& one) {
        return report::is_same_value(config::label_of(one), value);
      };
      return axis.key == key && (values.empty() || std::ranges::any_of(values, is_it));
    });
  }

  // True if the command line has removed all runs with these values.
  bool are_gone(const Axes& wanted) const {
    return composed_.is_narrowed && !has_runs(wanted) &&
           std::ranges::all_of(wanted, [&](const auto& one) {
             return has_runs({one}) || may_be_written(one.first, one.second);
           });
  }

  Axes of_axes(const report::TextMap& where) const {
    Axes values;
    for (const auto& entry : where.entries) {
      if (is_among(entry.first, axes_)) values.push_back(entry);
    }
    return values;
  }

  bool is_gone(const report::ClaimConfig& claim) const {
    auto variants = report::others_of(claim, study_.config.baseline, report_.opponents);
    variants.push_back(claim.variant);
    return std::ranges::any_of(variants, [&](const std::string& variant) {
      auto values = of_axes(claim.where);
      values.emplace_back(compared_, variant);
      return are_gone(values);
    });
  }

  // True if a figure shows differences to a value that no run has any more.
  bool lacks_base(const TextFields& fields) const {
    const auto* against = fields.find("against");
    if (against == nullptr || against->empty()) return false;
    for (const char* name : {"color", "y", "facet"}) {
      const auto* axis = fields.find(name);
      if (axis != nullptr && is_among(*axis, axes_)) return are_gone({{*axis, *against}});
    }
    return false;
  }

  // The value that all runs have in place of a removed axis.
  std::string value_without(const std::string& axis) const {
    for (const auto& [group, option] : composed_.choices) {
      if (config::group_of(group) == config::group_of(axis)) return option;
    }
    const auto* value = report::at_path(study_.points.front().config, axis);
    if (value == nullptr) return "";
    return value->is_string() ? value->get<std::string>() : value->dump();
  }

  // Leaves axes that are gone out of `where`. False if it asks for values that no run has.
  bool follow_in_where(report::TextMap& where) const {
    bool is_there = true;
    std::erase_if(where.entries, [&](const auto& entry) {
      if (!is_among(entry.first, removed_)) return false;
      is_there = is_there && report::is_same_value(value_without(entry.first), entry.second);
      return true;
    });
    return is_there;
  }

  void follow_in_tables() {
    for (auto& table : report_.tables) {
      auto& rows = table.rows.names;
      if (rows.empty()) continue;  // every axis
      std::erase_if(rows, [&](const std::string& axis) { return is_among(axis, removed_); });
      for (const auto& axis : rows.empty() ? std::vector<std::string>() : added_) {
        if (!is_among(axis, rows)) rows.push_back(axis);
      }
    }
  }

  void follow_in_claims() {
    auto& claims = report_.claims;
    const auto before = claims.size();
    if (is_among(compared_, removed_)) {
      study_.config.baseline.clear();
      claims.clear();
    }
    std::erase_if(claims,
                  [&](auto& claim) { return !follow_in_where(claim.where) || is_gone(claim); });
    auto& baseline = study_.config.baseline;
    const auto* told = composed_.settings.find("baseline");
    const bool is_typed = told != nullptr && voice_of(told->source, composed_) == Voice::kTyped;
    // Typed tables may compare along another axis; a typed baseline has to be there.
    if (composed_.is_narrowed && !is_typed && !has_runs({{compared_, baseline}})) baseline.clear();
    if (claims.size() < before) {
      study_.notes.push_back(concat(before - claims.size(), " of ", before,
                                    " claims are left out, which ask for runs that the sweep does "
                                    "not have"));
    }
    for (const auto& axis : added_) {
      std::vector<report::ClaimConfig> all;
      for (const auto& claim : claims) {
        const auto values = claim.where.find(axis) || axis == compared_ ? std::vector<std::string>()
                                                                        : study_.values_of(axis);
        if (values.empty()) all.push_back(claim);
        for (const auto& value : values) {
          all.push_back(claim);
          all.back().text += concat(" (", axis, " = ", value, ")");
          all.back().where.entries.emplace_back(axis, value);
        }
      }
      claims = std::move(all);
    }
  }

  template <class Figure>
  void follow_in_figure(Figure figure, std::vector<report::FigureConfig>& figures) const {
    TextFields fields;
    figure.visit_fields(fields);
    for (const char* name : {"facet", "color"}) {
      auto* field = fields.find(name);
      if (field != nullptr && is_among(*field, removed_)) field->clear();
    }
    NamedAxes named;
    figure.check_names(named);
    const bool is_of_removed = std::ranges::any_of(
        removed_, [&](const std::string& axis) { return named.axes.count(axis) > 0; });
    if (!follow_in_where(figure.where) || is_of_removed || !is_valid(figure) ||
        are_gone(of_axes(figure.where)) || lacks_base(fields)) {
      return;
    }
    std::vector<std::string> open;  // axes that have no place in it
    for (const auto& axis : added_) {
      if (named.any || named.axes.count(axis) > 0 || figure.where.find(axis)) continue;
      auto* facet = fields.find("facet");
      if (facet != nullptr && facet->empty()) {
        *facet = axis;
      } else {
        open.push_back(axis);
      }
    }
    split(figure, open, figures);
  }

  // One figure for each value of the axes.
  template <class Figure>
  void split(const Figure& figure, const std::vector<std::string>& axes,
             std::vector<report::FigureConfig>& figures) const {
    std::vector<Figure> all{figure};
    for (const auto& axis : axes) {
      std::vector<Figure> parts;
      for (const auto& one : all) {
        for (const auto& value : study_.values_of(axis)) {
          parts.push_back(one);
          parts.back().where.entries.emplace_back(axis, value);
          auto& title = parts.back().title;
          if (!title.empty()) title += concat(", ", axis, " = ", value);
        }
      }
      all = std::move(parts);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) all[i].name += concat("_", i + 1);
      figures.push_back(std::move(all[i]));
    }
  }

  const config::Study& composed_;
  Study& study_;
  report::ReportConfig& report_;
  const std::string compared_;
  std::vector<std::string> axes_, added_, removed_;
};

}  // namespace

void leave_tuning(const config::Study& composed, Study& study) {
  auto& tune = study.config.tune;
  const auto* given = composed.settings.find("tune");
  if (!tune.active() || given == nullptr) return;
  auto loud = Voice::kNobody;
  std::string place;
  const auto hear = [&](const config::Source& source) {
    if (voice_of(source, composed) <= loud) return;
    loud = voice_of(source, composed);
    place = source.text();
  };
  const auto axis =
      std::ranges::find_if(composed.axes, [&](const auto& one) { return one.key == tune.key; });
  if (axis != composed.axes.end()) hear(axis->source);
  for (const auto& point : composed.points) {
    const auto* value = point.written ? point.written->tree.find_path(tune.key) : nullptr;
    if (axis == composed.axes.end() && value != nullptr) hear(value->source);
  }
  if (loud <= loudest(*given, composed)) return;
  study.notes.push_back(concat(tune.key, " is not tuned, as it is set (", place, ")"));
  tune = {};
}

void follow_axes(const config::Study& composed, Study& study) {
  if (!study.points.empty()) AxesFollower(composed, study).follow();
}

}  // namespace difflab::study
