#include "experiment/verify/reference_case.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "model/attention/base/attention.h"
#include "model/model_config.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

constexpr double kFloat64Tolerance = 1e-10, kFloat32Tolerance = 1e-5;
// A λ gradient that exists only through the head norm's epsilon (1e-5) has no relative error in
// float32 to speak of; this bound is absolute.
constexpr double kVanishingTolerance = 1e-6;

const std::string kParameter = "param.", kGradient = "grad.";

// The module of a configuration from a file, its rules checked like those of any configuration.
template <class Config>
std::shared_ptr<Attention> checked(const Config& config, const AttentionShape& shape) {
  const ModelConfig model{.d_model = shape.d_model, .layers = shape.layer + 1, .attention = config};
  config::read<ModelConfig>(config::write(model), "peer");
  return config.build(shape);
}

std::shared_ptr<Attention> build(const ReferenceCase& reference, Kernels kernels) {
  const Json& peer = reference.peer;
  const std::string variant = peer.at("variant");
  const AttentionShape shape{
      .d_model = peer.at("embed_dim"), .layer = peer.at("depth"), .kernels = kernels};
  const std::int64_t heads = peer.at("num_heads"), kv_heads = peer.at("num_kv_heads");
  if (variant == "baseline" || variant == "v2_off") {
    return checked(SoftmaxAttentionConfig{.heads = heads, .kv_heads = kv_heads}, shape);
  }
  if (variant == "v2") {
    return checked(
        DifferentialV2Config{.heads = heads, .kv_heads = kv_heads, .head_dim = peer.at("head_dim")},
        shape);
  }
  if (variant == "v1_naive" || variant == "flashdiff_1" || variant == "flashdiff_2") {
    return checked(
        DifferentialAttentionConfig{
            .heads = heads,
            .kv_heads = kv_heads,
            .key_pairing = variant == "v1_naive" ? KeyPairing::kNaive : KeyPairing::kGroup},
        shape);
  }
  throw UserError(concat(reference.path.string(), ": unknown variant ", variant,
                         "; expected baseline, v1_naive, flashdiff_1, flashdiff_2, v2 or v2_off"));
}

// v2_off is plain attention under the names of the V2 file.
std::string stored_name(const std::string& name, const Json& peer) {
  if (peer.at("variant") == "v2_off" && name == "out_proj.weight") return "o_proj.weight";
  return name;
}

// Every tensor of the file must be looked at, or a forgotten parameter would go unnoticed.
void check_complete(const ReferenceCase& reference, const Attention& attention) {
  std::vector<std::string> ours;
  for (const auto& parameter : attention.named_parameters()) {
    ours.push_back(stored_name(parameter.key(), reference.peer));
  }
  for (const auto& tensor : reference.file.tensors()) {
    const auto prefix = tensor.name.starts_with(kParameter)  ? kParameter
                        : tensor.name.starts_with(kGradient) ? kGradient
                                                             : "";
    if (prefix.empty() || tensor.name == kGradient + "x") continue;
    const auto name = tensor.name.substr(prefix.size());
    if (std::find(ours.begin(), ours.end(), name) == ours.end()) {
      throw UserError(concat(reference.path.string(), ": parameter ", name,
                             " is unknown to the module that ", reference.peer.at("variant").dump(),
                             " names"));
    }
  }
}

void verify_in(at::ScalarType type, Kernels kernels, const ReferenceCase& reference,
               CaseReport& report) {
  const bool exact = type == at::kDouble;
  const auto& file = reference.file;
  const auto& peer = reference.peer;
  const auto path = reference.path.string();
  const auto stored = [&](const std::string& name) { return to_tensor(file.at(name), path); };
  const auto attention = build(reference, kernels);
  check_complete(reference, *attention);
  attention->to(type);
  load_parameters(*attention, file, path,
                  [&](const std::string& name) { return kParameter + stored_name(name, peer); });
  const auto x = stored("x").to(type).requires_grad_();
  const auto rotary = Rotary::from(stored("rotary_cos").to(type), stored("rotary_sin").to(type));
  const auto y = attention->forward(x, rotary);
  (y * stored("w").to(type)).sum().backward();

  const auto note = [&](const std::string& name, const at::Tensor& ours) {
    TensorError error{name, exact ? "float64" : "float32", config::name_of(kernels), 0,
                      exact ? kFloat64Tolerance : kFloat32Tolerance};
    const auto theirs = stored(name);
    const bool vanishing =
        !exact && peer.at("seq_len") == 1 && name.starts_with(kGradient + "lambda");
    error.error = relative_error(ours, theirs);
    if (vanishing) {
      error.error = (ours.to(at::kDouble) - theirs).abs().max().item<double>();
      error.tolerance = kVanishingTolerance;
    }
    report.errors.push_back(error);
  };
  note("y", y);
  note(kGradient + "x", x.grad());
  for (const auto& parameter : attention->named_parameters()) {
    note(kGradient + stored_name(parameter.key(), peer), parameter.value().grad());
  }
}

}  // namespace

bool CaseReport::passed() const {
  return std::all_of(errors.begin(), errors.end(), [](const auto& e) { return e.passed(); });
}

ReferenceCase ReferenceCase::read(const fs::path& path) {
  auto file = Safetensors::read(path);
  const auto peer = file.metadata().find("peer");
  const auto json =
      peer == file.metadata().end() ? Json() : Json::parse(peer->second, nullptr, false);
  if (!json.is_object() || !(json.contains("variant") || json.contains("attention"))) {
    throw UserError(concat(path.string(),
                           ": is no reference case; expected metadata \"peer\" with the shape and "
                           "a variant or attention in it"));
  }
  return {path, std::move(file), json};
}

CaseReport verify_attention(const ReferenceCase& reference) {
  CaseReport report{reference.name(), {}};
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    for (const auto type : {at::kDouble, at::kFloat}) verify_in(type, kernels, reference, report);
  }
  return report;
}

std::vector<CaseReport> verify_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw UserError(concat(folder.string(), " is no folder; expected one with reference cases"));
  }
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  }
  if (paths.empty()) throw UserError(concat("no *.safetensors file in ", folder.string()));
  std::sort(paths.begin(), paths.end());
  std::vector<CaseReport> reports;
  for (const auto& path : paths) {
    const auto reference = ReferenceCase::read(path);
    try {
      reports.push_back(reference.peer.contains("variant") ? verify_attention(reference)
                                                           : verify_training(reference));
    } catch (const Json::exception& error) {
      throw UserError(concat(path.string(), ": metadata \"peer\": ", error.what()));
    } catch (const c10::Error& error) {
      throw UserError(concat(
          path.string(), ": its tensors do not fit together: ", error.what_without_backtrace()));
    }
  }
  return reports;
}

double relative_error(const at::Tensor& ours, const at::Tensor& theirs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!ours.defined() || ours.sizes() != theirs.sizes()) return kInfinity;
  const auto expected = theirs.to(at::kDouble);
  const double error = (ours.detach().to(at::kDouble) - expected).abs().max().item<double>();
  const double scale = expected.abs().max().item<double>();
  if (!(error >= 0)) return kInfinity;
  return scale > 0 ? error / scale : error;
}

}  // namespace difflab
