#pragma once

#include <iostream>
#include <random>

#include "cli/driver.h"

namespace difflab::testing::chaos {

constexpr int kRuns = 30;  ///< of the sweep under fire

inline bool full_dose() {
  const char* dose = std::getenv("DIFFLAB_CHAOS");
  return dose != nullptr && std::string(dose) == "full";
}

inline int dose(int quick, int full) { return full_dose() ? full : quick; }

inline std::mt19937& chance() {
  static std::mt19937 engine = [] {
    const char* given = std::getenv("DIFFLAB_CHAOS_SEED");
    const auto seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    std::cout << "DIFFLAB_CHAOS_SEED=" << seed << std::endl;
    return std::mt19937(static_cast<std::mt19937::result_type>(seed));
  }();
  return engine;
}

inline int random_up_to(int most) { return std::uniform_int_distribution(0, most)(chance()); }

inline void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// A project with a sweep of kRuns runs of a few hundred milliseconds.
struct Field : Driver {
  explicit Field(fs::path place = {}) : where(place.empty() ? results() : std::move(place)) {
    workers.set(R"({"steps": 8, "step_ms": 20})");
  }
  std::vector<std::string> command() const {
    return {"sweep",
            "tiny",
            "seed=range(15)",
            "launcher.workers=4",
            "launcher.retries=1000",
            "results=" + where.string()};
  }
  std::unique_ptr<Process> go() const { return start(command()); }

  std::string result_tables() const {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(where / "tiny")) {
      for (const char* file : {"table.md", "table.csv", "table.tex"}) {
        bytes += read_file(entry.path() / file);
      }
    }
    return bytes;
  }

  const fs::path where;
};

/// The tables of a sweep that nothing disturbs.
inline const std::string& undisturbed() {
  static const std::string tables = [] {
    const Field field;
    const Answer answer = field.call(field.command());
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == 0);
    return field.result_tables();
  }();
  return tables;
}

/// Ends with one of these exit codes, and not by a signal of its own making.
inline int calm_end(Process& driver, const std::vector<int>& codes) {
  const Answer answer = Driver::finish(driver);
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(driver.wait().signal == 0);
  CATCH_CHECK(std::find(codes.begin(), codes.end(), answer.code) != codes.end());
  return answer.code;
}

/// The same command once more, without disturbance, and what it must have led to.
inline void check_the_end(const Field& field) {
  const Answer answer = field.call(field.command());
  CATCH_INFO(answer.out << answer.err);
  CATCH_REQUIRE(answer.code == 0);
  CATCH_REQUIRE(field.result_tables() == undisturbed());
  for (const auto& [id, times] : field.workers.ends()) {
    CATCH_INFO(id);
    CATCH_CHECK(times == 1);
  }
  int runs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(field.where)) {
    const auto name = entry.path().filename().string();
    CATCH_INFO(entry.path());
    CATCH_CHECK_FALSE(name.ends_with(".tmp"));
    CATCH_CHECK(name.find(".writable") == name.npos);
    runs += name == "result.json" ? 1 : 0;
  }
  CATCH_CHECK(runs == kRuns);
}

}  // namespace difflab::testing::chaos
