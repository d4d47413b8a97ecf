#include <sstream>

#include "report/data/format.h"
#include "report/example_study.h"
#include "report/table/table_files.h"
#include "support/catch.h"
#include "support/declared.h"

namespace difflab::report {
namespace {

// Two variants and three seeds whose statistics are easy by hand: accuracies 0.2 0.3 0.4 and
// 0.8 1.0 0.9 have s = 0.1 each, differences 0.6 0.7 0.5 too; 4.302653 · 0.1 / √3 = 0.248414.
void fill_by_hand(StudyBuilder& builder) {
  const double baseline[] = {0.2, 0.3, 0.4};
  const double variant[] = {0.8, 1.0, 0.9};
  const Json steps[] = {900, 1000, nullptr};
  for (int seed = 0; seed < 3; ++seed) {
    builder.finished("transformer", seed,
                     {{"parameters", 123520},
                      {"needle_accuracy", baseline[seed]},
                      {"needle_accuracy_chance", 0.03125},
                      {"steps_to_90_accuracy", nullptr},
                      {"train_seconds", 60.0 + seed}},
                     {{"censored", Json{{"steps_to_90_accuracy", 1600}}}});
  }
  for (int seed = 0; seed < 3; ++seed) {
    Json more = Json::object();
    if (steps[seed].is_null()) more["censored"] = Json{{"steps_to_90_accuracy", 1600}};
    builder.finished("diff_lambda_0.8", seed,
                     {{"parameters", 123552},
                      {"needle_accuracy", variant[seed]},
                      {"needle_accuracy_chance", 0.03125},
                      {"steps_to_90_accuracy", steps[seed]},
                      {"train_seconds", 61.5}},
                     more);
  }
  builder.table(
      {"parameters", "needle_accuracy", "steps_to_90_accuracy", "train_seconds", "train.lr"},
      {"model"});
}

std::string output(const StudyBuilder& builder, const std::string& name) {
  return read_file(builder.study.output / name);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The data row of a Markdown table that begins with `label`.
std::string row_of(const std::string& markdown, const std::string& label) {
  const std::size_t begin = markdown.find("| " + label + " |");
  CATCH_REQUIRE(begin != std::string::npos);
  return markdown.substr(begin, markdown.find('\n', begin) - begin);
}

CATCH_TEST_CASE("table.md holds means, intervals, medians of censored runs and pairs") {
  StudyBuilder builder;
  fill_by_hand(builder);
  write_report(builder.study);
  const std::string expected = R"(# Which part finds needles?

| model | runs | parameters | needle accuracy ↑ | steps to 90 % ↓ | training time (s) ↓ | learning rate |
| :-- | --: | --: | --: | --: | --: | --: |
| transformer | 3 | 123,520 | 0.300 \[0.122, 0.568\] | > 1,600 | 61.0 ± 2.5 | 0.003 |
| diff λ 0.8 | 3 | 123,552 | 0.900 \[0.486, 0.988\] | median 1,000 \[900, > 1,600\] (1 of 3 > 1,600) | 61.5 ± 0.0 | 0.003 |

## Against transformer, paired by seed

| metric | model | difference to transformer | 95 % interval | bootstrap | p | p (Holm) | pairs |
| :-- | :-- | --: | --: | --: | --: | --: | --: |
| needle accuracy ↑ | diff λ 0.8 | +0.600 | +0.296 to +0.794 | +0.500 to +0.700 | 0.250 | 0.500 | 3 |
| steps to 90 % ↓ | diff λ 0.8 | −433 | −1,374 to +507 | −667 to 0 | 0.500 | 0.500 | 3 (3 censored) |

)";
  const std::string written = output(builder, "table.md");
  CATCH_CHECK(written.substr(0, expected.size()) == expected);
  CATCH_CHECK(contains(written, "over 3 seeds (0, 1, 2)"));
  CATCH_CHECK(contains(written,
                       "adjusted for the 2 comparisons of this table. With 3 pairs none is a "
                       "verdict; 8 are needed."));
  CATCH_CHECK(contains(written, "(restricted means)"));
  CATCH_CHECK(contains(written, "Chance level of needle accuracy: 0.031."));
  CATCH_CHECK_FALSE(contains(written, "Chance level of steps"));
  CATCH_CHECK(contains(written, "- Equal in all runs: `train.steps=1600, train.lr=0.003`\n"));
  CATCH_CHECK(contains(written, "commit 0123456789ab; AMD EPYC 7003"));
}

CATCH_TEST_CASE("table.csv holds tidy numbers, times under names that end in their unit") {
  StudyBuilder builder;
  fill_by_hand(builder);
  builder.study.report.tables[0].columns = {"needle_accuracy", "steps_to_90_accuracy",
                                            "train_seconds", "train.lr"};
  write_report(builder.study);
  const std::string written = output(builder, "table.csv");
  std::istringstream lines(written);
  std::string head, baseline, variant;
  std::getline(lines, head);
  std::getline(lines, baseline);
  std::getline(lines, variant);
  CATCH_CHECK(head ==
              "model,runs,with_result,diverged,failed,not_run,"
              "mean_needle_accuracy,low_needle_accuracy,high_needle_accuracy,"
              "median_needle_accuracy,n_needle_accuracy,censored_needle_accuracy,"
              "above_needle_accuracy,mean_steps_to_90_accuracy,low_steps_to_90_accuracy,"
              "high_steps_to_90_accuracy,median_steps_to_90_accuracy,n_steps_to_90_accuracy,"
              "censored_steps_to_90_accuracy,above_steps_to_90_accuracy,mean_train_seconds,"
              "low_train_seconds,high_train_seconds,median_train_seconds,n_train_seconds,"
              "censored_train_seconds,above_train_seconds,train.lr");
  CATCH_CHECK(baseline.substr(0, 24) == "transformer,3,3,0,0,0,0.");
  // No mean and no interval where a run is censored; the median counts it as larger than all.
  CATCH_CHECK(contains(baseline, ",,,,,3,3,1600,61,"));
  CATCH_CHECK(contains(variant, ",,,,1000,3,1,1600,61.5,61.5,61.5,61.5,3,0,,0.003"));
  CATCH_CHECK(contains(output(builder, "table.paired.csv"),
                       "model,metric,difference,low,high,bootstrap_low,bootstrap_high,p,p_holm,"
                       "pairs,censored_pairs,unlearned_pairs\n"
                       "diff_lambda_0.8,needle_accuracy,0.6"));
}

CATCH_TEST_CASE("table.tex is a booktabs table with math where it belongs") {
  StudyBuilder builder;
  fill_by_hand(builder);
  builder.study.report.tables[0].columns = {"needle_accuracy"};
  builder.study.report.labels.entries = {{"diff_lambda_0.8", "DIFF & λ_init 0.8"}};
  write_report(builder.study);
  const std::string expected = R"(model & runs & needle accuracy $\uparrow$ \\
\midrule
transformer & 3 & 0.300 [0.122, 0.568] \\
DIFF \& $\lambda_{\mathrm{init}}$ 0.8 & 3 & 0.900 [0.486, 0.988] \\
\bottomrule
\end{tabular}
)";
  CATCH_CHECK(contains(output(builder, "table.tex"),
                       "\\begin{tabular}{@{}>{\\raggedright\\arraybackslash}p{72pt}"
                       ">{\\raggedleft\\arraybackslash}p{18pt}"));
  CATCH_CHECK(contains(output(builder, "table.tex"), expected));
}

CATCH_TEST_CASE("one run has a mean and no interval") {
  StudyBuilder builder;
  builder.finished("transformer", 0, {{"needle_accuracy", 0.25}});
  builder.finished("diff", 0, {{"needle_accuracy", 0.75}});
  builder.table({"needle_accuracy"});
  write_report(builder.study);
  const std::string written = output(builder, "table.md");
  CATCH_CHECK(row_of(written, "transformer") == "| transformer | 1 | 0.250 |");
  CATCH_CHECK(contains(written, "| needle accuracy ↑ | diff | +0.500 |  |  |  |  | 1 |"));
}

CATCH_TEST_CASE("diverged, failed and missing runs are visible and never counted as zero") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"needle_accuracy", 0.9}});
  builder.finished("diff", 1, {{"needle_accuracy", nullptr}},
                   {{"status", "diverged"}, {"diverged_at_step", 120}});
  builder.status(builder.plan("diff", 2), {{"state", "failed"}, {"message", "disk full"}});
  builder.plan("diff", 3);
  builder.plan("diff_v2", 0);
  builder.table({"needle_accuracy"});
  const Summary summary = write_report(builder.study);
  const std::string written = output(builder, "table.md");
  CATCH_CHECK(row_of(written, "diff") ==
              "| diff | 2 of 4 | 1 diverged (step 120), 1 failed, 1 not run | 0.900 (n = 1) |");
  CATCH_CHECK(row_of(written, "diff v2") == "| diff v2 | 0 of 1 | 1 not run |  |");
  CATCH_CHECK(summary.planned == 5);
  CATCH_CHECK(summary.finished == 2);
  CATCH_CHECK(summary.diverged == 1);
  CATCH_CHECK(summary.failed == 1);
  const Json runs = Json::parse(output(builder, "runs.json"))["runs"];
  CATCH_CHECK(runs[0]["metrics"]["needle_accuracy"] == 0.9);
  CATCH_CHECK(runs[1]["diverged_at_step"] == 120);
  CATCH_CHECK(runs[2]["message"] == "disk full");
  CATCH_CHECK(runs[3]["status"] == "not run");
}

CATCH_TEST_CASE("a report says that the sources had changed") {
  StudyBuilder builder;
  fill_by_hand(builder);
  write_file_atomically(builder.study.runs[0].directory.path / "provenance.json",
                        R"({"commit": "0123456789abcdef0123", "dirty": true})");
  write_report(builder.study);
  CATCH_CHECK(contains(output(builder, "table.md"), "0123456789ab with uncommitted changes"));
}

CATCH_TEST_CASE("a damaged result makes its run failed and the report goes on") {
  StudyBuilder builder;
  builder.finished("diff", 0, {{"needle_accuracy", 0.9}});
  builder.finished("diff", 1, {{"needle_accuracy", 0.9}});
  write_file_atomically(builder.study.runs[1].directory.path / "result.json", "{\"schema\": 1, ");
  builder.table({"needle_accuracy"});
  write_report(builder.study);
  CATCH_CHECK(row_of(output(builder, "table.md"), "diff") ==
              "| diff | 1 of 2 | 1 failed | 0.900 |");
  CATCH_CHECK(contains(output(builder, "runs.json"), "result.json: is damaged"));
}

CATCH_TEST_CASE("times are compared up to where the first censored run ended") {
  StudyBuilder builder;
  const Json censored = {{"censored", Json{{"steps_to_90_accuracy", 1600}}}};
  builder.finished("transformer", 0, {{"steps_to_90_accuracy", 900}});
  builder.finished("transformer", 1, {{"steps_to_90_accuracy", nullptr}}, censored);
  builder.finished("diff", 0, {{"steps_to_90_accuracy", 800}});
  builder.finished("diff", 1, {{"steps_to_90_accuracy", 850}});
  builder.table({"steps_to_90_accuracy"});
  write_report(builder.study);
  const std::string written = output(builder, "table.md");
  // −100 and −750, the second at least.
  CATCH_CHECK(contains(written, "| steps to 90 % ↓ | diff | −425 | "));
  CATCH_CHECK(contains(written, "| 2 (1 censored) |"));
  // Half the runs are censored, so there is no median either.
  CATCH_CHECK(row_of(written, "transformer") ==
              "| transformer | 2 | > 1,600 (1 of 2; least 900) |");
  // What ended earlier bounds them all: −100, −150 and 0 up to 1,000 steps.
  builder.finished("transformer", 2, {{"steps_to_90_accuracy", 1400}});
  builder.finished("diff", 2, {{"steps_to_90_accuracy", nullptr}},
                   {{"censored", Json{{"steps_to_90_accuracy", 1000}}}});
  write_report(builder.study);
  CATCH_CHECK(contains(output(builder, "table.md"), "| steps to 90 % ↓ | diff | −83 | "));
  // Of several bounds the lowest is what holds of all.
  builder.finished("diff", 3, {{"steps_to_90_accuracy", nullptr}}, censored);
  write_report(builder.study);
  CATCH_CHECK(contains(row_of(output(builder, "table.md"), "diff"), "> 1,000 (2 of 4; least 800)"));
  CATCH_CHECK(contains(output(builder, "table.csv"), ",4,2,1000"));
}

CATCH_TEST_CASE("what has not been learned is counted, and not averaged into what has") {
  StudyBuilder builder;
  const auto run = [&](const char* model, int seed, const std::vector<double>& curve) {
    builder.finished(model, seed, {{"needle_accuracy", curve.back()}, {"parameters", 7}});
    std::string lines;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      lines += Json{{"step", 100 * i}, {"valid_accuracy", curve[i]}}.dump() + "\n";
    }
    write_file_atomically(builder.study.runs.back().directory.path / "metrics.jsonl", lines);
  };
  run("transformer", 0, {0.1, 0.95, 0.97});
  run("transformer", 1, {0.1, 0.92, 0.3, 0.99, 0.99});  // once is not in a row
  run("diff", 0, {0.1, 0.2, 0.93});
  run("diff", 1, {0.1, 0.2, 0.2, 0.91, 0.995});
  builder.table({"learned", "needle_accuracy", "steps_to_learn", "parameters"});
  builder.study.report.learned.metric = "valid_accuracy";
  write_report(builder.study);
  const std::string written = output(builder, "table.md");
  CATCH_CHECK(
      row_of(written, "transformer") ==
      "| transformer | 2 | 2/2 \\[0.34, 1.00\\] | 0.980 \\[0.527, 1.000\\] | 200 \\[0, 1,471\\] | "
      "7 |");
  CATCH_CHECK(row_of(written, "diff") ==
              "| diff | 2 | 1/2 \\[0.09, 0.91\\] | 1/2 learned \\[0.09, 0.91\\]: 0.995 | "
              "median 300 (1 of 2 > 200) | 7 |");
  CATCH_CHECK(
      contains(written, "| needle accuracy ↑ | diff | +0.005 |  |  |  |  | 1 (1 not learned) |"));
  auto interval = of_yaml<IntervalConfig>("name: interval, y: model, x: needle_accuracy");
  const Drawing drawing = draw(builder, interval);
  CATCH_REQUIRE(drawing.rows.size() == 2);
  CATCH_CHECK(drawing.rows[1][1] == "0.995");
  CATCH_CHECK(contains(written, "\"k/n learned\" counts the runs"));
  // More of them have learned, though what one of the others has learned is better.
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  CATCH_CHECK(
      contains(headline(build_table(builder.study.report.tables[0], builder.study, frame, labels),
                        frame, "needle_accuracy", labels),
               "Best of 2 by needle accuracy: transformer"));
}

CATCH_TEST_CASE("the headline names the best, its distance to the baseline and what is resolved") {
  StudyBuilder builder;
  fill_by_hand(builder);
  const Frame frame = frame_of(builder.study);
  const Labels labels(builder.study.report.labels);
  const Table table = build_table(builder.study.report.tables[0], builder.study, frame, labels);
  CATCH_CHECK(headline(table, frame, "needle_accuracy", labels) ==
              "Best of 2 by needle accuracy: diff λ 0.8 with 0.900 [0.486, 0.988] (n = 3). Against "
              "transformer: +0.600 [+0.296, +0.794], 3 paired seeds: too few to say so; 8 needed.");
}

CATCH_TEST_CASE("a metric's declaration says whether it asks what a run has learned") {
  const Declared declared({positive_metric("logit_top1"),
                           speed_metric("forward_tokens_per_second_t*"),
                           {.name = "training_memory_mib_t*", .of_machine = OfMachine::kMemory},
                           {.name = "cache_mib", .is_initial = true},
                           {.name = "initial_grad_norm", .is_initial = true},
                           {.name = "attention_rms_initial", .is_initial = true}});
  for (const char* key : {"needle_accuracy", "test_loss", "logit_top1", "effective_length"}) {
    CATCH_INFO(key);
    CATCH_CHECK(metric_of(key).is_of_learned());
  }
  for (const char* key :
       {"learned", "steps_to_learn", "steps_to_90_accuracy", "train_seconds", "tokens_per_second",
        "parameters", "initial_grad_norm", "attention_rms_initial",
        "forward_tokens_per_second_t256", "training_memory_mib_t256", "cache_mib"}) {
    CATCH_INFO(key);
    CATCH_CHECK_FALSE(metric_of(key).is_of_learned());
  }
}

CATCH_TEST_CASE("a metric's declaration says whether more is better") {
  const Declared declared({share_metric("accuracy_*_bits", Better::kHigher),
                           share_metric("accuracy_*_bits_chance"),
                           share_metric("accuracy_n*_r*", Better::kHigher),
                           share_metric("shots_accuracy", Better::kHigher),
                           loss_metric("loss_at_*"),
                           speed_metric("training_tokens_per_second_t*"),
                           {.name = "training_memory_mib_t*", .better = Better::kLower}});
  for (const char* key : {"accuracy_4_bits", "needle_multi_accuracy_n6_r2", "shots_accuracy",
                          "training_tokens_per_second_t256"}) {
    CATCH_CHECK(metric_of(key).better == Better::kHigher);
  }
  for (const char* key : {"loss_at_128", "valid_text_loss", "steps_to_80_accuracy",
                          "time_to_80_accuracy_seconds", "training_memory_mib_t256"}) {
    CATCH_CHECK(metric_of(key).better == Better::kLower);
  }
  for (const char* key :
       {"accuracy_4_bits_chance", "logit_top1", "initial_grad_norm", "lambda.0"}) {
    CATCH_CHECK(metric_of(key).better == Better::kNeither);
  }
  CATCH_CHECK(metric_of("accuracy_4_bits").text(.25) == "0.250");
}

CATCH_TEST_CASE("columns with one chance level share a sentence") {
  StudyBuilder builder;
  builder.finished("diff", 0,
                   {{"a_accuracy", .5},
                    {"a_accuracy_chance", .25},
                    {"b_accuracy", .5},
                    {"b_accuracy_chance", .125},
                    {"c_accuracy", .5},
                    {"c_accuracy_chance", .25}});
  builder.table({"a_accuracy", "b_accuracy", "c_accuracy"}, {"model"});
  write_report(builder.study);
  const auto written = output(builder, "table.md");
  CATCH_CHECK(contains(written, "Chance level of a accuracy; c accuracy: 0.250."));
  CATCH_CHECK(contains(written, "Chance level of b accuracy: 0.125."));
}

CATCH_TEST_CASE("a table or figure that would average over an axis is refused by name") {
  ReportConfig report = headline_report();
  CATCH_CHECK(check_report(report, {"model", "seed"}).empty());
  const auto problems = check_report(report, {"model", "train.lr", "seed"});
  CATCH_REQUIRE(problems.size() == 4);
  CATCH_CHECK(problems[0].key == "tables[0]");
  CATCH_CHECK(problems[0].message == "would average over axis 'train.lr'; add it to rows");
  CATCH_CHECK(problems[3].key == "figures[2]");
  CATCH_CHECK(check_report(report, {"model", "train.lr", "seed"}, {"train.lr"}).empty());
  report.tables[0].rows.names = {"modle"};
  CATCH_CHECK(check_report(report, {"model", "seed"})[0].message ==
              "names 'modle', which the sweep does not vary; did you mean model?");
}

}  // namespace
}  // namespace difflab::report
