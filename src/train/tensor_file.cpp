#include "train/tensor_file.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "task/base/task.h"
#include "train/optimizer/optimizer_config.h"
#include "util/error.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

const std::map<std::string, at::ScalarType> kTypes = {{"F64", at::kDouble}, {"F32", at::kFloat},
                                                      {"F16", at::kHalf},   {"BF16", at::kBFloat16},
                                                      {"I64", at::kLong},   {"I32", at::kInt}};

std::string shape_text(const std::vector<std::int64_t>& shape, std::string_view separator = ", ") {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return concat("[", join(sizes, separator), "]");
}

// Names differ by little, and a whole list of hundreds helps nobody.
std::string hint(const std::string& name, const std::vector<std::string>& candidates) {
  const auto near = closest(name, candidates);
  return near ? concat("; did you mean ", *near, "?") : "";
}

std::string print_line(const std::string& name, const at::Tensor& tensor) {
  const auto on_cpu = tensor.detach().cpu().contiguous();
  const auto stored = stored_as(name, on_cpu);
  return concat(name, " ", stored.dtype, " ", shape_text(stored.shape, ","), " ",
                sha256_hex(stored.bytes), "\n");
}

std::string first_digits(const std::string& lines) { return sha256_hex(lines).substr(0, 16); }

}  // namespace

at::Tensor to_tensor(const TensorBytes& stored, const std::string& file) {
  const auto type = kTypes.find(stored.dtype);
  if (type == kTypes.end()) {
    throw UserError(concat(file, ": tensor ", stored.name, " has type ", stored.dtype,
                           "; expected F64, F32, F16, BF16, I64 or I32"));
  }
  return at::from_blob(const_cast<char*>(stored.bytes.data()), stored.shape,
                       at::TensorOptions().dtype(type->second))
      .clone();
}

std::string dtype_name(at::ScalarType type) {
  for (const auto& [name, stored] : kTypes) {
    if (stored == type) return name;
  }
  throw std::logic_error("a tensor of a type that files do not have");
}

TensorBytes stored_as(const std::string& name, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), "not as a file has it");
  return {name,
          dtype_name(tensor.scalar_type()),
          tensor.sizes().vec(),
          {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}};
}

void load_parameters(torch::nn::Module& model, const Safetensors& file, const std::string& path,
                     const std::function<std::string(const std::string&)>& stored_name) {
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const auto& parameter : model.named_parameters()) {
    const auto& stored = file.at(stored_name(parameter.key()));
    const auto expected = parameter.value().sizes().vec();
    if (stored.shape != expected) {
      throw UserError(concat(path, ": tensor ", stored.name, " has shape ",
                             shape_text(stored.shape), "; expected ", shape_text(expected)));
    }
    auto value = to_tensor(stored, path);
    if (!value.is_floating_point()) {
      throw UserError(concat(path, ": tensor ", stored.name, " has type ", stored.dtype,
                             "; expected F64, F32, F16 or BF16"));
    }
    copies.emplace_back(parameter.value(), std::move(value));
  }
  const at::NoGradGuard no_grad;
  for (auto& [parameter, value] : copies) parameter.copy_(value);
}

void save_parameters(const std::filesystem::path& path, const torch::nn::Module& model,
                     const std::map<std::string, std::string>& metadata) {
  std::vector<at::Tensor> values;
  std::vector<TensorBytes> tensors;
  for (const auto& parameter : model.named_parameters()) {
    values.push_back(parameter.value().detach().cpu().contiguous());
    tensors.push_back(stored_as(parameter.key(), values.back()));
  }
  write_named_file(path, to_safetensors(tensors, metadata));
}

void load_parameters(torch::nn::Module& model, const Safetensors& file, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& parameter : model.named_parameters()) names.push_back(parameter.key());
  const std::set<std::string> known(names.begin(), names.end());
  for (const auto& tensor : file.tensors()) {
    if (known.count(tensor.name) > 0 || is_optimizer_state(tensor.name)) continue;
    throw UserError(concat(path, ": tensor ", tensor.name, " is not a parameter of this model",
                           hint(tensor.name, names)));
  }
  load_parameters(model, file, path, [](const std::string& name) { return name; });
}

std::string fingerprint(const Batch& batch) {
  return first_digits(print_line("inputs", batch.inputs) + print_line("targets", batch.targets));
}

std::string fingerprint(const torch::nn::Module& model) {
  std::vector<std::string> lines;
  for (const auto& parameter : model.named_parameters()) {
    lines.push_back(print_line(parameter.key(), parameter.value()));
  }
  std::sort(lines.begin(), lines.end());
  return first_digits(join(lines, ""));
}

}  // namespace difflab
