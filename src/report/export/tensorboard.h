#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace difflab::report {

/// The bytes of an event file of TensorBoard with the numbers of these metrics lines as scalars,
/// tagged with their names; what is no number (null, a text) is left out. TensorBoard keeps scalars
/// as 32-bit floats.
/// @param start seconds since 1970 when the run began. An event's time is that and its
///   train_seconds: pauses between two sessions of a run do not count.
std::string event_file(const std::vector<Json>& lines, double start);

/// A record of a TFRecord file: length (8 bytes), masked CRC-32C of it (4), the bytes, masked
/// CRC-32C of them (4), all little-endian.
std::string framed(std::string_view bytes);

}  // namespace difflab::report
