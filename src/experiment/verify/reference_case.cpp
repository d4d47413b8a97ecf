#include "experiment/verify/reference_case.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

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

// Every row of every parameter must be looked at, or a forgotten one would go unnoticed.
void check_complete(const ReferenceCase& reference, const OfficialModule& module) {
  std::map<std::string, std::set<std::int64_t>> rows;  // looked at; empty: all
  std::set<std::string> whole;
  for (const auto& parameter : module.attention->named_parameters()) {
    const auto part = module.part(parameter.key());
    if (part.rows.empty()) whole.insert(part.name);
    rows[part.name].insert(part.rows.begin(), part.rows.end());
  }
  for (const auto& tensor : reference.file.tensors()) {
    const auto prefix = tensor.name.starts_with(kParameter)  ? kParameter
                        : tensor.name.starts_with(kGradient) ? kGradient
                                                             : "";
    if (prefix.empty() || tensor.name == kGradient + "x") continue;
    const auto name = tensor.name.substr(prefix.size());
    const auto found = rows.find(name);
    const bool complete = found != rows.end() &&
                          (whole.count(name) > 0 ||
                           static_cast<std::int64_t>(found->second.size()) == tensor.shape.at(0));
    if (!complete) {
      throw UserError(concat(reference.path.string(), ": parameter ", name,
                             found == rows.end() ? " is" : " has rows that are",
                             " unknown to the module that ", reference.peer.at("variant").dump(),
                             " names"));
    }
  }
}

at::Tensor rows_of(const at::Tensor& official, const OfficialPart& part) {
  return part.rows.empty() ? official : official.index_select(0, at::tensor(part.rows, at::kLong));
}

void load_official(const OfficialModule& module, const Tensors& stored) {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : module.attention->named_parameters()) {
    const auto part = module.part(parameter.key());
    if (part.name.empty()) continue;
    const auto type = parameter.value().scalar_type();
    const auto value = rows_of(stored(kParameter + part.name), part).to(type) + part.plus;
    const bool is_number = value.dim() == 0 && parameter.value().numel() == 1;
    TORCH_CHECK(is_number || value.sizes() == parameter.value().sizes(), "parameter ", part.name,
                " has another shape");
    at::Tensor(parameter.value()).copy_(value);
  }
}

void verify_in(at::ScalarType type, const OfficialModule& module, const std::string& kernels,
               const ReferenceCase& reference, CaseReport& report) {
  const bool exact = type == at::kDouble;
  const auto& peer = reference.peer;
  const Tensors stored = [&](const std::string& name) {
    return to_tensor(reference.file.at(name), reference.path.string());
  };
  const auto& attention = module.attention;
  check_complete(reference, module);
  attention->to(type);
  load_official(module, stored);
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
  for (const auto& parameter : attention->named_parameters()) {
    const auto part = module.part(parameter.key());
    if (part.name.empty()) continue;
    auto theirs = rows_of(stored(kGradient + part.name), part);
    if (theirs.dim() == 0) theirs = theirs.view(1);  // a number
    note(kGradient + parameter.key(), parameter.value().grad(), theirs);
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
  for (const auto& [name, kernels] : config::EnumNames<Kernels>::kNames) {
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
