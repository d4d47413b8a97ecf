#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace difflab {

/// SHA-256 of the bytes as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, inverted before and after; RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

/// The bytes in base64 (RFC 4648), with padding.
std::string base64(std::string_view bytes);

}  // namespace difflab
