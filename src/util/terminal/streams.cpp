#include "util/terminal/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <utility>

#include "util/exit_code.h"
#include "util/terminal/terminal.h"

namespace difflab {
namespace {

// Pipes and files that are opened later must not get the numbers of the standard streams.
void open_missing_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Reading alone, also for the output: who writes there shall learn that it is lost.
    const int mode = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = ::open("/dev/null", mode);
  }
}

}  // namespace

CleanBuffer::int_type CleanBuffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) {
    return traits_type::not_eof(character);
  }
  const char byte = traits_type::to_char_type(character);
  return xsputn(&byte, 1) == 1 ? character : traits_type::eof();
}

std::streamsize CleanBuffer::xsputn(const char* bytes, std::streamsize count) {
  std::string clean;
  for (const char* next = bytes; next != bytes + count; ++next) {
    const auto byte = static_cast<unsigned char>(*next);
    const bool is_second = std::exchange(after_c2_, false);
    const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
    if (is_second && byte >= 0x80 && byte < 0xA0) {
      clean += ' ';
    } else {
      if (is_second) clean += '\xC2';
      after_c2_ = byte == 0xC2;
      if (!after_c2_) clean += is_control ? ' ' : *next;
    }
  }
  const auto length = static_cast<std::streamsize>(clean.size());
  return target_.sputn(clean.data(), length) == length ? count : 0;
}

void write_raw(std::ostream& out, std::string_view bytes) {
  auto* clean = dynamic_cast<CleanBuffer*>(out.rdbuf());
  if (clean == nullptr) {
    out << bytes << std::flush;
    return;
  }
  clean->target().sputn(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  clean->target().pubsync();
}

StandardStreams::StandardStreams() {
  open_missing_streams();
  const std::array<std::ostream*, 2> streams{&std::cout, &std::cerr};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    before_[i] = streams[i]->rdbuf();
    if (is_terminal(static_cast<int>(i) + STDOUT_FILENO)) {
      streams[i]->rdbuf(new CleanBuffer(*before_[i]));
    }
  }
}

StandardStreams::~StandardStreams() {
  const std::array<std::ostream*, 2> streams{&std::cout, &std::cerr};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i]->flush();
    auto* now = streams[i]->rdbuf(before_[i]);
    if (now != before_[i]) delete now;
  }
}

int StandardStreams::finish(int code) const {
  if (std::cout.flush()) return code;
  std::cerr << "error: cannot write to standard output\n";
  return code == kDone ? kUserError : code;
}

}  // namespace difflab
