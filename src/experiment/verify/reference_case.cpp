#include "experiment/verify/reference_case.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "config/schema/traits.h"
#include "experiment/verify/official_module.h"
#include "model/language_model.h"
#include "model/score.h"
#include "train/step/optimizer.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

constexpr double kOutputTolerance = 1e-12, kGradientTolerance = 1e-10, kFloat32Tolerance = 1e-5;
// A λ gradient that exists only through the head norm's epsilon (1e-5) has no relative error in
// float32 to speak of; this bound is absolute.
constexpr double kVanishingTolerance = 1e-6;

const std::string kParameter = "param.", kGradient = "grad.";

// The official parameters of a case as leaves of a graph. Ours are made of them and begin a graph
// of their own; collect() carries ours' gradients over.
class OfficialLeaves {
 public:
  OfficialLeaves(const ReferenceCase& reference, const OfficialModule& module,
                 at::ScalarType type) {
    for (const auto& tensor : reference.file.tensors()) {
      if (!tensor.name.starts_with(kParameter)) continue;
      leaves_[tensor.name.substr(kParameter.size())] =
          reference.tensor(tensor.name)
              .to(type, /*non_blocking=*/false, /*copy=*/true)
              .requires_grad_();
    }
    const auto official = [&](const std::string& name) {
      const auto found = leaves_.find(name);
      if (found == leaves_.end()) {
        throw UserError(concat(reference.path.string(), ": no parameter ", name));
      }
      return found->second;
    };
    for (const auto& parameter : module.attention->named_parameters()) {
      const auto part = module.parts.find(parameter.key());
      auto value = part == module.parts.end() ? official(parameter.key()) : part->second(official);
      if (value.dim() == 0) value = value.view(1);  // a number
      TORCH_CHECK(value.sizes() == parameter.value().sizes(), "parameter ", parameter.key(),
                  " has another shape");
      const at::NoGradGuard no_grad;
      at::Tensor(parameter.value()).copy_(value);
      made_.emplace_back(parameter.value(), value);
    }
  }

  /// By official names; undefined for a parameter that nothing of ours is made of.
  std::map<std::string, at::Tensor> collect() const {
    for (const auto& [ours, value] : made_) {
      if (!value.requires_grad() || !ours.grad().defined()) continue;
      value.backward(ours.grad(), /*retain_graph=*/true);
    }
    std::map<std::string, at::Tensor> gradients;
    for (const auto& [name, leaf] : leaves_) gradients[name] = leaf.grad();
    return gradients;
  }

 private:
  std::map<std::string, at::Tensor> leaves_;
  std::vector<std::pair<at::Tensor, at::Tensor>> made_;  // ours, and as it was made
};

void verify_in(at::ScalarType type, const OfficialModule& module, const std::string& kernels,
               const ReferenceCase& reference, CaseReport& report) {
  const bool exact = type == at::kDouble;
  const auto& peer = reference.peer;
  const auto& attention = module.attention;
  attention->to(type);
  const OfficialLeaves official(reference, module, type);
  const auto x = reference.tensor("x").to(type).requires_grad_();
  const auto rotary = Rotary::from(reference.tensor("rotary_cos").to(type),
                                   reference.tensor("rotary_sin").to(type), module.rotary);
  const auto y = attention->forward(x, rotary);
  (y * reference.tensor("w").to(type)).sum().backward();

  const auto note = [&](const std::string& name, const at::Tensor& ours, const at::Tensor& theirs) {
    const double exactly = name == "y" ? kOutputTolerance : kGradientTolerance;
    TensorError error{name, exact ? "float64" : "float32", kernels, 0,
                      exact ? exactly : kFloat32Tolerance};
    const bool vanishing =
        !exact && peer.at("seq_len") == 1 && name.starts_with(kGradient + "lambda");
    error.error = relative_error(ours, theirs);
    if (vanishing) {
      error.error = (ours.to(at::kDouble) - theirs).abs().max().item<double>();
      error.tolerance = kVanishingTolerance;
    }
    report.errors.push_back(error);
  };
  note("y", y, reference.tensor("y"));
  note(kGradient + "x", x.grad(), reference.tensor(kGradient + "x"));
  // Rows and parameters that nothing of ours is made of have no gradient here, unlike there.
  auto gradients = official.collect();
  for (const auto& tensor : reference.file.tensors()) {
    if (!tensor.name.starts_with(kGradient) || tensor.name == kGradient + "x") continue;
    note(tensor.name, gradients[tensor.name.substr(kGradient.size())],
         reference.tensor(tensor.name));
  }
}

constexpr double kTrainingTolerance = 1e-9;  // Adam divides by small numbers
constexpr std::int64_t kSteps = 3;

AttentionConfig attention_of(const ReferenceCase& reference) {
  const std::string kind = reference.peer.at("attention");
  const std::int64_t heads = reference.peer.at("baseline_heads");
  if (kind == "baseline") return SoftmaxAttentionConfig{.heads = heads};
  if (kind == "diff_naive") return DifferentialAttentionConfig{.heads = heads / 2};
  if (kind == "diff_v2") return DifferentialV2Config{.heads = heads};
  throw UserError(concat(reference.path.string(), ": unknown attention ", kind,
                         "; expected baseline, diff_naive or diff_v2"));
}

// The reference's Transformer names its last projection as DIFF V2's file does.
std::string name_in_case(std::string name, const Json& peer) {
  const auto at = name.find("attn.out_proj");
  if (peer.at("attention") == "baseline" && at != name.npos) name.replace(at, 13, "attn.o_proj");
  return name;
}

class Replay {
 public:
  Replay(const ReferenceCase& reference, Kernels kernels)
      : reference_(reference),
        kernels_(kernels),
        peer_(reference.peer),
        model_({.d_model = peer_.at("d_model"),
                .layers = peer_.at("layers"),
                .ffn_hidden = peer_.at("ffn_hidden"),
                .norm_eps = peer_.at("norm_eps"),
                .tied_head = peer_.at("tied"),
                .attention = attention_of(reference)},
               peer_.at("vocab"), kernels) {
    model_.to(at::kDouble);
    load_parameters(model_, reference.file, reference.path.string(),
                    [&](const auto& name) { return "param." + name_in_case(name, peer_); });
    if (reference.tensor("rotary_cos").size(0) < reference.tensor("tokens").size(2) - 1) {
      throw UserError(
          concat(reference.path.string(), ": rotary_cos is shorter than the sequences"));
    }
    model_.set_rotary(Rotary::from(reference.tensor("rotary_cos").to(at::kDouble),
                                   reference.tensor("rotary_sin").to(at::kDouble)));
  }

  std::vector<TensorError> run() {
    const Json& adamw = peer_.at("adamw");
    Optimizer optimizer(model_, {.beta1 = adamw.at("betas").at(0),
                                 .beta2 = adamw.at("betas").at(1),
                                 .adam_eps = adamw.at("eps"),
                                 .weight_decay = adamw.at("weight_decay")});
    const auto tokens = reference_.tensor("tokens");  // [steps, B, T + 1]
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const auto context = tokens.size(2) - 1;
      optimizer.zero_grad();
      const auto loss =
          mean_loss(model_, tokens[step].narrow(1, 0, context), tokens[step].narrow(1, 1, context));
      loss.backward();
      note_number("loss", step, loss.item<double>());
      if (step == 0) note_all("grad0.", [](const auto& parameter) { return parameter.grad(); });
      note_number("grad_norm_before_clip", step, optimizer.clip(peer_.at("clip")));
      optimizer.step(adamw.at("lr"));
    }
    note_all("after3.", [](const auto& parameter) { return parameter; });
    return std::move(errors_);
  }

 private:
  void note(const std::string& name, double error) {
    errors_.push_back({name, "float64", config::name_of(kernels_), error, kTrainingTolerance});
  }
  void note_number(const char* key, std::int64_t step, double ours) {
    const double theirs = peer_.at(key).at(static_cast<std::size_t>(step));
    note(concat(key, " step ", step + 1), std::abs(ours - theirs) / std::abs(theirs));
  }
  template <class Pick>
  void note_all(const std::string& prefix, Pick pick) {
    for (const auto& parameter : model_.named_parameters()) {
      const auto name = prefix + name_in_case(parameter.key(), peer_);
      note(name, relative_error(pick(parameter.value()), reference_.tensor(name)));
    }
  }

  const ReferenceCase& reference_;
  Kernels kernels_;
  const Json& peer_;
  LanguageModel model_;
  std::vector<TensorError> errors_;
};

}  // namespace

bool CaseReport::passed() const {
  return std::all_of(errors.begin(), errors.end(), [](const auto& e) { return e.passed(); });
}

ReferenceCase ReferenceCase::read(const fs::path& path) {
  auto file = Safetensors::read(path);
  const auto json = Json::parse(file.metadata_at("peer"), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !(json.contains("variant") || json.contains("attention"))) {
    throw UserError(
        concat(path.string(),
               ": is not a reference case; expected metadata \"peer\" with the shape and "
               "a variant or attention in it"));
  }
  return {path, std::move(file), json};
}

at::Tensor ReferenceCase::tensor(const std::string& tensor_name) const {
  return to_tensor(file.at(tensor_name), path.string());
}

CaseReport verify_attention(const ReferenceCase& reference) {
  CaseReport report{reference.name(), {}};
  for (const auto& [name, kernels] : config::named_values<Kernels>()) {
    for (const auto type : {at::kDouble, at::kFloat}) {
      const auto module = official_module(reference, kernels);
      if (!module) {
        const std::string variant = reference.peer.at("variant");
        const auto why =
            concat("variant ", variant, " is unknown; expected ", join(known_variants(), ", "));
        return {reference.name(), {{why, "", "", std::numeric_limits<double>::infinity(), 0}}};
      }
      if (calls_by_map(kernels) && !module->differential) continue;  // computed as with fused
      verify_in(type, *module, std::string(name), reference, report);
    }
  }
  return report;
}

CaseReport verify_training(const ReferenceCase& reference) {
  CaseReport report{reference.name(), {}};
  for (const auto& [name, kernels] : config::named_values<Kernels>()) {
    if (calls_by_map(kernels) && reference.peer.at("attention") == "baseline") continue;
    for (auto& error : Replay(reference, kernels).run()) report.errors.push_back(std::move(error));
  }
  return report;
}

std::vector<CaseReport> verify_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw UserError(concat(folder.string(), " is not a folder; expected one with reference cases"));
  }
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
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
