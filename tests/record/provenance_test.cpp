// What a run says about where it comes from. The state of the sources is asked once per process, so
// each question has a process of its own.
#include "record/provenance.h"

#include <sys/wait.h>

#include "record/status.h"
#include "support/catch.h"
#include "util/hash.h"
#include "util/process.h"

namespace difflab {
namespace {

void in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CATCH_REQUIRE(status == 0);
}

/// A checkout with one file and one commit.
class Checkout {
 public:
  Checkout() {
    write("src/a.cpp", "one");
    git({"init", "-q"});
    git({"add", "."});
    git({"-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "first"});
  }
  std::string git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", root().string()});
    const auto printed = run_program(arguments);
    CATCH_REQUIRE(printed.status.success());
    return printed.output;
  }
  void write(const fs::path& path, const std::string& text) const {
    make_directories((root() / path).parent_path());
    write_file_atomically(root() / path, text);
  }
  Json state(const std::string& project = "", const fs::path& sources = {}) const {
    const auto answer = folder_.path() / "answer.json";
    in_child([&] {
      ::setenv("DIFFLAB_ROOT", (sources.empty() ? root() : sources).c_str(), 1);
      ::setenv("DIFFLAB_PROJECT", project.c_str(), 1);
      write_file_atomically(answer, source_state().dump());
    });
    return Json::parse(read_file(answer));
  }
  fs::path root() const { return folder_.path() / "root"; }

 private:
  testing::TemporaryFolder folder_;
};

CATCH_TEST_CASE("provenance names the commit, and says when and how the sources differ from it") {
  const Checkout checkout;
  const auto commit = checkout.git({"rev-parse", "HEAD"});
  const auto clean = checkout.state();
  CATCH_CHECK(clean.at("commit").get<std::string>() + "\n" == commit);
  CATCH_CHECK(clean.at("dirty") == false);
  CATCH_CHECK(clean.at("diff_sha256").is_null());

  checkout.write("results/runs/x/result.json", "{}");  // output, not source
  CATCH_CHECK(checkout.state() == clean);

  checkout.write("src/a.cpp", "two");
  const auto changed = checkout.state();
  CATCH_CHECK(changed.at("dirty") == true);
  CATCH_CHECK(changed.at("commit") == clean.at("commit"));
  CATCH_CHECK(changed.at("diff_sha256") ==
              sha256_hex(" M src/a.cpp\n" + checkout.git({"diff", "HEAD", "--", "src"})));
  checkout.write("src/a.cpp", "three");
  CATCH_CHECK(checkout.state().at("diff_sha256") != changed.at("diff_sha256"));
  checkout.write("src/a.cpp", "one");
  checkout.write("src/b.cpp", "new");
  const auto with_new = checkout.state();
  CATCH_CHECK(with_new.at("dirty") == true);
  checkout.write("src/b.cpp", "newer");  // git has nothing to compare it with
  CATCH_CHECK(checkout.state().at("diff_sha256") != with_new.at("diff_sha256"));
}

CATCH_TEST_CASE(
    "provenance says of a user's own folder what it says of the sources, apart from them") {
  const Checkout checkout, paper;
  const auto clean = checkout.state(paper.root().string());
  CATCH_CHECK(clean.at("project").at("commit").get<std::string>() + "\n" ==
              paper.git({"rev-parse", "HEAD"}));
  CATCH_CHECK(clean.at("project").at("dirty") == false);
  CATCH_CHECK(clean.at("dirty") == false);
  paper.write("experiments/mine.yaml", "title: Mine\n");
  const auto changed = checkout.state(paper.root().string());
  CATCH_CHECK(changed.at("project").at("dirty") == true);
  CATCH_CHECK(changed.at("dirty") == false);
  CATCH_CHECK_FALSE(checkout.state().contains("project"));
  // One that lies in the checkout makes no other code.
  checkout.write("papers/one/experiments/mine.yaml", "title: Mine\n");
  CATCH_CHECK(checkout.state((checkout.root() / "papers/one").string()).at("dirty") == false);
  CATCH_CHECK(checkout.state().at("dirty") == true);
}

CATCH_TEST_CASE("neither a hook's variables nor a user's settings of git change what sources are") {
  const Checkout checkout, other;
  const auto clean = checkout.state();
  other.write("src/a.cpp", "changed");
  const auto elsewhere = (other.root() / ".git").string();
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"GIT_DIR", elsewhere},
           {"GIT_WORK_TREE", other.root().string()},
           {"GIT_INDEX_FILE", elsewhere + "/index"},
           {"GIT_OBJECT_DIRECTORY", elsewhere + "/objects"},
           {"GIT_COMMON_DIR", elsewhere},
           {"GIT_CEILING_DIRECTORIES", checkout.root().string()}}) {
    CATCH_INFO(name);
    ::setenv(name.c_str(), value.c_str(), 1);
    CATCH_CHECK(checkout.state() == clean);
    ::unsetenv(name.c_str());
  }
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"status.showUntrackedFiles", "no"},
                                                        {"status.relativePaths", "false"},
                                                        {"diff.external", "/bin/true"},
                                                        {"diff.ignoreSubmodules", "all"}}) {
    checkout.git({"config", key, value});
    checkout.write("src/new.cpp", value);
    CATCH_INFO(key);
    CATCH_CHECK(checkout.state().at("dirty") == true);
    fs::remove(checkout.root() / "src/new.cpp");
    CATCH_CHECK(checkout.state() == clean);
  }
}

CATCH_TEST_CASE("sources that somebody's repository only surrounds have no commit") {
  const Checkout outer;
  const auto inner = outer.root() / "tools/difflab";
  outer.write("tools/difflab/src/a.cpp", "unpacked");
  const auto state = [&] { return outer.state("", inner); };
  CATCH_CHECK(state().at("commit").is_null());
  CATCH_CHECK(state().at("dirty").is_null());
  outer.write(".gitignore", "tools/\n");
  CATCH_CHECK(state().at("commit").is_null());
  outer.git({"add", "-f", "tools"});  // a part of it after all
  outer.git({"-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "second"});
  CATCH_CHECK(state().at("commit").get<std::string>() + "\n" == outer.git({"rev-parse", "HEAD"}));
}

CATCH_TEST_CASE("a checkout that belongs to somebody else has its commit all the same") {
  if (::geteuid() != 0) return;  // only root can give it away
  const Checkout checkout;
  const auto clean = checkout.state();
  for (const auto& entry : fs::recursive_directory_iterator(checkout.root())) {
    CATCH_REQUIRE(::lchown(entry.path().c_str(), 65534, 65534) == 0);
  }
  CATCH_REQUIRE(::lchown(checkout.root().c_str(), 65534, 65534) == 0);
  CATCH_CHECK(checkout.state() == clean);
}

CATCH_TEST_CASE("provenance records the variables that change what libraries compute") {
  for (const std::string name : {"ATEN_CPU_CAPABILITY", "MKL_CBWR", "ONEDNN_MAX_CPU_ISA"}) {
    const testing::TemporaryFolder folder;
    const RunDirectory run{folder.path()};
    in_child([&] {
      const Provenance before(run, 1, 0, Json::object());
      ::setenv(name.c_str(), "avx2", 1);
      write_file_atomically(folder.path() / "change",
                            Provenance(run, 1, 0, Json::object()).change());
    });
    const auto provenance = *read_provenance(run);
    CATCH_CHECK(provenance.at("environment") == name + "=avx2");
    CATCH_CHECK_FALSE(provenance.at("earlier_sessions").at(0).contains("environment"));
    CATCH_CHECK(read_file(folder.path() / "change") == "environment null → " + name + "=avx2");
  }
}

CATCH_TEST_CASE("where git cannot tell, provenance claims nothing") {
  const testing::TemporaryFolder folder;
  const auto answer = folder.path() / "answer.json";
  in_child([&] {
    ::setenv("DIFFLAB_ROOT", folder.path().c_str(), 1);
    ::setenv("GIT_CEILING_DIRECTORIES", folder.path().parent_path().c_str(), 1);
    write_file_atomically(answer, source_state().dump());
  });
  CATCH_CHECK(read_file(answer) == R"({"commit":null,"dirty":null,"diff_sha256":null})");
}

CATCH_TEST_CASE(
    "a program that was built before says what it was built from, whatever changes then") {
  const Checkout checkout;
  const auto built = checkout.state();
  const auto program = checkout.root().parent_path() / "program";
  write_file_atomically(program, "one");
  const auto answer = checkout.root().parent_path() / "told.json";
  in_child([&] {
    ::setenv("DIFFLAB_ROOT", checkout.root().c_str(), 1);
    ::setenv("DIFFLAB_PROJECT", "", 1);
    Json told = Json::array();
    const auto note = [&] { told.push_back(handed_source_state(program).value_or(nullptr)); };
    note();
    hand_on_source_state(program);
    note();
    write_file_atomically(checkout.root() / "src/a.cpp", "two");
    hand_on_source_state(program);  // of the next worker program
    note();
    // Built again: this process knows nothing of that.
    write_file_atomically(program, "another");
    note();
    hand_on_source_state(program);
    note();
    write_file_atomically(answer, told.dump());
  });
  CATCH_CHECK(Json::parse(read_file(answer)).dump() ==
              Json({nullptr, built, built, nullptr, nullptr}).dump());
}

CATCH_TEST_CASE("each session of a run is kept once, the first one first") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  for (int session = 1; session <= 3; ++session) {
    in_child([&] {
      ::setenv("DIFFLAB_ROOT", folder.path().c_str(), 1);
      Provenance provenance(run, /*threads=*/session, /*seed=*/7, {{"libtorch", "2.6"}});
      provenance.note("trained_in", session);
      if (session == 3) provenance.finish();
    });
  }
  const auto json = *read_provenance(run);
  CATCH_CHECK(json.at("threads") == 3);
  CATCH_CHECK(json.at("libtorch") == "2.6");
  CATCH_CHECK(json.at("trained_in") == 3);
  CATCH_CHECK(json.at("seed") == 7);
  const auto started = recorded_time(json, "started"), finished = recorded_time(json, "finished");
  CATCH_REQUIRE((started && finished));
  CATCH_CHECK(*started <= *finished);
  CATCH_CHECK(json.at("cores_busy_elsewhere").get<double>() >= 0);
  const auto& sessions = json.at("earlier_sessions");
  CATCH_REQUIRE(sessions.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CATCH_CHECK(sessions[i].at("threads") == i + 1);
    CATCH_CHECK(sessions[i].at("finished").is_null());
    CATCH_CHECK_FALSE(sessions[i].contains("earlier_sessions"));
  }
}

CATCH_TEST_CASE("a session says what is another than in the one before") {
  const testing::TemporaryFolder folder;
  const RunDirectory run{folder.path()};
  const auto answer = folder.path() / "answer";
  const auto change = [&](const char* libtorch) {
    in_child([&] {
      ::setenv("DIFFLAB_ROOT", folder.path().c_str(), 1);
      ::setenv("GIT_CEILING_DIRECTORIES", folder.path().parent_path().c_str(), 1);
      const Provenance provenance(run, 1, 7, {{"libtorch", libtorch}});
      write_file_atomically(answer, provenance.change());
    });
    return read_file(answer);
  };
  CATCH_CHECK(change("2.6") == "");
  CATCH_CHECK(change("2.6") == "");
  CATCH_CHECK(change("2.13") == "libtorch 2.6 → 2.13");
}

CATCH_TEST_CASE("all that a run comes from are its sessions and those of what it took") {
  const Json provenance{
      {"commit", "a"},
      {"earlier_sessions", {{{"commit", "b"}, {"training", {{{"commit", "c"}}}}}}},
      {"training", {{{"commit", "d"}}}}};
  std::string commits;
  for (const auto& session : sessions_of(provenance)) commits += session.at("commit");
  CATCH_CHECK(commits == "abcd");
  CATCH_CHECK(sessions_of(Json()).empty());
}

CATCH_TEST_CASE("a time that is not written as ours is none") {
  CATCH_CHECK(recorded_time({{"started", "1970-01-02T00:00:01Z"}}, "started") == 86'401);
  for (const auto& bad :
       {Json(), Json(7), Json("yesterday"), Json("1970-01-02T00:00:01Z and so")}) {
    CATCH_CHECK_FALSE(recorded_time({{"started", bad}}, "started"));
  }
  CATCH_CHECK_FALSE(recorded_time(Json::object(), "started"));
}

}  // namespace
}  // namespace difflab
