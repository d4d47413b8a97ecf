#!/usr/bin/env python3
"""Samples of the tasks beside solvers that were written from docs/tasks.md alone.

usage: tests/task/solve.py PATH/difflab [--samples N] [TASK …]
For each task, with its defaults (N samples) and with other settings (N/4 each), this checks that
  - each sequence is built as the page says, and exactly the promised positions are scored;
  - a solver that sees the symbols up to a scored position, and nothing else, predicts the target,
    unless the page leaves it open (a solver then answers None);
  - guessing among the answers that the context offers is right as often as the stated chance:
    the formula of the page exactly, guesses and the share of right answers within 99.9 %;
  - what is drawn evenly is even, by a χ² test at p > 1e-4;
  - (seed, split, index) gives one sample, and another seed or split another.
What looks uneven or off chance is drawn again four times as often, and broken if it does so again.
N is 250 unless it is given, and 1,000 in CI (DIFFLAB_TESTS=all); 10,000 is the full dose.
One line per task says what was checked. Exit 1 and a line for each broken promise. Nothing here
reads the program's sources, so an error there is not repeated here.
"""

import argparse
import collections
import dataclasses
import os
import random
import sys

sys.dont_write_bytecode = True

import episodes
import languages
import needles
import recalling
import tracking
from chances import Tally, clustered_p
from samples import Broken, Program, expect

MODULES = [needles, recalling, tracking, episodes, languages]
TASKS = {task.name: task for module in MODULES for task in module.TASKS}
LEVEL = 1e-4  # p of a draw, at which it is in doubt
GUESSES = 1e-3  # p of guesses
FEW = 12  # samples that are asked for again
FULL = 10_000  # samples from which all other seeds and splits are compared, not one of them


class Complaints:
    """Broken promises, the first of each kind with an example."""

    def __init__(self, task, split):
        keys = [f"task.{key}={value}" for key, value in task.changed.items()]
        self.where = " ".join([task.name, *keys, f"({split})"])
        self.kinds = collections.Counter()
        self.examples = {}

    def add(self, kind, what, sample=None):
        self.kinds[kind] += 1
        self.examples.setdefault(kind, f"{what}{f' [{sample.origin}]' if sample else ''}")

    def lines(self):
        for kind, count in self.kinds.items():
            more = f" (and {count - 1} more like it)" if count > 1 else ""
            yield f"{self.where}: {kind}: {self.examples[kind]}{more}"


@dataclasses.dataclass
class Seen:
    samples: int = 0
    questions: int = 0
    right: int = 0
    left_open: int = 0
    draws: int = 0
    doubts: int = 0
    worst: float = 1.0
    where: str = ""

    def p(self, name, p):
        self.draws += 1
        if p < self.worst:
            self.worst, self.where = p, name


def check_tokens(samples, size):
    """Each token number is one symbol, and below the vocabulary's size."""
    pairs = set()
    for sample in samples:
        symbols = sample.text + [symbol for _, symbol in sample.scored]
        pairs.update(zip(sample.tokens + sample.targets, symbols, strict=True))
    for side, what in enumerate(("token", "symbol")):
        often = collections.Counter(pair[side] for pair in pairs)
        expect(len(often) == len(pairs), f"{what} {often.most_common(1)[0][0]} means two things")
    most = max(token for token, _ in pairs)
    expect(most < size, f"token {most} in a vocabulary of {size}")


def answers(part, sample, complaints, seen, guess):
    """Guesses and right shares of one sample, after its positions and answers were checked."""
    shape = part.read(sample.text)
    scored = [at for at, _ in sample.scored]
    wanted = list(part.positions(shape, scored[0] if scored else None))
    if scored != wanted:
        missing, extra = sorted(set(wanted) - set(scored)), sorted(set(scored) - set(wanted))
        what = f"{missing} are not scored, {extra} are" if missing or extra else "in another order"
        complaints.add("scored positions", what, sample)
    hits = [0, 0.0, 0]
    for i, (at, target) in enumerate(sample.scored):
        if at not in wanted:
            continue
        so_far = sample.text[: at + 1]
        found = part.answer(so_far, scored[:i])
        seen.left_open += found is None
        seen.questions += found is not None
        seen.right += found == target
        if found not in (None, target) and part.sure():
            complaints.add("answer", f"{target} at {at}, where the page gives {found}", sample)
        then = sample.text[at + 1 : at + 2]
        if part.follows and i + 1 < len(wanted) and then != [target]:
            complaints.add("next input", f"{then} follows, not {target}", sample)
        offered = part.offered(so_far, scored[:i])
        if offered:
            hits[0] += guess.choice(offered) == target
            hits[1] += offered.count(target) / len(offered)
            hits[2] += 1
    return shape, hits


def check_part(name, part, samples, complaints, seen, stated=None):
    """Doubts about what was drawn, by what it is. Everything else is complained about."""
    tally, guess = Tally(), random.Random(f"guesses of {name}")
    guessed, shares = [], []
    for sample in samples:
        try:
            shape, (hits, share, trials) = answers(part, sample, complaints, seen, guess)
            part.count(shape, [target for _, target in sample.scored], tally)
        except Broken as broken:
            complaints.add("structure", broken, sample)
            continue
        except (ValueError, KeyError, IndexError, StopIteration) as error:  # a solver is at a loss
            complaints.add("structure", f"{type(error).__name__} {error}", sample)
            continue
        if trials:
            guessed.append((hits, trials))
            shares.append((share, trials))
    doubts = {}
    for what, p in tally.results():
        seen.p(f"{name}: {what}", p)
        if p <= LEVEL:
            doubts[what] = f"not as promised, p = {p:.1e}"
    chance = part.own_chance(stated)
    if chance is not None and guessed:
        for what, rows in (("guesses", guessed), ("right answers on offer", shares)):
            p = clustered_p(rows, chance)
            seen.p(f"{name}: {what}", p)
            if p <= GUESSES:
                found = sum(row[0] for row in rows) / sum(row[1] for row in rows)
                doubts[what] = f"{found:.4f}, not {chance:.4f}, p = {p:.1e}"
    return doubts


def by_part(shown):
    found = collections.defaultdict(list)
    for sample in shown.samples:
        found[sample.part].append(sample)
    return found


def check_setting(task, split, program, count, seen):
    """The lines for what is broken."""
    complaints = Complaints(task, split)
    try:
        task.prepare(program)
        shown = program.show(task.overrides(), count, split)
        check_tokens(shown.samples, shown.vocab_size)
    except (Broken, ValueError) as broken:
        return [f"{complaints.where}: {broken}"]
    found, parts = by_part(shown), task.parts()
    task.first = {}
    for sample in shown.samples:
        if sample.index < FEW:
            task.first.setdefault((sample.part, sample.index), sample.same())
    if task.length_of() not in (None, shown.length):
        complaints.add("length", f"{shown.length}, not {task.length_of()}")
    chance = task.chance()
    if chance is not None and abs(shown.chance - chance) > 1e-9:
        complaints.add("stated chance", f"{shown.chance:.9f}, not {chance:.9f}")
    if sorted(found) != sorted(parts):
        complaints.add("parts", f"{sorted(found)}, not {sorted(parts)}")
    for name in sorted(set(found) & set(parts)):
        part, share = parts[name]
        part.split = split
        seen.samples += len(found[name])
        if len(found[name]) != count:
            complaints.add("samples", f"{len(found[name])} of {name}, not {count}")
        if abs(found[name][0].share - share) > 1e-9:
            complaints.add("share", f"{found[name][0].share} of a batch is {name}, not {share}")
        doubts = check_part(name, part, found[name], complaints, seen, shown.chance)
        if doubts:  # once in a while a fair draw looks odd, but not twice
            seen.doubts += len(doubts)
            more = by_part(program.show(task.overrides(), 4 * count, split, seed=1000))
            again = check_part(name, part, more[name], complaints, Seen(), shown.chance)
            for what in sorted(set(doubts) & set(again)):
                complaints.add(f"{name}, {what}", f"{doubts[what]}; again {again[what]}")
    return list(complaints.lines())


def same_again(task, split, program, others):
    """Whether a sample depends on (seed, split, index), and on nothing else."""

    def ask(split, seed):
        shown = program.show(task.overrides(), FEW, split, seed)
        return {(s.part, s.index): s.same() for s in shown.samples}

    where = f"{task.name} (seed 0, {split})"
    if ask(split, 0) != task.first:
        yield f"{where}: asked again for fewer samples, it gives others"
    if len(set(task.first.values())) < len(task.first):
        yield f"{where}: two indices give one sample"
    for other, seed in others:
        if set(ask(other, seed).values()) & set(task.first.values()):
            yield f"{where}: seed {seed}, {other}, gives the same sample"


def check_task(kind, program, count):
    seen, lines = Seen(), []
    for i, (changed, split) in enumerate(kind.settings):
        task = kind(**changed)
        lines += check_setting(task, split, program, count if i == 0 else count // 4, seen)
        if i == 0 and task.first:
            others = [(split, 1)]
            others += [(other, 0) for other in ("train", "valid", "test") if other != split]
            if count < FULL:  # one of them, another for each task
                others = [others[list(TASKS).index(kind.name) % 3]]
            lines += same_again(task, split, program, others)
    right = 100 * seen.right / max(1, seen.questions)
    left_open = f", {seen.left_open} open" if seen.left_open else ""
    print(
        f"{kind.name}: {len(kind.settings)} settings, {seen.samples} samples, {seen.questions} "
        f"answers ({right:.4g} % solved{left_open}), {seen.draws} draws, worst p {seen.worst:.2g} "
        f"({seen.where}), {seen.doubts} asked again: "
        f"{f'{len(lines)} broken' if lines else 'ok'}",
        flush=True,
    )
    for line in lines:
        print(f"  {line}", flush=True)
    return not lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", help="PATH/difflab")
    usual = 1000 if os.environ.get("DIFFLAB_TESTS") == "all" else 250
    parser.add_argument("--samples", type=int, default=usual, help="of the default of each task")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    options = parser.parse_intermixed_args()
    for name in options.tasks:
        if name not in TASKS:
            parser.error(f"there is no solver of {name}; there are {', '.join(TASKS)}")
    program = Program(options.program)
    chosen = [TASKS[name] for name in options.tasks or TASKS]
    fine = [check_task(kind, program, options.samples) for kind in chosen]
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
