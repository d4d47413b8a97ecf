// Weights of transformers' DiffLlama in our models: against its formulas, written again from its
// file with its own order of heads and channels, and against outputs of the official module.

#include "experiment/saved_run.h"
#include "model/attention/base/attention.h"
#include "support/small_runs.h"
#include "support/tensors.h"
#include "train/tensor_file.h"

namespace difflab {
namespace {

using testing::relative_error;

/// As config.json says it: maps, not pairs.
struct LlamaShape {
  std::int64_t vocab, width, hidden, layers, maps, keys;

  std::int64_t head_dim() const { return width / maps; }
  ModelConfig model(RotaryLayout layout) const {
    return {.d_model = width,
            .layers = layers,
            .ffn_hidden = hidden,
            .rope_layout = layout,
            .attention = DifferentialAttentionConfig{.heads = maps / 2, .kv_heads = keys / 2}};
  }
};

/// A checkpoint: tensors by DiffLlama's names.
struct Checkpoint {
  std::map<std::string, at::Tensor> tensors;

  explicit Checkpoint(const LlamaShape& s) {
    at::manual_seed(5);
    const auto matrix = [&](const std::string& name, std::int64_t out, std::int64_t in) {
      tensors[name] = at::randn({out, in}) / std::sqrt(static_cast<double>(in));
    };
    const auto gain = [&](const std::string& name) {
      tensors[name] = 1 + 0.2 * at::randn({s.width});
    };
    matrix("model.embed_tokens.weight", s.vocab, s.width);
    for (std::int64_t layer = 0; layer < s.layers; ++layer) {
      const auto name = concat("model.layers.", layer, ".");
      gain(name + "input_layernorm.weight");
      gain(name + "post_attention_layernorm.weight");
      const auto kv_width = s.keys * s.head_dim();
      matrix(name + "self_attn.q_proj.weight", s.width, s.width);
      matrix(name + "self_attn.k_proj.weight", kv_width, s.width);
      matrix(name + "self_attn.v_proj.weight", kv_width, s.width);
      matrix(name + "self_attn.o_proj.weight", s.width, s.width);
      for (const char* vector : {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"}) {
        tensors[concat(name, "self_attn.", vector)] = 0.3 * at::randn({s.head_dim()});
      }
      matrix(name + "mlp.gate_proj.weight", s.hidden, s.width);
      matrix(name + "mlp.up_proj.weight", s.hidden, s.width);
      matrix(name + "mlp.down_proj.weight", s.width, s.hidden);
    }
    gain("model.norm.weight");
    matrix("lm_head.weight", s.vocab, s.width);
  }

  std::string bytes() const {
    std::vector<TensorBytes> stored;
    for (const auto& [name, tensor] : tensors) stored.push_back(stored_as(name, tensor));
    return to_safetensors(stored, {{"format", "pt"}});
  }
  at::Tensor at(const std::string& name) const { return tensors.at(name).to(at::kDouble); }
};

at::Tensor root_mean_square(const at::Tensor& x) {
  return (x.square().mean(-1, true) + 1e-5).sqrt();
}

// x [B, heads, T, d]: channel j turns with j + d/2.
at::Tensor turn(const at::Tensor& x) {
  const auto T = x.size(2), d = x.size(3);
  const auto frequency = at::pow(10'000.0, -at::arange(0, d, 2, at::kDouble) / d);
  const auto angle = at::outer(at::arange(T, at::kDouble), frequency);  // [T, d/2]
  const auto first = x.narrow(3, 0, d / 2), second = x.narrow(3, d / 2, d / 2);
  return at::cat(
      {first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()}, -1);
}

at::Tensor llama_attention(const Checkpoint& c, const LlamaShape& s, std::int64_t layer,
                           const at::Tensor& x) {
  const auto B = x.size(0), T = x.size(1);
  const auto own = [&](const char* name) {
    return c.at(concat("model.layers.", layer, ".self_attn.", name));
  };
  const auto heads = [&](const char* name, std::int64_t count) {
    const auto split = x.matmul(own(name).t()).view({B, T, count, s.head_dim()}).transpose(1, 2);
    return split.repeat_interleave(s.maps / count, 1);
  };
  const auto q = turn(heads("q_proj.weight", s.maps)), k = turn(heads("k_proj.weight", s.keys));
  // Values of both halves side by side, for the maps of both halves.
  const auto v = at::cat(heads("v_proj.weight", s.keys).chunk(2, 1), -1).repeat({1, 2, 1, 1});
  const auto future = at::ones({T, T}, at::kBool).triu(1);
  const auto scores = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(s.head_dim()));
  const auto maps = scores.masked_fill(future, -INFINITY).softmax(-1).matmul(v).chunk(2, 1);
  const double start = 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer));
  const auto lambda = (own("lambda_q1") * own("lambda_k1")).sum().exp() -
                      (own("lambda_q2") * own("lambda_k2")).sum().exp() + start;
  const auto difference = maps[0] - lambda * maps[1];
  const auto normed = (1 - start) * difference / root_mean_square(difference);
  return normed.transpose(1, 2).reshape({B, T, -1}).matmul(own("o_proj.weight").t());
}

at::Tensor llama_logits(const Checkpoint& c, const LlamaShape& s, const at::Tensor& tokens) {
  auto x = c.at("model.embed_tokens.weight").index({tokens});
  const auto norm = [&](const at::Tensor& y, const std::string& name) {
    return y / root_mean_square(y) * c.at(name);
  };
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const auto name = concat("model.layers.", layer, ".");
    x = x + llama_attention(c, s, layer, norm(x, name + "input_layernorm.weight"));
    const auto y = norm(x, name + "post_attention_layernorm.weight");
    const auto gate = y.matmul(c.at(name + "mlp.gate_proj.weight").t());
    const auto up = y.matmul(c.at(name + "mlp.up_proj.weight").t());
    x = x + (gate * gate.sigmoid() * up).matmul(c.at(name + "mlp.down_proj.weight").t());
  }
  return norm(x, "model.norm.weight").matmul(c.at("lm_head.weight").t());
}

std::shared_ptr<LanguageModel> loaded(const Checkpoint& checkpoint, const LlamaShape& shape,
                                      RotaryLayout layout) {
  auto model = std::make_shared<LanguageModel>(shape.model(layout), shape.vocab);
  model->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.fill_(7);  // all must be replaced
  load_initial_weights(*model, Safetensors::parse(checkpoint.bytes(), "llama"), "llama");
  model->eval();
  return model;
}

CATCH_TEST_CASE("weights of DiffLlama make the same logits here, in either layout of channels") {
  for (const std::int64_t keys : {8, 4}) {
    const LlamaShape shape{
        .vocab = 13, .width = 32, .hidden = 48, .layers = 2, .maps = 8, .keys = keys};
    const Checkpoint checkpoint(shape);
    const auto tokens = at::randint(shape.vocab, {2, 9}, at::kLong);
    const auto theirs = llama_logits(checkpoint, shape, tokens);
    for (const auto layout : {RotaryLayout::kInterleaved, RotaryLayout::kHalves}) {
      const auto model = loaded(checkpoint, shape, layout);
      CATCH_CHECK(relative_error(model->forward(tokens), theirs) < 1e-10);
    }
  }
}

CATCH_TEST_CASE("an attention of DiffLlama's own outputs is loaded into the layer it belongs to") {
  for (const char* name : {"diffllama_gqa2_e32_d3", "diffllama_mha_e32_d0"}) {
    CATCH_INFO(name);
    const auto file = Safetensors::read(fs::path(DIFFLAB_ROOT) / "tests/model/reference/controls" /
                                        concat(name, ".safetensors"));
    const Json peer = Json::parse(file.metadata().at("peer"));
    const std::int64_t depth = peer["depth"];
    const LlamaShape shape{.vocab = 5,
                           .width = peer["embed_dim"],
                           .hidden = 32,
                           .layers = depth + 1,
                           .maps = peer["num_heads"],
                           .keys = peer["num_kv_heads"]};
    Checkpoint checkpoint(shape);
    for (const auto& tensor : file.tensors()) {
      if (!tensor.name.starts_with("param.")) continue;
      const auto place = concat("model.layers.", depth, ".self_attn.", tensor.name.substr(6));
      CATCH_REQUIRE(checkpoint.tensors.count(place) == 1);
      checkpoint.tensors[place] = testing::to_tensor(tensor);
    }
    const auto load = [&](const char* tensor) {
      return testing::to_tensor(file.at(tensor)).to(at::kDouble);
    };
    for (const auto layout : {RotaryLayout::kInterleaved, RotaryLayout::kHalves}) {
      const auto model = loaded(checkpoint, shape, layout);
      const auto rotary = Rotary::from(load("rotary_cos"), load("rotary_sin"), layout);
      model->for_each_attention([&](const std::string& prefix, Attention& attention) {
        if (prefix != concat("layers.", depth, ".attn.")) return;
        CATCH_CHECK(relative_error(attention.forward(load("x"), rotary), load("y")) < 1e-12);
      });
    }
  }
}

RunConfig run_from(const fs::path& file, const LlamaShape& shape) {
  RunConfig run;
  run.model = shape.model(RotaryLayout::kInterleaved);
  run.task = TextConfig{.generated_characters = 3'000, .length = 24};
  run.train = {.steps = 1, .batch_size = 4, .warmup_steps = 0, .eval_every = 1, .eval_samples = 4};
  run.init_from.path = file.string();
  return run;
}

std::string problem_of(RunConfig run) { return testing::problem_of_files(run); }

CATCH_TEST_CASE("a run starts from DiffLlama's weights, and only a model that it is") {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  const LlamaShape shape{.vocab = 68, .width = 16, .hidden = 24, .layers = 1, .maps = 4, .keys = 4};
  Checkpoint checkpoint(shape);
  write_file_atomically(file, checkpoint.bytes());
  const auto run = run_from(file, shape);
  CATCH_CHECK(problem_of(run).empty());
  const RunDirectory directory{folder.path() / "run"};
  make_directories(directory.path);
  CATCH_CHECK(run_experiment(run, directory, [] { return false; }) == RunEnd::kComplete);

  const auto changed = [&](const std::function<void(ModelConfig&)>& change) {
    auto other = run;
    change(other.model);
    const auto problem = problem_of(other);
    if (!problem.empty()) {  // what planning refuses, loading refuses, too
      LanguageModel model(other.model, shape.vocab);
      CATCH_CHECK_THROWS_AS(load_initial_weights(model, Safetensors::read(file), "llama"),
                            UserError);
    }
    return problem;
  };
  CATCH_CHECK_THAT(changed([](auto& m) { m.attention = SoftmaxAttentionConfig{.heads = 4}; }),
                   Contains("DiffLlama weights") && Contains("another one than diff_v1"));
  CATCH_CHECK_THAT(changed([](auto& m) { m.positions = Positions::kNone; }),
                   Contains("positions is not rotary"));
  CATCH_CHECK_THAT(changed([](auto& m) { m.embedding_scale = EmbeddingScale::sqrt_width(); }),
                   Contains("embedding_scale is not 1"));
  CATCH_CHECK_THAT(changed([](auto& m) { m.attention_scale = 0.5; }),
                   Contains("attention_scale is not 1"));
  CATCH_CHECK_THAT(changed([](auto& m) {
                     m.attention = DifferentialAttentionConfig{.heads = 2, .post_scale = false};
                   }),
                   Contains("attention.post_scale is not true"));
  CATCH_CHECK_THAT(changed([](auto& m) { m.ffn_hidden = 32; }),
                   Contains("model.layers.0.mlp.gate_proj.weight in another shape"));
  CATCH_CHECK(changed([](auto& m) {
                m.attention = DifferentialAttentionConfig{.heads = 2, .lambda_std = 0.2};
              }).empty());

  auto more = checkpoint;
  more.tensors["model.layers.0.self_attn.q_proj.bias"] = at::zeros({16});
  write_file_atomically(file, more.bytes());
  CATCH_CHECK_THAT(problem_of(run), Contains("q_proj.bias, which is not a parameter"));
  checkpoint.tensors.erase("lm_head.weight");
  write_file_atomically(file, checkpoint.bytes());
  CATCH_CHECK_THAT(problem_of(run), Contains("has no tensor lm_head.weight"));
  CATCH_CHECK(changed([](auto& m) { m.tied_head = true; }).empty());
}

}  // namespace
}  // namespace difflab
