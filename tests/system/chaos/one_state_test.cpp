// A run has one state, whoever asks. The oracle is agreement: when nothing moves any more after a
// kill, `runs`, `watch`, `status`, the table and the page are compared run by run.
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "system/chaos/field.h"

namespace difflab {
namespace {

using namespace testing::chaos;
using testing::Answer;
using testing::Driver;
using testing::eventually;

using States = std::map<std::string, std::string>;  // by run id

// A process that ends gives up its program first, and the locks of its files a moment later: only
// when it is a zombie, or gone, has it let go of its run.
bool is_at_work(pid_t process) {
  std::error_code gone;
  const auto program = fs::read_symlink(concat("/proc/", process, "/exe"), gone);
  if (!gone && program != fs::canonical(testing::FakeWorkers::program())) return false;
  std::ifstream file(concat("/proc/", process, "/stat"));
  std::string stat;
  std::getline(file, stat);
  const auto state = stat.rfind(") ");  // behind the name of the program
  return state != stat.npos && stat[state + 2] != 'Z' && stat[state + 2] != 'X';
}

struct Frozen : Field {
  Frozen() {
    auto words = command();
    words.emplace_back("--freeze");
    CATCH_REQUIRE(call(words).code == 0);
    for (const auto& entry : fs::directory_iterator(where / "tiny")) folder = entry.path();
    CATCH_REQUIRE(fs::exists(folder / "plan.json"));
  }
  void let_everything_end() const {
    CATCH_REQUIRE(eventually([&] {
      const auto starts = workers.starts();
      return std::none_of(starts.begin(), starts.end(), [](const auto& start) {
        return is_at_work(start.pid) || is_at_work(start.server);
      });
    }));
  }
  std::string out(const std::vector<std::string>& words) const {
    const Answer answer = call(words);
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == 0);
    return answer.out;
  }

  fs::path folder;
};

struct Said {
  States status;
  States labels;  // id by label
};

Said said_by_status(const Frozen& field) {
  Said said;
  const auto answer = Json::parse(field.out({"status", "--json", field.folder}));
  for (const auto& run : answer.at("runs")) {
    const std::string id = run["id"];
    said.status[id] = run["state"];
    const std::string model = run["axes"]["model"], seed = run["axes"]["seed"];
    said.labels["model=" + model + " seed=" + seed] = id;
  }
  CATCH_CHECK(said.status.size() == kRuns);
  return said;
}

States said_by_runs(const Frozen& field, const States& all) {
  States states;
  for (const auto& [id, state] : all) states[id] = "new";  // those without a folder
  if (!fs::exists(field.where / "runs")) return states;
  for (const auto& row : Json::parse(field.out({"runs", "--json", "--results", field.where}))) {
    states[row["id"]] = row["state"];
  }
  return states;
}

States said_by_watch(const Frozen& field, const States& labels) {
  States states;
  std::istringstream lines(field.out({"watch", "--once", field.folder}));
  for (std::string line; std::getline(lines, line);) {
    std::string model, seed, state;
    if (!line.starts_with("model=") || !(std::istringstream(line) >> model >> seed >> state)) {
      continue;
    }
    states[labels.at(model + " " + seed)] = state;
  }
  return states;
}

States said_by_page(const std::string& page, const States& all) {
  States states;
  for (const auto& [id, expected] : all) {
    const auto place = page.find(">" + id + "<");
    CATCH_REQUIRE(place != page.npos);
    const auto row = page.substr(page.rfind("<tr>", place), place - page.rfind("<tr>", place));
    for (const char* state : {"finished", "running", "interrupted", "failed", "not run"}) {
      if (row.find(concat(">", state, "<")) != row.npos) {
        states[id] = state == std::string("not run") ? "new" : state;
      }
    }
  }
  return states;
}

void check_that_all_agree(const Frozen& field) {
  // A process that died before it noted its start may still hold a run: until two answers are the
  // same.
  Said said = said_by_status(field);
  CATCH_REQUIRE(eventually([&] {
    sleep_ms(20);
    const auto before = std::exchange(said, said_by_status(field));
    return before.status == said.status;
  }));
  const auto& [states, labels] = said;
  CATCH_CHECK(said_by_runs(field, states) == states);
  CATCH_CHECK(said_by_watch(field, labels) == states);
  std::map<std::string, int> counts;
  for (const auto& [id, state] : states) ++counts[state];
  if (counts["finished"] == 0) return;  // nothing to report
  auto words = field.command();
  words.front() = "plot";
  field.out(words);
  CATCH_CHECK(said_by_page(read_file(field.folder / "report.html"), states) == states);
  const auto table = read_file(field.folder / "table.md");
  for (const auto& [word, shown] : std::map<std::string, std::string>{
           {"failed", "failed"}, {"interrupted", "interrupted"}, {"new", "not run"}}) {
    int in_table = 0;
    for (auto at = table.find(" " + shown); at != table.npos;
         at = table.find(" " + shown, at + 1)) {
      auto begin = at;
      while (begin > 0 && std::isdigit(static_cast<unsigned char>(table[begin - 1])) != 0) --begin;
      if (begin < at) in_table += std::stoi(table.substr(begin, at - begin));
    }
    CATCH_INFO(table);
    CATCH_CHECK(in_table == counts[word]);
  }
}

CATCH_TEST_CASE("after any kill runs, watch, status, table and page say one state of each run") {
  const int wanted = dose(6, 200);
  int kills = 0, failures = 0;
  while (kills < wanted) {
    const Frozen field;
    for (int of_this = 0; of_this < 10 && kills < wanted; ++of_this) {
      const auto before = field.workers.starts().size();
      auto words = field.command();
      const bool gives_up = random_up_to(1) == 1;
      if (gives_up)
        std::replace(words.begin(), words.end(), std::string("launcher.retries=1000"),
                     std::string("launcher.retries=0"));
      auto driver = field.start(words);
      eventually([&] { return field.workers.starts().size() > before || !driver->output_open(); });
      sleep_ms(random_up_to(250));
      const auto starts = field.workers.starts();
      if (starts.size() == before) break;  // there was nothing left to run
      if (gives_up && is_at_work(starts.back().pid)) ::kill(starts.back().pid, SIGKILL);
      if (gives_up) sleep_ms(random_up_to(100));
      driver->kill(random_up_to(2) == 0 ? SIGINT : SIGKILL);
      Driver::finish(*driver);
      ++kills;
      field.let_everything_end();
      check_that_all_agree(field);
      for (const auto& [id, state] : said_by_status(field).status) failures += state == "failed";
    }
  }
  if (full_dose()) CATCH_CHECK(failures > 0);
  std::cout << kills << " kills, " << failures << " times a failed run among the answers"
            << std::endl;
}

}  // namespace
}  // namespace difflab
