#include "sweep/launcher/slurm.h"

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "support/catch.h"
#include "support/fake_slurm.h"
#include "sweep/launcher/launcher_config.h"
#include "sweep/standing.h"

namespace difflab::sweep {
namespace {

using testing::FakeSlurm, testing::TemporaryFolder;
using Words = std::vector<std::string>;

Plan make_plan(const fs::path& results, int count, const std::string& experiment = "tiny") {
  Plan plan{.experiment = experiment,
            .preset = "default",
            .report = {"plot", experiment},
            .launcher = {{"kind", "slurm"}},
            .runs = {}};
  for (int seed = 0; seed < count; ++seed) {
    const std::string id = concat("run", seed);
    plan.runs.push_back({.id = id,
                         .axes = {{"seed", std::to_string(seed)}},
                         .config = {{"seed", seed}, {"threads", 1}, {"device", "cpu"}},
                         .config_text = concat("seed: ", seed, "\n"),
                         .directory = {results / "runs" / id}});
  }
  return plan;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Cluster {
  TemporaryFolder folder;
  FakeSlurm slurm;
  fs::path results = folder.path() / "results";
  fs::path output = results / "tiny" / "default";

  std::vector<Submission> submit(const Plan& plan, const SlurmLauncher& launcher = {}) const {
    return launcher.batch()->submit(plan, output, "/opt/difflab");
  }
};

CATCH_TEST_CASE("a plan comes back as it was written, also after its folder has moved") {
  const TemporaryFolder folder;
  const auto output = folder.path() / "a" / "results" / "tiny" / "default";
  auto plan = make_plan(folder.path() / "a" / "results", 3);
  plan.runs[2].training = "shared";
  write_plan(output, plan);
  fs::rename(folder.path() / "a", folder.path() / "b");
  const auto back = read_plan(folder.path() / "b" / "results" / "tiny" / "default");
  CATCH_CHECK(back.experiment == "tiny");
  CATCH_CHECK(back.report == Words{"plot", "tiny"});
  CATCH_REQUIRE(back.runs.size() == 3);
  CATCH_CHECK(back.runs[2].label() == "seed=2");
  CATCH_CHECK(back.runs[1].training.empty());
  CATCH_CHECK(back.runs[2].training == "shared");
  CATCH_CHECK(back.runs[2].config_text == "seed: 2\n");
  CATCH_CHECK(back.runs[2].directory.path == folder.path() / "b" / "results" / "runs" / "run2");
}

CATCH_TEST_CASE("a plan may only name runs of the results folder that it lies in") {
  const TemporaryFolder folder;
  const auto output = folder.path() / "results" / "tiny" / "default";
  auto plan = make_plan(folder.path() / "results", 1);
  for (const auto& place :
       {folder.path() / "elsewhere" / "runs" / "run0", folder.path() / "results",
        folder.path() / "results" / "runs" / "run1"}) {
    plan.runs[0].directory = {place};
    write_plan(output, plan);
    CATCH_CHECK_THROWS_WITH(read_plan(output), Contains("has a run in"));
  }
}

CATCH_TEST_CASE("a path that cannot be told to a worker in one line is refused") {
  for (const char* path : {"/a\nb", "/a\x1b", "/a\xff"}) {
    CATCH_CHECK_THROWS_WITH(require_plain_path(path), Contains("control characters"));
  }
  require_plain_path("/ein Ö $(x)");
}

CATCH_TEST_CASE("a plan that is missing, damaged or of another version is refused by name") {
  const TemporaryFolder folder;
  CATCH_CHECK_THROWS_WITH(read_plan(folder.path()),
                          Contains("there is no") && Contains("plan.json") && Contains("--freeze"));
  write_file_atomically(folder.path() / "plan.json", R"({"schema": 1, "runs": [)");
  CATCH_CHECK_THROWS_WITH(read_plan(folder.path()), Contains("plan.json: is damaged"));
  write_file_atomically(folder.path() / "plan.json", R"({"schema": 99})");
  CATCH_CHECK_THROWS_WITH(read_plan(folder.path()), Contains("has schema 99"));
}

CATCH_TEST_CASE("every run belongs to exactly one share, and shares differ by one at most") {
  for (int runs = 1; runs <= 30; ++runs) {
    const auto plan = make_plan("/nowhere", runs);
    for (int count = 1; count <= 35; ++count) {
      std::multiset<std::string> seen;
      std::size_t least = 1000, most = 0;
      for (int index = 0; index < count; ++index) {
        const auto share = share_of(plan.runs, index, count);
        for (const auto& run : share) seen.insert(run.id);
        least = std::min(least, share.size());
        most = std::max(most, share.size());
      }
      CATCH_REQUIRE(seen.size() == static_cast<std::size_t>(runs));
      CATCH_REQUIRE(std::set<std::string>(seen.begin(), seen.end()).size() == seen.size());
      CATCH_REQUIRE(most - least <= 1);
    }
  }
}

CATCH_TEST_CASE("runs of one shape are one array, and sbatch is told what was configured") {
  const Cluster cluster;
  SlurmLauncher launcher;
  launcher.partition = "gpu";
  launcher.account = "lab";
  launcher.constraint = "a100";
  launcher.minutes = 30;
  launcher.at_once = 4;
  launcher.runs_per_task = 3;
  launcher.workers = 2;
  launcher.options = {"--mail-type=END"};
  const auto arrays = cluster.submit(make_plan(cluster.results, 7), launcher);
  CATCH_REQUIRE(arrays.size() == 1);
  CATCH_CHECK(arrays[0].tasks == 3);  // 7 runs, 3 a task
  CATCH_CHECK(arrays[0].job == "4711");
  const auto calls = cluster.slurm.calls("sbatch");
  CATCH_REQUIRE(calls.size() == 1);
  for (const std::string word :
       {"--array=0-2%4", "--partition=gpu", "--account=lab", "--constraint=a100", "--time=30",
        "--cpus-per-task=2", "--mem=4000M", "--signal=B:USR1@120", "--requeue",
        "--mail-type=END"}) {
    CATCH_INFO(word);
    CATCH_CHECK(has(calls[0], word));
  }
  const Words last(calls[0].end() - 6, calls[0].end());
  const auto folder = arrays[0].folder.string();
  CATCH_CHECK(last == Words{folder + "/task.sh", "/opt/difflab", folder, "3", "2", "100"});
  CATCH_CHECK(read_plan(arrays[0].folder).runs.size() == 7);
}

CATCH_TEST_CASE("runs of another number of threads or device are an array of their own") {
  const Cluster cluster;
  auto plan = make_plan(cluster.results, 6);
  plan.runs[1].config["threads"] = 8;
  plan.runs[2].config["device"] = "cuda";
  plan.runs[3].config["device"] = "cuda";
  CATCH_REQUIRE(cluster.submit(plan).size() == 3);
  const auto calls = cluster.slurm.calls("sbatch");
  std::map<std::string, const Words*> by_size;
  for (const auto& call : calls) {
    for (const auto& word : call) {
      if (word.starts_with("--array=")) by_size[word] = &call;
    }
  }
  CATCH_REQUIRE(by_size.size() == 3);
  CATCH_CHECK(has(*by_size["--array=0-0"], "--cpus-per-task=8"));
  CATCH_CHECK(has(*by_size["--array=0-1"], "--gres=gpu:1"));
  CATCH_CHECK_FALSE(has(*by_size["--array=0-2"], "--gres=gpu:1"));
}

CATCH_TEST_CASE("runs that share a task share its GPUs, as on one machine") {
  const Cluster cluster;
  auto plan = make_plan(cluster.results, 4);
  for (auto& run : plan.runs) run.config["device"] = "cuda";
  SlurmLauncher launcher;
  launcher.runs_per_task = 4;
  launcher.workers = 2;
  cluster.submit(plan, launcher);
  CATCH_CHECK(has(cluster.slurm.calls("sbatch").front(), "--gres=gpu:1"));
}

CATCH_TEST_CASE("no text of the user reaches the script, and none is split or expanded") {
  const Cluster cluster;
  const std::string canary = (cluster.folder.path() / "canary").string();
  std::vector<std::string> payloads{"$(touch " + canary + ")",
                                    "`touch " + canary + "`",
                                    "; touch " + canary,
                                    "a'b\"c",
                                    "%A%j",
                                    "x\ny",
                                    "$IFS",
                                    "*",
                                    "&& touch " + canary,
                                    "| touch " + canary};
  std::string script;
  for (const auto& payload : payloads) {
    Cluster one;
    one.output = one.results / (payload.find('/') == payload.npos ? payload : "$(id)") / "p";
    one.slurm.set("execute", "");
    SlurmLauncher launcher;
    launcher.partition = payload;
    auto plan = make_plan(one.results, 1, payload);
    const auto arrays = launcher.batch()->submit(plan, one.output, "/bin/true");
    const auto call = one.slurm.calls("sbatch").at(0);
    CATCH_CHECK(has(call, "--partition=" + payload));
    CATCH_CHECK(has(call, "--chdir=" + arrays[0].folder.string()));
    CATCH_CHECK(arrays[0].name.find_first_not_of(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                std::string::npos);
    const auto text = read_file(arrays[0].folder / "task.sh");
    if (script.empty()) script = text;
    CATCH_CHECK(text == script);
  }
  CATCH_CHECK_FALSE(fs::exists(canary));
}

CATCH_TEST_CASE("a refusal of sbatch is told in its words, and nothing stays submitted") {
  const Cluster cluster;
  cluster.slurm.set("refusal", "sbatch: error: invalid partition specified: gpuu\n");
  CATCH_CHECK_THROWS_WITH(cluster.submit(make_plan(cluster.results, 2)),
                          Contains("sbatch refused the job (exit code 1)") &&
                              Contains("invalid partition specified: gpuu"));
  CATCH_CHECK(SlurmLauncher().batch()->submissions_of(cluster.output).empty());

  // The second array is refused: the first is taken back.
  cluster.slurm.unset("refusal");
  cluster.slurm.set("limit", "1\n");
  auto plan = make_plan(cluster.results, 2);
  plan.runs[1].config["threads"] = 2;
  CATCH_CHECK_THROWS_WITH(cluster.submit(plan), Contains("the fake limit"));
  CATCH_CHECK(cluster.slurm.calls("scancel") == std::vector<Words>{{"4711"}});
  CATCH_CHECK(SlurmLauncher().batch()->submissions_of(cluster.output).empty());
}

// The controller may have taken the job when its answer is lost.
CATCH_TEST_CASE("an array that was accepted without a word is taken back, or stays known") {
  const Cluster cluster;
  cluster.slurm.set("accept_and_fail", "sbatch: error: Socket timed out\n");
  CATCH_CHECK_THROWS_WITH(cluster.submit(make_plan(cluster.results, 2)),
                          Contains("Socket timed out"));
  CATCH_CHECK(cluster.slurm.calls("scancel") == std::vector<Words>{{"4712"}});
  CATCH_CHECK(SlurmLauncher().batch()->submissions_of(cluster.output).empty());

  cluster.slurm.set("silence", "slurm_load_jobs error: Unable to contact slurm controller\n");
  CATCH_CHECK_THROWS_WITH(cluster.submit(make_plan(cluster.results, 2)),
                          Contains("Socket timed out") &&
                              Contains("and what was accepted could not be taken back") &&
                              Contains("Unable to contact slurm controller"));
  CATCH_CHECK(SlurmLauncher().batch()->submissions_of(cluster.output).size() == 1);
}

CATCH_TEST_CASE("a run stands where its files and the queue say, and the rest is abandoned") {
  const Cluster cluster;
  const auto plan = make_plan(cluster.results, 6);
  SlurmLauncher packed;
  packed.runs_per_task = 2;
  auto frozen = plan;
  frozen.launcher["runs_per_task"] = 2;
  const auto array = cluster.submit(frozen, packed).at(0);  // tasks {0,3} {1,4} {2,5}
  cluster.slurm.set("queue", concat(array.name, "|4711|1|PENDING|Resources\n", array.name,
                                    "|4711|2|RUNNING|None\n"));
  fs::create_directories(plan.runs[0].directory.path);
  write_file_atomically(plan.runs[0].directory.result(),
                        Json{{"schema", kResultSchema}, {"status", "finished"}}.dump());
  const auto standings = standings_of(plan, cluster.output);
  CATCH_REQUIRE(standings.runs.size() == 6);
  CATCH_CHECK(standings.complete() == 1);
  CATCH_CHECK_FALSE(standings.runs[0].task);
  CATCH_CHECK(standings.runs[1].task->reason == "Resources");
  CATCH_CHECK(standings.runs[4].task->index == 1);
  CATCH_CHECK(standings.runs[5].task->state == "RUNNING");
  const auto abandoned = standings.abandoned();
  CATCH_REQUIRE(abandoned.size() == 1);
  CATCH_CHECK(abandoned[0].id == "run3");  // its task has gone without it

  cluster.slurm.set("silence", "squeue: error: Unable to contact slurm controller\n");
  CATCH_CHECK(standings_of(plan, cluster.output).silence ==
              "squeue: squeue: error: Unable to contact slurm controller");
}

CATCH_TEST_CASE("an array whose number was never noted is found by its name") {
  const Cluster cluster;
  const auto plan = make_plan(cluster.results, 1);
  const auto array = cluster.submit(plan).at(0);
  fs::remove(array.folder / "job.json");  // the driver died between sbatch and its note
  cluster.slurm.set("queue", concat(array.name, "|4711|0|PENDING|Held (a|b)\n"));
  CATCH_CHECK(standings_of(plan, cluster.output).runs[0].task->job == "4711");
  CATCH_CHECK(standings_of(plan, cluster.output).runs[0].task->reason == "Held (a|b)");
  CATCH_CHECK(has(cluster.slurm.calls("squeue").back(), "--name=" + array.name));
}

CATCH_TEST_CASE("options that are none, or that difflab sets itself, are refused by name") {
  const auto read = [](const std::string& text) {
    return config::read<LauncherConfig>(config::parse_yaml(text, "test.yaml"), "launcher");
  };
  CATCH_CHECK_NOTHROW(read("{kind: slurm, options: [--mail-type=END, --exclude=n1]}"));
  for (const std::string own :
       {"--array=0-9", "--wrap=id", "--outp=x", "--requeue", "--signal=9"}) {
    CATCH_CHECK_THROWS_WITH(
        read("{kind: slurm, options: ['" + own + "']}"),
        Contains("launcher.options[0] is '" + own) && Contains("difflab sets itself"));
  }
  for (const std::string bad : {"-p gpu", "gpu", "--", "--a\\nb"}) {
    CATCH_CHECK_THROWS_WITH(read("{kind: slurm, options: [\"" + bad + "\"]}"),
                            Contains("expected a long option"));
  }
  CATCH_CHECK_THROWS_WITH(read("{kind: slurm, minutes: 1, signal_seconds: 60}"),
                          Contains("signal_seconds is 60; expected less than minutes"));
}

}  // namespace
}  // namespace difflab::sweep
