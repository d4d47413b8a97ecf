#pragma once
// qsub, qselect, qstat and qdel as programs that note what they are called with and answer what a
// test wants. The real ones are asked in bench/pbs/.

#include "support/fake_programs.h"

namespace difflab::testing {

/// Knobs: "refusal", "silence": what qsub or qselect fails with; "queue": the tasks, one a line, as
/// ID|NAME|STATE|COMMENT; "gone": exit code of qstat; "limit": how many calls qsub accepts before
/// it fails with "limit_words"; "execute": qsub executes the tasks before it returns;
/// "accept_and_fail": it puts the array into the queue and fails.
class FakePbs : public FakePrograms {
 public:
  FakePbs() {
    write("qsub", R"(
if [[ -e $here/refusal ]]; then cat "$here/refusal" >&2; exit 1; fi
range= name=
while [[ $1 != -- ]]; do
  case $1 in -J) range=$2 ;; -N) name=$2 ;; esac
  shift
done
if [[ -e $here/accept_and_fail ]]; then
  echo "4712[0].fake|$name|Q|" >"$here/queue"
  cat "$here/accept_and_fail" >&2; exit 1
fi
count=$(($(cat "$here/count") + 1)); echo "$count" >"$here/count"
if [[ -e $here/limit ]] && ((count > $(cat "$here/limit"))); then
  cat "$here/limit_words" >&2; exit 1
fi
id=$((4710 + count))
if [[ -n $range ]]; then echo "$id[].fake"; else echo "$id.fake"; fi
[[ -e $here/execute ]] || exit 0
shift
if [[ -z $range ]]; then PBS_JOBID=$id.fake "$@"; exit 0; fi
last=${range#0-}
for ((task = 0; task <= ${last%\%*}; ++task)); do
  PBS_JOBID="$id[$task].fake" PBS_ARRAY_INDEX=$task "$@"
done
)");
    write("qselect", R"(
if [[ -e $here/silence ]]; then cat "$here/silence" >&2; exit 1; fi
sed -E 's/\|.*//; s/\[[0-9]+\]/[]/' "$here/queue" | sort -u
)");
    write("qstat", R"(
while [[ $1 == -* ]]; do
  case $1 in -D) between=$2; shift ;; -F) shift ;; esac
  shift
done
while IFS='|' read -r id name state comment; do
  printf 'Job Id: %s%sJob_Name=%s%sVariable_List=A=1,B=a|b' "$id" "$between" "$name" "$between"
  printf '%sjob_state=%s%scomment=%s\n' "$between" "$state" "$between" "$comment"
done <"$here/queue"
if [[ -e $here/gone ]]; then
  echo "qstat: Unknown Job Id" >&2
  read -r code <"$here/gone"
  exit "$code"
fi
)");
    write("qdel", R"(
if [[ -e $here/no_cancel ]]; then cat "$here/no_cancel" >&2; exit 1; fi
)");
    set("count", "0\n");
    set("limit_words", "qsub: the fake limit\n");
    set("queue", "");
  }
};

}  // namespace difflab::testing
