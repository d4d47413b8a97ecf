#include "support/catch.h"
#include "train/checkpoint.h"

namespace difflab {
namespace {

SpikeCounter after(int steps, double norm) {
  SpikeCounter spikes;
  for (int i = 0; i < steps; ++i) spikes.add(norm);
  return spikes;
}

CATCH_TEST_CASE(
    "a spike is a norm of more than five times the running median of 20 steps or more") {
  auto spikes = after(20, 1.0);
  spikes.add(5.0);
  CATCH_CHECK(spikes.count == 0);
  spikes.add(5.01);
  CATCH_CHECK(spikes.count == 1);
  spikes.add(100);  // two large ones before it do not move the median
  CATCH_CHECK(spikes.count == 2);
  auto few = after(19, 1.0);
  few.add(100);
  CATCH_CHECK(few.count == 0);
  few.add(100);
  CATCH_CHECK(few.count == 1);
}

CATCH_TEST_CASE("the median is that of the last hundred steps") {
  auto spikes = after(100, 1.0);
  for (int i = 0; i < 60; ++i) spikes.add(4.0);
  spikes.add(6.0);  // a spike beside 1, none beside 4
  CATCH_CHECK(spikes.count == 0);
  CATCH_CHECK(spikes.recent.size() == SpikeCounter::kWindow);
}

}  // namespace
}  // namespace difflab
