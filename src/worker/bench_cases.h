#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/language_model.h"
#include "util/text.h"

namespace difflab {

/// One thing to time, and what it does in one call, where known.
struct BenchCase {
  std::string group;  ///< cases of a group are compared with each other
  std::string name;
  std::function<void()> run;  ///< may leave a device at work
  double operations = 0;      ///< floating-point operations of a call
  double tokens = 0;          ///< tokens of a call
};

/// A model with the values that it begins with.
LanguageModel initialised(const ModelConfig& config, std::int64_t vocab_size, Kernels kernels,
                          const c10::Device& device);

std::vector<BenchCase> attention_cases(c10::Device device);
std::vector<BenchCase> train_cases(c10::Device device);
/// A training step of any size, by the names that train_cases gives: "D 512, L 8, T 1024, batch 4,
/// d 32" and "DIFF V1 fused". Nothing if they are no such names. The model is built by the first
/// step.
std::optional<BenchCase> train_case(const std::string& group, const std::string& name,
                                    c10::Device device);
std::vector<BenchCase> optimizer_cases(c10::Device device);
std::vector<BenchCase> decode_cases(c10::Device device);

}  // namespace difflab
