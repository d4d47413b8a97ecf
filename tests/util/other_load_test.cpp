#include <sys/wait.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "support/catch.h"
#include "util/timing.h"

namespace difflab {
namespace {

using Clock = std::chrono::steady_clock;

void work_for(std::chrono::milliseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

// The cores that this process gets while it works on all of them, by its own clock.
double work_on_all_cores(std::chrono::milliseconds time) {
  const auto begin = Clock::now();
  const auto before = std::clock();  // of the process, all threads
  std::vector<std::thread> threads;
  for (auto i = ::sysconf(_SC_NPROCESSORS_ONLN); i > 0; --i) threads.emplace_back(work_for, time);
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> passed = Clock::now() - begin;
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / passed.count();
}

CATCH_TEST_CASE("other processes are counted, this one is not") {
  const std::chrono::milliseconds while_(600);
  const OtherLoad own;
  const double share = work_on_all_cores(while_);
  const auto without = own.cores();

  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) {
    }
  }
  const OtherLoad load;
  work_for(while_);
  const auto with = load.cores();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  CATCH_REQUIRE((with && without));
  // Whatever else the machine does, the child is a part of it, as far as it got a core.
  CATCH_CHECK(*with > 0.2);
  // What this process had the others cannot have had.
  const auto all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  CATCH_CHECK(*without <= all - share + 0.15);  // the kernel counts in hundredths of a second
  const OtherLoad idle;
  ::usleep(300'000);
  CATCH_CHECK(*idle.cores() <= all + 0.1);
}

}  // namespace
}  // namespace difflab
