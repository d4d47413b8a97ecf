// What every optimiser of OptimizerConfig must do: learn, heed rates and decays of its groups, take
// the same steps from a rate on the device, keep all of its state where a checkpoint finds it.
#include <ATen/Parallel.h>

#include "model/language_model.h"
#include "support/optimizers.h"
#include "support/problems.h"
#include "support/tensors.h"
#include "train/optimizer/optimizer_config.h"
#include "train/step/step.h"

namespace difflab {
namespace {

using testing::for_each_optimizer;

struct Taught {
  LanguageModel model;
  TrainConfig config;
  Optimizer optimizer;

  explicit Taught(const TrainConfig& how) : model(fresh()), config(how), optimizer(model, config) {}

  static LanguageModel fresh() {
    const ModelConfig shape{
        .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 1}};
    LanguageModel model(shape, /*vocab_size=*/30);
    initialise(model, shape, 0);
    return model;
  }
  // The same four sequences each time; each token is asked for the one before.
  static Batch batch() {
    const auto tokens = (at::arange(4 * 21, at::kLong) * 7).remainder(30).view({4, 21});
    return {tokens.narrow(1, 1, 20), tokens.narrow(1, 0, 20), /*parts=*/{4}};
  }
  StepFound step(double lr) { return plain_step(model, optimizer, config)->run(batch(), lr); }
};

// Parameters and state, one after another.
at::Tensor all_of(const Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& buffer : optimizer.buffers()) all.push_back(buffer.flat);
  return at::cat(all).clone();
}

CATCH_TEST_CASE("every optimiser learns what is said to it again and again") {
  for_each_optimizer([](const auto& kind) {
    Taught taught({.optimizer = kind});
    const double first = taught.step(0).loss;
    double last = first;
    for (int step = 0; step < 60; ++step) last = taught.step(0.02).loss;
    CATCH_CHECK(first == Approx(std::log(30)).margin(1));
    CATCH_CHECK(last < 0.7 * first);
  });
}

CATCH_TEST_CASE("every optimiser leaves alone what has the rate 0 and decays what is to decay") {
  for_each_optimizer([](const auto& kind) {
    Taught taught({.optimizer = kind,
                   .weight_decay = 0.5,
                   .groups = {{.match = "layers.0.*", .lr_scale = 0},
                              {.match = "layers.1.attn_norm.weight", .weight_decay = 0}}});
    std::map<std::string, at::Tensor> before;
    for (const auto& one : taught.model.named_parameters()) {
      before[one.key()] = one.value().detach().clone();
    }
    taught.optimizer.zero_grad();  // so that nothing but decay changes a parameter
    taught.optimizer.step(0.1);
    for (const auto& now : taught.model.named_parameters()) {
      CATCH_INFO(now.key());
      const auto& was = before.at(now.key());
      const bool held =
          now.key().starts_with("layers.0.") || now.key() == "layers.1.attn_norm.weight";
      CATCH_CHECK(testing::relative_error(now.value(), held ? was : was * 0.95) < 1e-6);
    }
  });
}

CATCH_TEST_CASE("of two groups that match the later one counts, for what it says") {
  const std::vector<ParameterGroup> groups = {{.match = "*", .lr_scale = 0.5, .weight_decay = 0.1},
                                              {.match = "norm.*", .weight_decay = 0.3},
                                              {.match = "norm.b", .lr_scale = 2}};
  const auto settings = [&](const char* name) { return update_settings(name, 1, groups, 1, 0.01); };
  CATCH_CHECK(settings("head").lr_scale == 0.5);
  CATCH_CHECK(settings("head").weight_decay == 0.1);
  CATCH_CHECK(settings("norm.a").lr_scale == 0.5);
  CATCH_CHECK(settings("norm.a").weight_decay == 0.3);
  CATCH_CHECK(settings("norm.b").lr_scale == 2);
  CATCH_CHECK(settings("norm.b").weight_decay == 0.3);
}

CATCH_TEST_CASE("lr_scale of a group is a factor of every optimiser's rate") {
  for_each_optimizer([](const auto& kind) {
    Taught scaled({.optimizer = kind, .groups = {{.match = "*", .lr_scale = 0.5}}});
    Taught plain({.optimizer = kind});
    for (int step = 0; step < 3; ++step) {
      scaled.step(0.02);
      plain.step(0.01);
    }
    CATCH_CHECK(testing::relative_error(all_of(scaled.optimizer), all_of(plain.optimizer)) < 1e-6);
  });
}

CATCH_TEST_CASE("a group's own rate is the same whatever that of the others is") {
  for_each_optimizer([](const auto& kind) {
    const auto trained = [&](double lr, ParameterGroup group) {
      Taught taught({.lr = lr, .optimizer = kind, .groups = {group}});
      for (int step = 0; step < 3; ++step) taught.step(lr);  // the schedule is at its top
      return all_of(taught.optimizer);
    };
    const auto own = trained(0.02, {.match = "*", .lr = 0.01});
    CATCH_CHECK(testing::relative_error(own, trained(0.04, {.match = "*", .lr = 0.01})) < 1e-6);
    CATCH_CHECK(testing::relative_error(own, trained(0.02, {.match = "*", .lr_scale = 0.5})) <
                1e-6);
  });
  TrainConfig config{.groups = {{.match = "*", .lr_scale = 0.5, .lr = 0.01}}};
  CATCH_CHECK_THAT(testing::Problems::of(config.groups[0]), Contains("expected one of the two"));
  config = {.lr = 0, .groups = {{.match = "a*", .lr = 0.01}}};
  CATCH_CHECK_THAT(testing::Problems::of(config), Contains("expected an lr above 0"));
}

CATCH_TEST_CASE("every optimiser moves all that has a gradient, and nothing that has the rate 0") {
  for_each_optimizer([](const auto& kind) {
    Taught taught(
        {.optimizer = kind, .weight_decay = 0, .groups = {{.match = "layers.0.*", .lr_scale = 0}}});
    std::map<std::string, at::Tensor> before;
    for (const auto& one : taught.model.named_parameters()) {
      before[one.key()] = one.value().detach().clone();
    }
    taught.step(0.02);
    for (const auto& now : taught.model.named_parameters()) {
      CATCH_INFO(now.key());
      CATCH_CHECK(at::equal(now.value(), before.at(now.key())) ==
                  now.key().starts_with("layers.0."));
    }
  });
}

CATCH_TEST_CASE("every optimiser's step is the same on one thread and on two") {
  const int threads = at::get_num_threads();
  for_each_optimizer([](const auto& kind) {
    std::vector<at::Tensor> found;
    for (const int with : {1, 2}) {
      at::set_num_threads(1);
      Taught taught({.optimizer = kind});
      taught.step(0);
      at::set_num_threads(with);
      for (int step = 0; step < 3; ++step) taught.optimizer.step(0.02);  // the same gradients
      found.push_back(all_of(taught.optimizer));
    }
    CATCH_CHECK(at::equal(found[0], found[1]));
  });
  at::set_num_threads(threads);
}

CATCH_TEST_CASE("a rate on the device gives every optimiser the steps of a number") {
  for_each_optimizer([](const auto& kind) {
    const TrainConfig config{.optimizer = kind, .groups = {{.match = "*.bias", .lr_scale = 0.5}}};
    Taught one(config), other(config);
    const auto batch = Taught::batch();
    const auto questions = questions_of(batch, config.loss);
    FixedStep fixed(other.model, other.optimizer, config, batch, questions);
    for (int step = 0; step < 10; ++step) {
      const double lr = 0.01 / (1 + step);
      one.step(lr);
      fixed.load(batch, questions, lr);
      fixed.work();
    }
    CATCH_CHECK(testing::relative_error(all_of(other.optimizer), all_of(one.optimizer)) < 1e-4);
  });
}

CATCH_TEST_CASE("what buffers() holds and the number of steps are all that an optimiser knows") {
  for_each_optimizer([](const auto& kind) {
    Taught straight({.optimizer = kind}), resumed({.optimizer = kind});
    for (int step = 0; step < 4; ++step) straight.step(0.02);
    resumed.step(0.3);  // whatever it did before is written over
    const auto from = straight.optimizer.buffers();
    const auto to = resumed.optimizer.buffers();
    CATCH_REQUIRE(from.size() == to.size());
    std::int64_t numbers = -straight.optimizer.parameters().numel();
    for (std::size_t i = 0; i < from.size(); ++i) {
      CATCH_CHECK(from[i].name == to[i].name);
      CATCH_CHECK(is_optimizer_state(from[i].name + "norm.weight") == (i > 0));
      const at::NoGradGuard no_grad;
      to[i].flat.copy_(from[i].flat);
      numbers += from[i].flat.numel();
    }
    resumed.optimizer.resume_at(4);
    straight.step(0.02);
    resumed.step(0.02);
    CATCH_CHECK(at::equal(all_of(resumed.optimizer), all_of(straight.optimizer)));
    const double least =
        kind.state_per_parameter() * static_cast<double>(straight.optimizer.parameters().numel());
    CATCH_CHECK(static_cast<double>(numbers) >= least);
    CATCH_CHECK(static_cast<double>(numbers) <= least * 2);
  });
}

CATCH_TEST_CASE("every optimiser gives the same bits again, on two threads, too") {
  const int threads = at::get_num_threads();
  for (const int with : {1, 2}) {
    at::set_num_threads(with);
    for_each_optimizer([](const auto& kind) {
      const auto trained = [&] {
        Taught taught({.optimizer = kind});
        for (int step = 0; step < 5; ++step) taught.step(0.02);
        return all_of(taught.optimizer);
      };
      CATCH_CHECK(at::equal(trained(), trained()));
    });
  }
  at::set_num_threads(threads);
}

}  // namespace
}  // namespace difflab
