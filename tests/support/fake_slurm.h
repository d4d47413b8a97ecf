#pragma once
// sbatch, squeue, scancel and scontrol as programs that note what they are called with and answer
// what a test wants. The real ones are asked in bench/slurm/.

#include "support/fake_programs.h"

namespace difflab::testing {

/// Knobs: "refusal", "silence": what sbatch or squeue fails with; "queue": what squeue prints;
/// "limit": how many calls sbatch accepts before it fails with "limit_words"; "execute": sbatch
/// executes the tasks before it returns; "accept_and_fail": it puts the array into the queue and
/// fails.
class FakeSlurm : public FakePrograms {
 public:
  FakeSlurm() {
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
  }
};

}  // namespace difflab::testing
