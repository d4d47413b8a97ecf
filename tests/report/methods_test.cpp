// What the report writes for the methods section of a paper.
#include "report/page/methods.h"

#include "report/data/frame.h"
#include "report/example_study.h"
#include "support/catch.h"
#include "util/files.h"

namespace difflab::report {
namespace {

const Json kTrain = {{"steps", 4000},
                     {"batch_size", 32},
                     {"lr", 0.016},
                     {"warmup_steps", 100},
                     {"schedule", "constant"},
                     {"final_lr_ratio", 0.1},
                     {"decay_share", 0.2},
                     {"optimizer", {{"kind", "adamw"}}},
                     {"beta1", 0.9},
                     {"beta2", 0.95},
                     {"adam_eps", 1e-8},
                     {"weight_decay", 0.1},
                     {"grad_clip", 1.0},
                     {"loss", {{"per", "target"}}},
                     {"eval_samples", 256},
                     {"events", Json::array({{{"name", "found"},
                                              {"metric", "valid_accuracy"},
                                              {"at_least", 0.9},
                                              {"at_most", nullptr},
                                              {"in_a_row", 2}}})},
                     {"event_every", 5},
                     {"event_samples", 64},
                     {"stop_at", "found"}};

// Two models and two seeds, the second model with half the heads.
struct Example {
  Example() : builder(folder.path()) {
    for (const int seed : {0, 1}) {
      add("transformer", seed, 4);
      add("diff", seed, 2);
    }
    builder.study.report.labels.entries = {{"transformer", "Transformer"}, {"diff", "DIFF"}};
  }

  void add(const std::string& model, int seed, int heads) {
    builder.finished(model, seed, {{"parameters", 1000 + heads}, {"steps_to_found", 500}});
    builder.study.runs.back().config = {
        {"model",
         {{"name", model}, {"layers", 2}, {"d_model", 64}, {"attention", {{"heads", heads}}}}},
        {"task", {{"needle", {{"length", 128}, {"lengths", {64, 128}}}}}},
        {"train", kTrain},
        {"precision", "float32"},
        {"seed", seed}};
  }

  Json& train(std::size_t run) { return builder.study.runs[run].config["train"]; }
  void all_train(const char* key, const Json& value) {
    for (std::size_t i = 0; i < builder.study.runs.size(); ++i) train(i)[key] = value;
  }

  std::string paragraph(const std::string& heading) const {
    const auto all =
        methods_of(builder.study, frame_of(builder.study), Labels(builder.study.report.labels));
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& one) { return one.heading == heading; });
    return found == all.end() ? "" : found->text;
  }

  TemporaryFolder folder;
  StudyBuilder builder;
};

ClaimConfig claim_of(const std::string& metric) {
  ClaimConfig claim;
  claim.text = "DIFF is better";
  claim.metric = metric;
  claim.variant = "diff";
  return claim;
}

CATCH_TEST_CASE("methods tell what all runs share and name what differs") {
  const Example study;
  CATCH_CHECK(study.paragraph("Models.") ==
              "We compare Transformer and DIFF. The models have 2 layers, width 64 and 1,002 to "
              "1,004 parameters. Sequences have 64 and 128 tokens.");
  CATCH_CHECK(
      study.paragraph("Training.") ==
      "Training is with AdamW (β1 = 0.9, β2 = 0.95, ε = 1e-08, weight decay = 0.1), batches "
      "of 32 sequences, gradients clipped at a norm of 1 and a learning rate of 0.016 that "
      "rises linearly in 100 steps and then is constant, for at most 4,000 steps. The loss "
      "is the mean over targets. A run ends when validation accuracy on held-out sequences "
      "is at least 0.9 in 2 checks in a row, made every 5 steps on 64 sequences of each part "
      "of the task and confirmed on 256. Runs differ also in model.attention.heads.");
  CATCH_CHECK(
      study.paragraph("Seeds.") ==
      "Each setting has 2 seeds. A seed fixes the initial weights and all sequences that are "
      "drawn: runs of one seed and task see the same ones.");
  CATCH_CHECK(study.paragraph("Software.") ==
              "difflab (commit 0123456789ab), LibTorch 2.13.0, on AMD EPYC 7003, in float32.");
  CATCH_CHECK(study.paragraph("Tuning.").empty());
  CATCH_CHECK(study.paragraph("Statistics.").empty());
}

CATCH_TEST_CASE("what is compared has its name where it is no model") {
  Example study;
  for (auto& run : study.builder.study.runs) run.axes[0].first = "model.lambda_init";
  CATCH_CHECK_THAT(study.paragraph("Models."),
                   Catch::StartsWith("We compare values of λ_init: Transformer and DIFF."));
}

CATCH_TEST_CASE("a setting in which one run differs is not told as that of all") {
  Example study;
  study.train(3)["batch_size"] = 64;
  study.train(2).erase("grad_clip");
  const auto text = study.paragraph("Training.");
  CATCH_CHECK_THAT(text, !Contains("batches of") && !Contains("clipped"));
  CATCH_CHECK_THAT(text, Contains("train.batch_size") && Contains("train.grad_clip"));
}

CATCH_TEST_CASE("runs without a result are no part of the methods") {
  Example study;
  study.builder.plan("diff", 2);
  CATCH_CHECK_THAT(study.paragraph("Seeds."), Contains("has 2 seeds"));
  CATCH_CHECK_THAT(study.paragraph("Models."), Contains("Transformer and DIFF."));
  study.add("diff", 3, 2);
  CATCH_CHECK_THAT(study.paragraph("Seeds."), Contains("has 2 to 3 seeds"));
  study.builder.plan("diff_v2", 0);
  CATCH_CHECK_THAT(study.paragraph("Models."), Contains("Transformer and DIFF."));
  Example tuning;
  tuning.builder.study.is_tuning = true;
  CATCH_CHECK(tuning.paragraph("Seeds.").empty());
  Example nothing;
  for (const auto& run : nothing.builder.study.runs) std::filesystem::remove_all(run.directory);
  CATCH_CHECK(methods_of(nothing.builder.study, frame_of(nothing.builder.study),
                         Labels(nothing.builder.study.report.labels))
                  .empty());
}

CATCH_TEST_CASE("methods tell each schedule as it is") {
  Example study;
  const auto with = [&](const char* schedule) {
    study.all_train("schedule", schedule);
    return study.paragraph("Training.");
  };
  CATCH_CHECK_THAT(with("cosine"), Contains("and then falls to 0.1 of it along a half cosine,"));
  CATCH_CHECK_THAT(with("linear"), Contains("and then falls to 0.1 of it linearly,"));
  CATCH_CHECK_THAT(with("warmup_stable_decay"),
                   Contains("is constant but falls to 0.1 of it in the last 20 % of the steps,"));
  study.all_train("warmup_steps", 0);
  study.all_train("stop_at", "");
  CATCH_CHECK_THAT(with("constant"), Contains("rate of 0.016 that is constant, for 4,000 steps.") &&
                                         !Contains("A run ends"));
}

CATCH_TEST_CASE("methods tell how a key was tuned, without the values that were taken") {
  Example study;
  Tuned tuned{.key = "train.lr",
              .grid = {0.004, 0.008, 0.016},
              .seeds = {10000, 10001},
              .steps = 1600,
              .longer = 4000,
              .criterion = "the value with the lowest mean steps_to_found"};
  tuned.variants.push_back({.axes = {{"model", "diff"}}, .value = 0.008});
  study.builder.study.tuned = tuned;
  CATCH_CHECK(study.paragraph("Tuning.") ==
              "The learning rate was tuned for each variant: 0.004, 0.008, 0.016, each in runs of "
              "1,600 steps with 2 seeds on validation data; taken was the value with the lowest "
              "mean steps to found.");
  CATCH_CHECK_THAT(study.paragraph("Training."), !Contains("0.016"));
  CATCH_CHECK_THAT(study.paragraph("Seeds."), Contains("none of which was used for tuning"));
  study.builder.study.tuned->variants[0].is_longer = true;
  study.builder.study.tuned->with_one_seed = 2;
  study.builder.study.tuned->trials = 9;
  CATCH_CHECK_THAT(study.paragraph("Tuning."),
                   Contains("Tuned in runs of 4,000 steps, as in shorter ones no value worked with "
                            "the first seed: DIFF.") &&
                       Contains("2 of the 9 trials of a value for a variant ended with one seed"));
  auto& variant = study.builder.study.tuned->variants[0];
  variant = {.axes = {{"model", "diff"}, {"init", "yoco"}}, .value = {}, .at_edge = true};
  CATCH_CHECK_THAT(study.paragraph("Tuning."),
                   Contains("No value works, so that there are no runs: (DIFF, yoco).") &&
                       Contains("lies at the edge of the grid: (DIFF, yoco)."));
  study.builder.study.tuned->seeds = {1, 2};
  CATCH_CHECK_THAT(study.paragraph("Seeds."), !Contains("none of which"));
}

CATCH_TEST_CASE("methods name the tests that the claims had") {
  Example study;
  auto& claims = study.builder.study.report.claims;
  claims = {claim_of("steps_to_found")};
  claims[0].margin = 50;
  CATCH_CHECK(
      study.paragraph("Statistics.") ==
      "The claims are judged by the differences between runs of equal seeds, with Student-t "
      "intervals of 95 % and exact two-sided tests (sign flips). "
      "Times of runs that did not get there count as the earliest end of such a run "
      "(restricted means); a run that diverged is one that did not get there in all its steps. "
      "A claim, or its opposite, is called supported if p is at most "
      "0.05 and the interval is on its side of 0, with at least 8 pairs of runs. Variants "
      "are called equivalent if two one-sided tests say that they differ by less than 50 "
      "(steps to found). A claim is called uninformative if both variants lie where its "
      "metric cannot tell them apart, or if more than a tenth of its pairs are left out because "
      "a run diverged.");
  claims = {claim_of("needle_accuracy"), claim_of("learned")};
  claims[0].smallest = 0.01;
  CATCH_CHECK_THAT(
      study.paragraph("Statistics."),
      Contains("(of shares on Fisher's z scale)") && Contains("; McNemar's") &&
          Contains("adjusted for the 2 claims (Holm)") && !Contains("restricted") &&
          Contains("at least 8 pairs of runs and 16 pairs of runs where something happened") &&
          Contains("the difference is larger than 0.010 (needle accuracy)") &&
          !Contains("both have learned"));
  study.builder.study.report.learned.metric = "valid_accuracy";
  CATCH_CHECK_THAT(study.paragraph("Statistics."), Contains("pairs of which both have learned."));
  claims = {claim_of("learned")};
  CATCH_CHECK_THAT(study.paragraph("Statistics."), !Contains("sign flips") &&
                                                       Contains("Fisher's z") &&
                                                       Contains("16 pairs of runs."));
}

CATCH_TEST_CASE("methods tell what comes before a run's own training, and what is not trained") {
  Example study;
  const Json first = {{"task", {{"length", 128}}},
                      {"train", {{"steps", 1000}, {"batch_size", 16}, {"lr", 0.01}}}};
  for (std::size_t i = 0; i < 4; ++i) {
    study.builder.study.runs[i].config["stages"] = Json::array({first});
  }
  study.builder.study.runs[1].config["stages"][0]["train"]["lr"] = 0.1;
  CATCH_CHECK_THAT(study.paragraph("Training."),
                   Contains(" Before that come 1,000 steps with batches of 16 sequences of 128 "
                            "tokens. Runs differ"));
  study.builder.study.runs[2].config["stages"].push_back(first);
  CATCH_CHECK_THAT(study.paragraph("Training."), Contains("go through stages that differ."));

  Example timed;
  timed.all_train("seconds", 60);
  timed.all_train("stop_at", "");
  CATCH_CHECK_THAT(timed.paragraph("Training."), Contains("for at most 4,000 steps or 60 s."));
  timed.all_train("steps", 1);
  CATCH_CHECK_THAT(timed.paragraph("Training."), Contains("a learning rate of 0.016, for"));
  timed.all_train("steps", 0);
  CATCH_CHECK_THAT(timed.paragraph("Training."),
                   Catch::StartsWith("The models are evaluated as they are; nothing is trained."));
  for (auto& run : timed.builder.study.runs) run.config["init_from"] = {{"path", "/w"}};
  CATCH_CHECK_THAT(timed.paragraph("Seeds."), Contains("A seed fixes all sequences"));
}

CATCH_TEST_CASE("methods tell an optimizer with its own settings, and events that differ") {
  Example study;
  study.all_train("optimizer", {{"kind", "muon"}, {"momentum", 0.95}, {"nesterov", true}});
  study.all_train("groups", Json::array({{{"match", "norm"}}}));
  study.all_train("eval_samples", 64);
  CATCH_CHECK_THAT(
      study.paragraph("Training."),
      Contains("Muon for the matrices of the blocks and AdamW for the rest (momentum = 0.95, "
               "nesterov = true, β1 = 0.9, ") &&
          Contains(
              "weight decay = 0.1) but for groups of parameters with settings of their own,") &&
          !Contains("confirmed"));
  study.train(0)["events"] = Json::array();
  CATCH_CHECK_THAT(
      study.paragraph("Training."),
      Contains(" A run ends at its event (found), which is not the same in all runs.") &&
          Contains("train.events"));
}

CATCH_TEST_CASE("methods name every source of the runs once") {
  const Example study;
  const auto& run = study.builder.study.runs.back();
  write_file_atomically(run.directory / "provenance.json",
                        Json{{"commit", "fedcba98765400"},
                             {"dirty", true},
                             {"difflab", "0.2.0"},
                             {"device", "cuda"},
                             {"device_name", "H200"},
                             {"project", {{"commit", "abcdef0123456"}, {"dirty", false}}},
                             {"earlier_sessions", Json::array({{{"difflab", "0.1.0"}}})}}
                            .dump());
  CATCH_CHECK(study.paragraph("Software.") ==
              "difflab 0.1.0 and 0.2.0 (commit 0123456789ab and fedcba987654 with uncommitted "
              "changes), experiments of commit abcdef012345, LibTorch 2.13.0, on AMD EPYC 7003 and "
              "H200, in float32.");
}

CATCH_TEST_CASE("the report has the methods as LaTeX and in its page") {
  Example study;
  study.builder.study.report.tables = headline_report().tables;
  study.builder.study.report.labels.entries = {{"transformer", "Trans_former; 100 %"}};
  const auto summary = write_report(study.builder.study);
  const auto tex = read_file(study.builder.study.output / kMethodsFile);
  CATCH_CHECK_THAT(tex,
                   Contains("\\paragraph{Models.} We compare Trans\\_former; 100 \\% and diff."));
  CATCH_CHECK_THAT(
      read_file(study.builder.study.output / "report.html"),
      Contains("<summary>Methods, for a paper</summary>") && Contains("Trans_former; 100 %"));
  CATCH_CHECK_THAT(summary.text, Contains("methods.tex"));
  for (const auto& run : study.builder.study.runs) std::filesystem::remove_all(run.directory);
  write_report(study.builder.study);
  CATCH_CHECK(!std::filesystem::exists(study.builder.study.output / kMethodsFile));
}

}  // namespace
}  // namespace difflab::report
