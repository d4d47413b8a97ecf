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
#include "report/table/question.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Keys of metrics as tables name them: "steps_to_found" is "steps to found".
std::string with_names(const std::string& text) {
  std::vector<std::string> words = split(text, ' ');
  for (auto& word : words) {
    if (word.find('_') != std::string::npos) word = metric_of(word).heading;
  }
  return join(words, " ");
}

std::string range_of(std::set<double> values) {
  if (values.empty()) return "";
  const auto low = format_number(*values.begin(), 0), high = format_number(*values.rbegin(), 0);
  return low == high ? low : concat(low, " to ", high);
}

// Of the task, or of the needles that it has beside another part; "" if the runs differ in it.
std::string sequence_length(SharedSettings& settings) {
  for (const char* task : {"task", "task.needle"}) {
    const auto length = settings.number(concat(task, ".length"));
    if (!length) continue;
    std::set<double> all{*length};
    if (const Json* more = settings.get(concat(task, ".lengths")); more != nullptr) {
      for (const Json& one : *more) all.insert(one.get<double>());
    }
    std::vector<std::string> texts;
    for (const double one : all) texts.push_back(format_number(one, 0));
    return enumerated(texts);
  }
  return "";
}

std::string models(const Study& study, const Frame& frame, const Labels& labels,
                   SharedSettings& settings) {
  const std::string axis = compared_axis(study.report, frame.axes());
  std::vector<std::string> names;
  for (const auto& value : frame.values(axis)) names.push_back(labels.value(value));
  const auto what = axis == "model" ? "" : concat("values of ", labels.axis(axis), ": ");
  std::string out = names.size() > 1 ? concat("We compare ", what, enumerated(names), ".") : "";
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
  std::string lengths;
  std::set<double> sizes;
  for (const FrameRun* run : settings.runs()) {
    if (const auto size = run->metric("parameters")) sizes.insert(*size);
  }
  if (const auto length = sequence_length(settings); !length.empty()) {
    lengths = concat(" Sequences have ", length, " tokens.");
  }
  if (!sizes.empty()) parts.push_back(range_of(sizes) + " parameters");
  if (!parts.empty()) out += concat(" The models have ", enumerated(parts), ".");
  out += lengths;
  if (!study.unmatched.empty()) out += " Their sizes are not matched: " + study.unmatched;
  std::vector<std::string> crossed;
  for (const auto& other : frame.axes()) {
    if (other == axis || other == kSeedAxis) continue;
    if (study.tuned && other == study.tuned->key) continue;
    std::vector<std::string> values;
    for (const auto& value : frame.values(other)) values.push_back(labels.value(value));
    if (values.size() > 1) crossed.push_back(concat(labels.axis(other), " (", join(values), ")"));
  }
  if (!crossed.empty()) out += concat(" Varied besides: ", enumerated(crossed), ".");
  return out;
}

std::string tuning(const Tuned& tuned, const Labels& labels) {
  const auto count = static_cast<double>(tuned.seeds.size());
  std::string out =
      concat("The ", labels.axis(tuned.key), " was tuned for each variant: ", listed(tuned.grid),
             ", each in runs of ", counted(static_cast<double>(tuned.steps), "step", "steps"),
             " with ", counted(count, "seed", "seeds"), " on validation data; taken was ",
             with_names(tuned.criterion), ".");
  out += tuned.trials_cut_short();
  const bool is_any_longer = std::any_of(tuned.variants.begin(), tuned.variants.end(),
                                         [](const auto& one) { return one.is_longer; });
  if (is_any_longer) {
    out += concat(" Variants of which no value worked with the first seed were tuned in runs of ",
                  counted(static_cast<double>(tuned.longer), "step", "steps"), " instead.");
  }
  return out;
}

std::string seeds(const Study& study, const SharedSettings& settings) {
  std::set<std::string> all;
  for (const FrameRun* run : settings.runs()) all.insert(run->axis(kSeedAxis));
  all.erase("");
  if (all.empty()) return "";
  std::set<std::string> tried;
  if (study.tuned) {
    for (const auto seed : study.tuned->seeds) tried.insert(concat(seed));
  }
  const bool is_fresh =
      std::none_of(all.begin(), all.end(), [&](const auto& seed) { return tried.count(seed) > 0; });
  return concat(
      "Each setting is trained with ", study.looks.empty() ? "" : "up to ",
      counted(static_cast<double>(all.size()), "seed", "seeds"),
      study.tuned && is_fresh ? ", none of which was used for tuning" : "",
      ". A seed fixes the initial weights and the batches: runs of one seed and task see the same "
      "sequences.");
}

std::string statistics(const Study& study, const Labels& labels) {
  const auto& claims = study.report.claims;
  if (claims.empty()) return "";
  std::set<Outcome> kinds;
  std::set<std::string> margins;
  std::size_t needed = 0;
  for (const auto& claim : claims) {
    const Metric metric = metric_of(claim.metric);
    kinds.insert(metric.outcome());
    needed = std::max(needed, pairs_for_verdict(metric, claims.size()));
    if (claim.margin > 0) {
      margins.insert(concat(metric.text(claim.margin), " (", labels.heading(metric), ")"));
    }
  }
  const bool has_shares = kinds.count(Outcome::kShare) > 0;
  const bool has_events = kinds.count(Outcome::kHappened) > 0;
  const bool has_signs = kinds.size() > (has_events ? 1U : 0U);
  std::string out = concat(
      "The claims are judged by the differences between runs of equal seeds, with Student-t 95 % "
      "intervals",
      has_shares ? " (of shares on Fisher's z scale)" : "", " and exact two-sided tests (",
      has_signs ? "sign flips" : "", has_signs && has_events ? ", " : "",
      has_events ? "McNemar's of what happened or did not" : "", ").");
  if (kinds.count(Outcome::kTimeToEvent) > 0) {
    out +=
        " Times of runs that did not get there count as the earliest end of such a run (restricted "
        "means).";
  }
  const auto number = counted(static_cast<double>(claims.size()), "claim", "claims");
  if (study.looks.empty()) {
    out += claims.size() > 1 ? concat(" p is adjusted for the ", number, " (Holm).") : "";
  } else {
    std::vector<std::string> after;
    for (const auto look : study.looks) after.push_back(concat(look));
    out += concat(" Seeds were added to the variants of open claims, with a look after ",
                  enumerated(after),
                  " seeds; p is held to group-sequential levels (Lan and DeMets, like O'Brien and "
                  "Fleming's) that allow for the looks and for the ",
                  number, ".");
  }
  out += concat(" A claim, or its opposite, is called supported if p is at most ",
                study.looks.empty() ? plain_number(kAlpha) : std::string("that level"),
                " and the interval is on its side of 0, with at least ",
                counted(static_cast<double>(needed), "pair", "pairs"), " of runs.");
  if (!margins.empty()) {
    out += concat(
        " Variants are called equivalent if two one-sided tests say that they differ by less than ",
        enumerated({margins.begin(), margins.end()}), ".");
  }
  return out;
}

std::string software(SharedSettings& settings) {
  std::set<std::string> versions, commits, libraries, machines;
  const auto text = [](const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto add = [](std::set<std::string>& all, std::string one) {
    if (!one.empty()) all.insert(std::move(one));
  };
  for (const FrameRun* run : settings.runs()) {
    const Json& from = run->provenance;
    if (from.empty()) continue;
    add(versions, text(from, "difflab"));
    add(libraries, text(from, "libtorch"));
    add(machines, text(from, "device") == "cpu" || text(from, "device").empty()
                      ? text(from, "cpu")
                      : text(from, "device"));
    for (const Json& session : sessions_of(from)) {
      std::string commit = text(session, "commit").substr(0, 12);
      if (commit.empty()) continue;
      const auto dirty = session.find("dirty");
      if (dirty != session.end() && *dirty == true) commit += " with uncommitted changes";
      commits.insert(std::move(commit));
    }
  }
  if (versions.empty() && commits.empty()) return "";
  const auto list = [](const std::set<std::string>& all) {
    return enumerated({all.begin(), all.end()});
  };
  std::string out = concat("difflab", versions.empty() ? "" : " " + list(versions),
                           commits.empty() ? "" : concat(" (commit ", list(commits), ")"));
  if (!libraries.empty()) out += concat(", LibTorch ", list(libraries));
  if (!machines.empty()) out += concat(", on ", list(machines));
  if (const auto precision = settings.text("precision"); !precision.empty())
    out += ", in " + precision;
  return out + ".";
}

}  // namespace

std::vector<MethodsParagraph> methods_of(const Study& study, const Frame& frame,
                                         const Labels& labels) {
  SharedSettings settings(frame);
  if (settings.runs().empty() || study.is_tuning) return {};
  std::vector<MethodsParagraph> all;
  const auto add = [&](const char* heading, std::string text) {
    if (const auto begin = text.find_first_not_of(' '); begin != std::string::npos) {
      all.push_back({heading, text.substr(begin)});
    }
  };
  add("Models.", models(study, frame, labels, settings));
  std::string trained = training_methods(study, settings);
  std::vector<std::string> differing;
  for (const auto& path : settings.differing()) {
    const bool is_told = frame.has_axis(path) || (study.tuned && path == study.tuned->key);
    if (!is_told) differing.push_back(path);
  }
  if (!differing.empty()) trained += concat(" What differs between runs: ", join(differing), ".");
  add("Training.", std::move(trained));
  if (study.tuned) add("Tuning.", tuning(*study.tuned, labels));
  if (!study.search.empty()) add("Search.", study.search);
  add("Seeds.", seeds(study, settings));
  add("Statistics.", statistics(study, labels));
  add("Software.", software(settings));
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
