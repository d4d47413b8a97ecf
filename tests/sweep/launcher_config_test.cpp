#include "sweep/launcher/launcher_config.h"

#include <sched.h>

#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "support/catch.h"
#include "support/fake_runs.h"

namespace difflab::sweep {
namespace {

LauncherConfig read(const std::string& text) {
  return config::read<LauncherConfig>(config::parse_yaml(text, "test.yaml"), "launcher");
}

CATCH_TEST_CASE("workers is auto or a number, and comes back as it was written") {
  CATCH_CHECK_FALSE(std::get<LocalLauncher>(read("kind: local")).workers.number);
  CATCH_CHECK_FALSE(std::get<LocalLauncher>(read("{kind: local, workers: auto}")).workers.number);
  const auto five = read("{kind: local, workers: 5}");
  CATCH_CHECK(std::get<LocalLauncher>(five).workers.resolve(3) == 5);
  CATCH_CHECK(config::to_json(config::write(five)).at("workers") == 5);
  CATCH_CHECK(config::to_json(config::write(read("local"))).at("workers") == "auto");
}

CATCH_TEST_CASE("other values of workers are refused with what was expected") {
  for (const std::string bad : {"0", "-1", "1025", "2.5", "many", "[2]", "true"}) {
    CATCH_CHECK_THROWS_WITH(read("{kind: local, workers: " + bad + "}"),
                            Contains("test.yaml:1:24: launcher.workers is ") &&
                                Contains("expected auto or a whole number from 1 to 1024"));
  }
}

CATCH_TEST_CASE("texts for sbatch have no control characters: a zero byte would end an argument") {
  for (const char* key : {"partition", "account", "qos", "constraint"}) {
    CATCH_CHECK_THROWS_WITH(read(concat("{kind: slurm, ", key, ": \"a\\0b\"}")),
                            Contains(concat(key, " has control characters")));
  }
}

CATCH_TEST_CASE("auto gives every run its threads, and at least one run") {
  const WorkerCount automatic;
  const int cores = usable_cores();
  CATCH_CHECK(cores >= 1);
  CATCH_CHECK(automatic.resolve(1) == cores);
  CATCH_CHECK(automatic.resolve(cores) == 1);
  CATCH_CHECK(automatic.resolve(1000) == 1);
}

// The worker's evaluations use the cores that its share of the machine leaves.
CATCH_TEST_CASE("runs share the cores of all workers, and few runs have more each") {
  const testing::TemporaryFolder folder;
  const auto script = folder.path() / "worker";
  write_file_atomically(script,
                        "#!/bin/sh\necho \"$@\" >\"$0.new\"; mv \"$0.new\" \"$0.told\"; cat\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto told = folder.path() / "worker.told";
  const auto cores_of = [&](std::size_t runs) {
    std::filesystem::remove(told);
    const LocalLauncher local{.workers = WorkerCount{4}};
    const auto launcher = local.build(script, /*threads_per_run=*/2, runs);
    launcher->submit("/nowhere");
    CATCH_REQUIRE(testing::eventually([&] { return std::filesystem::exists(told); }));
    return read_file(told);
  };
  CATCH_CHECK(cores_of(1) == "serve 8\n");
  CATCH_CHECK(cores_of(2) == "serve 4\n");
  CATCH_CHECK(cores_of(3) == "serve 2\n");
  CATCH_CHECK(cores_of(100) == "serve 2\n");
}

CATCH_TEST_CASE("cores that this process may not use do not count") {
  cpu_set_t before, one;
  CATCH_REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  CATCH_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const int cores = usable_cores();
  ::sched_setaffinity(0, sizeof before, &before);
  CATCH_CHECK(cores == 1);
}

}  // namespace
}  // namespace difflab::sweep
