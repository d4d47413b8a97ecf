#include "model/generate/generate.h"

#include <ATen/ATen.h>

#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"

namespace difflab {
namespace {

constexpr std::int64_t kVocab = 13;

LanguageModel model_of(ModelConfig config, double std = 0.5) {
  config.d_model = 32;
  config.layers = 3;
  config.init_std = std;  // far from uniform logits
  LanguageModel model(config, kVocab);
  initialise(model, config, 7);
  model.eval();
  return model;
}

CATCH_TEST_CASE("decoding through the cache writes what recomputing every token writes") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    for (const auto positions : {Positions::kRotary, Positions::kLearned}) {
      auto model = model_of({.positions = positions, .max_positions = 10, .attention = attention});
      model.to(at::kDouble);
      const Sampling sampling{.tokens = 12, .temperature = 1, .top_k = 0, .seed = 3};
      // Longer than the window of 10 tokens towards the end.
      CATCH_CHECK(generate(model, {1, 2, 3}, sampling, 10) ==
                  generate(model, {1, 2, 3}, sampling, 10, Decoding::kFull));
    }
  }
}

CATCH_TEST_CASE("a text longer than the window is continued from its last tokens alone") {
  for (const auto decoding : {Decoding::kCached, Decoding::kFull}) {
    auto model = model_of({});
    constexpr std::int64_t kWindow = 6;
    const Sampling greedy{.tokens = 15, .temperature = 0, .top_k = 0, .seed = 0};
    const auto written = generate(model, {1, 2, 3}, greedy, kWindow, decoding);
    std::vector<std::int64_t> text{1, 2, 3};
    for (const auto token : written) {
      const auto seen = std::min<std::size_t>(text.size(), kWindow);
      const std::vector<std::int64_t> last(text.end() - static_cast<std::ptrdiff_t>(seen),
                                           text.end());
      const auto logits = model.forward(at::tensor(last).unsqueeze(0)).select(1, -1).flatten();
      CATCH_CHECK(logits.argmax().item<std::int64_t>() == token);
      text.push_back(token);
    }
  }
}

CATCH_TEST_CASE("a generated text is the same for a seed, and another one for another") {
  auto model = model_of({});
  const auto text = [&](std::int64_t seed) {
    return generate(model, {1}, {.tokens = 40, .temperature = 1, .top_k = 0, .seed = seed}, 64);
  };
  CATCH_CHECK(text(1) == text(1));
  CATCH_CHECK(text(1) != text(2));
  CATCH_CHECK(text(1).size() == 40);
}

CATCH_TEST_CASE("temperature 0 takes the most likely token each time") {
  auto model = model_of({});
  std::vector<std::int64_t> text{4};
  for (int i = 0; i < 10; ++i) {
    const auto logits = model.forward(at::tensor(text).unsqueeze(0)).select(1, -1).flatten();
    text.push_back(logits.argmax().item<std::int64_t>());
  }
  const std::vector<std::int64_t> expected(text.begin() + 1, text.end());
  const Sampling greedy{.tokens = 10, .temperature = 0, .top_k = 0, .seed = 9};
  CATCH_CHECK(generate(model, {4}, greedy, 64) == expected);
  // Drawing from the one most likely token is the same.
  CATCH_CHECK(generate(model, {4}, {.tokens = 10, .temperature = 1, .top_k = 1, .seed = 9}, 64) ==
              expected);
}

CATCH_TEST_CASE("many prompts continued at once are continued as each one alone") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    auto model = model_of({.attention = attention});
    model.to(at::kDouble);  // no ties by rounding
    const auto prompts = at::randint(kVocab, {3, 4}, at::kLong);
    const auto written = generate_greedily(model, prompts, 8);
    CATCH_REQUIRE(written.sizes() == (at::IntArrayRef{3, 8}));
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto* begin = prompts[row].const_data_ptr<std::int64_t>();
      const auto alone =
          generate(model, {begin, begin + 4},
                   {.tokens = 8, .temperature = 0, .top_k = 0, .seed = 0}, 64, Decoding::kFull);
      CATCH_CHECK(written[row].equal(at::tensor(alone)));
    }
  }
}

CATCH_TEST_CASE("tokens are drawn as often as the softmax of their logits says") {
  auto model = model_of({});
  const double temperature = 1.5;
  const auto logits = model.forward(at::full({1, 1}, 5, at::kLong)).flatten().to(at::kDouble);
  const auto kept = std::get<0>(logits.topk(4));
  const auto expected = (kept / temperature).softmax(0);  // of the four most likely, in order
  const auto order = std::get<1>(logits.topk(4));
  std::map<std::int64_t, int> counts;
  constexpr int kDraws = 4000;
  for (int seed = 0; seed < kDraws; ++seed) {
    ++counts[generate(model, {5},
                      {.tokens = 1, .temperature = temperature, .top_k = 4, .seed = seed}, 64)[0]];
  }
  CATCH_CHECK(counts.size() <= 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    const double p = expected[i].item<double>();
    // five standard deviations of a binomial share; the seeds are fixed
    const double margin = 5 * std::sqrt(p * (1 - p) / kDraws);
    CATCH_CHECK(counts[order[i].item<std::int64_t>()] / double(kDraws) == Approx(p).margin(margin));
  }
}

CATCH_TEST_CASE("dropout acts in training alone") {
  const ModelConfig config{.dropout = 0.3};
  auto model = model_of(config);
  const auto tokens = at::arange(8).unsqueeze(0).remainder(kVocab);
  CATCH_CHECK(at::equal(model.forward(tokens), model.forward(tokens)));
  CATCH_CHECK(at::equal(model.forward(tokens), model_of({}).forward(tokens)));
  model.train();
  CATCH_CHECK_FALSE(at::equal(model.forward(tokens), model.forward(tokens)));
}

CATCH_TEST_CASE("what dropout leaves of an embedding is larger, so that the mean stays") {
  auto model = model_of({.d_model = 64, .dropout = 0.25});
  {
    const at::NoGradGuard no_grad;  // embeddings of ones, blocks that add nothing
    for (auto& parameter : model.named_parameters()) parameter.value().zero_();
    model.named_parameters()["tok_embeddings.weight"].fill_(1);
  }
  model.train();
  at::manual_seed(1);
  model.observe(at::zeros({4, 50}, at::kLong), [](const LayerView& view) {
    const auto kept = view.output.ne(0);
    CATCH_CHECK(at::allclose(view.output.masked_select(kept), at::full({1}, 4 / 3.)));
    // Five standard deviations of 12,800 draws.
    const double share = kept.to(at::kDouble).mean().item<double>();
    CATCH_CHECK(share == Approx(0.75).margin(5 * std::sqrt(0.75 * 0.25 / 12'800)));
  });
}

CATCH_TEST_CASE("what either half of a block adds is dropped as often as dropout says") {
  for (const char* bias : {"layers.0.attn.out_proj.bias", "layers.0.ffn.proj.bias"}) {
    CATCH_INFO(bias);
    auto model = model_of({.block = BlockKind::kNano, .dropout = 0.25});
    {
      const at::NoGradGuard no_grad;  // nothing is added but by one bias
      for (auto& parameter : model.named_parameters()) parameter.value().zero_();
      model.named_parameters()[bias].fill_(1);
    }
    model.train();
    at::manual_seed(1);
    model.observe(at::zeros({4, 50}, at::kLong), [](const LayerView& view) {
      if (view.layer > 0) return;
      const auto kept = view.output.ne(0);
      CATCH_CHECK(at::allclose(view.output.masked_select(kept), at::full({1}, 4 / 3.)));
      const double share = kept.to(at::kDouble).mean().item<double>();
      CATCH_CHECK(share == Approx(0.75).margin(5 * std::sqrt(0.75 * 0.25 / 6'400)));
    });
  }
}

CATCH_TEST_CASE("a tied head reads the token embeddings") {
  ModelConfig config{.tied_head = true};
  auto model = model_of(config);
  CATCH_CHECK_FALSE(model.named_parameters().contains("output.weight"));
  const auto states = at::randn({2, 32});
  const auto embeddings = model.named_parameters()["tok_embeddings.weight"];
  CATCH_CHECK(at::allclose(model.head(states), states.matmul(embeddings.t())));
}

CATCH_TEST_CASE("reserved positions stay where they are when batches get longer") {
  auto model = model_of({});
  model.reserve_positions(12);
  const auto table_at = [&](std::int64_t tokens) {
    const void* address = nullptr;
    model.observe(at::zeros({1, tokens}, at::kLong),
                  [&](const LayerView& view) { address = view.rotary.rotation.const_data_ptr(); });
    return address;
  };
  const auto* first = table_at(4);
  CATCH_CHECK(table_at(12) == first);
  CATCH_CHECK(table_at(13) != first);
}

}  // namespace
}  // namespace difflab
