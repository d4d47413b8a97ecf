// What every kind of launcher must do. One that executes runs here is tried with fake workers, one
// that leaves them to a batch system with a fake of its programs (support/fake_batch.h).
#include <csignal>

#include "record/run_directory.h"
#include "record/status.h"
#include "support/catch.h"
#include "support/fake_batch.h"
#include "support/sweep_bench.h"
#include "sweep/launcher/launcher_config.h"

namespace difflab::sweep {
namespace {

using testing::FakeOf;

template <class Kind>
concept LeavesRuns = requires(const Kind& kind) {
  kind.batch();
};

// Calls visit(kind) for every kind of launcher that executes runs here, or for every other.
template <bool kHere, class Visit, std::size_t... I>
int visit_kinds(const Visit& visit, std::index_sequence<I...>) {
  const auto one = [&](const auto& kind) {
    using Kind = std::decay_t<decltype(kind)>;
    if constexpr (LeavesRuns<Kind> == kHere) {
      return 0;
    } else {
      CATCH_INFO(Kind::kKind);
      visit(kind);
      return 1;
    }
  };
  return (one(std::variant_alternative_t<I, LauncherConfig>{}) + ...);
}
template <bool kHere, class Visit>
int visit_kinds(const Visit& visit) {
  return visit_kinds<kHere>(visit, std::make_index_sequence<std::variant_size_v<LauncherConfig>>());
}

// A launcher of one kind with fake workers and runs to execute.
template <class Kind>
struct Here {
  explicit Here(const std::string& knobs) {
    workers.set(knobs);
    launcher = launch_here(fake.config, testing::FakeWorkers::program(), 1, 2).launcher;
    for (const auto& run : testing::make_runs(workers.folder() / "results", 2)) {
      fs::create_directories(run.directory.path);
      write_file_atomically(run.directory.config(), run.config_text);
      directories.push_back(run.directory.path);
    }
  }

  // How the run of a directory ended. Others' ends are kept until they are asked for.
  JobEnd end_of(const fs::path& directory) {
    if (ends.count(directory) > 0) return ends.at(directory);
    CATCH_REQUIRE(testing::eventually([&] {
      for (auto& end : launcher->wait(std::chrono::milliseconds(20))) {
        CATCH_CHECK(ends.emplace(end.directory, end).second);  // each run ends once
      }
      return ends.count(directory) > 0;
    }));
    return ends.at(directory);
  }
  bool started(std::size_t runs) const {
    return testing::eventually([&] { return workers.starts().size() >= runs; });
  }

  FakeOf<Kind> fake;
  testing::FakeWorkers workers;
  std::unique_ptr<Launcher> launcher;
  std::vector<fs::path> directories;
  std::map<fs::path, JobEnd> ends;
};

using How = JobEnd::How;

CATCH_TEST_CASE("a launcher executes the runs it is given and says how each ended") {
  visit_kinds<true>([]<class Kind>(const Kind&) {
    Here<Kind> here(R"({"exit": {"seed: 1": 2}})");
    CATCH_CHECK(here.launcher->capacity() >= 1);
    CATCH_CHECK(here.launcher->wait(std::chrono::milliseconds(0)).empty());
    here.launcher->submit(here.directories[0]);
    if (here.launcher->capacity() == 1) here.end_of(here.directories[0]);
    here.launcher->submit(here.directories[1]);
    const auto good = here.end_of(here.directories[0]), bad = here.end_of(here.directories[1]);
    CATCH_CHECK((good.how == How::kExited && good.code == 0));
    CATCH_CHECK((bad.how == How::kExited && bad.code == 2));
    CATCH_CHECK(fs::exists(here.directories[0] / "result.json"));
    CATCH_CHECK_FALSE(fs::exists(here.directories[1] / "result.json"));
    CATCH_CHECK(here.workers.starts().size() == 2);
    CATCH_CHECK(here.launcher->wait(std::chrono::milliseconds(0)).empty());
  });
}

CATCH_TEST_CASE("a launcher survives a run that is killed, and says which signal it was") {
  visit_kinds<true>([]<class Kind>(const Kind&) {
    Here<Kind> here(R"({"signal": {"seed: 0": 9}})");
    here.launcher->submit(here.directories[0]);
    const auto killed = here.end_of(here.directories[0]);
    CATCH_CHECK((killed.how == How::kKilled && killed.code == SIGKILL));
    here.launcher->submit(here.directories[1]);
    CATCH_CHECK(here.end_of(here.directories[1]).code == 0);
  });
}

CATCH_TEST_CASE("a launcher that is interrupted lets its runs save their state") {
  visit_kinds<true>([]<class Kind>(const Kind&) {
    Here<Kind> here(R"({"steps": 1000000, "step_ms": 2})");
    here.launcher->submit(here.directories[0]);
    CATCH_REQUIRE(testing::eventually(
        [&] { return fs::exists(RunDirectory{here.directories[0]}.checkpoint()); }));
    here.launcher->interrupt();
    const auto end = here.end_of(here.directories[0]);
    CATCH_CHECK((end.how == How::kExited && end.code == 75));
    CATCH_CHECK(state_of(RunDirectory{here.directories[0]}) == RunState::kInterrupted);
  });
}

CATCH_TEST_CASE("a launcher kills runs that hang, and none of them lives on") {
  visit_kinds<true>([]<class Kind>(const Kind&) {
    Here<Kind> here(R"({"hang": ["seed"]})");
    here.launcher->submit(here.directories[0]);
    CATCH_REQUIRE(here.started(1));
    here.launcher->kill();
    CATCH_CHECK(here.end_of(here.directories[0]).how != How::kExited);
    const int pid = here.workers.starts().at(0).pid;
    CATCH_CHECK(testing::eventually([&] { return ::kill(pid, 0) != 0; }));
  });
}

CATCH_TEST_CASE("a launcher whose program does not start says so in its words") {
  visit_kinds<true>([]<class Kind>(const Kind&) {
    Here<Kind> here(R"({"no_start": 70})");
    const auto until_it_says = [&] {
      here.launcher->submit(here.directories[0]);
      return testing::eventually(
          [&] { return !here.launcher->wait(std::chrono::milliseconds(20)).empty(); });
    };
    CATCH_CHECK_THROWS_WITH(until_it_says(), Contains("cannot load the library"));
  });
}

// A batch system with its fake, and a plan of runs of two shapes, which may be two arrays.
template <class Kind>
struct There {
  There() {
    plan.runs = testing::make_runs(results, 5);
    for (auto& run : plan.runs) run.config["threads"] = run.axes[0].second == "3" ? 2 : 1;
  }
  auto submit() const { return system->submit(plan, output, "/opt/difflab"); }
  auto submitted() const { return system->submissions_of(output); }

  FakeOf<Kind> fake;
  testing::TemporaryFolder folder;
  fs::path results = folder.path() / "results of today";
  fs::path output = results / "tiny" / "default";
  std::unique_ptr<BatchSystem> system = batch_system(Kind{});
  Plan plan{.experiment = "tiny",
            .preset = "default",
            .report = {"plot", "tiny"},
            .launcher = {{"kind", std::string(Kind::kKind)}},
            .runs = {}};
};

CATCH_TEST_CASE("what is submitted to a batch system holds every run once, and is found again") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    const There<Kind> there;
    CATCH_CHECK(there.submitted().empty());
    const auto arrays = there.submit();
    std::set<std::string> names, jobs;
    std::multiset<std::string> ids;
    for (const auto& array : arrays) {
      CATCH_CHECK(names.insert(array.name).second);
      CATCH_CHECK((!array.name.empty() && !array.job.empty()));
      CATCH_CHECK((array.tasks >= 1 && array.tasks <= static_cast<int>(array.runs.size())));
      jobs.insert(array.job);
      for (const auto& run : array.runs) ids.insert(run.id);
    }
    CATCH_CHECK(ids.size() == there.plan.runs.size());
    CATCH_CHECK(std::set(ids.begin(), ids.end()).size() == ids.size());
    for (const auto& array : there.submitted()) {
      CATCH_CHECK(names.erase(array.name) == 1);
      CATCH_CHECK(jobs.erase(array.job) == 1);
      for (const auto& run : array.runs) CATCH_CHECK(ids.erase(run.id) == 1);
    }
    CATCH_CHECK((names.empty() && jobs.empty() && ids.empty()));
    CATCH_CHECK(there.fake.cancelled().empty());
  });
}

CATCH_TEST_CASE("a batch system says which tasks it still has, and cancels whole arrays") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    const There<Kind> there;
    const auto array = there.submit().at(0);
    CATCH_CHECK(there.system->queued_tasks({}).empty());
    CATCH_CHECK(there.system->queued_tasks({array.name}).empty());
    there.fake.hold(array, 0, "Resources");
    const auto tasks = there.system->queued_tasks({array.name});
    CATCH_REQUIRE(tasks.size() == 1);
    CATCH_CHECK((tasks[0].name == array.name && tasks[0].job == array.job && tasks[0].index == 0));
    CATCH_CHECK((tasks[0].state == "PENDING" && tasks[0].reason == "Resources"));
    CATCH_CHECK(there.system->queued_tasks({array.name + "0"}).empty());  // nobody else's
    there.system->cancel({});
    CATCH_CHECK(there.fake.cancelled().empty());
    there.system->cancel({array.job});
    CATCH_CHECK(there.fake.cancelled() == std::vector{array.job});
    there.system->cancel({"8", "9"});
    CATCH_CHECK(there.fake.cancelled() == std::vector<std::string>{array.job, "8", "9"});
    there.fake.refuse_to_cancel("this is not your job");
    CATCH_CHECK_THROWS_WITH(there.system->cancel({array.job}), Contains("this is not your job"));
    there.fake.fall_silent("the controller is away");
    CATCH_CHECK_THROWS_WITH(there.system->queued_tasks({array.name}),
                            Contains("the controller is away"));
    // On a machine without the system, whoever asks for nothing must not be told so.
    CATCH_CHECK(there.system->queued_tasks({}).empty());
  });
}

CATCH_TEST_CASE("an array whose number nobody noted is found by its name") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    const There<Kind> there;
    const auto array = there.submit().at(0);
    for (const auto& entry : fs::directory_iterator(array.folder)) {
      if (entry.path().filename() != "plan.json") fs::remove(entry.path());
    }
    const auto found = there.submitted();
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const auto& one) { return one.name == array.name; });
    CATCH_REQUIRE(same != found.end());
    CATCH_CHECK((same->job.empty() && same->tasks == array.tasks));
  });
}

CATCH_TEST_CASE("the tasks of a batch system are `difflab work`, each on its own share") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    const There<Kind> there;
    const auto driver = there.folder.path() / "difflab";
    write_file_atomically(driver, "#!/bin/bash\necho \"$*\" >>\"$0.calls\"\n");
    fs::permissions(driver, fs::perms::owner_all);
    there.fake.execute();
    std::multiset<std::string> expected, called;
    for (const auto& array : there.system->submit(there.plan, there.output, driver)) {
      for (int task = 0; task < array.tasks; ++task) {
        expected.insert(
            concat("work ", array.folder.string(), " --share ", task, "/", array.tasks));
      }
    }
    for (const auto& line : split(read_file(driver.string() + ".calls"), '\n')) {
      if (!line.empty()) called.insert(line.substr(0, line.find(" --workers")));
    }
    CATCH_CHECK(called == expected);
  });
}

CATCH_TEST_CASE("a batch system that refuses runs is quoted, and nothing stays submitted") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    for (const int accepted : {0, 1}) {
      const There<Kind> there;
      there.fake.accept_only(accepted, "no such account");
      CATCH_CHECK_THROWS_WITH(there.submit(), Contains("no such account"));
      CATCH_CHECK(there.submitted().empty());
      CATCH_CHECK(there.fake.cancelled().size() == static_cast<std::size_t>(accepted));
    }
  });
}

CATCH_TEST_CASE("only a task of a batch system puts itself back into the queue") {
  visit_kinds<false>([]<class Kind>(const Kind&) {
    const There<Kind> there;
    const auto array = there.submit().at(0);
    CATCH_CHECK_FALSE(there.system->requeue_own_task());
    CATCH_CHECK(there.system->own_restarts() == 0);
    CATCH_CHECK(there.fake.requeues() == 0);
    there.fake.become_task(array, 0, 3);
    CATCH_CHECK(there.system->own_restarts() == 3);
    CATCH_CHECK(there.system->requeue_own_task());
    CATCH_CHECK(there.fake.requeues() == 1);
    CATCH_CHECK(there.fake.requeued_only(array, 0));
  });
}

CATCH_TEST_CASE("every kind of launcher executes runs here or leaves them to a batch system") {
  std::vector<std::string> batch;
  const auto check = []<class Kind>(const Kind& kind) {
    CATCH_CHECK_FALSE(Kind::kAbout.empty());
    CATCH_CHECK(memory_of_run(kind) > 1e8);
  };
  const int here = visit_kinds<true>([&]<class Kind>(const Kind& kind) {
    check(kind);
    CATCH_CHECK_FALSE(batch_system(kind));
  });
  const int there = visit_kinds<false>([&]<class Kind>(const Kind& kind) {
    check(kind);
    batch.emplace_back(Kind::kKind);
    CATCH_REQUIRE(batch_system(kind));
    CATCH_CHECK_FALSE(batch_system(kind)->name().empty());
    CATCH_CHECK_THROWS_WITH(launch_here(kind, "/bin/true", 1, 1),
                            Contains("executes no runs here"));
  });
  CATCH_CHECK(batch_kinds() == join(batch, " or "));
  CATCH_CHECK(batch_systems().size() == batch.size());
  CATCH_CHECK((here > 0 && there > 0));
}

}  // namespace
}  // namespace difflab::sweep
