#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace difflab {

/// In characters.
struct ScreenSize {
  int width = 80, height = 24;
  bool operator==(const ScreenSize&) const = default;
};

/// Of the terminal behind `descriptor`; 80 × 24 if that is unknown.
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
