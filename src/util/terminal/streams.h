#pragma once

#include <array>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace difflab {

/// Lets text through to a terminal without its control characters, which a file or message of
/// somebody else's may hold; line ends and tabs stay.
class CleanBuffer : public std::streambuf {
 public:
  explicit CleanBuffer(std::streambuf& target) : target_(target) {}
  std::streambuf& target() const { return target_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override { return target_.pubsync(); }

 private:
  std::streambuf& target_;
  bool after_c2_ = false;  ///< U+0080 to U+009F are C2 and a second byte
};

/// Writes bytes as they are, for those who draw on the terminal.
void write_raw(std::ostream& out, std::string_view bytes);

/// The standard streams of a program. Those that it was started without are there, but take and
/// give nothing; what is written to a terminal is clean.
class StandardStreams {
 public:
  StandardStreams();
  ~StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  /// The exit code of a program that would end with `code`: another one, and a sentence, if what
  /// it has printed could not be written.
  int finish(int code) const;

 private:
  std::array<std::streambuf*, 2> before_{};  ///< of std::cout and std::cerr
};

}  // namespace difflab
