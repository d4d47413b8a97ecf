#include "record/safetensors.h"

#include <cstring>

#include "support/catch.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

std::string with_header(const std::string& header, const std::string& data,
                        std::uint64_t claimed = 0) {
  const std::uint64_t length = claimed != 0 ? claimed : header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string error_of(std::string bytes) {
  try {
    Safetensors::parse(std::move(bytes), "file");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

CATCH_TEST_CASE("a safetensors file gives back what was put in") {
  const std::vector<float> values{1.5F, -2, 3};
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), 12);
  const auto file = Safetensors::parse(
      to_safetensors({{"b", "F32", {3}, bytes}, {"a", "F32", {1, 2}, bytes.substr(0, 8)}},
                     {{"note", "λ \"quoted\""}}),
      "file");
  CATCH_REQUIRE(file.tensors().size() == 2);
  CATCH_CHECK(file.tensors()[0].name == "b");
  CATCH_CHECK(file.at("a").shape == std::vector<std::int64_t>{1, 2});
  CATCH_CHECK(file.at("a").bytes == bytes.substr(0, 8));
  CATCH_CHECK(file.at("b").bytes == bytes);
  CATCH_CHECK(file.metadata().at("note") == "λ \"quoted\"");
  CATCH_CHECK(file.data().size() == 20);
}

CATCH_TEST_CASE("a safetensors header is not believed before it is checked") {
  const std::string eight(8, 'x');
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CATCH_CHECK(error_of(with_header(good, eight)).empty());
  const auto refused = [&](const std::string& bytes, const std::string& reason) {
    const auto error = error_of(bytes);
    CATCH_INFO(error);
    CATCH_CHECK(error.find("file: not a valid safetensors file: ") == 0);
    CATCH_CHECK(error.find(reason) != std::string::npos);
  };
  refused("abc", "shorter than its 8 length bytes");
  refused(with_header(good, eight, 1'000), "its header claims 1000 bytes");
  refused(with_header(good, eight, ~std::uint64_t{0}), "its header claims 18446744073709551615");
  refused(with_header("{\"a\":", eight), "its header is no JSON object");
  refused(with_header("[1]", eight), "its header is no JSON object");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", eight),
          "beyond the end");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", eight),
          "shape and data_offsets disagree");
  refused(with_header(R"({"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}})", eight),
          "unknown dtype F99");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", eight),
          "whole numbers");
  refused(
      with_header(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
                  eight),
      "disagree");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", eight),
          "begin and end");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                      eight),
          "overlaps another or leaves a gap");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", eight),
          "bytes after the last tensor");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}})",
                      eight),
          "overlaps another or leaves a gap");  // a gap, of which the end is right
  refused(with_header(R"({"a":7})", eight), "shape is missing");
  // One byte more than there is behind the length, up to as many as the file has.
  for (std::uint64_t more = 1; more <= 8; ++more) {
    refused(with_header(good, eight, good.size() + 8 + more), "its header claims");
  }
  refused(std::string("\x80\x02}q\x00.", 6) + std::string(40, 'p'),
          "it looks like a pickle, which runs code when opened");
  refused("PK\x03\x04" + std::string(40, '\0'), "it looks like a zip");
}

CATCH_TEST_CASE("hostile headers are refused, whatever they nest or say twice") {
  const std::string eight(8, 'x');
  const std::string tensor = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  for (const char* metadata : {"7", "[1]", "null", R"({"note":1})", R"({"note":{"a":"b"}})"}) {
    CATCH_INFO(metadata);
    const auto header = concat("{\"__metadata__\":", metadata, ",", tensor, "}");
    CATCH_CHECK(error_of(with_header(header, eight)).find("its metadata") != std::string::npos);
  }
  // Of a name that is there twice the data of one would belong to nobody.
  const std::string first = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::string second = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  CATCH_CHECK_FALSE(error_of(with_header("{" + first + "," + second + "}", eight)).empty());
  CATCH_CHECK_FALSE(error_of(with_header("{" + second + "," + first + "}", eight)).empty());
  for (const char bracket : {'[', '{'}) {
    CATCH_CHECK_FALSE(error_of(with_header(std::string(300'000, bracket), "")).empty());
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CATCH_CHECK_FALSE(error_of(with_header("{\"a\":" + deep + "}", "")).empty());
}

CATCH_TEST_CASE("a missing tensor is answered with the nearest name") {
  const auto file = Safetensors::parse(to_safetensors({{"q_proj", "F32", {0}, ""}}, {}), "m.st");
  CATCH_CHECK_THROWS_WITH(file.at("q_prj"), "m.st: has no tensor q_prj; did you mean q_proj?");
}

}  // namespace
}  // namespace difflab
