#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_config.h"

namespace difflab::cli {

/// A model and what it is counted for.
struct CostSubject {
  std::string name;
  ModelConfig model;
  std::int64_t vocab;
  std::int64_t tokens;    ///< of one sequence
  std::string note = {};  ///< what to know of these numbers, a sentence
};

// Each as a table for a terminal, or as JSON.
std::string params_table(const std::vector<CostSubject>& subjects, bool json);
// `products`: also each product of matrices, by layer and by token.
std::string flops_table(const std::vector<CostSubject>& subjects, std::int64_t bytes_per_number,
                        bool products, bool json);

}  // namespace difflab::cli
