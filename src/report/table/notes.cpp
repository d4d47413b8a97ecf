#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/settings/study.h"
#include "report/table/table_files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool any_cell(const Table& table, bool (*predicate)(const Cell&)) {
  return std::ranges::any_of(
      table.rows, [&](const TableRow& row) { return std::ranges::any_of(row.cells, predicate); });
}

bool any_run(const Frame& frame, bool (*predicate)(const FrameRun&)) {
  return std::ranges::any_of(frame.runs(), predicate);
}

void note_uncertainty(const Table& table, const Frame& frame, std::vector<std::string>& notes) {
  if (!frame.has_axis(kSeedAxis)) {
    notes.emplace_back("One run per row, so no interval can be given.");
  } else {
    const auto seeds = frame.values(kSeedAxis);
    std::size_t least = seeds.size();
    for (const auto& row : table.rows) {
      if (row.results() > 0) least = std::min(least, row.results());
    }
    notes.push_back(concat("± is half the Student-t 95 % interval of the mean over ",
                           least < seeds.size() ? concat(least, " to ") : "",
                           number_of(seeds.size(), "seed"), " (", join(seeds),
                           "); brackets are 95 % intervals that stay within bounds, 0 and 1 of a "
                           "share, 0 of a time or loss. A cell with neither rests on one run."));
  }
  if (any_cell(table, [](const Cell& cell) { return !cell.bounds.empty(); })) {
    notes.emplace_back(
        "\"> x\" marks runs that had not got there when training ended (censored). A row that has "
        "any shows the median of Kaplan and Meier's curve with its 95 % interval (Brookmeyer and "
        "Crowley), never a mean without them.");
  }
  if (any_cell(table, [](const Cell& cell) { return cell.unlearned > 0; })) {
    notes.emplace_back(
        "\"k/n learned\" counts the runs that learned the task (with Wilson's 95 % interval); the "
        "figure behind it is that of those k alone.");
  }
  if (any_run(frame, [](const FrameRun& run) { return run.state == RunState::kDiverged; })) {
    notes.emplace_back(
        "A diverged run ended with a loss or gradient that is no number; it stays in the table, "
        "and n says where it has no value.");
  }
  if (any_run(frame, [](const FrameRun& run) { return !run.has_result(); })) {
    notes.emplace_back(
        "Runs without a result are missing from every number; an empty cell has none.");
  }
}

// @param least, most pairs that a comparison of this table needs, by what is compared
std::string verdicts_need(std::size_t pairs, std::size_t least, std::size_t most, bool has_enough) {
  const auto both = concat(
      least, " pairs", least < most ? concat(", of what happened or not ", most) : std::string());
  if (has_enough) return concat("A verdict needs ", both, ".");
  if (least < most) return concat("None is a verdict: that needs ", both, ".");
  return concat("With ", pairs, " pairs none is a verdict; ", least, " are needed.");
}

void note_comparison(const Table& table, const Study& study, std::vector<std::string>& notes) {
  std::size_t pairs = 0, most = 0, least = 0;
  bool restricted = false, can_be_verdict = false;
  for (const auto& [row, column, of, result, bootstrap, p] : table.comparisons) {
    const auto needed =
        pairs_for_verdict(table.columns[column], table.tested(), study.report.times);
    most = std::max(most, needed);
    least = least == 0 ? needed : std::min(least, needed);
    if (result) pairs = std::max(pairs, result->pairs);
    can_be_verdict = can_be_verdict || (result && result->pairs >= needed);
    restricted = restricted || of.horizon;
  }
  if (pairs < 2) return;
  notes.push_back(concat(
      "Differences are variant minus baseline on equal seeds, with 95 % intervals (of shares on "
      "Fisher's z scale, so that they stay within −1 and 1) and bootstrap intervals (BCa; of few "
      "pairs too narrow). p is exact: sign flips, of what happened or not McNemar; p (Holm) is "
      "adjusted for the ",
      number_of(table.tested(), "comparison"), " of this table. ",
      verdicts_need(pairs, least, most, can_be_verdict),
      study.report.claims.empty() ? "" : " Claims are adjusted among themselves, not for these."));
  if (table.has_ratios) {
    notes.emplace_back(
        "Times (×) are ratios, variant over baseline, of geometric means. Their p is the exact one "
        "of log times: all runs permuted, or, of 12 pairs and more whose intraclass correlation "
        "has p ≤ .01, signs flipped; times 1.01 for this choice. The 95 % interval holds the "
        "ratios that this test does not reject.");
  }
  if (restricted) {
    notes.emplace_back(
        "Times that some runs did not reach are compared up to the earliest end of these: what was "
        "not reached counts as that (restricted means).");
  }
}

// One sentence for all columns with the same levels.
void note_chance(const Table& table, const Frame& frame, const Labels& labels,
                 std::vector<std::string>& notes) {
  nlohmann::ordered_map<std::string, std::vector<std::string>> columns_by_level;
  for (const Metric& metric : table.columns) {
    std::vector<std::string> levels;
    for (const double level : chance_in(frame.all_runs(), metric.key)) {
      levels.push_back(metric.text(level));
    }
    if (levels.empty()) continue;
    columns_by_level[join(levels)].push_back(labels.heading(metric));
  }
  for (const auto& [level, columns] : columns_by_level) {
    notes.push_back(concat("Chance level of ", join(columns, "; "), ": ", level, "."));
  }
}

void note_cut_contexts(const Frame& frame, std::vector<std::string>& notes) {
  std::map<std::string, std::int64_t> most;
  for (const FrameRun& run : frame.runs()) {
    for (const auto& [name, count] : cut_contexts(run)) most[name] = std::max(most[name], count);
  }
  for (const auto& [name, count] : most) {
    notes.push_back(concat("Of ", name, ", the contexts of up to ", count,
                           count == 1 ? " question" : " questions",
                           " were cut at their beginning: they are longer than the sequences."));
  }
}

void note_origin(const Frame& frame, std::vector<std::string>& notes) {
  std::set<std::string> codes, machines;
  std::size_t runs_told = 0, silent = 0;  // of which a session names no commit
  for (const FrameRun& run : frame.runs()) {
    const Json& from = run.provenance;
    if (!run.has_result() || from.empty()) continue;
    bool is_silent = false;
    for (const Json& session : sessions_of(from)) {
      const auto commit = commit_text(session);
      is_silent = is_silent || commit.empty();
      if (!commit.empty()) codes.insert("commit " + commit);
    }
    ++runs_told;
    silent += is_silent ? 1 : 0;
    std::vector<std::string> machine;
    for (const auto& [key, before] : {std::pair("cpu", ""), std::pair("device", "device "),
                                      std::pair("libtorch", "LibTorch ")}) {
      const auto told = told_at(from, key);
      if (!told.empty()) machine.push_back(before + told);
    }
    if (!machine.empty()) machines.insert(join(machine));
  }
  std::vector<std::string> restored;
  for (const auto& [reference, runs] : restored_beside_new(frame)) {
    restored.push_back(concat(number_of(runs, "run"), " of ", reference));
  }
  if (!restored.empty()) {
    notes.push_back(
        concat("Not trained here but restored from committed references: ", join(restored), "."));
  }
  std::vector<std::string> parts(codes.begin(), codes.end());
  if (silent > 0 && !codes.empty()) {
    parts.push_back(concat("code without a commit (", silent, " of ", runs_told, " runs)"));
  }
  parts.insert(parts.end(), machines.begin(), machines.end());
  if (!parts.empty()) notes.push_back("Made from " + join(parts, "; ") + ".");
}

}  // namespace

std::string commit_text(const Json& session) {
  std::string commit = told_at(session, "commit").substr(0, 12);
  if (!commit.empty() && told_at(session, "dirty") == "true") commit += " with uncommitted changes";
  return commit;
}

void add_notes(Table& table, const Study& study, const Frame& frame, const Labels& labels) {
  note_uncertainty(table, frame, table.notes);
  note_comparison(table, study, table.notes);
  if (!table.left_out.empty()) table.notes.push_back(table.left_out);
  if (!study.unmatched.empty()) {
    table.notes.push_back("The sizes of the models are not matched: " + study.unmatched);
  }
  if (study.tuned) table.notes.push_back(study.tuned->text());
  note_cut_contexts(frame, table.notes);
  note_chance(table, frame, labels, table.notes);
  if (const auto settings = settings_list(study); !settings.empty()) {
    table.settings = join(settings);
  }
  note_origin(frame, table.notes);
}

}  // namespace difflab::report
