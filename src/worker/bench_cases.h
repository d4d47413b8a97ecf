#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

std::vector<BenchCase> attention_cases(c10::Device device);
std::vector<BenchCase> train_cases(c10::Device device);
std::vector<BenchCase> optimizer_cases(c10::Device device);
std::vector<BenchCase> decode_cases(c10::Device device);

}  // namespace difflab
