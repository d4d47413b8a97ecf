#pragma once

#include <cstdint>
#include <string_view>

namespace difflab {

/// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, inverted before and after; RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace difflab
