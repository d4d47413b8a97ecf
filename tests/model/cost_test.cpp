#include "model/cost.h"

#include <ATen/ATen.h>

#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"

namespace difflab {
namespace {

void check_against_built(const ModelConfig& config) {
  const LanguageModel model(config, 13);
  const auto shapes = parameter_shapes(config, 13);
  const auto built = model.named_parameters();
  CATCH_REQUIRE(shapes.size() == built.size());
  for (const auto& expected : shapes) {
    CATCH_INFO(expected.name);
    CATCH_REQUIRE(built.contains(expected.name));
    CATCH_CHECK(built[expected.name].sizes().vec() == expected.shape);
  }
  CATCH_CHECK(count_parameters(config, 13).total() == model.parameter_count());
}

CATCH_TEST_CASE("the parameters worked out from a configuration are those of the built model") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    ModelConfig config{.d_model = 32, .layers = 3, .attention = attention};
    check_against_built(config);
    config.block = BlockKind::kNano;
    config.positions = Positions::kLearned;
    config.tied_head = true;
    config.ffn_hidden = 50;
    check_against_built(config);
    config.tied_head = false;
    config.positions = Positions::kNone;
    config.biases = false;
    check_against_built(config);
  }
}

// Vocabulary 65, D 256, 3 layers, 300 positions: NanoGPT's embeddings 65·256 + 300·256, per layer
// 4·(256² + 256) + (256·1024 + 1024) + (1024·256 + 256) + 4·256, the final norm 2·256 and the head
// 65·256 + 65. Diff_NanoGPT adds 3·(4·16 + 32), Diff_Symmetry takes 3·(65,536 + 256) from that.
CATCH_TEST_CASE("NanoGPT, Diff_NanoGPT and Diff_Symmetry have their published sizes") {
  ModelConfig config{.d_model = 256,
                     .layers = 3,
                     .block = BlockKind::kNano,
                     .positions = Positions::kLearned,
                     .max_positions = 300};
  const auto count = [&](AttentionConfig attention) {
    config.attention = attention;
    return count_parameters(config, 65).total();
  };
  CATCH_CHECK(count(SoftmaxAttentionConfig{.heads = 8}) == 2'479'937);
  CATCH_CHECK(count(DifferentialAttentionConfig{.heads = 8}) == 2'480'225);
  CATCH_CHECK(count(DifferentialAttentionConfig{.heads = 8, .symmetric = true}) == 2'282'849);
  // karpathy/nanoGPT's recipe for a CPU prints 0.80M, positions (64 · 128) not counted.
  const ModelConfig recipe{.d_model = 128,
                           .layers = 4,
                           .block = BlockKind::kNano,
                           .biases = false,
                           .positions = Positions::kLearned,
                           .max_positions = 64,
                           .tied_head = true};
  CATCH_CHECK(count_parameters(recipe, 65).total() ==
              4 * 12 * 128 * 128 + 9 * 128 + (65 + 64) * 128);
}

ModelConfig chat_model() {
  return {.d_model = 4096,
          .layers = 28,
          .ffn_hidden = 13'696,
          .attention = SoftmaxAttentionConfig{.heads = 32, .kv_heads = 2}};
}

CATCH_TEST_CASE("the operations of a ChatGLM-like model are the published number") {
  const auto flops = count_flops(chat_model(), 65'024, 8192, Masking::kFull);
  CATCH_CHECK(flops.total() == 128'714'721'460'224);
  // 2·8192·4096·65024
  CATCH_CHECK(flops.head == 4'363'686'772'736);
  // 28 layers · 4·8192²·4096, scores and values together
  CATCH_CHECK(flops.scores + flops.values == 30'786'325'577'728);
}

// Both maps of a layer of the ChatGLM-like model, by hand: 2 · 8192 · 4096 · 4096 and so on.
CATCH_TEST_CASE("each product has its shape, and they make the sums of the operations") {
  const auto products = layer_products(chat_model(), 3, 8192);
  const auto is = [&](std::size_t i, const char* name, std::array<std::int64_t, 4> shape) {
    CATCH_INFO(name);
    CATCH_REQUIRE(i < products.size());
    CATCH_CHECK(products[i].name == name);
    CATCH_CHECK(std::array{products[i].times, products[i].m, products[i].k, products[i].n} ==
                shape);
  };
  is(0, "q_proj", {1, 8192, 4096, 4096});
  is(1, "k_proj", {1, 8192, 4096, 256});  // 2 groups of width 128
  is(2, "v_proj", {1, 8192, 4096, 256});
  is(3, "QK^T", {32, 8192, 128, 8192});
  is(4, "AV", {32, 8192, 8192, 128});
  is(5, "out_proj", {1, 8192, 4096, 4096});
  is(6, "ffn.gate", {1, 8192, 4096, 13'696});
  is(7, "ffn.up", {1, 8192, 4096, 13'696});
  is(8, "gate * up", {1, 8192, 0, 13'696});
  is(9, "ffn.down", {1, 8192, 13'696, 4096});
  CATCH_CHECK(products.size() == 10);
  CATCH_CHECK(products[3].operations(Masking::kFull) == 549'755'813'888);  // 32·2·8192·128·8192
  // 32 · 128 · 8192 · 8193: half of the pairs, and half of the diagonal
  CATCH_CHECK(products[3].operations(Masking::kCausal) == 274'911'461'376);
  CATCH_CHECK(products[4].operations(Masking::kCausal) == 274'911'461'376);
  CATCH_CHECK(products[8].operations(Masking::kCausal) == 8192 * 13'696);
  const auto head = head_product(chat_model(), 65'024, 8192);
  CATCH_CHECK(head.operations(Masking::kCausal) == 4'363'686'772'736);

  std::int64_t total = head.operations(Masking::kFull);
  for (const auto& product : products) total += 28 * product.operations(Masking::kFull);
  CATCH_CHECK(total == 128'714'721'460'224);
}

CATCH_TEST_CASE("DIFF multiplies as many values as it has heads, all others as they have maps") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    const ModelConfig config{.d_model = 32, .layers = 1, .attention = attention};
    const auto maps = attention_cost(config, 0).maps;
    const auto* differences = std::get_if<DifferentialAttentionConfig>(&attention);
    for (const auto& product : layer_products(config, 0, 6)) {
      if (product.name == "QK^T") CATCH_CHECK(product.times == maps);
      if (product.name == "AV")
        CATCH_CHECK(product.times == (differences ? differences->heads : maps));
    }
  }
}

CATCH_TEST_CASE("a causal count has (T + 1)/2T of the full one's pairs, and all else the same") {
  const auto full = count_flops(chat_model(), 65'024, 1024, Masking::kFull);
  const auto causal = count_flops(chat_model(), 65'024, 1024, Masking::kCausal);
  CATCH_CHECK(causal.scores * 2 * 1024 == full.scores * 1025);
  CATCH_CHECK(causal.values * 2 * 1024 == full.values * 1025);
  CATCH_CHECK(causal.projections == full.projections);
  CATCH_CHECK(causal.feed_forward == full.feed_forward);
}

CATCH_TEST_CASE("DIFF V1 costs what its Transformer does, DIFF V2 two maps for each head") {
  const auto flops = [](AttentionConfig attention) {
    return count_flops({.d_model = 64, .layers = 1, .attention = attention}, 10, 8, Masking::kFull);
  };
  const auto transformer = flops(SoftmaxAttentionConfig{.heads = 4});
  // 4 projections of 64 x 64 on 8 tokens; 2·8²·64 for the scores and as much for the values
  CATCH_CHECK(transformer.projections == 4 * 2 * 8 * 64 * 64);
  CATCH_CHECK(transformer.scores == 2 * 64 * 64);
  CATCH_CHECK(transformer.values == 2 * 64 * 64);
  CATCH_CHECK(flops(DifferentialAttentionConfig{.heads = 2}).total() == transformer.total());
  const auto v2 = flops(DifferentialV2Config{.heads = 4});
  CATCH_CHECK(v2.scores == 2 * transformer.scores);
  CATCH_CHECK(v2.values == 2 * transformer.values);
  // q is twice as wide, and λ is one number per head and token
  CATCH_CHECK(v2.projections == 2 * 8 * (5 * 64 * 64 + 64 * 4));
}

// 6 signal and 2 noise heads of width 8 on 8 tokens: 8 maps, and of V1 6 products with values of
// width 16, of V2 8 with values of width 8. Two pairs of keys and two values in V1, two of each in
// V2.
CATCH_TEST_CASE("heads that have a noise map in common pay for it once") {
  const auto flops = [](AttentionConfig attention) {
    return count_flops({.d_model = 64, .layers = 1, .attention = attention}, 10, 8, Masking::kFull);
  };
  const auto v1 =
      flops(DifferentialAttentionConfig{.heads = 6, .signal_per_noise = 3, .head_dim = 8});
  CATCH_CHECK(v1.scores == 2 * 8 * 8 * (8 * 8));
  CATCH_CHECK(v1.values == 2 * 8 * 8 * (6 * 16));
  CATCH_CHECK(v1.projections == 2 * 8 * 64 * (8 * 8 + 4 * 8 + 2 * 16 + 6 * 16));
  const auto v2 = flops(DifferentialV2Config{.heads = 6, .signal_per_noise = 3, .head_dim = 8});
  CATCH_CHECK(v2.scores == 2 * 8 * 8 * (8 * 8));
  CATCH_CHECK(v2.values == 2 * 8 * 8 * (8 * 8));
  CATCH_CHECK(v2.projections == 2 * 8 * 64 * (8 * 8 + 2 * 8 + 2 * 8 + 6 * 8 + 6));
}

CATCH_TEST_CASE("the nano block's feed-forward layer is two products of D by 4D") {
  const ModelConfig nano{.d_model = 64, .layers = 2, .block = BlockKind::kNano};
  CATCH_CHECK(count_flops(nano, 10, 8, Masking::kFull).feed_forward ==
              2 * 8 * (2 * 64 * 256 + 2 * 256 * 64));
  // llama: three products of 64 by 192 (8·64/3 rounded up to 32) and one gate product per channel
  const ModelConfig llama{.d_model = 64, .layers = 2};
  CATCH_CHECK(count_flops(llama, 10, 8, Masking::kFull).feed_forward ==
              2 * 8 * (3 * 2 * 64 * 192 + 192));
}

CATCH_TEST_CASE("sizes beyond counting are refused, not wrapped around") {
  const ModelConfig huge{.d_model = 1 << 20, .layers = 10'000};
  CATCH_CHECK_THROWS_AS(count_flops(huge, 10, 10'000'000, Masking::kFull), UserError);
}

CATCH_TEST_CASE("the key/value cache holds two numbers per channel, token and layer") {
  // 28 layers · 2 groups of 128 channels · (k and v) · 8192 tokens · 2 bytes
  CATCH_CHECK(cache_bytes(chat_model(), 8192, 2) == 28 * 2 * 128 * 2 * 8192 * 2);
}

}  // namespace
}  // namespace difflab
