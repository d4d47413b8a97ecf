// The steps of optimisers against those of torch.optim (tests/train/reference/optimizers.py).

#include <numbers>

#include "config/schema/reader.h"
#include "support/catch.h"
#include "support/tensors.h"
#include "train/step/optimizer.h"

namespace difflab {
namespace {

Json torch_cases() {
  return Json::parse(std::ifstream(DIFFLAB_ROOT "/tests/train/reference/optimizers.json"));
}

at::Tensor numbers(const Json& values, const Json& shape, at::ScalarType type) {
  return at::tensor(values.get<std::vector<double>>(), at::kDouble)
      .view(shape.get<std::vector<std::int64_t>>())
      .to(type);
}

// Registers a parameter under a name with dots, each of which is a module.
at::Tensor add_parameter(torch::nn::Module& root, const std::string& name,
                         const at::Tensor& value) {
  auto* at = &root;
  const auto words = split(name, '.');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto children = at->named_children();
    const auto* found = children.find(words[i]);
    at = found != nullptr
             ? found->get()
             : at->register_module(words[i], std::make_shared<torch::nn::Module>()).get();
  }
  return at->register_parameter(words.back(), value);
}

// loss = Σ w·sin(p + c) over the parameters of the reference.
struct Waves {
  torch::nn::Module module;
  std::vector<std::string> names;
  std::vector<at::Tensor> p, w, c;

  Waves(const Json& cases, at::ScalarType type) {
    for (const auto& [name, shape] : cases.at("shapes").items()) {
      const auto& from = cases.at("start").at(name);
      names.push_back(name);
      w.push_back(numbers(from.at("w"), shape, type));
      c.push_back(numbers(from.at("c"), shape, type));
      p.push_back(add_parameter(module, name, numbers(from.at("p"), shape, type)));
    }
  }
  at::Tensor loss() const {
    auto sum = at::zeros({}, w[0].options());
    for (std::size_t i = 0; i < p.size(); ++i) sum = sum + (w[i] * (p[i] + c[i]).sin()).sum();
    return sum;
  }
};

TrainConfig settings_of(const Json& of) {
  TrainConfig config{.weight_decay = of.at("weight_decay"),
                     .groups = {{.match = "norm.*", .lr_scale = 0.5, .weight_decay = 0.0},
                                {.match = "layers.1.*", .lr_scale = 0.25}}};
  config.optimizer = config::read<OptimizerConfig>(config::from_json(of.at("settings")));
  return config;
}

void check_case(const Json& all, const Json& of, at::ScalarType type, double tolerance) {
  CATCH_INFO(of.at("settings").dump() << " " << at::toString(type));
  Waves waves(all, type);
  Optimizer optimizer(waves.module, settings_of(of));
  const int steps = all.at("steps");
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    waves.loss().backward();
    const double along = 0.5 * (1 + std::cos(std::numbers::pi * step / steps));
    optimizer.step(of.at("lr").get<double>() * (0.1 + 0.9 * along));
  }
  const auto& theirs = of.at(type == at::kDouble ? "float64" : "float32");
  for (std::size_t i = 0; i < waves.p.size(); ++i) {
    const auto& name = waves.names[i];
    CATCH_INFO(name);
    const auto expected = numbers(theirs.at(name), all.at("shapes").at(name), at::kDouble);
    CATCH_CHECK(testing::relative_error(waves.p[i].detach().to(at::kDouble), expected) < tolerance);
  }
}

CATCH_TEST_CASE("a hundred steps of AdamW, Muon and SGD, with groups, are those of torch.optim") {
  const auto all = torch_cases();
  std::set<std::size_t> tried;
  for (const auto& of : all.at("cases")) {
    tried.insert(settings_of(of).optimizer.index());
    check_case(all, of, at::kDouble, 1e-12);
    check_case(all, of, at::kFloat, 1e-6);
  }
  CATCH_CHECK(tried.size() >= 3);
}

}  // namespace
}  // namespace difflab
