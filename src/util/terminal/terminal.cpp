#include "util/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "util/terminal/streams.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr int kDefaultWidth = 80;
constexpr std::string_view kEraseLine = "\r\x1b[K";

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::vector<double> binned(const std::vector<double>& values, std::size_t bins) {
  if (values.size() <= bins) return values;
  std::vector<double> means;
  for (std::size_t i = 0; i < bins; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / bins);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / bins);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return means;
}

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

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

int terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto total = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (total < 60) return fmt::format("{}s", total);
  if (total < 3600) return fmt::format("{}m {:02}s", total / 60, total % 60);
  const std::int64_t minutes = (total + 30) / 60;
  return fmt::format("{}h {:02}m", minutes / 60, minutes % 60);
}

std::string format_count(double count) {
  constexpr std::string_view kUnits = " kMGT";
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  const bool fraction = count < 9.95 && (unit > 0 || count != std::floor(count));
  const std::string number = fmt::format("{:.{}f}", count, fraction ? 1 : 0);
  return unit == 0 ? number : number + kUnits[unit];
}

std::string fit_to_width(std::string_view text, int width) {
  if (columns_of(text) <= width) return std::string(text);
  return std::string(text.substr(0, byte_of(text, std::max(width - 1, 0)))) + "…";
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, is_control, ' ');
  // The same once more in two bytes: U+0080 to U+009F.
  for (std::size_t i = 0; i + 1 < result.size(); ++i) {
    const auto next = static_cast<unsigned char>(result[i + 1]);
    if (result[i] == '\xC2' && next >= 0x80 && next < 0xA0) result[i] = result[i + 1] = ' ';
  }
  return result;
}

void StatusLine::show(std::string_view text) {
  std::string line = fit_to_width(text, width_ - 1);  // a full last column would wrap
  if (line == shown_) return;
  write_raw(out_, concat(kEraseLine, printable(line)));
  shown_ = std::move(line);
}

void StatusLine::print_above(std::string_view line) {
  write_raw(out_,
            concat(shown_.empty() ? "" : kEraseLine, printable(line), "\n", printable(shown_)));
}

void StatusLine::clear() {
  if (shown_.empty()) return;
  write_raw(out_, kEraseLine);
  shown_.clear();
}

std::string sparkline(const std::vector<double>& values, int width) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty() || width < 1) return "";
  const auto bars = binned(finite, static_cast<std::size_t>(width));
  const auto [low, high] = std::minmax_element(bars.begin(), bars.end());
  const double range = *high - *low;
  std::string line;
  for (const double bar : bars) {
    const double part = range > 0 ? (bar - *low) / range : 0;
    line += kBars.at(static_cast<std::size_t>(std::lround(part * (kBars.size() - 1))));
  }
  return line;
}

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
