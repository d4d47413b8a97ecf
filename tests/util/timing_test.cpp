#include "util/timing.h"

#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("a stretch of code adds its time when it ends, also if it throws") {
  double seconds = 1;
  try {
    const Timed timed(seconds);
    throw 1;
  } catch (int) {
  }
  CATCH_CHECK(seconds > 1);
}

}  // namespace
}  // namespace difflab
