#include "experiment/verify/official_module.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "model/model_config.h"

namespace difflab {
namespace {

using OfficialParts = std::map<std::string, OfficialPart>;

/// The numbers that all variants have.
struct Case {
  const Json& peer;
  AttentionShape shape;
  std::int64_t heads, kv_heads;

  Case(const ReferenceCase& reference, Kernels kernels)
      : peer(reference.peer),
        shape{.d_model = peer.at("embed_dim"), .layer = peer.at("depth"), .kernels = kernels},
        heads(peer.at("num_heads")),
        kv_heads(peer.at("num_kv_heads")) {}

  // The module of a configuration, its rules checked like those of any configuration.
  template <class Config>
  OfficialModule module(const Config& config, OfficialParts parts = {}) const {
    const ModelConfig model{
        .d_model = shape.d_model, .layers = shape.layer + 1, .attention = config};
    config::read<ModelConfig>(config::write(model), "peer");
    const bool halves = peer.value("rope", "interleaved") == "halves";
    return {.attention = config.build(shape),
            .rotary = halves ? RotaryLayout::kHalves : RotaryLayout::kInterleaved,
            .differential = std::is_same_v<Config, DifferentialAttentionConfig> ||
                            std::is_same_v<Config, DifferentialV2Config>,
            .parts = std::move(parts)};
  }

  SoftmaxAttentionConfig softmax() const {
    return {.heads = heads, .kv_heads = kv_heads, .head_dim = peer.at("head_dim")};
  }
};

OfficialPart called(const std::string& name) {
  return [name](const auto& official) { return official(name); };
}

OfficialPart rows(const std::string& name, const std::vector<std::int64_t>& rows) {
  return [name, rows](const auto& official) {
    return official(name).index_select(0, at::tensor(rows, at::kLong));
  };
}

// Rows first … first + count − 1.
OfficialPart span(const std::string& name, std::int64_t first, std::int64_t count) {
  return [=](const auto& official) { return official(name).narrow(0, first, count); };
}

OfficialPart always(std::int64_t size, double value) {
  return [=](const auto&) { return at::full({size}, value, at::kDouble); };
}

// Most peers name the last projection as V2's file does.
OfficialParts with_o_proj() { return {{"out_proj.weight", called("o_proj.weight")}}; }

OfficialModule plain(const Case& c) {
  const SoftmaxAttentionConfig config{.heads = c.heads, .kv_heads = c.kv_heads};
  return c.peer.at("variant") == "v2_off" ? c.module(config, with_o_proj()) : c.module(config);
}

OfficialModule v1(const Case& c) {
  const bool naive = c.peer.at("variant") == "v1_naive";
  return c.module(
      DifferentialAttentionConfig{.heads = c.heads,
                                  .kv_heads = c.kv_heads,
                                  .key_pairing = naive ? KeyPairing::kNaive : KeyPairing::kGroup});
}

OfficialModule v2(const Case& c) {
  return c.module(DifferentialV2Config{
      .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.peer.at("head_dim")});
}

// A gate has no matrix of its own: its rows lie in q_proj, behind the query rows of each block of
// heads. Blocks are those of a key/value head (Qwen's gated attention) or single heads
// (Qwen3-Next).
OfficialModule gated(const Case& c) {
  auto config = c.softmax();
  const bool element = c.peer.at("gate") == "element";
  config.controls.gate = element ? HeadGate::kElement : HeadGate::kHead;
  if (c.peer.at("qk_norm")) config.controls.qk_norm = QkNorm::kRms;
  auto module = c.module(config);
  const std::int64_t d = *config.head_dim, of_gate = element ? d : 1;
  const auto in_block = c.peer.at("gate_layout") == "head" ? 1 : c.heads / c.kv_heads;
  std::vector<std::int64_t> queries, gate;
  for (std::int64_t head = 0; head < c.heads; ++head) {
    const auto block = head / in_block * in_block * (d + of_gate), r = head % in_block;
    for (std::int64_t i = 0; i < d; ++i) queries.push_back(block + r * d + i);
    for (std::int64_t i = 0; i < of_gate; ++i) {
      gate.push_back(block + in_block * d + r * of_gate + i);
    }
  }
  module.parts = {{"q_proj.weight", rows("q_proj.weight", queries)},
                  {"gate_proj.weight", rows("q_proj.weight", gate)},
                  {"out_proj.weight", called("o_proj.weight")}};
  if (c.peer.value("qk_norm_gain", "weight") == "1 + weight") {
    for (const char* name : {"q_norm.weight", "k_norm.weight"}) {
      module.parts[name] = [name](const auto& official) { return official(name) + 1; };
    }
  }
  return module;
}

OfficialModule sinks(const Case& c) {
  auto config = c.softmax();
  config.controls.sink = AttentionSink::kLearned;
  return c.module(config, with_o_proj());
}

OfficialModule qk_norm(const Case& c) {
  auto config = c.softmax();
  config.controls.qk_norm = QkNorm::kRms;
  return c.module(config, with_o_proj());
}

// Rows of heads of d, in the order in which ours has them: head j of ours is head[j] of theirs.
std::vector<std::int64_t> rows_of_heads(const std::vector<std::int64_t>& head, std::int64_t d) {
  std::vector<std::int64_t> rows;
  for (const auto from : head) {
    for (std::int64_t i = 0; i < d; ++i) rows.push_back(from * d + i);
  }
  return rows;
}

// Hugging Face counts maps, not pairs, and a pair is a head of the first half and one of the
// second: of queries, of keys, and of values, which a pair reads side by side.
OfficialModule diffllama(const Case& c) {
  const auto pairs = [](std::int64_t heads) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < heads / 2; ++i) order.insert(order.end(), {i, heads / 2 + i});
    return order;
  };
  const std::int64_t d = c.peer.at("head_dim");
  auto module =
      c.module(DifferentialAttentionConfig{.heads = c.heads / 2, .kv_heads = c.kv_heads / 2});
  const auto keys = rows_of_heads(pairs(c.kv_heads), d);
  module.parts = {{"q_proj.weight", rows("q_proj.weight", rows_of_heads(pairs(c.heads), d))},
                  {"k_proj.weight", rows("k_proj.weight", keys)},
                  {"v_proj.weight", rows("v_proj.weight", keys)},
                  {"out_proj.weight", called("o_proj.weight")},
                  {"subln.weight", always(2 * d, 1)}};
  return module;
}

// One matrix for queries, keys and values, and no rotary embedding.
OfficialModule timm(const Case& c) {
  const bool scalars = c.peer.at("lambda_form") == "scalars";
  auto module = c.module(DifferentialAttentionConfig{
      .heads = c.heads,
      .lambda_form = scalars ? LambdaForm::kScalarExponential : LambdaForm::kExponential});
  const auto D = c.shape.d_model;
  module.parts = {{"q_proj.weight", span("qkv.weight", 0, D)},
                  {"k_proj.weight", span("qkv.weight", D, D)},
                  {"v_proj.weight", span("qkv.weight", 2 * D, D)},
                  {"out_proj.weight", called("proj.weight")},
                  {"subln.weight", called("sub_norm.weight")}};
  if (!c.peer.at("causal")) module.attention->set_bidirectional();
  return module;
}

const char* const kProjections[] = {"q_proj.weight", "k_proj.weight", "v_proj.weight",
                                    "out_proj.weight"};

// Exclusive self-attention as modded-nanogpt has it: one matrix, the output's rows at its end.
OfficialModule xsa(const Case& c) {
  auto module = c.module(ExclusiveAttentionConfig{.heads = c.heads});
  const auto D = c.shape.d_model;
  std::int64_t first = 0;
  for (const auto* name : kProjections) {
    module.parts[name] = span("qkvo_w", first, D);
    first += D;
  }
  return module;
}

// The same layer with what stands around it there: numbers that scale its matrices, a norm of
// queries and keys without gain, logits with a scale of their own, which ours puts into the gain of
// queries, and a gate that reads the first channels alone.
OfficialModule xsa_of_nanogpt(const Case& c) {
  ExclusiveAttentionConfig config{.heads = c.heads};
  config.controls = {
      .gate = HeadGate::kHead, .qk_norm = QkNorm::kRms, .qk_norm_eps = c.peer.at("norm_eps")};
  auto module = c.module(config);
  const std::int64_t D = c.shape.d_model, d = c.peer.at("head_dim");
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t scale = i == 3 ? 1 : 0;  // of the output, and of the others
    module.parts[kProjections[i]] = [=](const auto& official) {
      return official("sa_lambdas")[scale] * official("qkvo_w").narrow(0, i * D, D);
    };
  }
  module.parts["gate_proj.weight"] = [=](const auto& official) {
    const auto gate = official("attn_gate_w");  // [H, channels]
    return at::constant_pad_nd(gate, {0, D - gate.size(1)});
  };
  const double scale = c.peer.at("scale");
  module.parts["q_norm.weight"] = always(d, scale * std::sqrt(static_cast<double>(d)));
  module.parts["k_norm.weight"] = always(d, 1);
  return module;
}

// Motif's grouped differential attention. Its kv heads are adjacent pairs, as V1's are: both maps'
// keys, and the halves of a value.
OfficialModule gda(const Case& c) {
  const std::int64_t noise_heads = c.peer.at("num_noise_heads"), ratio = c.peer.at("group_ratio");
  return c.module(DifferentialAttentionConfig{.heads = noise_heads * ratio,
                                              .kv_heads = c.kv_heads / 2,
                                              .signal_per_noise = ratio,
                                              .head_dim = c.peer.at("head_dim"),
                                              .lambda_init = LambdaInit::motif(),
                                              .norm_eps = c.peer.at("norm_eps")},
                  with_o_proj());
}

// Motif 3's, with plain projections in place of its latents.
OfficialModule grouped_v2(const Case& c) {
  const std::int64_t noise_heads = c.peer.at("num_noise_heads"), ratio = c.peer.at("group_ratio");
  DifferentialV2Config config{.heads = noise_heads * ratio,
                              .kv_heads = c.kv_heads,
                              .signal_per_noise = ratio,
                              .head_dim = c.peer.at("head_dim")};
  if (c.peer.at("gate") == "element") config.controls.gate = HeadGate::kElement;
  return c.module(config, {{"gate_proj.weight", called("q_b_gate.weight")}});
}

const std::map<std::string, std::function<OfficialModule(const Case&)>> kVariants{
    {"baseline", plain},
    {"v2_off", plain},
    {"v1_naive", v1},
    {"flashdiff_1", v1},
    {"flashdiff_2", v1},
    {"v2", v2},
    {"gated_head", gated},
    {"gated_element", gated},
    {"gated_next", gated},
    {"diffllama", diffllama},
    {"xsa", xsa},
    {"xsa_nanogpt", xsa_of_nanogpt},
    {"sinks", sinks},
    {"timm_diff", timm},
    {"gda", gda},
    {"qk_norm", qk_norm},
    {"gdiff_v2", grouped_v2},
};

}  // namespace

std::vector<std::string> known_variants() {
  std::vector<std::string> names;
  for (const auto& [name, build] : kVariants) names.push_back(name);
  return names;
}

std::optional<OfficialModule> official_module(const ReferenceCase& reference, Kernels kernels) {
  const auto found = kVariants.find(reference.peer.at("variant"));
  if (found == kVariants.end()) return std::nullopt;
  return found->second(Case(reference, kernels));
}

}  // namespace difflab
