#pragma once
// ssh as a program that executes here what it is asked to execute elsewhere.

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/temporary_folder.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::testing {

/// While it exists, each name is a machine with the folders of this one.
class FakeSsh {
 public:
  FakeSsh() : path_(std::getenv("PATH")) {
    const auto program = folder_.path() / "ssh";
    write_file_atomically(program, R"(#!/bin/bash
here=$(dirname -- "$0")
while [[ $1 == -* ]]; do shift; done
host=$1; shift
echo "$host" >>"$here/calls"
if [[ -e $here/$host.down ]]; then cat "$here/$host.down" >&2; exit 255; fi
command="$*"
if [[ -e $here/$host.apart ]]; then command=${command/config.yaml/not there.yaml}; fi
echo $$ >"$here/$host.pid"
exec bash -c "$command"
)");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~FakeSsh() { ::setenv("PATH", path_.c_str(), 1); }
  FakeSsh(const FakeSsh&) = delete;
  FakeSsh& operator=(const FakeSsh&) = delete;

  /// From now on ssh gives up with these words.
  void take_down(const std::string& host, const std::string& words) const {
    write_file_atomically(folder_.path() / (host + ".down"), words + "\n");
  }
  /// From now on the machine does not see the runs' folders.
  void set_apart(const std::string& host) const {
    write_file_atomically(folder_.path() / (host + ".apart"), "");
  }
  /// Kills the connection, and with it what runs there.
  void cut(const std::string& host) const {
    ::kill(std::stoi(read_file(folder_.path() / (host + ".pid"))), SIGKILL);
  }
  /// The machines that were called so far.
  std::vector<std::string> calls() const {
    return split(read_file(folder_.path() / "calls"), '\n');
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace difflab::testing
