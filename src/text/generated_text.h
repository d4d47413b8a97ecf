#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace difflab {

/// English-like text from a small grammar, exactly `characters` ASCII characters long: paragraphs
/// of four to nine sentences about one person, a friend, a town and a number of things. Words are
/// drawn by Zipf's law. What can be learned, from near to far: spelling; the agreement of noun,
/// verb and pronoun; sums of two numbers; and names, towns and numbers, which a paragraph says once
/// and asks for again.
///
/// A function of the seed alone: the first n characters are the same whatever `characters` is.
std::string generated_text(std::int64_t characters, std::uint64_t seed);

/// Every character that a generated text may hold, in the order of their codes.
std::string_view generated_alphabet();

}  // namespace difflab
