#include "util/other_load.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "support/catch.h"

namespace difflab {
namespace {

using Clock = std::chrono::steady_clock;

void work_for(std::chrono::milliseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

CATCH_TEST_CASE("other processes are counted, this one is not") {
  const std::chrono::milliseconds while_(600);
  const OtherLoad own;
  work_for(while_);
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
  CATCH_CHECK(*without >= 0);
  const OtherLoad idle;
  ::usleep(300'000);
  CATCH_CHECK(*idle.cores() <= static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)) + 0.1);
}

}  // namespace
}  // namespace difflab
