#include <random>

#include "record/safetensors.h"
#include "support/catch.h"
#include "util/hash.h"

namespace difflab {
namespace {

std::string sample(char fill, std::size_t size = 64) {
  const std::string data(size * 4, fill);
  return to_sealed_safetensors(
      {{"weight", "F32", {static_cast<std::int64_t>(size)}, data}, {"bias", "F32", {1}, "abcd"}},
      {{"format", "difflab checkpoint 2"},
       {"config", R"({"seal":"not this one"})"},
       {"progress", R"({"step":7})"}});
}

// Whether the bytes are accepted; anything else than a UserError ends the test.
bool accepted(const std::string& bytes) {
  return testing::error_of([&] { require_seal(Safetensors::parse(bytes, "file"), "file"); }) == "";
}

std::string mutated(std::string bytes, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random);
  };
  const auto at = below(bytes.size());
  switch (below(6)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  std::min<std::size_t>(below(512) + 1, bytes.size() - at), '\0');
      break;
    case 3:  // the beginning of one file, the end of another
      bytes = bytes.substr(0, at) + other.substr(std::min(at, other.size()));
      break;
    case 4:
      bytes.insert(at, other.substr(0, below(64) + 1));
      break;
    default:
      bytes.erase(at, below(64) + 1);
  }
  return bytes;
}

CATCH_TEST_CASE("a sealed file is a safetensors file, and is accepted as it is") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.safetensors";
  write_file_atomically(path, sample('x'));
  const auto file = read_sealed_safetensors(path);
  CATCH_CHECK(file.at("bias").bytes == "abcd");
  CATCH_CHECK(file.metadata().at("progress") == R"({"step":7})");
}

CATCH_TEST_CASE("every single changed bit of a sealed file is noticed") {
  const auto whole = sample('x', 4);
  CATCH_REQUIRE(accepted(whole));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    auto bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    CATCH_INFO("bit " << bit);
    CATCH_REQUIRE_FALSE(accepted(bytes));
  }
}

CATCH_TEST_CASE("of 10 000 mutated checkpoints none is accepted, and none does harm") {
  const auto whole = sample('x'), other = sample('y');
  std::mt19937_64 random(7);
  int changed = 0;
  for (int round = 0; round < 10'000; ++round) {
    auto bytes = mutated(whole, other, random);
    if (bytes == whole || bytes == other) continue;
    ++changed;
    CATCH_INFO("round " << round);
    CATCH_REQUIRE_FALSE(accepted(bytes));
  }
  CATCH_CHECK(changed > 9'000);
}

CATCH_TEST_CASE(
    "checkpoints of the first format, with a checksum of the data alone, are still read") {
  const auto old = [](const std::string& sum) {
    return to_safetensors({{"bias", "F32", {1}, "abcd"}},
                          {{"format", "difflab checkpoint 1"}, {"data_sha256", sum}});
  };
  CATCH_CHECK(accepted(old(sha256_hex("abcd"))));
  CATCH_CHECK_FALSE(accepted(old(sha256_hex("abce"))));
  CATCH_CHECK_FALSE(accepted(to_safetensors({{"bias", "F32", {1}, "abcd"}}, {})));
}

}  // namespace
}  // namespace difflab
