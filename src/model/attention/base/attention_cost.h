#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/layer/layer_config.h"

namespace difflab {

/// More heads, or wider ones, than anybody has; keeps products of sizes within 64 bits.
constexpr double kMostHeads = 65'536;

/// Settings that a block passes to its attention.
struct AttentionShape {
  std::int64_t d_model;    ///< D, channels of the residual stream
  std::int64_t layer = 0;  ///< l, 0 for the first block
  bool bias = false;       ///< whether projections have one
  Kernels kernels = Kernels::kPlain;
};

/// A parameter's name inside its module and its shape.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Parameters, operations and cache of one attention layer, for counting. The built module must
/// have exactly these parameters (a test compares them).
struct AttentionCost {
  std::vector<ParameterShape> parameters = {};
  std::int64_t maps = 0;  ///< softmax maps [T, T]
  /// Widths of all products of queries with keys together, 2·T²·score_channels operations; also of
  /// a kind without softmax maps.
  std::int64_t score_channels = 0;
  /// Widths of all products of weights with values together: they take 2·T²·value_channels.
  std::int64_t value_channels = 0;
  /// How many products of weights with values those are; 0: as many as maps.
  std::int64_t value_products = 0;
  /// Numbers kept per token for decoding: keys and values.
  std::int64_t cache_channels = 0;

  /// A projection: weight [out, in] and, if asked, bias [out].
  void add_linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = false) {
    parameters.push_back({name + ".weight", {out, in}});
    if (bias) parameters.push_back({name + ".bias", {out}});
  }

  void add_head_norm(HeadNormKind kind, std::int64_t width) {
    if (kind != HeadNormKind::kNone) parameters.push_back({"subln.weight", {width}});
    if (kind == HeadNormKind::kGroup) parameters.push_back({"subln.bias", {width}});
  }
};

}  // namespace difflab
