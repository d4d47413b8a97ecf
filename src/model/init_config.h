#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "config/schema/fields.h"
#include "config/value/value.h"

namespace difflab {

/// Distribution of the initial weight [out, in] of a linear layer.
enum class MatrixInit {
  kUniform,  ///< U(±1/√in), PyTorch's rule for Linear
  kXavier,   ///< U(±√(6/(in + out))) (Glorot & Bengio 2010, equation 16)
};

template <>
inline constexpr auto config::kNames<MatrixInit> = names("uniform", "xavier");

/// Distribution of initial embeddings.
enum class EmbeddingInit {
  kInverseSqrtWidth,  ///< N(0, 1/D)
  kUnit,              ///< N(0, 1)
};

template <>
inline constexpr auto config::kNames<EmbeddingInit> = names("inverse_sqrt_width", "unit");

/// How small the layers begin that write to the residual stream.
enum class ResidualInit {
  kNone,   ///< as other matrices
  kDepth,  ///< times 1/√(2L) with L layers (GPT-2; Radford et al. 2019, section 2.3)
};

template <>
inline constexpr auto config::kNames<ResidualInit> = names("none", "depth");

/// Distribution of the output head's initial weights.
enum class OutputInit {
  kMatrices,          ///< as other matrices
  kInverseSqrtWidth,  ///< N(0, 1/D)
  kZero,              ///< 0: all tokens are equally likely at the start
};

template <>
inline constexpr auto config::kNames<OutputInit> = names("matrices", "inverse_sqrt_width", "zero");

/// Rules for a model's initial parameters (docs/decisions/0003-initial-values.md). Standard
/// deviations that ModelConfig gives, init_std and embedding_std, take precedence over these rules,
/// but for an output head whose `output` says more than "matrices".
struct InitConfig {
  EmbeddingInit embedding = EmbeddingInit::kInverseSqrtWidth;
  MatrixInit matrices = MatrixInit::kUniform;
  double qkv_gain = 1;
  ResidualInit residual = ResidualInit::kNone;
  OutputInit output = OutputInit::kMatrices;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("embedding", embedding, "what embeddings are drawn from, if embedding_std is null");
    visit("matrices", matrices,
          "what weights of linear layers are drawn from, if init_std is null: uniform "
          "(1/sqrt(in)) or xavier (sqrt(6/(in + out)))");
    visit("qkv_gain", qkv_gain, "factor to the weights of q_proj, k_proj and v_proj",
          config::between(0, 100));
    visit("residual", residual,
          "depth divides the weights that write to the residual stream by sqrt(2 layers)");
    visit("output", output, "what the output head is drawn from; counts only without tied_head");
  }
};

/// Factor that token embeddings are multiplied by when they are looked up.
class EmbeddingScale {
 public:
  EmbeddingScale() = default;  ///< 1
  explicit EmbeddingScale(double factor) : factor_(factor) {}
  static EmbeddingScale sqrt_width() { return EmbeddingScale(std::nullopt); }

  double of(std::int64_t d_model) const {
    return factor_ ? *factor_ : std::sqrt(static_cast<double>(d_model));
  }

  static std::optional<EmbeddingScale> from_value(const config::Value& value) {
    if (value.is_string() && value.as_string() == kSqrtWidth) return sqrt_width();
    if (!value.is_number()) return std::nullopt;
    const double factor = value.as_double();
    if (!(factor > 0) || !std::isfinite(factor)) return std::nullopt;
    return EmbeddingScale(factor);
  }
  config::Value to_value() const {
    return factor_ ? config::Value(*factor_) : config::Value(kSqrtWidth);
  }
  static std::string expected() { return "a number above 0, or sqrt_width"; }

 private:
  static constexpr const char* kSqrtWidth = "sqrt_width";

  explicit EmbeddingScale(std::nullopt_t) : factor_() {}
  std::optional<double> factor_ = 1;  // none: √D
};

}  // namespace difflab
