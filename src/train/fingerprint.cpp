#include "train/fingerprint.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "train/tensor_file.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab {
namespace {

std::string print_line(const std::string& name, const at::Tensor& tensor) {
  const auto on_cpu = tensor.detach().cpu().contiguous();
  const auto stored = stored_as(name, on_cpu);
  std::vector<std::string> shape;
  for (const auto size : stored.shape) shape.push_back(std::to_string(size));
  return concat(name, " ", stored.dtype, " [", join(shape, ","), "] ", sha256_hex(stored.bytes),
                "\n");
}

std::string first_digits(const std::string& lines) { return sha256_hex(lines).substr(0, 16); }

}  // namespace

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
