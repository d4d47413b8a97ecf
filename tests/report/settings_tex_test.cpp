// The table of settings for the appendix of a paper.
#include "report/example_study.h"
#include "report/page/page.h"
#include "support/catch.h"

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
  Example() {
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

  // "Model: layers" → its value, in one text for each setting.
  std::map<std::string, std::string> settings() const {
    std::map<std::string, std::string> all;
    for (const auto& one : settings_of(builder.study, frame_of(builder.study),
                                       labels_of(builder.study, frame_of(builder.study)))) {
      all[one.group + ": " + one.name] = one.value;
    }
    return all;
  }

  StudyBuilder builder;
};

ClaimConfig claim_of(const std::string& metric) {
  return of_yaml<ClaimConfig>("text: DIFF is better, variant: diff, metric: " + metric);
}

CATCH_TEST_CASE("settings are those of all runs, in words, and every value of what differs") {
  Example study;
  study.train(3)["batch_size"] = 64;
  study.train(2).erase("grad_clip");
  auto found = study.settings();
  const std::map<std::string, std::string> expected = {
      {"Compared: model", "Transformer; DIFF"},
      {"Model: parameters", "1,002 to 1,004"},
      {"Model: layers", "2"},
      {"Model: width", "64"},
      {"Model: heads", "4; 2"},
      {"Model: tokens of a sequence", "128"},
      {"Model: tokens of a sequence, drawn from", "64, 128"},
      {"Training: optimizer", "AdamW"},
      {"Training: β_1", "0.9"},
      {"Training: β_2", "0.95"},
      {"Training: ε", "10⁻⁸"},
      {"Training: weight decay", "0.1"},
      {"Training: gradient clipping, norm", "1; none"},
      {"Training: sequences of a batch", "32; 64"},
      {"Training: learning rate", "0.016"},
      {"Training: schedule", "constant"},
      {"Training: warm-up steps", "100"},
      {"Training: steps, at most", "4,000"},
      {"Training: equal weight in the loss", "target"},
      {"Training: ends at", "validation accuracy ≥ 0.9, 2 checks in a row"},
      {"Training: precision", "float32"},
      {"Seeds: of each setting", "2"},
      {"Seeds: fix", "initial weights and data"},
      {"Software: commit", "0123456789ab"},
      {"Software: LibTorch", "2.13.0"},
      {"Software: machine", "AMD EPYC 7003"}};
  for (const auto& [name, value] : expected) {
    CATCH_INFO(name);
    CATCH_CHECK(found[name] == value);
    found.erase(name);
  }
  for (const auto& [name, value] : found) CATCH_FAIL_CHECK(name << " is " << value);
}

CATCH_TEST_CASE("settings are of runs with a result, and of no tuning") {
  Example study;
  study.builder.plan("diff", 2);
  study.builder.plan("diff_v2", 0);
  CATCH_CHECK(study.settings()["Seeds: of each setting"] == "2");
  CATCH_CHECK(study.settings()["Compared: model"] == "Transformer; DIFF");
  study.add("diff", 3, 2);
  CATCH_CHECK(study.settings()["Seeds: of each setting"] == "2 to 3");
  study.builder.study.is_tuning = true;
  CATCH_CHECK(study.settings().empty());
  Example nothing;
  for (const auto& run : nothing.builder.study.runs)
    std::filesystem::remove_all(run.directory.path);
  CATCH_CHECK(nothing.settings().empty());
}

CATCH_TEST_CASE("settings leave out what has no effect beside the others") {
  Example study;
  study.all_train("schedule", "warmup_stable_decay");
  auto found = study.settings();
  CATCH_CHECK(found["Training: schedule"] == "warmup stable decay");
  CATCH_CHECK(found["Training: share of steps that decay"] == "0.2");
  CATCH_CHECK(found["Training: last share of the rate"] == "0.1");
  study.all_train("schedule", "cosine");
  study.all_train("optimizer", {{"kind", "sgd"}, {"momentum", 0.9}});
  found = study.settings();
  CATCH_CHECK(found.count("Training: share of steps that decay") == 0);
  CATCH_CHECK(found["Training: last share of the rate"] == "0.1");
  CATCH_CHECK(found["Training: momentum"] == "0.9");
  CATCH_CHECK(found.count("Training: β_1") + found.count("Training: ε") == 0);
}

CATCH_TEST_CASE("settings say how a key was tuned, and of which seeds") {
  Example study;
  Tuned tuned{.key = "train.lr",
              .grid = {0.004, 1e-5, 2.5e-7},
              .seeds = {10000, 10001},
              .steps = 1600,
              .criterion = "the value with the lowest mean steps_to_found"};
  study.builder.study.tuned = tuned;
  auto found = study.settings();
  CATCH_CHECK(found["Training: learning rate"] == "tuned for each variant");
  CATCH_CHECK(found["Tuning: learning rate"] == "0.004, 10⁻⁵, 2.5 × 10⁻⁷");
  CATCH_CHECK(found["Tuning: steps"] == "1,600");
  CATCH_CHECK(found["Tuning: seeds"] == "2");
  CATCH_CHECK(found["Tuning: taken"] == "the value with the lowest mean steps to found");
  CATCH_CHECK(found["Seeds: used for tuning, too"] == "none");
  study.builder.study.tuned->seeds = {1, 2};
  CATCH_CHECK(study.settings()["Seeds: used for tuning, too"] == "some");
}

CATCH_TEST_CASE("settings name the tests that the claims had") {
  Example study;
  auto& claims = study.builder.study.report.claims;
  claims = {claim_of("steps_to_found")};
  claims[0].margin = 50;
  auto found = study.settings();
  CATCH_CHECK(found["Statistics: tests"] == "exact, two-sided: sign flips");
  CATCH_CHECK(found["Statistics: pairs needed"] == "8");
  CATCH_CHECK(found["Statistics: equivalent within"] == "50 (steps to found)");
  CATCH_CHECK(found["Statistics: times not reached"] == "restricted means");
  CATCH_CHECK(found.count("Statistics: adjustment of p") == 0);
  claims = {claim_of("needle_accuracy"), claim_of("learned")};
  claims[0].smallest = 0.01;
  found = study.settings();
  CATCH_CHECK(found["Statistics: tests"] == "exact, two-sided: McNemar; sign flips");
  CATCH_CHECK(found["Statistics: pairs needed"] == "16 of events; 8");
  CATCH_CHECK(found["Statistics: difference needed"] == "0.010 (needle accuracy)");
  CATCH_CHECK(found["Statistics: adjustment of p"] == "Holm");
}

CATCH_TEST_CASE("settings name every source of the runs once") {
  const Example study;
  const auto& run = study.builder.study.runs.back();
  write_file_atomically(run.directory.path / "provenance.json",
                        Json{{"commit", "fedcba98765400"},
                             {"dirty", true},
                             {"difflab", "0.2.0"},
                             {"device", "cuda"},
                             {"device_name", "H200"},
                             {"project", {{"commit", "abcdef0123456"}, {"dirty", false}}},
                             {"earlier_sessions", Json::array({{{"difflab", "0.1.0"}}})}}
                            .dump());
  auto found = study.settings();
  CATCH_CHECK(found["Software: difflab"] == "0.1.0; 0.2.0");
  CATCH_CHECK(found["Software: commit"] == "0123456789ab; fedcba987654 with uncommitted changes");
  CATCH_CHECK(found["Software: commit of experiments"] == "abcdef012345");
  CATCH_CHECK(found["Software: machine"] == "AMD EPYC 7003; H200");
}

CATCH_TEST_CASE("the report has its settings as LaTeX and in its page, and no methods.tex") {
  Example study;
  study.builder.study.report.tables = headline_report().tables;
  study.builder.study.report.labels.entries = {{"transformer", "Trans_former; 100 %"}};
  const auto& output = study.builder.study.output;
  make_directories(output);
  write_file_atomically(output / "methods.tex", "of an older difflab");
  const auto summary = write_report(study.builder.study);
  const auto tex = read_file(output / kSettingsFile);
  for (const char* part : {"Trans\\_former; 100 \\%; diff",
                           "\\raggedright $\\beta_1$ & \\raggedright 0.9 \\tabularnewline",
                           "$\\varepsilon$ & \\raggedright 10$^{-8}$ ",
                           "\\begin{tabular}{@{}p{78pt}p{150pt}@{}}", "\\textbf{Training}"}) {
    CATCH_CHECK_THAT(tex, Contains(part));
  }
  CATCH_CHECK_THAT(read_file(output / "report.html"),
                   Contains("<summary>Settings, for a paper</summary>") && Contains("10⁻⁸"));
  CATCH_CHECK_THAT(summary.text, Contains("settings.tex"));
  CATCH_CHECK_FALSE(std::filesystem::exists(output / "methods.tex"));
  for (const auto& run : study.builder.study.runs) std::filesystem::remove_all(run.directory.path);
  write_report(study.builder.study);
  CATCH_CHECK_FALSE(std::filesystem::exists(output / kSettingsFile));
}

}  // namespace
}  // namespace difflab::report
