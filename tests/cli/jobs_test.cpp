// Sweeps beyond this process: frozen, submitted to Slurm, shared between machines.
#include "cli/driver.h"
#include "support/fake_slurm.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver, testing::eventually, testing::FakeSlurm;

std::string tables_of_one_driver() {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  return driver.tables();
}

struct Cluster {
  FakeSlurm slurm;
  Driver driver;

  Answer submit(std::optional<int> code = {}) const {
    return driver.call({"sweep", "tiny", "launcher=slurm"}, code);
  }
  Answer ask(const std::string& command, std::optional<int> code = {}) const {
    return driver.call({command, driver.output().string()}, code);
  }
};

CATCH_TEST_CASE("launcher=slurm submits and ends; the tasks give the tables of a local sweep") {
  const auto expected = tables_of_one_driver();
  const Cluster cluster;
  cluster.slurm.set("execute", "");
  const Answer answer =
      cluster.driver.call({"sweep", "tiny", "launcher=slurm", "launcher.runs_per_task=2"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("submitted  job 4711: 6 runs in 3 tasks"));
  CATCH_CHECK_THAT(answer.out, Contains("./difflab status"));
  CATCH_CHECK(cluster.driver.workers.ends().size() == 6);
  CATCH_CHECK_THAT(cluster.driver.call({"wait", cluster.driver.output(), "--every=0.01"}, 0).out,
                   Contains("6: 6 finished") && Contains("./difflab plot tiny"));
  CATCH_CHECK(cluster.driver.call({"plot", "tiny", "launcher=slurm"}).code == 0);
  CATCH_CHECK(cluster.driver.tables() == expected);
}

CATCH_TEST_CASE("evaluate leaves the asking to Slurm, too, and says so") {
  const Cluster cluster;
  CATCH_REQUIRE(cluster.driver.sweep().code == 0);
  const std::vector<std::string> ask{"evaluate", "tiny", "evaluate=[{kind: heldout, samples: 7}]",
                                     "launcher=slurm", "--json"};
  const Answer waiting = cluster.driver.call(ask, 0);  // the queue holds them back
  CATCH_CHECK_THAT(waiting.out, Contains("{\"trained_steps\":0,\"asked\":0,\"submitted\":6}"));
  cluster.slurm.set("execute", "");
  cluster.driver.call({"sweep", "tiny", ask[2]}, 0);
  const Answer answers = cluster.driver.call(ask);
  CATCH_INFO(answers.out << answers.err);
  CATCH_CHECK_THAT(answers.out, Contains("\"asked\":0,\"runs\":["));
}

CATCH_TEST_CASE("runs that Slurm still has are not submitted again, those it lost are") {
  const Cluster cluster;
  CATCH_REQUIRE(cluster.submit().code == 0);
  const auto folder = *fs::directory_iterator(cluster.driver.output() / "slurm");
  const auto name = folder.path().filename().string();
  std::string queue;
  for (int task = 0; task < 6; ++task) {
    queue += name + "|4711|" + std::to_string(task) + "|PENDING|Priority\n";
  }
  cluster.slurm.set("queue", queue);
  CATCH_CHECK_THAT(cluster.submit().out, Contains("nothing to submit"));
  CATCH_CHECK_THAT(cluster.ask("status").out, Contains("6 PENDING (Priority)"));
  CATCH_CHECK(cluster.slurm.calls("sbatch").size() == 1);

  CATCH_CHECK_THAT(cluster.ask("cancel").out, Contains("cancelled 6 tasks in 1 jobs"));
  CATCH_CHECK(cluster.slurm.calls("scancel").back() == std::vector<std::string>{"4711"});
  cluster.slurm.set("queue", "");
  CATCH_CHECK_THAT(cluster.driver.call({"wait", cluster.driver.output(), "--every=0.01"}, 1).out,
                   Contains("6 unfinished runs have no process"));
  CATCH_CHECK_THAT(cluster.ask("resume").out, Contains("submitted  job 4712: 6 runs in 6 tasks"));
}

CATCH_TEST_CASE("tasks are cancelled also after the sweep was frozen anew for this machine") {
  const Cluster cluster;
  CATCH_REQUIRE(cluster.submit().code == 0);
  CATCH_CHECK_THAT(cluster.ask("cancel").out, Contains("nothing to cancel"));
  const auto folder = *fs::directory_iterator(cluster.driver.output() / "slurm");
  cluster.slurm.set("queue", folder.path().filename().string() + "|4711|0|RUNNING|None\n");
  CATCH_REQUIRE(cluster.driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  CATCH_CHECK_THAT(cluster.ask("cancel").out, Contains("cancelled 1 tasks in 1 jobs"));
  CATCH_CHECK(cluster.slurm.calls("scancel").back() == std::vector<std::string>{"4711"});
}

CATCH_TEST_CASE("while the queue is silent nothing is submitted twice, and status says why") {
  const Cluster cluster;
  CATCH_REQUIRE(cluster.submit().code == 0);
  cluster.slurm.set("silence", "slurm_load_jobs error: Unable to contact slurm controller\n");
  CATCH_CHECK_THAT(cluster.ask("resume", 2).err,
                   Contains("Unable to contact") && Contains("nothing was submitted"));
  CATCH_CHECK(cluster.slurm.calls("sbatch").size() == 1);
  CATCH_CHECK_THAT(cluster.ask("status", 0).out,
                   Contains("queue      unknown: ") && Contains("6: 6 new"));
}

CATCH_TEST_CASE("a refused sbatch ends the sweep with its words") {
  const Cluster cluster;
  cluster.slurm.set("refusal", "sbatch: error: Batch job submission failed: Invalid account\n");
  CATCH_CHECK_THAT(cluster.submit(2).err, Contains("Invalid account"));
  CATCH_CHECK(cluster.driver.workers.starts().empty());
}

CATCH_TEST_CASE("shortly before its time limit a task saves its runs and goes back to the queue") {
  const auto expected = tables_of_one_driver();
  Cluster cluster;
  cluster.driver.workers.set(R"({"steps": 5, "step_ms": 50})");
  CATCH_REQUIRE(cluster.driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  ::setenv("SLURM_ARRAY_JOB_ID", "77", 1);
  ::setenv("SLURM_ARRAY_TASK_ID", "1", 1);
  const std::vector<std::string> work{"work", cluster.driver.output(), "--share",
                                      "1/2",  "--workers=1",           "--requeue=3"};
  auto process = cluster.driver.start(work);
  CATCH_REQUIRE(eventually([&] { return !cluster.driver.workers.starts().empty(); }));
  process->kill(SIGUSR1);
  CATCH_REQUIRE(Driver::finish(*process).code == 75);
  CATCH_CHECK(cluster.slurm.calls("scontrol").back() ==
              std::vector<std::string>{"requeue", "77_1"});
  CATCH_CHECK(cluster.driver.workers.ends().size() < 3);

  // Slurm has started it again for the third time: that is the last.
  ::setenv("SLURM_RESTART_COUNT", "3", 1);
  cluster.driver.workers.forget();
  process = cluster.driver.start(work);
  CATCH_REQUIRE(eventually([&] { return !cluster.driver.workers.starts().empty(); }));
  process->kill(SIGUSR1);
  CATCH_CHECK_THAT(Driver::finish(*process).err, Contains("after 3 requeues (max_requeues)"));
  CATCH_CHECK(cluster.slurm.calls("scontrol").size() == 1);
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT"}) {
    ::unsetenv(name);
  }
  CATCH_CHECK(cluster.driver.call({"work", cluster.driver.output()}).code == 0);
  CATCH_CHECK(cluster.driver.call({"plot", "tiny"}).code == 0);
  CATCH_CHECK(cluster.driver.tables() == expected);
}

CATCH_TEST_CASE("drivers started at once on one frozen sweep run each run once") {
  const auto expected = tables_of_one_driver();
  for (const int drivers : {2, 8}) {
    const Driver driver;
    CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < drivers; ++i) {
      processes.push_back(driver.start({"work", driver.output(), "--workers=2"}));
    }
    for (const auto& process : processes) CATCH_CHECK(Driver::finish(*process).code == 0);
    const auto ends = driver.workers.ends();
    CATCH_CHECK(ends.size() == 6);
    for (const auto& [id, times] : ends) CATCH_CHECK(times == 1);
    CATCH_CHECK(driver.workers.starts().size() == 6);
    CATCH_CHECK(driver.call({"plot", "tiny"}).code == 0);
    CATCH_CHECK(driver.tables() == expected);
  }
}

CATCH_TEST_CASE("work keeps to the limits that the sweep was frozen with") {
  Driver driver(R"({"step_ms": 2000, "steps": 20})");
  driver.call(
      {"sweep", "tiny", "--freeze", "launcher.timeout_seconds=0.5", "launcher.fail_fast=true"}, 0);
  CATCH_CHECK_THAT(driver.call({"work", driver.output()}, 1).err,
                   Contains("took longer than launcher.timeout_seconds, 0.5"));
}

CATCH_TEST_CASE("logs shows what the runs print, each line behind its run") {
  Driver driver(R"({"exit": {"seed: 1": 70}})");
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  CATCH_CHECK(driver.call({"work", driver.output()}).code == 1);
  const Answer all = driver.call({"logs", driver.output()});
  CATCH_CHECK_THAT(all.out, Contains("model=diff seed=1 | the fake run gives up\n") &&
                                Contains("model=transformer seed=1 | the fake run gives up\n"));
  CATCH_CHECK(driver.call({"logs", driver.output(), "model=diff seed=1"}).out ==
              "the fake run gives up\n");
  CATCH_CHECK_THAT(driver.call({"logs", driver.output(), "seed=9"}, 2).err,
                   Contains("no run of") && Contains("seed=9"));
}

CATCH_TEST_CASE("work and status say what they need when they are given something else") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"work", driver.project()}, 2).err,
                   Contains("there is no") && Contains("--freeze"));
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  for (const std::string bad : {"2/2", "-1/2", "1", "a/b", "1/", "/2", "1/2x", "1/0"}) {
    CATCH_INFO(bad);
    CATCH_CHECK_THAT(driver.call({"work", driver.output(), "--share=" + bad}, 2).err,
                     Contains("expected I/N"));
  }
}

}  // namespace
}  // namespace difflab
