#pragma once

#include <vector>

#include "task/language/language.h"

namespace difflab {

/// The entropy of the token to be predicted at each of the T positions, given all those before it,
/// in nats, averaged over documents: the expected loss there of a model that knows the language. No
/// model's is lower. Exact but for rounding; takes T · clause length steps.
std::vector<double> token_entropies(const LanguageConfig& config);

}  // namespace difflab
