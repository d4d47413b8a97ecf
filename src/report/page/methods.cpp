#include "report/page/methods.h"

#include <algorithm>
#include <set>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/page/methods_parts.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "report/table/table_files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string range_of(const std::set<double>& values) {
  const auto low = format_number(*values.begin(), 0), high = format_number(*values.rbegin(), 0);
  return low == high ? low : concat(low, " to ", high);
}

// "We compare Transformer and DIFF."
std::string compared(const Frame& frame, const std::string& axis, const Labels& labels,
                     const Described& described) {
  std::vector<std::string> names;
  for (const auto& value : described.values(frame, axis)) names.push_back(labels.value(value));
  const auto what = axis == "model" ? "" : concat("values of ", labels.axis(axis), ": ");
  if (names.size() > 1) return concat("We compare ", what, enumerated(names), ".");
  return names.size() == 1 && axis == "model" ? concat("The model is ", names[0], ".") : "";
}

std::string sizes(Described& described) {
  auto& settings = described.settings;
  std::vector<std::string> parts;
  if (const auto layers = settings.number("model.layers")) {
    parts.push_back(counted(*layers, "layer", "layers"));
  }
  if (const auto width = settings.number("model.d_model")) {
    parts.push_back(concat("width ", format_number(*width, 0)));
  }
  if (const auto heads = settings.number("model.attention.heads")) {
    parts.push_back(counted(*heads, "head", "heads"));
  }
  std::set<double> parameters;
  for (const FrameRun* run : described.runs) {
    if (const auto count = run->metric("parameters")) parameters.insert(*count);
  }
  if (!parameters.empty()) parts.push_back(range_of(parameters) + " parameters");
  return parts.empty() ? "" : concat(" The models have ", enumerated(parts), ".");
}

// What the runs differ in besides the axis that is compared and what was tuned.
std::string crossed(const Study& study, const Frame& frame, const std::string& axis,
                    const Labels& labels, const Described& described) {
  std::vector<std::string> all;
  for (const auto& other : frame.axes()) {
    if (other == axis || other == kSeedAxis) continue;
    if (study.tuned && other == study.tuned->key) continue;
    std::vector<std::string> values;
    for (const auto& value : described.values(frame, other)) values.push_back(labels.value(value));
    if (values.size() > 1) {
      all.push_back(concat(labels.axis(other), " (", enumerated(values), ")"));
    }
  }
  return all.empty() ? "" : concat(" Varied besides: ", enumerated(all), ".");
}

std::string models(const Study& study, const Frame& frame, const Labels& labels,
                   Described& described) {
  const std::string axis = compared_axis(study.report, frame.axes());
  const auto lengths = sequence_lengths(described.settings);
  return concat(compared(frame, axis, labels, described), sizes(described),
                study.unmatched.empty()
                    ? ""
                    : sentence("The sizes of the models are not matched: " + study.unmatched),
                lengths.empty() ? "" : concat(" Sequences have ", lengths, " tokens."),
                crossed(study, frame, axis, labels, described));
}

std::string recorded(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// All sessions of all runs, each distinct text once.
struct Sources {
  explicit Sources(const std::vector<const FrameRun*>& runs) {
    for (const FrameRun* run : runs) {
      if (run->provenance.empty()) continue;
      for (const Json& session : sessions_of(run->provenance)) add(session);
    }
  }

  void add(const Json& session) {
    const auto keep = [](std::set<std::string>& all, std::string text) {
      if (!text.empty()) all.insert(std::move(text));
    };
    keep(versions, recorded(session, "difflab"));
    keep(commits, commit_text(session));
    if (session.contains("project") && session["project"].is_object()) {
      keep(projects, commit_text(session["project"]));
    }
    keep(libraries, recorded(session, "libtorch"));
    const auto device = recorded(session, "device"), name = recorded(session, "device_name");
    const bool is_cpu = device.empty() || device == "cpu";
    keep(machines, is_cpu ? recorded(session, "cpu") : name.empty() ? device : name);
  }

  std::set<std::string> versions, commits, projects, libraries, machines;
};

std::string software(const Sources& sources, const std::string& precision) {
  const auto list = [](const std::set<std::string>& all) {
    return enumerated({all.begin(), all.end()});
  };
  const auto& [versions, commits, projects, libraries, machines] = sources;
  if (versions.empty() && commits.empty()) return "";
  std::string out = concat("difflab", versions.empty() ? "" : " " + list(versions),
                           commits.empty() ? "" : concat(" (commit ", list(commits), ")"));
  if (!projects.empty()) out += concat(", experiments of commit ", list(projects));
  if (!libraries.empty()) out += concat(", LibTorch ", list(libraries));
  if (!machines.empty()) out += concat(", on ", list(machines));
  if (precision == "bfloat16") return out + ", with autocast to bfloat16.";
  return concat(out, precision.empty() ? "" : ", in " + precision, ".");
}

// Of what was asked for, what is told neither as an axis nor by the tuning.
std::string differing(const Study& study, const Frame& frame, const SharedSettings& settings) {
  std::vector<std::string> all;
  for (const auto& path : settings.differing()) {
    const bool is_told =
        std::any_of(frame.axes().begin(), frame.axes().end(), [&](const auto& axis) {
          const bool is_part = axis.find('.') != std::string::npos;
          return path == axis || (is_part && path.starts_with(axis + "."));
        });
    if (!is_told && !(study.tuned && path == study.tuned->key)) all.push_back(path);
  }
  return all.empty() ? "" : concat(" Runs differ also in ", join(all), ".");
}

}  // namespace

std::vector<MethodsParagraph> methods_of(const Study& study, const Frame& frame,
                                         const Labels& labels) {
  Described described(frame);
  if (described.runs.empty() || study.is_tuning) return {};
  std::vector<MethodsParagraph> all;
  const auto add = [&](const char* heading, std::string text) {
    if (const auto begin = text.find_first_not_of(' '); begin != std::string::npos) {
      all.push_back({heading, text.substr(begin)});
    }
  };
  auto& settings = described.settings;
  const std::string precision = settings.text("precision");
  add("Models.", models(study, frame, labels, described));
  std::string trained = training_methods(study, settings) + stage_methods(described);
  add("Training.", trained + differing(study, frame, settings));
  if (study.tuned) add("Tuning.", tuning_methods(study, labels, described));
  add("Seeds.", seed_methods(study, described));
  add("Statistics.", statistics_methods(study, labels, described));
  add("Software.", software(Sources(described.runs), precision));
  return all;
}

std::string methods_tex(const std::vector<MethodsParagraph>& paragraphs, const std::string& study) {
  std::string out = tex_comment("How the runs of " + study + " were made, for a methods section.");
  for (const auto& [heading, text] : paragraphs) {
    out += concat("\\paragraph{", escape_tex(heading), "} ", escape_tex(text), "\n\n");
  }
  return out;
}

}  // namespace difflab::report
