#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/value/value.h"

namespace difflab {

struct RunConfig;

/// Keys of a run that cannot change its result, left out of its identity, by their dotted names.
std::span<const std::string_view> keys_without_effect();

/// A key that came later than the runs that people have. While it has the value that stands for
/// what runs did before, it is left out of their identity, so that they keep their names.
struct LaterKey {
  /// Its dotted name, e.g. "train.schedule". KEY:KIND stands for a value of that kind alone, as in
  /// "model.attention:diff_v1.gate"; a list for each of its items, as in "evaluate.batch".
  std::string_view path;
  std::string_view before;  ///< as JSON
};

/// All of them.
std::span<const LaterKey> later_keys();

/// Takes `keys` out of a run's configuration wherever they have their old values.
void forget_later_keys(config::Value& config, std::span<const LaterKey> keys);

/// The name of a run: the first 16 hexadecimal digits of the SHA-256 of its whole resolved
/// configuration in canonical form, defaults included, and of the schema version; keys that cannot
/// change the result are left out. Hashing only what differs from the defaults would silently reuse
/// old results when a default changes.
std::string run_id(const RunConfig& config);

/// The name of what decides a run's weights and curve: the same without what the trained model is
/// asked. Runs with the same one have the same model, bit for bit.
std::string training_id(const RunConfig& config);

/// The name of the answer that the trained model of a run gives to one of its evaluations: of the
/// training, the evaluation without its name, and the task that it is asked on.
/// @param index of the evaluation in config.evaluate
std::string answer_id(const RunConfig& config, std::size_t index);

}  // namespace difflab
