#pragma once
// sbatch, squeue, scancel and scontrol as programs that note what they are called with and answer
// what a test wants. The real ones are asked in bench/slurm/.

#include <fstream>
#include <vector>

#include "support/temporary_folder.h"
#include "util/files.h"

namespace difflab::testing {

class FakeSlurm {
 public:
  FakeSlurm() : path_(std::getenv("PATH")) {
    write("sbatch", R"(
if [[ -e $here/refusal ]]; then cat "$here/refusal" >&2; exit 1; fi
if [[ -e $here/accept_and_fail ]]; then
  for word; do [[ $word == --job-name=* ]] && name=${word#--job-name=}; done
  echo "$name|4712|0|PENDING" >"$here/queue"
  cat "$here/accept_and_fail" >&2; exit 1
fi
count=$(($(cat "$here/count") + 1)); echo "$count" >"$here/count"
if [[ -e $here/limit ]] && ((count > $(cat "$here/limit"))); then
  cat "$here/limit_words" >&2; exit 1
fi
echo $((4710 + count))
[[ -e $here/execute ]] || exit 0
while [[ $1 == --* ]]; do
  case $1 in
    --array=0-*) last=${1#--array=0-}; last=${last%\%*} ;;
    --chdir=*) folder=${1#--chdir=} ;;
  esac
  shift
done
cd "$folder"
for ((task = 0; task <= last; ++task)); do
  SLURM_ARRAY_JOB_ID=$((4710 + count)) SLURM_ARRAY_TASK_ID=$task bash "$@" >"task-$task.txt" 2>&1
done
)");
    write("squeue", R"(
if [[ -e $here/silence ]]; then cat "$here/silence" >&2; exit 1; fi
for word; do [[ $word == --name=* ]] && names=,${word#--name=},; done
while IFS= read -r line || [[ -n $line ]]; do
  if [[ -z ${names-} || $names == *",${line%%|*},"* ]]; then echo "$line"; fi
done <"$here/queue"
)");
    write("scancel", R"(
if [[ -e $here/no_cancel ]]; then cat "$here/no_cancel" >&2; exit 1; fi
)");
    write("scontrol", "");
    set("count", "0\n");
    set("limit_words", "sbatch: error: Batch job submission failed: the fake limit\n");
    set("queue", "");
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~FakeSlurm() { ::setenv("PATH", path_.c_str(), 1); }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  /// "refusal", "silence": what sbatch or squeue fails with; "queue": what squeue prints; "limit":
  /// how many calls sbatch accepts before it fails with "limit_words"; "execute": sbatch executes
  /// the tasks before it returns; "accept_and_fail": it puts the array into the queue and fails.
  void set(const std::string& knob, const std::string& text) const {
    write_file_atomically(folder_.path() / knob, text);
  }
  void unset(const std::string& knob) const { std::filesystem::remove(folder_.path() / knob); }

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

 private:
  void write(const std::string& program, const std::string& body) const {
    const auto file = folder_.path() / program;
    write_file_atomically(file, R"(#!/bin/bash
here=$(dirname -- "$0")
{ printf 'call\0'; if (($#)); then printf '=%s\0' "$@"; fi; } >>"$0.calls"
)" + body);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace difflab::testing
