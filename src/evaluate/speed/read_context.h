#pragma once

#include <cstdint>

#include "model/language_model.h"

namespace difflab {

/// Sequences that a model has read, and from which it decodes again and again.
class ReadContext {
 public:
  /// @param tokens [B, T] that the model has read, on its device
  ReadContext(LanguageModel& model, const at::Tensor& tokens);

  /// Decodes `tokens` more of each sequence, the most likely ones, behind the first that follows
  /// the context: [B, tokens] on the CPU.
  at::Tensor decode(std::int64_t tokens);
  /// Bytes of the keys and values of the context.
  std::int64_t cache_bytes() const;

 private:
  LanguageModel* model_;
  DecodingState state_;
  at::Tensor last_;  // [B, 1], the first token that is decoded from
};

}  // namespace difflab
