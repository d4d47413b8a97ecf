#include <algorithm>
#include <map>
#include <set>

#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/page/methods_parts.h"
#include "report/settings/study.h"
#include "report/table/question.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kFlippedAll = 40;  // pairs: of more, sign patterns are drawn

// Keys of metrics as tables name them: "steps_to_found" is "steps to found".
std::string with_names(const std::string& text, const Labels& labels) {
  std::vector<std::string> words = split(text, ' ');
  for (auto& word : words) {
    if (word.find('_') != std::string::npos) word = labels.heading(metric_of(word));
  }
  return join(words, " ");
}

// The variants that `which` holds for, each "(Transformer, N(0, 1/D))".
template <class Which>
std::string variants(const Tuned& tuned, const Labels& labels, Which which) {
  std::vector<std::string> all;
  for (const auto& variant : tuned.variants) {
    if (!which(variant)) continue;
    std::vector<std::string> values;
    for (const auto& [axis, value] : variant.axes) values.push_back(labels.value(value));
    all.push_back(values.size() == 1 ? values[0] : concat("(", join(values), ")"));
  }
  return enumerated(all);
}

// Whose tuning is worth less, or came out otherwise.
std::string limits(const Tuned& tuned, const Labels& labels) {
  std::string out;
  const auto tell = [&](const char* what, auto which) {
    if (const auto names = variants(tuned, labels, which); !names.empty()) {
      out += concat(" ", what, names, ".");
    }
  };
  const auto longer =
      concat("Tuned in runs of ", counted(static_cast<double>(tuned.longer), "step", "steps"),
             ", as in shorter ones no value worked with the first seed: ");
  tell(longer.c_str(), [](const auto& one) { return one.is_longer; });
  tell("With the value that was taken not every seed got there: ",
       [](const auto& one) { return one.learned.has_value(); });
  tell("The value that was taken lies at the edge of the grid: ",
       [](const auto& one) { return one.at_edge; });
  tell("No value works, so that there are no runs: ",
       [](const auto& one) { return !one.value.has_value(); });
  return out;
}

// The seeds of each setting.
std::map<std::string, std::set<std::string>> seeds_of(const Described& described) {
  std::map<std::string, std::set<std::string>> seeds;
  for (const FrameRun* run : described.runs) {
    std::string setting;
    for (const auto& [axis, value] : without_seed(run->plan.axes)) setting += value + '\n';
    seeds[setting].insert(run->axis(kSeedAxis));
  }
  return seeds;
}

std::size_t most_seeds(const Described& described) {
  std::size_t most = 0;
  for (const auto& [setting, own] : seeds_of(described)) most = std::max(most, own.size());
  return most;
}

// What the claims of a study have in common and what sets them apart.
struct Asked {
  Asked(const Study& study, const Labels& labels) {
    const auto& claims = study.report.claims;
    for (const auto& claim : claims) {
      const Metric metric = metric_of(claim.metric);
      kinds.insert(metric.outcome());
      needed[metric.outcome() == Outcome::kHappened] = pairs_for_verdict(metric, claims.size());
      is_of_learned = is_of_learned || (study.report.learned.given() && metric.is_of_learned());
      const auto with_metric = [&](double number) {
        return concat(metric.text(number), " (", labels.heading(metric), ")");
      };
      if (claim.margin > 0) margins.insert(with_metric(claim.margin));
      if (claim.smallest > 0) smallest.insert(with_metric(claim.smallest));
    }
  }
  bool has(Outcome kind) const { return kinds.count(kind) > 0; }

  std::set<Outcome> kinds;
  std::map<bool, std::size_t> needed;  ///< pairs; of what happened or did not: true
  bool is_of_learned = false;
  std::set<std::string> margins, smallest;
};

std::string listed_texts(const std::set<std::string>& all) {
  return enumerated({all.begin(), all.end()});
}

std::string tests(const Study& study, const Asked& asked, std::size_t pairs) {
  const auto claims = study.report.claims.size();
  const bool has_events = asked.has(Outcome::kHappened);
  const bool has_signs = asked.kinds.size() > (has_events ? 1U : 0U);
  std::string out = concat(
      "The claims are judged by the differences between runs of equal seeds, with Student-t "
      "intervals of 95 %",
      has_events || asked.has(Outcome::kShare) ? " (of shares on Fisher's z scale)" : "",
      " and exact two-sided tests (", has_signs ? "sign flips" : "",
      has_signs && pairs > kFlippedAll ? ", drawn at random" : "",
      has_signs && has_events ? "; " : "",
      has_events ? "McNemar's of what happened or did not" : "", ").");
  const auto number = counted(static_cast<double>(claims), "claim", "claims");
  return out + (claims > 1 ? concat(" p is adjusted for the ", number, " (Holm).") : "");
}

}  // namespace

std::string tuning_methods(const Study& study, const Labels& labels, const Described& described) {
  const Tuned& tuned = *study.tuned;
  const auto count = static_cast<double>(tuned.seeds.size());
  std::string out = concat(
      "The ", labels.axis(tuned.key), " was tuned for each variant: ", listed(tuned.grid), ", each",
      tuned.key == "train.steps"
          ? ""
          : concat(" in runs of ", counted(static_cast<double>(tuned.steps), "step", "steps"),
                   stage_methods(described).empty() ? "" : " behind what comes before"),
      " with ", counted(count, "seed", "seeds"), " on validation data; taken was ",
      with_names(tuned.criterion, labels), ".");
  return out + tuned.trials_cut_short() + limits(tuned, labels);
}

std::string seed_methods(const Study& study, Described& described) {
  std::set<std::string> all;
  for (const FrameRun* run : described.runs) all.insert(run->axis(kSeedAxis));
  if (all.count("") > 0) return "";
  std::size_t least = all.size();
  for (const auto& [setting, own] : seeds_of(described)) least = std::min(least, own.size());
  const auto most = most_seeds(described);
  std::set<std::string> tried;
  if (study.tuned) {
    for (const auto seed : study.tuned->seeds) tried.insert(concat(seed));
  }
  const bool is_fresh =
      std::none_of(all.begin(), all.end(), [&](const auto& seed) { return tried.count(seed) > 0; });
  const bool has_weights = !described.settings.text("init_from.path").empty();
  return concat("Each setting has ", least == most ? "" : concat(least, " to "),
                counted(static_cast<double>(most), "seed", "seeds"),
                study.tuned && is_fresh ? ", none of which was used for tuning" : "",
                ". A seed fixes ", has_weights ? "" : "the initial weights and ",
                "all sequences that are drawn: runs of one seed and task see the same ones.");
}

std::string statistics_methods(const Study& study, const Labels& labels,
                               const Described& described) {
  const auto& claims = study.report.claims;
  if (claims.empty()) return "";
  const Asked asked(study, labels);
  std::string out = tests(study, asked, most_seeds(described));
  if (asked.has(Outcome::kTimeToEvent)) {
    out +=
        " Times of runs that did not get there count as the earliest end of such a run (restricted "
        "means); a run that diverged is one that did not get there in all its steps.";
  }
  if (asked.is_of_learned) {
    out += " What is asked of learned runs is compared in the pairs of which both have learned.";
  }
  out += concat(" A claim, or its opposite, is called supported if p is at most ",
                plain_number(kAlpha), " and the interval is on its side of 0, with at least ");
  std::vector<std::string> needed;
  for (const auto& [is_event, pairs] : asked.needed) {
    needed.push_back(concat(pairs, is_event && asked.needed.size() > 1
                                       ? " pairs of runs where something happened or did not"
                                       : " pairs of runs"));
  }
  out += enumerated(needed);
  if (!asked.smallest.empty()) {
    out += concat(", and the difference is larger than ", listed_texts(asked.smallest));
  }
  out += ".";
  if (!asked.margins.empty()) {
    out += concat(
        " Variants are called equivalent if two one-sided tests say that they differ by less than ",
        listed_texts(asked.margins),
        asked.has(Outcome::kHappened)
            ? "; of what happened or did not, if an exact test of how many pairs differ says so."
            : ".");
  }
  return out +
         " A claim is called uninformative if both variants lie where its metric cannot tell them "
         "apart, or if more than a tenth of its pairs are left out because a run diverged.";
}

}  // namespace difflab::report
