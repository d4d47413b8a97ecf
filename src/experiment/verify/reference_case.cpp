#include "experiment/verify/reference_case.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "config/schema/traits.h"
#include "experiment/verify/official_module.h"
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

using Tensors = std::function<at::Tensor(const std::string& name)>;

// The official parameters of a case as leaves of a graph. Ours are made of them and begin a graph
// of their own; collect() carries ours' gradients over.
class OfficialLeaves {
 public:
  OfficialLeaves(const ReferenceCase& reference, const OfficialModule& module, at::ScalarType type,
                 const Tensors& stored) {
    for (const auto& tensor : reference.file.tensors()) {
      if (!tensor.name.starts_with(kParameter)) continue;
      leaves_[tensor.name.substr(kParameter.size())] =
          stored(tensor.name).to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_();
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
  const Tensors stored = [&](const std::string& name) {
    return to_tensor(reference.file.at(name), reference.path.string());
  };
  const auto& attention = module.attention;
  attention->to(type);
  const OfficialLeaves official(reference, module, type, stored);
  const auto x = stored("x").to(type).requires_grad_();
  const auto rotary =
      Rotary::from(stored("rotary_cos").to(type), stored("rotary_sin").to(type), module.rotary);
  const auto y = attention->forward(x, rotary);
  (y * stored("w").to(type)).sum().backward();

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
  note("y", y, stored("y"));
  note(kGradient + "x", x.grad(), stored(kGradient + "x"));
  // Rows and parameters that nothing of ours is made of have no gradient here, unlike there.
  auto gradients = official.collect();
  for (const auto& tensor : reference.file.tensors()) {
    if (!tensor.name.starts_with(kGradient) || tensor.name == kGradient + "x") continue;
    note(tensor.name, gradients[tensor.name.substr(kGradient.size())], stored(tensor.name));
  }
}

}  // namespace

bool CaseReport::passed() const {
  return std::all_of(errors.begin(), errors.end(), [](const auto& e) { return e.passed(); });
}

ReferenceCase ReferenceCase::read(const fs::path& path) {
  auto file = Safetensors::read(path);
  const auto json = Json::parse(file.metadata_at("peer"), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !(json.contains("variant") || json.contains("attention"))) {
    throw UserError(concat(path.string(),
                           ": is no reference case; expected metadata \"peer\" with the shape and "
                           "a variant or attention in it"));
  }
  return {path, std::move(file), json};
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

std::vector<CaseReport> verify_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw UserError(concat(folder.string(), " is no folder; expected one with reference cases"));
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
