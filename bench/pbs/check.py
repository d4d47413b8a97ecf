#!/usr/bin/env python3
"""Sweeps on a real OpenPBS that is disturbed: python3 bench/pbs/check.py BUILD [--full] [--seed N].

It needs a PBS server that answers this user (qstat -B) and has a node of at least two cores, and
disturbs nothing but its own jobs. The oracle is that of bench/slurm/check.py. Not part of ctest or
CI: Debian has no package of OpenPBS.
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "slurm"))
import check  # noqa: E402

RUNS = check.RUNS


class Sweep(check.Sweep):
    launcher = "pbs"


def time_limits(site, dose):
    """A task is warned after 10 s, and a run takes 25 s; what continues is a job of its own."""
    return check.limits(site, 20 if dose else 3, 25, "launcher.runs_per_task=3", "launcher.workers=3")


def one_task(site, _dose):
    sweep = Sweep(site, "one", 5, 1, "launcher.runs_per_task=20", "launcher.workers=2")
    sweep.submit()
    assert sweep.finish() == RUNS
    return f"{RUNS} runs in one task, which is no array"


def refusals(site, _dose):
    for option, word in (("launcher.queue=none_such", "unknown queue"),
                         ("launcher.resources=['place=none_such']", "place"),
                         ("launcher.chunk='none_such=1'", "unknown resource")):
        sweep = Sweep(site, f"refused-{word.replace(' ', '-')}", 5, 1, option)
        answer = site.difflab("sweep", "tiny", "launcher=pbs", *sweep.options, check=False)
        assert answer.returncode == 2 and word in answer.stderr.lower(), (option, answer)
        assert not list(sweep.output.glob("pbs/*")), option
    return "each told in qsub's words, nothing left behind"


LINES = [check.local, check.undisturbed, one_task, refusals, check.cancels, time_limits]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments = parser.parse_args()
    if not shutil.which("qstat") or subprocess.run(["qstat", "-B"], capture_output=True).returncode:
        print("SKIPPED: no PBS server answers here", file=sys.stderr)
        return 77
    print(f"seed {arguments.seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="difflab-pbs-"))
    site = check.Site(arguments.build.resolve(), folder, None, random.Random(arguments.seed))
    for line in LINES:
        begin = time.monotonic()
        text = line(site, arguments.full)
        print(f"{line.__name__:<14} {text} ({time.monotonic() - begin:.0f} s)", flush=True)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    check.Sweep = Sweep
    sys.exit(main())
