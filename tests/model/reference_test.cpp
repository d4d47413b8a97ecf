// Every attention kind against the official modules' outputs and gradients (tests/model/reference,
// described there in README.md): float64 at 1e-10, float32 at 1e-5, relative to each tensor's
// largest value.
#include <ATen/ATen.h>

#include "model/attention/attention_config.h"
#include "model/attention/base/attention.h"
#include "record/safetensors.h"
#include "support/catch.h"
#include "support/tensors.h"
#include "util/json.h"

namespace difflab {
namespace {

using testing::relative_error, testing::to_tensor;

const fs::path kCases = fs::path(DIFFLAB_ROOT) / "tests/model/reference";

std::shared_ptr<Attention> build(const Json& peer) {
  const std::string variant = peer["variant"];
  const AttentionShape shape{peer["embed_dim"], peer["depth"]};
  const std::int64_t heads = peer["num_heads"], kv_heads = peer["num_kv_heads"];
  if (variant == "baseline" || variant == "v2_off") {
    return SoftmaxAttentionConfig{.heads = heads, .kv_heads = kv_heads}.build(shape);
  }
  if (variant == "v2") {
    return DifferentialV2Config{.heads = heads, .kv_heads = kv_heads, .head_dim = peer["head_dim"]}
        .build(shape);
  }
  return DifferentialAttentionConfig{
      .heads = heads,
      .kv_heads = kv_heads,
      .key_pairing = variant == "v1_naive" ? KeyPairing::kNaive : KeyPairing::kGroup}
      .build(shape);
}

// v2_off is plain attention under the names of the V2 file.
std::string our_name(const std::string& name, const Json& peer) {
  if (peer["variant"] == "v2_off" && name == "o_proj.weight") return "out_proj.weight";
  return name;
}

/// Outputs and gradients of one case in one precision: tensor name -> relative error.
std::map<std::string, double> errors_of(const Safetensors& file, at::ScalarType type) {
  const Json peer = Json::parse(file.metadata().at("peer"));
  const auto attention = build(peer);
  attention->to(type);
  auto parameters = attention->named_parameters();
  const std::string prefix = "param.";
  std::set<std::string> filled;
  {
    const at::NoGradGuard no_grad;
    for (const auto& tensor : file.tensors()) {
      if (tensor.name.rfind(prefix, 0) != 0) continue;
      const auto name = our_name(tensor.name.substr(prefix.size()), peer);
      parameters[name].copy_(to_tensor(tensor));
      filled.insert(name);
    }
  }
  for (const auto& parameter : parameters) {
    CATCH_INFO(parameter.key());
    CATCH_REQUIRE(filled.count(parameter.key()) == 1);
  }
  const auto load = [&](const char* name) { return to_tensor(file.at(name)).to(type); };
  const auto x = load("x").requires_grad_();
  const auto rotary = Rotary::from(load("rotary_cos"), load("rotary_sin"));
  const auto y = attention->forward(x, rotary);
  (y * load("w")).sum().backward();

  std::map<std::string, double> errors{
      {"y", relative_error(y, to_tensor(file.at("y")))},
      {"x", relative_error(x.grad(), to_tensor(file.at("grad.x")))}};
  for (const auto& tensor : file.tensors()) {
    if (tensor.name.rfind("grad.", 0) != 0 || tensor.name == "grad.x") continue;
    const auto name = our_name(tensor.name.substr(5), peer);
    errors[name] = relative_error(parameters[name].grad(), to_tensor(tensor));
  }
  return errors;
}

CATCH_TEST_CASE("every attention equals the official module, outputs and gradients") {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    const auto name = entry.path().stem().string();
    if (entry.path().extension() != ".safetensors" || name.rfind("lm_", 0) == 0) continue;
    ++cases;
    const auto file = Safetensors::read(entry.path());
    for (const auto type : {at::kDouble, at::kFloat}) {
      for (const auto& [tensor, error] : errors_of(file, type)) {
        CATCH_INFO(name << " " << type << " " << tensor);
        // One token makes each softmax 1: q and k have no gradient and λ's exists only through the
        // norm's epsilon, too small for a relative error in float32.
        const bool vanishing = name == "v1_naive_n1" && tensor.rfind("lambda", 0) == 0;
        const double tolerance = type == at::kDouble ? 1e-10 : vanishing ? 0.1 : 1e-5;
        CATCH_CHECK(error <= tolerance);
      }
    }
  }
  CATCH_CHECK(cases == 14);
}

}  // namespace
}  // namespace difflab
