"""What the scripts beside this one share: cases, the program that answers, and what is alike."""

import argparse
import json
import math
import os
import subprocess


def lifetimes(chance):
    horizon = chance.choice([5, 20, 1000])
    times = [math.ceil(chance.expovariate(1 / 10)) for _ in range(chance.randint(1, 25))]
    ends = [min(horizon, chance.choice([horizon, chance.randint(1, 30)])) for _ in times]
    return [[min(t, end), t <= end] for t, end in zip(times, ends)]


def pair_of_lives(chance):
    while True:
        both = [lifetimes(chance), lifetimes(chance)]
        # A test of times at which only one group was still looked at has no variance.
        events = {t for t, e in both[0] + both[1] if e}
        if any(all(any(u >= t for u, _ in group) for group in both) for t in events):
            return both


def options(what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--answers", required=True, help="the program statistics_answers")
    usual = 1000 if os.environ.get("DIFFLAB_TESTS") == "all" else 200
    parser.add_argument("--cases", type=int, default=usual, help="of each estimator")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def ask(program, questions):
    """The answers of `program` to pairs of an estimator's name and its arguments."""
    lines = "".join(json.dumps({"of": name, "with": given}) + "\n" for name, given in questions)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def flat(answer):
    if isinstance(answer, (list, tuple)):
        return [number for part in answer for number in flat(part)]
    return [answer]


def agree(ours, theirs):
    ours, theirs = flat(ours), flat(theirs)
    if len(ours) != len(theirs):
        return False
    return all(
        a == b if isinstance(a, str) or a is None or b is None else abs(a - b) <= 1e-9 * max(1, abs(b))
        for a, b in zip(ours, theirs)
    )


class Wrong:
    """How many answers are other than they should be; shows the first ten."""

    def __init__(self):
        self.count = 0

    def unless_alike(self, name, case, ours, theirs):
        if agree(ours, theirs):
            return
        self.count += 1
        if self.count <= 10:
            print(f"{name}{case}: {ours}, expected {theirs}")
