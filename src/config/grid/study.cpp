#include "config/grid/study.h"

#include <algorithm>
#include <set>

#include "config/compose/default_item.h"
#include "config/grid/axes.h"
#include "config/grid/preset.h"
#include "config/grid/sweep_plan.h"
#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "config/override/override.h"
#include "config/value/value.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxPoints = 100'000;
constexpr const char* kPresetConfig = "preset of the experiment";

/// The keys that composing a study needs itself; the caller's structs do not list them.
const std::vector<std::string>& own_keys() {
  static const std::vector<std::string> kKeys{"sweep", "presets", "preset", "vars"};
  return kKeys;
}

std::string first_part(const std::string& key) { return key.substr(0, key.find_first_of(".[")); }

class StudyComposer {
 public:
  StudyComposer(const StudyRequest& request, Problems& problems)
      : request_(request), problems_(problems), library_(request.search_path) {
    study_.experiment = request.experiment;
    for (const Override& item : request.overrides) {
      if (item.key == "preset") {
        preset_ = item;
      } else {
        study_.changes.push_back(item);
      }
    }
  }

  Study compose() {
    if (!readable()) return std::move(study_);
    take_preset();
    choose_axes();
    compose_settings();
    keeps_written_ = request_.keeps_written && request_.keeps_written(study_.settings);
    if (!axes_make_sense()) drop_bad_values();
    compose_points();
    return std::move(study_);
  }

 private:
  ComposeOptions options() const {
    ComposeOptions options{.strict = false, .lengthen = union_from_list, .texts_are_kinds = true};
    const auto& own = request_.experiment;
    if (!own.empty()) options.appended.push_back("experiment/" + own);
    if (has_preset_) options.appended.emplace_back(kPresetConfig);
    return options;
  }

  Composition compose_with(const std::vector<Override>& overrides, Problems& problems) {
    return config::compose(library_, "config", overrides, problems, options());
  }

  /// True if config.yaml and the experiment, on which everything else depends, can be read.
  bool readable() {
    const std::size_t before = problems_.reports();
    std::vector<std::string> names = options().appended;
    names.insert(names.begin(), "config");
    for (const std::string& name : names) {
      try {
        if (library_.find(name)) continue;
        const auto options = library_.options("experiment");
        problems_.add(
            {}, "",
            name == "config"
                ? "there is no config.yaml in the configuration folder"
                : concat("there is no experiment ", request_.experiment,
                         options.empty() ? ""
                                         : suggestion(option_name(request_.experiment), options)));
      } catch (const UserError& error) {
        problems_.add({}, "", error.what());
      }
    }
    return problems_.reports() == before;
  }

  /// Overrides to read the presets and the sweep with, which may depend on any choice or value.
  std::vector<Override> single_overrides() const {
    auto found = study_.changes;
    std::erase_if(found, [&](const Override& item) { return item.holds_sweep(); });
    return found;
  }

  /// Turns the chosen entry of `presets:` into a config of its own.
  void take_preset() {
    Problems repeated;  // what is wrong with the files is told when they are composed in full
    const Composition written = compose_with(single_overrides(), repeated);
    const auto experiment = "experiment/" + request_.experiment;
    const Document* own = request_.experiment.empty() ? nullptr : library_.find(experiment);
    files_ = words_of(library_, written.defaults);
    auto [name, keys] = choose_preset(written.tree, preset_, own, problems_);
    study_.preset = name;
    if (own != nullptr) study_.file = own->root.source.file;
    if (keys && name == kDefaultPreset) {
      keys = without_overruled(*keys, files_);
    } else if (keys) {
      study_.notes = changes_by(*keys, name, files_, study_.file);
    }
    has_preset_ = keys.has_value();
    if (keys) library_.provide(kPresetConfig, {*std::move(keys), "_global_"});
  }

  /// The axes of the files, then those of the command line; what is left is for every run.
  void choose_axes() {
    Problems repeated;
    Value tree = compose_with(single_overrides(), repeated).tree;
    plan_ = read_sweep(tree, library_, problems_);
    refuse_overruled_axes(plan_, files_, problems_);
    note_written_axes();
    std::vector<Override> others;
    for (const Override& item : study_.changes) {
      const Axis* axis = find_axis(plan_, axis_key(item));
      const bool sets = axis != nullptr && item.value &&
                        (item.type == Override::Type::kChange ||
                         (item.type == Override::Type::kForceAdd && !axis->group));
      if (item.is_sweep() && item.key.starts_with("sweep.")) {
        const auto rest = item.text.substr(item.text.find('.') + 1);
        const bool is_axis = find_axis(plan_, item.key.substr(item.key.find('.') + 1)) != nullptr;
        problems_.add(item.source, item.key,
                      is_axis
                          ? concat("the values of an axis are given to it alone: ", rest)
                          : concat(item.key, " takes one value; quote a sweep to pass it on as ",
                                   "a text, e.g. 'sweep.exclude={seed: \"range(2)\"}'"));
      } else if (!item.is_sweep() && !sets) {
        others.push_back(item);
      } else if (auto replacement = axis_of(item, library_, problems_)) {
        // One value is meant for every run, those of parts without the axis, too.
        if (!item.is_sweep() && !is_everywhere(plan_, replacement->key)) common_.push_back(item);
        study_.is_narrowed |= axis != nullptr;
        replace_axis(plan_, *std::move(replacement));
      }
    }
    for (const Override& item : others) {
      if (!refuse_without_effect(item, plan_, library_, problems_)) common_.push_back(item);
    }
  }

  /// The axes that the files and the preset have, whatever the command line makes of the sweep.
  void note_written_axes() {
    auto overrides = single_overrides();
    study_.is_narrowed = std::erase_if(overrides, [](const auto& item) {
                           return first_part(item.key) == "sweep" || first_part(item.key) == "vars";
                         }) > 0;
    Problems reported;
    auto written = read_sweep(compose_with(overrides, reported).tree, library_, reported);
    for_each_axis(written, [&](const Axis& axis) {
      study_.written_axes.push_back(axis);
      if (!is_everywhere(written, axis.key)) study_.written_axes.back().values.clear();
    });
  }

  void compose_settings() {
    ComposeOptions how = options();
    for_each_axis(plan_, [&](const Axis& axis) { how.undecided.insert(axis.key); });
    Composition composition = config::compose(library_, "config", common_, problems_, how);
    Value& tree = composition.tree;
    tree.set("preset", Value(study_.preset));
    whole_ = tree;
    study_.choices = choices_of(composition.defaults);
    check_keys(tree);
    auto keys = tree.keys();
    std::erase_if(keys, [&](const std::string& key) { return !is_study_key(key); });
    for (const auto& key : keys) {
      if (has_interpolation(canonical_json(*tree.find(key)))) interpolated_.push_back(key);
    }
    interpolate(tree, keys, problems_, facts(composition, std::nullopt));
    study_.settings = part_of(std::move(tree), keys);
  }

  Facts facts(const Composition& composition, std::optional<std::size_t> run) const {
    const auto& name = request_.experiment;
    return {.start = request_.start,
            .job_name = name.empty() ? std::nullopt : std::optional(name),
            .job_num = run,
            .choices = choices_of(composition.defaults)};
  }

  /// Study keys that the caller asked for.
  bool is_study_key(const std::string& key) const { return is_among(key, request_.study_keys); }
  bool is_run_key(const std::string& key) const {
    if (is_study_key(key) || is_among(key, own_keys())) return false;
    return request_.run_keys.empty() || is_among(key, request_.run_keys);
  }

  std::vector<std::string> all_keys() const {
    std::vector<std::string> keys = request_.run_keys;
    keys.insert(keys.end(), request_.study_keys.begin(), request_.study_keys.end());
    for (const std::string& key : own_keys()) {
      if (!is_among(key, keys)) keys.push_back(key);
    }
    return keys;
  }

  void check_keys(const Value& tree) {
    for (const Value::Entry& entry : tree.entries()) {
      if (is_run_key(entry.key) || is_study_key(entry.key) || is_among(entry.key, own_keys()))
        continue;
      problems_.add(entry.source, entry.key,
                    entry.key == "hydra"
                        ? std::string(kNoHydra)
                        : concat("unknown key ", entry.key, suggestion(entry.key, all_keys())));
    }
  }

  bool axes_make_sense() {
    const std::size_t before = problems_.reports();
    for_each_axis(plan_, [&](const Axis& axis) {
      const std::string key = first_part(group_of(axis.key));
      if (axis.group ? is_study_key(key) : !is_run_key(key) && !is_var(axis)) {
        const bool other = is_study_key(key) || is_among(key, own_keys());
        problems_.add(axis.source, "sweep",
                      other ? concat("sweep.", axis.key, ": ", key,
                                     " belongs to the study, not to a run; it cannot be swept over")
                            : concat("unknown key ", axis.key, suggestion(axis.key, all_keys())));
      }
      check_values(axis, library_, problems_);
    });
    if (count_points(plan_, kMaxPoints + 1) > kMaxPoints) {
      problems_.add({}, "sweep", concat("the sweep has more than ", kMaxPoints, " points"));
      for_each_axis(plan_, [](Axis& axis) { axis.values.resize(1); });
    }
    return problems_.reports() == before;
  }

  /// Leaves what can still be checked, so that everything wrong is reported together.
  void drop_bad_values() {
    for_each_axis(plan_, [&](Axis& axis) {
      if (!axis.group) return;
      const auto options = library_.options(group_of(axis.key));
      std::erase_if(axis.values, [&](const Value& value) {
        return !value.is_scalar() || !is_among(value.as_string(), options);
      });
    });
    drop_empty(plan_);
  }

  /// The overrides that a point is made of: choices of options, or values.
  static std::vector<Override> overrides_of(const PlannedPoint& point, bool groups) {
    std::vector<Override> items;
    for (const auto& [axis, value] : point.values) {
      if (axis->group == groups) items.push_back(override_of(*axis, *value));
    }
    return items;
  }

  /// The files for these choices, with the common overrides applied.
  Composition compose_common(const std::vector<Override>& choices, Problems& problems,
                             const ComposeOptions& how) {
    auto overrides = common_;
    overrides.insert(overrides.end(), choices.begin(), choices.end());
    Composition common = config::compose(library_, "config", overrides, problems, how);
    common.tree.set("preset", Value(study_.preset));
    return common;
  }

  /// The same, composed once for each combination of choices.
  const Composition& common_for(const std::vector<Override>& choices) {
    std::string key;
    for (const Override& item : choices) key += item.text + '\n';
    const auto cached = composed_.find(key);
    if (cached != composed_.end()) return cached->second;
    auto common = compose_common(choices, problems_, options());
    if (!choices.empty()) {
      auto keys = request_.study_keys;
      keys.insert(keys.end(), {"sweep", "presets"});
      refuse_for_some_runs(whole_, common.tree, keys, problems_);
    }
    return composed_.emplace(key, std::move(common)).first->second;
  }

  void compose_points() {
    for_each_axis(plan_, [&](const Axis& axis) {
      if (std::ranges::none_of(study_.axes,
                               [&](const Axis& known) { return known.key == axis.key; })) {
        study_.axes.push_back(axis);
      }
    });
    std::set<std::string> seen;
    const bool may_repeat = has_union(plan_);
    for (const PlannedPoint& planned : expand(plan_)) {
      auto point = compose_point(planned);
      if (!point) continue;
      if (may_repeat && !seen.insert(canonical_json(point->config)).second) continue;
      if (request_.watch.observer && study_.points.size() == request_.watch.point) show(planned);
      study_.points.push_back(*std::move(point));
    }
    if (study_.points.empty() && problems_.empty()) {
      problems_.add({}, "sweep", "the conditions of the sweep leave no run");
    }
  }

  void show(const PlannedPoint& planned) {
    Problems reported;
    ComposeOptions how = options();
    how.observer = request_.watch.observer;
    Value tree = compose_common(overrides_of(planned, /*groups=*/true), reported, how).tree;
    apply_overrides(tree, overrides_of(planned, /*groups=*/false), reported, how);
  }

  static bool is_var(const Axis& axis) { return !axis.group && first_part(axis.key) == "vars"; }

  /// The keys that conditions and axes may name beside those of a run.
  static Value resolved_vars(const Value& tree, const Facts& known) {
    if (tree.find("vars") == nullptr) return Value();
    Value copy = tree;
    Problems ignored;  // of values that no run may use
    interpolate(copy, {"vars"}, ignored, known);
    return part_of(std::move(copy), {"vars"});
  }

  /// Refuses keys of the study that differ between its runs, as the study reads them once.
  void require_one_value(const Value& tree, const Facts& known) {
    Value copy = tree;
    copy.set("preset", Value(study_.preset));
    for (const auto& key : interpolated_) {
      Problems ignored;  // of what the study does not use
      interpolate(copy, {key}, ignored, known);
      const Value &here = *copy.find(key), &there = *study_.settings.find(key);
      if (!ignored.empty() || canonical_json(here) == canonical_json(there)) continue;
      const auto path = first_difference(here, there, key);
      const auto said = [&](const Value& of) {
        const auto* value = path == key ? &of : of.find_path(path.substr(key.size() + 1));
        return value == nullptr ? std::string("absent") : label_of(*value);
      };
      problems_.add(tree.find_entry(key)->source, path,
                    concat(path, " refers to a key that the sweep varies: it is ", said(here),
                           " for some runs, ", said(there),
                           " without the sweep; expected one value for all"));
    }
  }

  /// Nothing for a point that the sweep leaves out; what is wrong with it does not matter then.
  std::optional<Point> compose_point(const PlannedPoint& planned) {
    const Composition& common = common_for(overrides_of(planned, /*groups=*/true));
    Value tree = common.tree;
    Problems found;
    apply_overrides(tree, overrides_of(planned, /*groups=*/false), found, options());
    auto keys = tree.keys();
    std::erase_if(keys, [&](const std::string& key) { return !is_run_key(key); });
    Point point;
    const auto known = facts(common, study_.points.size());
    if (keeps_written_) {
      point.written = std::make_shared<const Written>(Written{tree, keys, known});
    }
    if (!interpolated_.empty()) require_one_value(tree, known);
    std::vector<FleetingUse> fleeting;
    interpolate(tree, keys, found, known, &fleeting);
    std::erase_if(fleeting, [&](const FleetingUse& use) {
      return is_among(use.path, request_.keys_without_effect) || !is_run_key(first_part(use.path));
    });
    refuse_fleeting(fleeting, request_.keys_without_effect, found);
    const bool may_name_vars = !planned.plans.empty() || std::ranges::any_of(study_.axes, is_var);
    const Value vars = may_name_vars ? resolved_vars(tree, known) : Value();
    point.config = part_of(std::move(tree), keys);
    const auto names = names_in(planned, common.defaults, point.config, vars);
    if (!stays(planned, names, problems_)) return std::nullopt;
    problems_.add(found);
    for (const Axis& axis : study_.axes) {
      const Value* value = names(axis.key);
      point.axes.emplace_back(axis.key, value ? label_of(*value) : "");
    }
    return point;
  }

  const StudyRequest& request_;
  Problems& problems_;
  Library library_;
  std::optional<Override> preset_;  ///< preset=
  std::vector<Override> common_;    ///< for every run
  bool has_preset_ = false, keeps_written_ = false;
  SweepPlan plan_;
  std::vector<FileWords> files_;
  std::vector<std::string> interpolated_;        ///< keys of the study that refer to others
  Value whole_;                                  ///< the study, not yet interpolated
  std::map<std::string, Composition> composed_;  ///< by choices
  Study study_;
};

}  // namespace

Study compose_study(const StudyRequest& request, Problems& problems) {
  return StudyComposer(request, problems).compose();
}

}  // namespace difflab::config
