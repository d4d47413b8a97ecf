#pragma once
// Programs of a test's own in front of PATH, which note what they are called with.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temporary_folder.h"
#include "util/files.h"

namespace difflab::testing {

class FakePrograms {
 public:
  FakePrograms() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~FakePrograms() { ::setenv("PATH", path_.c_str(), 1); }
  FakePrograms(const FakePrograms&) = delete;
  FakePrograms& operator=(const FakePrograms&) = delete;

  /// Files that the programs look at in their own folder, $here.
  void set(const std::string& knob, const std::string& text) const {
    write_file_atomically(folder_.path() / knob, text);
  }
  void unset(const std::string& knob) const { std::filesystem::remove(folder_.path() / knob); }
  std::string get(const std::string& knob) const { return read_file(folder_.path() / knob); }

  /// The arguments of every call of a program so far.
  std::vector<std::vector<std::string>> calls(const std::string& program) const {
    std::vector<std::vector<std::string>> found;
    std::ifstream file(folder_.path() / (program + ".calls"), std::ios::binary);
    for (std::string word; std::getline(file, word, '\0');) {
      if (word == "call") {
        found.emplace_back();
      } else {
        found.back().push_back(word.substr(1));  // after the '=' that marks an argument
      }
    }
    return found;
  }

 protected:
  void write(const std::string& program, const std::string& body) const {
    const auto file = folder_.path() / program;
    write_file_atomically(file, R"(#!/bin/bash
here=$(dirname -- "$0")
{ printf 'call\0'; if (($#)); then printf '=%s\0' "$@"; fi; } >>"$0.calls"
)" + body);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace difflab::testing
