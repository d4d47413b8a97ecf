#include "record/safetensors.h"

#include <cstring>

#include "support/catch.h"

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
  return testing::error_of([&] { Safetensors::parse(std::move(bytes), "file"); });
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
  refused(with_header("{\"a\":", eight), "its header is not a JSON object");
  refused(with_header("[1]", eight), "its header is not a JSON object");
  refused(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", eight),
          "beyond the end");
  const auto one = [&](const char* about) {
    return with_header(concat(R"({"a":{"dtype":)", about, "}}"), eight);
  };
  refused(one(R"("F32","shape":[3],"data_offsets":[0,8])"), "shape and data_offsets disagree");
  refused(one(R"("F99","shape":[2],"data_offsets":[0,8])"), "unknown dtype F99");
  refused(one(R"("F32","shape":[-2],"data_offsets":[0,8])"), "whole numbers");
  refused(one(R"("F64","shape":[4611686018427387904,4],"data_offsets":[0,8])"), "disagree");
  refused(one(R"("F32","shape":[2],"data_offsets":[8,0])"), "begin and end");
  refused(one(R"("F32","shape":[1],"data_offsets":[0,4]},)"
              R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6])"),
          "overlaps another or leaves a gap");
  refused(one(R"("F32","shape":[1],"data_offsets":[0,4])"), "bytes after the last tensor");
  refused(one(R"("F32","shape":[1],"data_offsets":[0,4]},)"
              R"("b":{"dtype":"F32","shape":[0],"data_offsets":[8,8])"),
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
  const std::string first = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::string second = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  const std::string b = R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  const std::string notes = R"("__metadata__":{"a":"1","x":"2","a":"3"})";
  const std::string twice = R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,8],"dtype":"F32"})";
  for (const auto& [header, key] :
       {std::pair(first + "," + second, "a"), std::pair(second + "," + first, "a"),
        std::pair(tensor + "," + tensor, "a"), std::pair(first + "," + b + "," + first, "a"),
        std::pair(notes + "," + tensor, "a"), std::pair(twice, "dtype")}) {
    CATCH_CHECK(error_of(with_header("{" + header + "}", eight)) ==
                concat("file: not a valid safetensors file: its header has ", key, " twice"));
  }
  for (const char bracket : {'[', '{'}) {
    CATCH_CHECK_FALSE(error_of(with_header(std::string(300'000, bracket), "")).empty());
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CATCH_CHECK_FALSE(error_of(with_header("{\"a\":" + deep + "}", "")).empty());
}

CATCH_TEST_CASE("what was downloaded in the place of weights is named") {
  CATCH_CHECK_THAT(error_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"),
                   Catch::StartsWith("file: is a pointer of Git LFS"));
  for (const char* page : {"<!DOCTYPE html><html>", "<html>\n", "\n<HTML ><body>Log in</body>"}) {
    CATCH_CHECK_THAT(error_of(page), Catch::StartsWith("file: is a web page"));
  }
}

CATCH_TEST_CASE("NaN and infinity are found in every floating type, wherever they stand") {
  // IEEE 754 and bfloat16, little-endian: 1, the largest number, the smallest, −0; NaN and ±∞.
  using namespace std::string_literals;
  const std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> kinds{
      {"F16", {{"\0\x3c"s, "\xff\x7b"s, "\1\0"s, "\0\x80"s}, {"\0\x7e"s, "\0\x7c"s, "\0\xfc"s}}},
      {"BF16",
       {{"\x80\x3f"s, "\x7f\x7f"s, "\1\0"s, "\0\x80"s}, {"\xc0\x7f"s, "\x80\x7f"s, "\x80\xff"s}}},
      {"F32",
       {{"\0\0\x80\x3f"s, "\xff\xff\x7f\x7f"s, "\1\0\0\0"s, "\0\0\0\x80"s},
        {"\1\0\x80\x7f"s, "\0\0\x80\x7f"s, "\0\0\x80\xff"s}}},
      {"F64",
       {{"\0\0\0\0\0\0\xf0\x3f"s, "\xff\xff\xff\xff\xff\xff\xef\x7f"s},
        {"\1\0\0\0\0\0\xf0\x7f"s, "\0\0\0\0\0\0\xf0\x7f"s, "\0\0\0\0\0\0\xf0\xff"s}}}};
  for (const auto& [type, values] : kinds) {
    const auto numbers = join(values.first, "");
    CATCH_INFO(type);
    CATCH_CHECK(is_finite({"w", type, {}, numbers}));
    for (const auto& broken : values.second) {
      for (const auto& bytes : {broken + numbers, numbers + broken}) {
        CATCH_CHECK_FALSE(is_finite({"w", type, {}, bytes}));
      }
    }
  }
  CATCH_CHECK(is_finite({"w", "I64", {1}, std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f")}));
}

CATCH_TEST_CASE("a header of 300,000 tensors is read tensor by tensor") {
  std::vector<std::string> entries;
  for (int i = 0; i < 300'000; ++i) {
    entries.push_back(
        concat("\"t", i, R"(":{"dtype":"U8","shape":[1],"data_offsets":[)", i, ",", i + 1, "]}"));
  }
  const auto file = Safetensors::parse(
      with_header(concat("{", join(entries, ","), "}"), std::string(300'000, 'x')), "file");
  CATCH_REQUIRE(file.tensors().size() == 300'000);
  CATCH_CHECK(file.tensors()[299'999].name == "t299999");
}

CATCH_TEST_CASE("a missing tensor is answered with the nearest name") {
  const auto file = Safetensors::parse(to_safetensors({{"q_proj", "F32", {0}, ""}}, {}), "m.st");
  CATCH_CHECK_THROWS_WITH(file.at("q_prj"), "m.st: has no tensor q_prj; did you mean q_proj?");
}

}  // namespace
}  // namespace difflab
