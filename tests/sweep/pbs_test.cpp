#include "sweep/launcher/pbs.h"

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "support/catch.h"
#include "support/fake_pbs.h"
#include "support/sweep_bench.h"
#include "sweep/launcher/launcher_config.h"
#include "sweep/standing.h"

namespace difflab::sweep {
namespace {

using Words = std::vector<std::string>;

struct Site {
  testing::TemporaryFolder folder;
  testing::FakePbs pbs;
  fs::path results = folder.path() / "results";
  fs::path output = results / "tiny" / "default";
  Plan plan{.experiment = "tiny",
            .preset = "default",
            .report = {"plot", "tiny"},
            .launcher = {{"kind", "pbs"}},
            .runs = testing::make_runs(results, 6)};

  Submission submit(const PbsLauncher& launcher = {}) const {
    return launcher.batch()->submit(plan, output, "/opt/difflab").at(0);
  }
};

bool has_pair(const Words& words, const std::string& option, const std::string& value) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1] == option && words[i] == value) return true;
  }
  return false;
}

CATCH_TEST_CASE("qsub is told what was configured, and the words of the user as they are") {
  Site site;
  for (auto& run : site.plan.runs) run.config["device"] = "cuda";
  PbsLauncher launcher;
  launcher.queue = "$(id)";
  launcher.account = "lab";
  launcher.project = "p 1";
  launcher.chunk = "cpu_type=rome";
  launcher.minutes = 30;
  launcher.memory_mb = 1500;
  launcher.at_once = 2;
  launcher.runs_per_task = 2;
  launcher.workers = 4;
  launcher.resources = {"place=scatter"};
  const auto array = site.submit(launcher);
  CATCH_CHECK(array.tasks == 3);
  CATCH_CHECK(array.job == "4711[].fake");
  const auto call = site.pbs.calls("qsub").at(0);
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"-N", array.name},
           {"-J", "0-2%2"},
           {"-q", "$(id)"},
           {"-A", "lab"},
           {"-P", "p 1"},
           {"-l", "select=1:ncpus=2:mem=3000mb:ngpus=1:cpu_type=rome"},
           {"-l", "walltime=1800"},
           {"-l", "place=scatter"},
           {"-r", "y"}}) {
    CATCH_INFO(option << " " << value);
    CATCH_CHECK(has_pair(call, option, value));
  }
  const auto folder = array.folder.string();
  CATCH_CHECK(Words(call.end() - 8, call.end()) == Words{"--", "/bin/bash", folder + "/task.sh",
                                                         "/opt/difflab", folder, "3", "2", "100"});
  CATCH_CHECK_THAT(read_file(array.folder / "task.sh"),
                   Contains("timeout --foreground --preserve-status --signal=USR1 1680 "));
}

// OpenPBS refuses the range 0-0.
CATCH_TEST_CASE("an array of one task is a plain job for qsub") {
  const Site site;
  PbsLauncher launcher;
  launcher.runs_per_task = 6;
  const auto array = site.submit(launcher);
  const auto call = site.pbs.calls("qsub").at(0);
  CATCH_CHECK(std::ranges::find(call, "-J") == call.end());
  CATCH_CHECK(array.job == "4711.fake");
  site.pbs.set("queue", concat("4711.fake|", array.name, "|R|Job run at …\n"));
  const auto standings = standings_of(site.plan, site.output);
  CATCH_CHECK(standings.tasks.size() == 1);
  CATCH_CHECK(standings.runs[5].task->state == "RUNNING");
}

CATCH_TEST_CASE("tasks are found in the queue, those that continue under their own name, too") {
  const Site site;
  const auto array = site.submit();
  const auto& name = array.name;
  site.pbs.set("queue", concat("4711[].fake|", name, "|B|\n",             //
                               "4711[0].fake|", name, "|X|\n",            // has ended
                               "4711[1].fake|", name, "|E|\n",            //
                               "4711[2].fake|", name, "|H|held by me\n",  //
                               "4712.fake|", name, ".4|Q|Not Running\n",  // continues task 4
                               "4713.fake|", name, "5|Q|\n",              // of somebody else
                               "4714[3].fake|another|R|\n"));
  site.pbs.set("gone", "153");  // a job has ended between qselect and qstat
  const auto tasks = PbsLauncher().batch()->queued_tasks({name});
  CATCH_REQUIRE(tasks.size() == 3);
  CATCH_CHECK((tasks[0].index == 1 && tasks[0].state == "COMPLETING"));
  CATCH_CHECK((tasks[1].index == 2 && tasks[1].state == "PENDING"));
  CATCH_CHECK((tasks[1].job == "4711[].fake" && tasks[1].reason == "held by me"));
  CATCH_CHECK((tasks[2].index == 4 && tasks[2].job == "4712.fake" && tasks[2].name == name));
  site.pbs.set("gone", "1");
  CATCH_CHECK_THROWS_WITH(PbsLauncher().batch()->queued_tasks({name}),
                          Contains("qstat: qstat: Unknown Job Id"));
}

CATCH_TEST_CASE("an array that qsub accepts without saying so is taken back") {
  const Site site;
  site.pbs.set("accept_and_fail", "qsub: cannot connect to server\n");
  CATCH_CHECK_THROWS_WITH(site.submit(), Contains("cannot connect to server"));
  CATCH_CHECK(site.pbs.calls("qdel") == std::vector<Words>{{"4712[].fake"}});
  CATCH_CHECK(PbsLauncher().batch()->submissions_of(site.output).empty());
}

CATCH_TEST_CASE("resources that difflab sets itself, and control characters, are refused") {
  const auto read = [](const std::string& text) {
    return config::read<LauncherConfig>(config::parse_yaml(text, "test.yaml"), "launcher");
  };
  CATCH_CHECK_NOTHROW(read("{kind: pbs, resources: [place=scatter]}"));
  CATCH_CHECK_THROWS_WITH(
      read("{kind: pbs, resources: ['place=pack,select=2']}"),
      Contains("launcher.resources[0] sets select") && Contains("from chunk and memory_mb"));
  CATCH_CHECK_THROWS_WITH(read("{kind: pbs, resources: [walltime=5]}"), Contains("from minutes"));
  CATCH_CHECK_THROWS_WITH(read("{kind: pbs, queue: \"a\\nb\"}"),
                          Contains("launcher.queue has control characters"));
  CATCH_CHECK_THROWS_WITH(read("{kind: pbs, minutes: 1, signal_seconds: 60}"),
                          Contains("signal_seconds is 60; expected less than minutes"));
}

}  // namespace
}  // namespace difflab::sweep
