#include "support/catch.h"
#include "util/hash.h"

namespace difflab {
namespace {

std::string counting(int from, int to) {
  std::string bytes;
  for (int i = from; i != to; i += from < to ? 1 : -1) bytes += static_cast<char>(i);
  return bytes;
}

CATCH_TEST_CASE("CRC-32C has the values of RFC 3720, appendix B.4") {
  CATCH_CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CATCH_CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
  CATCH_CHECK(crc32c(counting(0, 32)) == 0x46DD794E);
  CATCH_CHECK(crc32c(counting(31, -1)) == 0x113FDB5C);
}

CATCH_TEST_CASE("CRC-32C has its check value, and 0 for nothing") {
  CATCH_CHECK(crc32c("123456789") == 0xE3069283);
  CATCH_CHECK(crc32c("") == 0);
}

}  // namespace
}  // namespace difflab
