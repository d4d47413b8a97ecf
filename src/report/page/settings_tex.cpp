#include <algorithm>
#include <map>
#include <set>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/page/page.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "report/table/table_files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kMostValues = 4;  // of numbers that differ; more are given as a range

/// A key of the configuration and its name in a paper.
struct NamedKey {
  const char *path, *name;
};
// clang-format off
constexpr NamedKey kModelKeys[] = {
    {"model.layers", "layers"}, {"model.d_model", "width"}, {"model.attention.heads", "heads"},
    {"model.attention.kv_heads", "key and value heads"}, {"model.positions", "positions"},
    {"model.dropout", "dropout"}, {"task.length", "tokens of a sequence"},
    {"task.lengths", "tokens of a sequence, drawn from"},
    {"task.needle.length", "tokens of a sequence"},
    {"task.needle.lengths", "tokens of a sequence, drawn from"},
};
constexpr NamedKey kTrainingKeys[] = {
    {"train.optimizer.kind", "optimizer"}, {"train.optimizer.momentum", "momentum"},
    {"train.beta1", "β_1"}, {"train.beta2", "β_2"}, {"train.adam_eps", "ε"},
    {"train.weight_decay", "weight decay"}, {"train.grad_clip", "gradient clipping, norm"},
    {"train.batch_size", "sequences of a batch"}, {"train.lr", "learning rate"},
    {"train.schedule", "schedule"}, {"train.warmup_steps", "warm-up steps"},
    {"train.decay_share", "share of steps that decay"},
    {"train.final_lr_ratio", "last share of the rate"}, {"train.steps", "steps, at most"},
    {"train.seconds", "seconds, at most"}, {"train.loss.per", "equal weight in the loss"},
    {"init_from.path", "weights at the start"}, {"precision", "precision"},
};
// clang-format on

constexpr std::pair<const char*, const char*> kOptimizers[] = {
    {"adamw", "AdamW"}, {"muon", "Muon"}, {"sgd", "SGD"}};

std::string number_text(double number) {
  const std::string plain = plain_number(number);
  const auto mark = plain.find('e');
  if (mark == plain.npos) return number >= 1000 ? format_number(number, 0) : plain;
  std::string power;
  for (const char letter : std::to_string(std::stoi(plain.substr(mark + 1)))) {
    power += letter == '-' ? kSuperscriptMinus : kSuperscripts[letter - '0'];
  }
  const auto factor = plain.substr(0, mark);
  return concat(factor == "1" ? "" : factor + " × ", "10", power);
}

std::string value_text(const Json& value, const Labels& labels) {
  if (value.is_number()) return number_text(value.get<double>());
  for (const auto& [kind, name] : kOptimizers) {
    if (value == kind) return name;
  }
  if (value.is_string()) return labels.value(value.get<std::string>());
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(value_text(part, labels));
  return value.is_array() ? join(parts) : value.dump();
}

std::string range_of(const std::set<double>& numbers) {
  if (numbers.empty()) return "";
  const auto low = number_text(*numbers.begin()), high = number_text(*numbers.rbegin());
  return low == high ? low : concat(low, " to ", high);
}

template <class Texts>
std::string listed_texts(const Texts& all) {
  return join({all.begin(), all.end()}, "; ");
}

class SettingList {
 public:
  SettingList(const Study& study, const Frame& frame, const Labels& labels)
      : study_(study), frame_(frame), labels_(labels) {
    for (const FrameRun& run : frame.runs()) {
      if (run.has_result()) runs_.push_back(&run);
    }
  }

  std::vector<Setting> all() {
    if (runs_.empty() || study_.is_tuning) return {};
    add_axes();
    add_keys("Model", kModelKeys);
    add_keys("Training", kTrainingKeys);
    add("Training", "ends at", end_of_runs());
    if (study_.tuned) add_tuning(*study_.tuned);
    if (frame_.has_axis(kSeedAxis)) add_seeds();
    if (!study_.report.claims.empty()) add_statistics();
    add_software();
    return std::move(settings_);
  }

 private:
  void add(const char* group, const std::string& name, const std::string& value) {
    if (!value.empty()) settings_.push_back({group, name, value});
  }

  // The values of a key over the runs: one, a few, or the range of many numbers.
  std::string values(const std::string& path) const {
    std::vector<std::string> texts;
    std::set<double> numbers;
    for (const FrameRun* run : runs_) {
      const Json* value = run->config(path);
      const bool is_there = value != nullptr && !value->is_null() && *value != Json::array();
      if (is_there && value->is_number()) numbers.insert(value->get<double>());
      add_new(texts, is_there ? value_text(*value, labels_) : "none");
    }
    if (texts == std::vector<std::string>{"none"}) return "";
    return numbers.size() > kMostValues ? range_of(numbers) : listed_texts(texts);
  }

  bool is_tuned(const std::string& key) const { return study_.tuned && study_.tuned->key == key; }

  void add_axes() {
    for (const std::string& axis : frame_.axes()) {
      std::vector<std::string> names;
      for (const auto& value : frame_.values(axis)) {
        const auto has_it = [&](const FrameRun* run) { return run->axis(axis) == value; };
        if (std::ranges::any_of(runs_, has_it)) names.push_back(labels_.value(value));
      }
      if (axis == kSeedAxis || is_tuned(axis)) continue;
      add("Compared", labels_.axis(axis), listed_texts(names));
    }
    std::set<double> parameters;
    for (const FrameRun* run : runs_) {
      if (const auto count = run->metric("parameters")) parameters.insert(*count);
    }
    add("Model", "parameters", range_of(parameters));
    add("Model", "sizes not matched", study_.unmatched);
  }

  // True if a key has an effect, given the other settings.
  bool counts(std::string_view path) const {
    const auto schedule = values("train.schedule");
    if (path == "train.decay_share") return schedule.find("decay") != schedule.npos;
    if (path == "train.final_lr_ratio") return schedule != "constant";
    const bool is_adams = path.starts_with("train.beta") || path == "train.adam_eps";
    return !is_adams || values("train.optimizer.kind") != "SGD";
  }

  template <class Keys>
  void add_keys(const char* group, const Keys& keys) {
    for (const auto& [path, name] : keys) {
      const auto value = values(path);
      const bool is_off = value == "0" || !counts(path);
      if (is_off || frame_.has_axis(path)) continue;  // an axis is told as such
      add(group, name, is_tuned(path) ? "tuned for each variant" : value);
    }
  }

  // "validation accuracy ≥ 0.9, 2 checks in a row"
  std::string end_of_runs() const {
    const auto name = values("train.stop_at");
    const Json* events = runs_.front()->config("train.events");
    if (name.empty() || events == nullptr) return "";
    for (const Json& event : *events) {
      if (event.value("name", "") != name) continue;
      const Json least = event.value("at_least", Json());
      return concat(metric_of(event.value("metric", "")).heading, least.is_null() ? " ≤ " : " ≥ ",
                    value_text(least.is_null() ? event.value("at_most", Json()) : least, labels_),
                    ", ", event.value("in_a_row", 1), " checks in a row");
    }
    return name;
  }

  void add_tuning(const Tuned& tuned) {
    std::vector<std::string> grid, words = split(tuned.criterion, ' ');
    for (const double value : tuned.grid) grid.push_back(number_text(value));
    for (auto& word : words) {
      if (word.find('_') != word.npos) word = labels_.heading(metric_of(word));
    }
    add("Tuning", labels_.axis(tuned.key), join(grid));
    add("Tuning", "steps", number_text(static_cast<double>(tuned.steps)));
    add("Tuning", "seeds",
        concat(tuned.seeds.size(),
               tuned.again > 0 ? concat("; best two ", tuned.again, " more") : ""));
    add("Tuning", "taken", join(words, " "));
  }

  void add_seeds() {
    std::map<std::string, std::set<std::string>> seeds;  // by setting
    bool is_fresh = true;
    for (const FrameRun* run : runs_) {
      std::string setting;
      for (const auto& [axis, value] : without_seed(run->plan.axes)) setting += value + '\n';
      seeds[setting].insert(run->axis(kSeedAxis));
      for (const auto tried : study_.tuned ? study_.tuned->seeds : std::vector<std::int64_t>()) {
        is_fresh = is_fresh && concat(tried) != run->axis(kSeedAxis);
      }
    }
    std::set<double> counts;
    for (const auto& [setting, own] : seeds) counts.insert(static_cast<double>(own.size()));
    add("Seeds", "of each setting", range_of(counts));
    add("Seeds", "fix", values("init_from.path").empty() ? "initial weights and data" : "data");
    if (study_.tuned) add("Seeds", "used for tuning, too", is_fresh ? "none" : "some");
  }

  void add_statistics() {
    const auto& claims = study_.report.claims;
    std::set<std::string> tests, needed, margins, smallest, times, ratios;
    for (const auto& claim : claims) {
      const Metric metric = metric_of(claim.metric);
      const bool is_event = metric.outcome == Outcome::kHappened;
      const auto& of_times = study_.report.times;
      const bool is_of_ratio = is_ratio(metric, of_times);
      tests.insert(is_event      ? "McNemar"
                   : is_of_ratio ? "permutations of log times, sign flips where pairs are alike"
                                 : "sign flips");
      needed.insert(
          concat(pairs_for_verdict(metric, claims.size(), of_times), is_event ? " of events" : ""));
      if (is_of_ratio) ratios.insert(labels_.heading(metric));
      if (metric.outcome == Outcome::kTimeToEvent) {
        times.insert(is_of_ratio ? "restricted geometric means" : "restricted means");
      }
      const auto named = [&](double number) {
        const auto value =
            is_of_ratio ? concat(plain_number(100 * number), " %") : metric.text(number);
        return concat(value, " (", labels_.heading(metric), ")");
      };
      const double margin = claim.margin_with(of_times);
      if (margin > 0) margins.insert(named(margin));
      if (claim.smallest > 0) smallest.insert(named(claim.smallest));
    }
    add("Statistics", "comparison", "paired by seed");
    add("Statistics", "compared as ratios", listed_texts(ratios));
    add("Statistics", "intervals",
        ratios.empty() ? "95 %, Student's t"
                       : "95 %, Student's t; of ratios by inverting the test");
    add("Statistics", "tests", "exact, two-sided: " + listed_texts(tests));
    add("Statistics", "claims", concat(claims.size()));
    if (claims.size() > 1) add("Statistics", "adjustment of p", "Holm");
    add("Statistics", "pairs needed", listed_texts(needed));
    add("Statistics", "difference needed", listed_texts(smallest));
    add("Statistics", "equivalent within", listed_texts(margins));
    add("Statistics", "times not reached", listed_texts(times));
  }

  void add_software() {
    std::map<std::string, std::set<std::string>> found;
    for (const FrameRun* run : runs_) {
      if (run->provenance.empty()) continue;
      for (const Json& session : sessions_of(run->provenance)) {
        found["difflab"].insert(string_at(session, "difflab"));
        found["commit"].insert(commit_text(session));
        const Json project = session.value("project", Json());
        if (project.is_object()) found["commit of experiments"].insert(commit_text(project));
        found["LibTorch"].insert(string_at(session, "libtorch"));
        const auto name = string_at(session, "device_name");
        found["machine"].insert(name.empty() ? string_at(session, "cpu") : name);
      }
    }
    for (auto& [name, texts] : found) {
      texts.erase("");
      add("Software", name, listed_texts(texts));
    }
  }

  const Study& study_;
  const Frame& frame_;
  const Labels& labels_;
  std::vector<const FrameRun*> runs_;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> settings_of(const Study& study, const Frame& frame, const Labels& labels) {
  return SettingList(study, frame, labels).all();
}

std::string settings_tex(const std::vector<Setting>& settings, const std::string& study) {
  std::string out = tex_comment("How the runs of " + study + " were made, for an appendix.") +
                    tex_comment("Needs \\usepackage{booktabs}; 240 pt wide.") +
                    "\\begin{tabular}{@{}p{78pt}p{150pt}@{}}\n\\toprule\n";
  std::string group;
  for (const auto& [of_group, name, value] : settings) {
    if (of_group != group) {
      out += concat(group.empty() ? "" : "\\midrule\n", "\\multicolumn{2}{@{}l@{}}{\\textbf{",
                    escape_tex(of_group), "}} \\\\\n");
      group = of_group;
    }
    out += concat("\\raggedright ", escape_tex(name), " & \\raggedright ", escape_tex(value),
                  " \\tabularnewline\n");
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace difflab::report
