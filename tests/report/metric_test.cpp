// Facts of metrics, as evaluations declare them.
#include "report/data/metric.h"

#include "support/catch.h"
#include "support/declared.h"

namespace difflab::report {
namespace {

CATCH_TEST_CASE("an evaluation says what kind of metric it gives, and which way is better") {
  CATCH_CHECK(metric_of("attention_to_answer").outcome == Outcome::kMeasure);
  CATCH_CHECK(metric_of("attention_to_answer").better == Better::kNeither);
  const Declared declared({share_metric("attention_to_*", Better::kHigher),
                           share_metric("attention_to_noise", Better::kLower),
                           loss_metric("*_loss"), share_metric("*_accuracy", Better::kHigher)});
  CATCH_CHECK(metric_of("attention_to_answer").outcome == Outcome::kShare);
  CATCH_CHECK(metric_of("attention_to_answer").better == Better::kHigher);
  CATCH_CHECK(metric_of("attention_to_noise").better == Better::kLower);  // the longer name
  // As an evaluation with a name gives it.
  CATCH_CHECK(metric_of("far_attention_to_noise").better == Better::kLower);
  CATCH_CHECK(metric_of("attention_elsewhere").better == Better::kNeither);
  // As one that was asked at a step of the training gives it.
  CATCH_CHECK(metric_of("curve_copy_loss_at_200").better == Better::kLower);
  CATCH_CHECK(metric_of("copy_accuracy_at_200").outcome == Outcome::kShare);
  CATCH_CHECK(metric_of("copy_accuracy_at_200_chance").better == Better::kNeither);
  // When something was learned is no accuracy, whatever it was.
  CATCH_CHECK(metric_of("steps_to_90_accuracy").outcome == Outcome::kTimeToEvent);
  CATCH_CHECK(metric_of("steps_to_90_accuracy").better == Better::kLower);
}

CATCH_TEST_CASE("a loss that nobody declared is better lower at a step of the training, too") {
  CATCH_CHECK(metric_of("copy_loss_at_200").better == Better::kLower);
  CATCH_CHECK(metric_of("copy_loss_at_").better == Better::kNeither);
  CATCH_CHECK(metric_of("200").better == Better::kNeither);
}

CATCH_TEST_CASE("what an evaluation says may be negative has intervals that go below 0") {
  const Declared declared({{.name = "loss_below_trigrams",
                            .better = Better::kHigher,
                            .label = "loss below trigram counts"}});
  const std::vector<double> worse{-0.1, -0.3};
  const auto interval = interval_of_mean(worse, metric_of("loss_below_trigrams"));
  CATCH_CHECK(interval->low == Approx(-0.2 - 12.7062 * 0.1));
  CATCH_CHECK(metric_of("loss_below_trigrams").heading == "loss below trigram counts");
}

CATCH_TEST_CASE("what is shown as zero has no sign") {
  const auto share = metric_of("needle_accuracy");
  CATCH_CHECK(share.signed_text(0.0002) == "0.000");
  CATCH_CHECK(share.signed_text(-0.0001) == "0.000");
  CATCH_CHECK(share.signed_text(0.0006) == "+0.001");
  CATCH_CHECK(share.signed_text(-0.25) == "−0.250");
}

CATCH_TEST_CASE("no interval of a mean leaves the range of its metric") {
  const std::vector<double> times{100, 300};
  const auto time = interval_of_mean(times, metric_of("steps_to_found"));
  CATCH_REQUIRE(time);
  CATCH_CHECK(time->low == 0);
  CATCH_CHECK(time->high == Approx(200 + 12.7062 * 100));
  CATCH_CHECK(interval_of_mean(times, metric_of("copy_loss"))->low == 0);
  // Of what may be negative it does not stop there.
  CATCH_CHECK(interval_of_mean(times, metric_of("lambda_mean"))->low < -1000);
  CATCH_CHECK(interval_of_mean(times, metric_of("gradient_spikes"))->low == 0);
  const std::vector<double> one_of_four_did_not{1, 1, 1, 0};  // Wilson's
  const auto learned = interval_of_mean(one_of_four_did_not, metric_of("learned"));
  CATCH_CHECK(learned->low == Approx(0.30064).epsilon(1e-4));
  CATCH_CHECK(learned->high == Approx(0.95441).epsilon(1e-4));
  const std::vector<double> shares{0.01, 0.03};
  CATCH_CHECK(interval_of_mean(shares, metric_of("grid_accuracy"))->low > 0);
}

CATCH_TEST_CASE("names that are the same when shortened stay whole where they appear together") {
  const TextMap user{{{"a.lr", "rate of a"}}};
  const auto headings = [&](const std::vector<std::string>& keys) {
    const Labels labels(user, keys);
    std::vector<std::string> found;
    for (const auto& key : keys) found.push_back(labels.heading(metric_of(key)));
    return found;
  };
  using Texts = std::vector<std::string>;
  CATCH_CHECK(headings({"short.ctx_recall_loss", "long.ctx_recall_loss"}) ==
              Texts{"short.ctx recall loss", "long.ctx recall loss"});
  CATCH_CHECK(headings({"ctx_recall_loss", "long.ctx_recall_loss"}) ==
              Texts{"ctx recall loss", "long.ctx recall loss"});
  CATCH_CHECK(headings({"task.length", "task.needle.length"}) ==
              Texts{"task.length", "task.needle.length"});
  CATCH_CHECK(headings({"model.attention.lambda_init", "stages.0.lambda_init"}) ==
              Texts{"model.attention.λ_init", "stages.0.λ_init"});
  CATCH_CHECK(headings({"long.ctx_recall_loss", "train.lr", "train.lr"}) ==
              Texts{"ctx recall loss", "learning rate", "learning rate"});
  CATCH_CHECK(headings({"a.lr", "b.lr"}) == Texts{"rate of a", "learning rate"});
  CATCH_CHECK(headings({"lambda.0", "lambda.1"}) == Texts{"λ, layer 0", "λ, layer 1"});
}

}  // namespace
}  // namespace difflab::report
