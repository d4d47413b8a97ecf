#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace difflab {

/// Whether a person looks at the stream of this descriptor (and TERM is not "dumb").
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

}  // namespace difflab
