#include "referee/rule/rules.h"

#include "referee/referee.h"

namespace difflab::referee {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"intervals", "an interval lies within the range of its metric",
       "write the report again from its runs; shares then get intervals that stay in 0 to 1",
       each<check_intervals>},
      {"learned", "runs that learned and runs that did not are never averaged",
       "set learned: in the experiment; cells then print k/n learned", each<check_learned>},
      {"seeds",
       "a verdict rests on at least 8 pairs (16 for events; more for many claims) with equal seeds",
       "run more seeds, or let the report print no verdict", each<check_seeds>},
      {"verdicts", "the exact p, adjusted for the claims (Holm), and the interval agree",
       "write the report again from its runs", each<check_verdicts>},
      {"regime", "the metric can tell the variants apart: between chance + 0.1 and 0.97",
       "make the task harder or easier, or compare times to an event", each<check_regime>},
      {"language", "language models beat a trigram count model of the same text",
       "train longer, and measure the loss of trigram counts beside the models",
       each<check_language>},
      {"tuning", "every arm has its own rate for its task, inside a grid equal for all",
       "tune every arm on this task: 5 rates or more, 3 seeds or more, a pick inside the grid",
       each<check_tuning>},
      {"opponents",
       "DIFF is compared with four Transformers: h heads, h/2 heads twice as wide, each with and "
       "without a norm after each head",
       "choose suite: arms, whose vars.arms holds all four", each<check_opponents>},
      {"horizon", "times to events are compared, censored runs included, and checked often",
       "use train.events with a fine event_every and a rate that stays constant",
       each<check_horizon>},
      {"provenance",
       "reproduced runs link all clean commits; each reference is of one kind of machine or "
       "confirmed on it",
       "run the references again from one clean commit, or difflab reproduce --record runs of them",
       check_provenance},
      {"wall_clock", "seconds and speeds are those of runs that were alone",
       "drop the column, or measure again on an idle machine, one run at a time",
       each<check_wall_clock>},
      {"recomputable", "tables, verdicts and figures follow from the folder",
       "write the report again from its runs, with code that keeps observations.json",
       each<check_recomputable>},
      {"robustness",
       "the first contrast is tried at two scales of the embeddings and two loss weightings",
       "add init and train.loss.per to the sweep, or a reference that varies them",
       check_robustness},
      {"paired", "variants of one design are drawn as differences on equal seeds, too",
       "add a figure with against: the baseline", each<check_paired>},
  };
  return all;
}

}  // namespace difflab::referee
