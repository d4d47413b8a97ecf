#include "util/terminal/screen.h"

#include <sys/ioctl.h>

#include <algorithm>

#include "util/terminal/streams.h"
#include "util/terminal/terminal.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::string_view kSecondPage = "\x1b[?1049h", kFirstPage = "\x1b[?1049l";
constexpr std::string_view kHideCursor = "\x1b[?25l", kShowCursor = "\x1b[?25h";
constexpr std::string_view kHome = "\x1b[H", kEraseLineEnd = "\x1b[K", kEraseBelow = "\x1b[J";

// The byte at which the character number `column` begins.
std::size_t byte_of(std::string_view text, int column) {
  std::size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (starts_character(text[byte]) && column-- == 0) break;
  }
  return byte;
}

}  // namespace

ScreenSize screen_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

int columns_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shorten(std::string_view text, int width) {
  const int columns = columns_of(text);
  if (columns <= width) return std::string(text);
  const int front = (width - 1) / 2, back = width - 1 - front;
  if (front < 1) return fit_to_width(text, width);
  return std::string(text.substr(0, byte_of(text, front))) + "…" +
         std::string(text.substr(byte_of(text, columns - back)));
}

Screen::Screen(std::ostream& out) : out_(out) {
  write_raw(out_, concat(kSecondPage, kHideCursor, kHome, kEraseBelow));
}

Screen::~Screen() { write_raw(out_, concat(kShowCursor, kFirstPage)); }

void Screen::draw(const std::vector<std::string>& lines, ScreenSize size) {
  std::string frame(kHome);
  const auto count = std::min(lines.size(), static_cast<std::size_t>(std::max(size.height, 1)));
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) frame += "\r\n";
    frame += fit_to_width(lines[i], size.width - 1);  // a full last column would wrap
    frame += kEraseLineEnd;
  }
  frame += kEraseBelow;
  write_raw(out_, frame);  // in one write: nobody sees half a frame
}

}  // namespace difflab
