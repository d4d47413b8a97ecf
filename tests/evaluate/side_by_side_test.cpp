// Work on several threads; contract_test.cpp compares what evaluations give on any number of them.
#include <atomic>
#include <mutex>
#include <thread>

#include "evaluate/base/score_batches.h"
#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("every call happens once, on as many threads as there are lanes") {
  std::vector<int> calls(100, 0);
  std::set<std::thread::id> threads;
  std::mutex guard;
  std::atomic<int> inside = 0;
  std::atomic<bool> met = false;
  side_by_side(3, 100, [&](std::int64_t i) {
    ++calls[static_cast<std::size_t>(i)];
    ++inside;
    // The first waits for another to be inside, too.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!met && inside < 2 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
    }
    if (inside >= 2) met = true;
    --inside;
    const std::lock_guard lock(guard);
    threads.insert(std::this_thread::get_id());
  });
  CATCH_CHECK(std::all_of(calls.begin(), calls.end(), [](int count) { return count == 1; }));
  CATCH_CHECK(met);
  CATCH_CHECK(threads.size() <= 3);
  CATCH_CHECK(threads.size() >= 2);
}

CATCH_TEST_CASE("one lane works on the caller's thread, in order") {
  std::vector<std::int64_t> order;
  side_by_side(1, 4, [&](std::int64_t i) { order.push_back(i); });
  CATCH_CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3});
  side_by_side(4, 0, [](std::int64_t) { CATCH_FAIL("there is nothing to do"); });
}

CATCH_TEST_CASE("the first exception of a lane stops the others and is thrown to the caller") {
  for (const int lanes : {1, 2, 3}) {
    std::atomic<int> calls = 0;
    CATCH_CHECK_THROWS_WITH(side_by_side(lanes, 1'000'000,
                                         [&](std::int64_t) {
                                           ++calls;
                                           throw std::runtime_error("out of memory");
                                         }),
                            "out of memory");
    CATCH_CHECK(calls <= lanes);
  }
}

}  // namespace
}  // namespace difflab
