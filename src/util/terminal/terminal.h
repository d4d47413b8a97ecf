#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace difflab {

/// True if the descriptor is a terminal that a person looks at (TERM is set and not "dumb").
bool is_terminal(int descriptor);

/// Columns of the terminal behind `descriptor`, 80 if that is unknown.
int terminal_width(int descriptor);

/// "8s", "3m 05s", "2h 10m"; the unit below the shown ones is rounded off.
std::string format_duration(double seconds);

/// "950", "1.2k", "3.4M": a count or rate in at most four characters and a unit.
std::string format_count(double count);

/// The text cut to `width` columns (UTF-8 characters counted as one column each), with … at the
/// cut.
std::string fit_to_width(std::string_view text, int width);

/// The text without bytes that a terminal would obey: control characters become blanks.
std::string printable(std::string_view text);

/// One line at the bottom of a terminal that is written over again and again. Lines that shall
/// stay are printed above it.
class StatusLine {
 public:
  StatusLine(std::ostream& out, int width) : out_(out), width_(width) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view text);
  void print_above(std::string_view line);
  void clear();

 private:
  std::ostream& out_;
  int width_;
  std::string shown_;
};

/// The values as one line of at most `width` bars ▁ to █, the smallest lowest; neighbours share a
/// bar (their mean) where there are more values than columns. Values that are not finite are left
/// out.
std::string sparkline(const std::vector<double>& values, int width);

/// In characters.
struct ScreenSize {
  int width = 80, height = 24;
  bool operator==(const ScreenSize&) const = default;
};

/// Size of the terminal behind `descriptor`; 80 × 24 if that is unknown.
ScreenSize screen_size(int descriptor);

/// The text cut to `width` columns in its middle, where a list of names differs least.
std::string shorten(std::string_view text, int width);

/// Columns that a UTF-8 text takes, one for each character.
int columns_of(std::string_view text);

/// The whole terminal, written over again and again: its second page, as long as this object lives,
/// so that what stood on the first is there again afterwards.
class Screen {
 public:
  explicit Screen(std::ostream& out);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Lines that do not fit the size are cut, and left out at the end.
  void draw(const std::vector<std::string>& lines, ScreenSize size);

 private:
  std::ostream& out_;
};

}  // namespace difflab
