#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "sweep/launcher/launcher.h"
#include "sweep/launcher/local.h"

namespace difflab::sweep {

/// Runs on machines that ssh reaches without a password and that have the checkout and the results
/// under the same paths as this one. Each executes runs as this machine would (LocalLauncher); the
/// runs of a machine that is lost go on elsewhere once their leases have run out.
struct SshLauncher {
  static constexpr std::string_view kKind = "ssh";
  static constexpr std::string_view kAbout =
      "machines that ssh reaches and that see the same folders";

  std::vector<std::string> hosts;
  std::int64_t workers = 1;
  std::int64_t retries = 2;
  bool fail_fast = false;
  RunOrder order = RunOrder::kLongest;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("hosts", hosts, "machines as ssh names them, e.g. [node7, me@node8, ssh://node9:2222]");
    visit("workers", workers, "runs at the same time on each of them", config::between(1, 1024));
    visit("retries", retries, "how often a run that was killed or lost is tried again",
          config::between(0, 1000));
    visit("fail_fast", fail_fast, "stop everything at the first run that fails");
    visit("order", order, "which runs start first: longest, shortest, or as listed");
  }
  void validate(config::Check& check) const;

  /// Bytes that a run may take: nobody asks the machines.
  static double memory_of_run() { return 1e18; }
  Policy policy() const {
    return {.retries = static_cast<int>(retries), .fail_fast = fail_fast, .order = order};
  }
  std::unique_ptr<Launcher> build(const std::filesystem::path& worker, int threads_per_run,
                                  std::size_t runs) const;
};

}  // namespace difflab::sweep
