#include "sweep/launcher/ssh.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "record/provenance.h"
#include "record/run_directory.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

// Variables that this machine's programs hand on to their workers, and those that change numbers.
std::string exported_variables() {
  std::string words;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    const bool is_name =
        name.size() < text.size() && std::ranges::all_of(name, [](unsigned char letter) {
          return std::isalnum(letter) != 0 || letter == '_';
        });
    if (is_name &&
        (name.starts_with("DIFFLAB_") || name == "GOMP_SPINCOUNT" || is_numeric_variable(name))) {
      words += concat(" ", name, "=", quoted_for_shell(text.substr(name.size() + 1)));
    }
  }
  return words;
}

// A shell at the other end becomes the worker program if it sees the run's folder. The program
// learns from here which code it is, and needs no git.
std::string remote_command(const fs::path& worker, int threads, const fs::path& run) {
  hand_on_source_state(worker);
  // The login shell may be any.
  return concat(
      "exec sh -c ",
      quoted_for_shell(concat(
          "test -e ", quoted_for_shell(RunDirectory{run}.config().string()), " || { echo ",
          quoted_for_shell(concat("does not see ", run.string(),
                                  "; results have to lie in a folder that all machines share")),
          " >&2; exit 66; }; export", exported_variables(), "; exec ",
          quoted_for_shell(worker.string()), " serve ", threads)));
}

}  // namespace

void SshLauncher::validate(config::Check& check) const {
  if (hosts.empty()) check.problem("hosts", "is empty; expected machines, e.g. [node7, node8]");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts[i];
    const bool is_plain =
        std::ranges::none_of(host, [](char c) { return is_control(c) || c == ' '; });
    if (is_plain && !host.empty() && host[0] != '-') continue;
    check.problem(concat("hosts[", i, "]"),
                  concat(is_plain ? concat("is '", host, "'") : "has blanks or control characters",
                         "; expected a name as for ssh, e.g. node7"));
  }
}

std::unique_ptr<Launcher> SshLauncher::build(const fs::path& worker, int threads_per_run,
                                             std::size_t) const {
  std::vector<ServerPlace> places;
  for (const auto& host : hosts) {
    places.push_back(
        {.host = host, .capacity = static_cast<int>(workers), .command = [=](const fs::path& run) {
           return std::vector<std::string>{"/usr/bin/env",
                                           "ssh",
                                           "-T",
                                           "-oBatchMode=yes",
                                           "-oConnectTimeout=10",
                                           "-oServerAliveInterval=15",
                                           host,
                                           remote_command(worker, threads_per_run, run)};
         }});
  }
  return launch_in(std::move(places));
}

}  // namespace difflab::sweep
