// What the report writes for the methods section of a paper.
#include "report/page/methods.h"

#include <algorithm>

#include "report/data/frame.h"
#include "report/example_study.h"
#include "support/catch.h"
#include "util/files.h"

namespace difflab::report {
namespace {

using Catch::Contains;

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
struct Described {
  Described() : builder(folder.path()) {
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
  const Described study;
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
      "of the task and confirmed on 256. What differs between runs: model.attention.heads.");
  CATCH_CHECK(study.paragraph("Seeds.") ==
              "Each setting is trained with 2 seeds. A seed fixes the initial weights and the "
              "batches: runs of one seed and task see the same sequences.");
  CATCH_CHECK(study.paragraph("Software.") ==
              "difflab (commit 0123456789ab), LibTorch 2.13.0, on AMD EPYC 7003, in float32.");
  CATCH_CHECK(study.paragraph("Tuning.").empty());
  CATCH_CHECK(study.paragraph("Statistics.").empty());
}

CATCH_TEST_CASE("what is compared has its name where it is no model") {
  Described study;
  for (auto& run : study.builder.study.runs) run.axes[0].first = "model.lambda_init";
  CATCH_CHECK_THAT(study.paragraph("Models."),
                   Catch::StartsWith("We compare values of λ_init: Transformer and DIFF."));
}

CATCH_TEST_CASE("a setting in which one run differs is not told as that of all") {
  Described study;
  study.train(3)["batch_size"] = 64;
  study.train(2).erase("grad_clip");
  const auto text = study.paragraph("Training.");
  CATCH_CHECK_THAT(text, !Contains("batches of") && !Contains("clipped"));
  CATCH_CHECK_THAT(text, Contains("train.batch_size") && Contains("train.grad_clip"));
}

CATCH_TEST_CASE("runs without a result are no part of the methods") {
  Described study;
  study.builder.plan("diff", 2);
  CATCH_CHECK_THAT(study.paragraph("Seeds."), Contains("with 2 seeds"));
  Described tuning;
  tuning.builder.study.is_tuning = true;
  CATCH_CHECK(tuning.paragraph("Seeds.").empty());
  Described nothing;
  for (const auto& run : nothing.builder.study.runs) std::filesystem::remove_all(run.directory);
  CATCH_CHECK(methods_of(nothing.builder.study, frame_of(nothing.builder.study),
                         Labels(nothing.builder.study.report.labels))
                  .empty());
}

CATCH_TEST_CASE("methods tell each schedule as it is") {
  Described study;
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
  Described study;
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
                   Contains("no value worked with the first seed were tuned in runs of 4,000") &&
                       Contains("2 of the 9 trials of a value for a variant ended with one seed"));
  study.builder.study.tuned->seeds = {1, 2};
  CATCH_CHECK_THAT(study.paragraph("Seeds."), !Contains("none of which"));
}

CATCH_TEST_CASE("methods name the tests that the claims had") {
  Described study;
  auto& claims = study.builder.study.report.claims;
  claims = {claim_of("steps_to_found")};
  claims[0].margin = 50;
  CATCH_CHECK(
      study.paragraph("Statistics.") ==
      "The claims are judged by the differences between runs of equal seeds, with Student-t "
      "95 % intervals and exact two-sided tests (sign flips). Times of runs that did not get "
      "there count as the earliest end of such a run (restricted means). A claim, or its "
      "opposite, is called supported if p is at most 0.05 and the interval is on its side of "
      "0, with at least 8 pairs of runs. Variants are called equivalent if two one-sided "
      "tests say that they differ by less than 50 (steps to found).");
  claims = {claim_of("needle_accuracy"), claim_of("learned")};
  CATCH_CHECK_THAT(study.paragraph("Statistics."),
                   Contains("(of shares on Fisher's z scale)") &&
                       Contains("(sign flips, McNemar's") &&
                       Contains("adjusted for the 2 claims (Holm)") && !Contains("restricted") &&
                       Contains("with at least 16 pairs"));
  claims = {claim_of("learned")};
  CATCH_CHECK_THAT(study.paragraph("Statistics."), !Contains("sign flips"));
  study.builder.study.looks = {8, 16, 32};
  CATCH_CHECK_THAT(study.paragraph("Statistics."),
                   Contains("with a look after 8, 16 and 32 seeds") && !Contains("Holm") &&
                       Contains("if p is at most that level"));
  CATCH_CHECK_THAT(study.paragraph("Seeds."), Contains("with up to 2 seeds"));
}

CATCH_TEST_CASE("the report has the methods as LaTeX and in its page") {
  Described study;
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
