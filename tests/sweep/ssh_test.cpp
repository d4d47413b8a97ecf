#include "sweep/launcher/ssh.h"

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "support/catch.h"
#include "support/fake_ssh.h"
#include "support/sweep_bench.h"
#include "sweep/launcher/launcher_config.h"

namespace difflab::sweep {
namespace {

using testing::make_runs;

/// Sweeps of the fake worker on two machines.
struct Machines : testing::SweepBench {
  using SweepBench::SweepBench;

  SweepOutcome sweep_there(const std::vector<Run>& runs, const Policy& policy = {}) {
    const SshLauncher there{.hosts = {"red", "blue"}, .workers = 2};
    return execute(runs, *there.build(testing::FakeWorkers::program(), 1, runs.size()), notes,
                   policy);
  }
  int called(const std::string& host) const {
    return static_cast<int>(std::ranges::count(ssh.hosts(), host));
  }

  testing::FakeSsh ssh;
};

CATCH_TEST_CASE("machines share the runs of a sweep, each with one connection") {
  Machines machines(R"({"steps": 20, "step_ms": 5})");
  const auto runs = make_runs(machines.results, 12);
  CATCH_CHECK(machines.sweep_there(runs).completed == 12);
  CATCH_CHECK(machines.called("red") == 1);
  CATCH_CHECK(machines.called("blue") == 1);
  CATCH_CHECK(machines.workers.starts().size() == 12);
}

CATCH_TEST_CASE("what a machine that is lost had goes on elsewhere") {
  Machines machines(R"({"steps": 100, "step_ms": 10})");
  const auto runs = make_runs(machines.results, 6);
  bool is_cut = false;
  machines.notes.on_tick = [&](const std::vector<const Run*>& running) {
    if (is_cut || running.size() < 4 || machines.workers.starts().size() < 4) return;
    machines.ssh.cut("red");
    is_cut = true;
  };
  CATCH_CHECK(machines.sweep_there(runs).completed == 6);
  // One may have ended in the moment of the cut.
  const int lost = machines.notes.count("red: killed by signal 9");
  CATCH_CHECK((lost == 1 || lost == 2));
  CATCH_CHECK(machines.called("blue") == 1);
}

CATCH_TEST_CASE("a machine that cannot be reached is left out, and none at all ends the sweep") {
  Machines machines;
  const auto runs = make_runs(machines.results, 8);
  machines.ssh.take_down("red", "ssh: connect to host red port 22: Connection refused");
  CATCH_CHECK(machines.sweep_there(runs).completed == 8);
  CATCH_CHECK(machines.notes.count(
                  "unreachable red: exit code 255: ssh: connect to host red port 22") == 1);

  const auto others = make_runs(machines.results / "others", 2);
  machines.ssh.set_apart("blue");
  CATCH_CHECK_THROWS_WITH(machines.sweep_there(others),
                          Contains("red: exit code 255: ssh: connect") &&
                              Contains("blue: exit code 66: does not see") &&
                              Contains("in a folder that all machines share"));
}

CATCH_TEST_CASE("names that ssh would take for options, and no names, are refused") {
  const auto refusal = [](const std::string& hosts) {
    return testing::error_of([&] {
      config::read<LauncherConfig>(
          config::parse_yaml(concat("{kind: ssh, hosts: ", hosts, "}"), "test.yaml"), "launcher");
    });
  };
  CATCH_CHECK(refusal("[node7, me@node8, 'ssh://node9:2222', '::1']").empty());
  CATCH_CHECK_THAT(refusal("[]"), Contains("hosts is empty; expected machines"));
  CATCH_CHECK_THAT(refusal("[node7, -oProxyCommand=x]"),
                   Contains("hosts[1] is '-oProxyCommand=x'"));
  CATCH_CHECK_THAT(refusal("['a b']"), Contains("hosts[0] has blanks or control characters"));
  CATCH_CHECK_THAT(refusal("[\"a\\nb\"]"), Contains("hosts[0] has blanks or control characters"));
  CATCH_CHECK_THAT(refusal("['']"), Contains("hosts[0] is ''"));
}

}  // namespace
}  // namespace difflab::sweep
