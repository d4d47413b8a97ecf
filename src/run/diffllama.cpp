#include "run/diffllama.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "config/schema/writer.h"
#include "config/value/value.h"
#include "util/text.h"

namespace difflab {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

constexpr std::array kOfTheModel{
    Renamed{"tok_embeddings.weight", "model.embed_tokens.weight"},
    Renamed{"norm.weight", "model.norm.weight"},
    Renamed{"output.weight", "lm_head.weight"},
};
// Behind layers.N.; attention first, whose projections have the same names but the last.
constexpr std::array kOfALayer{
    Renamed{"attn_norm.weight", "input_layernorm.weight"},
    Renamed{"attn.out_proj.weight", "self_attn.o_proj.weight"},
    Renamed{"ffn_norm.weight", "post_attention_layernorm.weight"},
    Renamed{"ffn.gate.weight", "mlp.gate_proj.weight"},
    Renamed{"ffn.up.weight", "mlp.up_proj.weight"},
    Renamed{"ffn.down.weight", "mlp.down_proj.weight"},
};
constexpr std::string_view kLayers = "layers.", kAttention = "attn.";

template <std::size_t N>
std::string renamed(std::string_view name, const std::array<Renamed, N>& names) {
  for (const auto& [ours, theirs] : names) {
    if (name == ours) return std::string(theirs);
  }
  return "";
}

// Channel i of a head of ours, in theirs: with pairs side by side, 2j is j and 2j + 1 is j + d/2.
std::int64_t turned(std::int64_t i, std::int64_t d, RotaryLayout layout) {
  return layout == RotaryLayout::kHalves ? i : i / 2 + (i % 2) * (d / 2);
}

// Rows of `pairs` pairs of heads of width d.
std::vector<std::int64_t> rows_of_pairs(std::int64_t pairs, std::int64_t d, RotaryLayout layout) {
  std::vector<std::int64_t> rows;
  for (std::int64_t head = 0; head < 2 * pairs; ++head) {
    const auto theirs = head / 2 + (head % 2) * pairs;
    for (std::int64_t i = 0; i < d; ++i) rows.push_back(theirs * d + turned(i, d, layout));
  }
  return rows;
}

}  // namespace

bool is_diffllama(const Safetensors& file) {
  const auto& tensors = file.tensors();
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(tensors,
                               [&](const TensorBytes& tensor) { return tensor.name == name; });
  };
  return has("model.embed_tokens.weight") && has("model.layers.0.self_attn.lambda_q1");
}

std::string unlike_diffllama(const ModelConfig& model) {
  const auto* attention = std::get_if<DifferentialAttentionConfig>(&model.attention);
  if (attention == nullptr) return "attention.kind is another one than diff_v1";
  if (model.block != BlockKind::kLlama) return "block is not llama";
  if (model.positions != Positions::kRotary) return "positions is not rotary";
  if (model.embedding_scale.of(model.d_model) != 1) return "embedding_scale is not 1";
  if (model.attention_scale != 1) return "attention_scale is not 1";
  // Keys that do not change the formula may differ from the defaults.
  auto same = *attention;
  const DifferentialAttentionConfig defaults;
  same.heads = defaults.heads;
  same.kv_heads = defaults.kv_heads;
  same.lambda_std = defaults.lambda_std;
  same.norm_eps = defaults.norm_eps;
  const auto written = config::write(same), expected = config::write(defaults);
  for (const auto& entry : written.entries()) {
    const auto wanted = config::canonical_json(*expected.find(entry.key));
    if (config::canonical_json(entry.value) == wanted) continue;
    return concat("attention.", entry.key, " is not ", wanted);
  }
  return "";
}

StoredPart diffllama_part(const ModelConfig& model, const std::string& parameter) {
  if (!parameter.starts_with(kLayers)) return {renamed(parameter, kOfTheModel)};
  const auto dot = parameter.find('.', kLayers.size());
  const auto rest = std::string_view(parameter).substr(dot + 1);
  const auto layer = concat("model.", parameter.substr(0, dot), ".");
  if (rest == "attn.subln.weight") return {""};
  if (const auto name = renamed(rest, kOfALayer); !name.empty()) return {layer + name};
  const auto own = rest.substr(kAttention.size());
  StoredPart part{concat(layer, "self_attn.", own)};
  const auto& attention = std::get<DifferentialAttentionConfig>(model.attention);
  const auto d = model.d_model / (2 * attention.heads);
  const auto kv_heads = attention.kv_heads.value_or(attention.heads);
  if (own == "q_proj.weight") part.rows = rows_of_pairs(attention.heads, d, model.rope_layout);
  if (own == "k_proj.weight") part.rows = rows_of_pairs(kv_heads, d, model.rope_layout);
  // Values are not turned.
  if (own == "v_proj.weight") part.rows = rows_of_pairs(kv_heads, d, RotaryLayout::kHalves);
  return part;
}

}  // namespace difflab
