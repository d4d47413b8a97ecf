#pragma once
// ssh as a program that executes here what it is asked to execute elsewhere.

#include <csignal>
#include <string>
#include <vector>

#include "support/fake_programs.h"
#include "util/text.h"

namespace difflab::testing {

/// While it exists, each name is a machine with the folders of this one.
class FakeSsh : public FakePrograms {
 public:
  FakeSsh() {
    write("ssh", R"(
while [[ $1 == -* ]]; do shift; done
host=$1; shift
echo "$host" >>"$here/calls"
if [[ -e $here/$host.down ]]; then cat "$here/$host.down" >&2; exit 255; fi
command="$*"
if [[ -e $here/$host.apart ]]; then command=${command/config.yaml/not there.yaml}; fi
echo $$ >"$here/$host.pid"
exec bash -c "$command"
)");
  }

  /// From now on ssh gives up with these words.
  void take_down(const std::string& host, const std::string& words) const {
    set(host + ".down", words + "\n");
  }
  /// From now on the machine does not see the runs' folders.
  void set_apart(const std::string& host) const { set(host + ".apart", ""); }
  /// Kills the connection, and with it what runs there.
  void cut(const std::string& host) const { ::kill(std::stoi(get(host + ".pid")), SIGKILL); }
  /// The machines that were called so far.
  std::vector<std::string> hosts() const { return split(get("calls"), '\n'); }
};

}  // namespace difflab::testing
