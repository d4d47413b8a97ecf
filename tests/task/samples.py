"""Samples of a task as `difflab show --json` prints them, and how to read their symbols."""

import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Broken(Exception):
    """Something that docs/tasks.md promises is not so."""


def expect(holds, what):
    if not holds:
        raise Broken(what)


@dataclasses.dataclass
class Sample:
    part: str
    text: list  # the symbols of the inputs
    scored: list  # (position, symbol to predict)
    tokens: list = dataclasses.field(default_factory=list)
    targets: list = dataclasses.field(default_factory=list)  # token numbers of the scored symbols
    index: int = 0
    share: float = 1.0
    origin: str = ""

    def same(self):
        """What two samples have in common if they are one."""
        return tuple(self.text), tuple(self.scored)


@dataclasses.dataclass
class Shown:
    vocab_size: int
    length: int
    chance: float
    samples: list


class Program:
    """Asks PATH/difflab for samples. It prints at most 1,000 of a part, so more have more seeds."""

    MOST = 1000

    def __init__(self, path):
        self.path = str(path)
        self.environment = {"DIFFLAB_ROOT": str(ROOT), **os.environ}

    def _ask(self, arguments):
        for _ in range(3):  # a build may replace the program at any moment
            try:
                done = subprocess.run(
                    [self.path, "show", "--json", *arguments],
                    capture_output=True,
                    env=self.environment,
                    text=True,
                )
                break
            except OSError:
                time.sleep(5)
        else:
            raise SystemExit(f"{self.path} cannot be run")
        if done.returncode:
            raise Broken(f"show {' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def show(self, overrides, count, split="train", seed=0):
        shown = None
        for first in range(0, count, self.MOST):
            now = seed + first // self.MOST
            few = min(self.MOST, count - first)
            given = [*overrides, "--samples", str(few), "--split", split, "--seed", str(now)]
            answer = self._ask(given)
            if shown is None:
                shown = Shown(answer["vocab_size"], answer["length"], answer["chance"], [])
            for one in answer["samples"]:
                scored = [(s["position"], s["text"]) for s in one["scored"]]
                shown.samples.append(
                    Sample(
                        one["part"],
                        one["text"],
                        scored,
                        one["tokens"],
                        [s["target"] for s in one["scored"]],
                        one["index"],
                        one["share"],
                        f"seed {now}, {split}, {one['part']} {one['index']}",
                    )
                )
        return shown


@functools.cache
def number(symbol, letter, size):
    """12 of k12, where there are so many k. The only one of its sort has no number."""
    if size == 1 and symbol == letter:
        return 0
    digits = symbol[len(letter) :]
    known = symbol.startswith(letter) and digits.isdigit() and str(int(digits)) == digits
    expect(known and int(digits) < size, f"{symbol} where {letter}0 … {letter}{size - 1} may be")
    return int(digits)


class Reader:
    """Reads the symbols of a text one after another."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def next(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self, letter, size=None):
        """The number of the next symbol, which has this letter; without a size, none."""
        symbol = self.next()
        if not symbol:
            raise Broken(f"the sequence ends at {self.at}, before {letter}")
        if size is None and symbol != letter:
            raise Broken(f"{symbol} at {self.at} instead of {letter}")
        found = None if size is None else number(symbol, letter, size)
        self.at += 1
        return found

    def end(self):
        expect(self.at == len(self.text), f"{self.next()} at {self.at}, behind the end")


class Task:
    """What docs/tasks.md says about a task. A part of its own kind is a Task too."""

    name = ""
    keys = {}  # each key with its default
    settings = [({}, "train")]  # what to ask for: keys that differ, and the split
    follows = False  # the correct answer is the next input

    def __init__(self, **changed):
        self.changed = changed
        self.of = {**self.keys, **changed}
        self.split = "train"
        self.first = {}  # the first samples that were seen
        for key, value in self.of.items():
            setattr(self, key, value)

    def overrides(self):
        given = [f"task={self.name}"]
        for key, value in self.of.items():
            given.append(f"task.{key}={'null' if value is None else str(value).lower()}")
        return given

    def prepare(self, program):
        """Learns from the program what lies in no single sample."""

    def parts(self):
        """Each part with who reads it and its share of a batch."""
        share = self.of.get("recall_share", 0)
        found = {self.name: (self, 1 - share), "recall": (Repetition(self.length_of()), share)}
        return {name: part for name, part in found.items() if part[1] > 0}

    def length_of(self):
        """Tokens of a sequence, or None if the page does not say."""
        return self.of["length"]

    def begun(self, text):
        """The reader of a text of the right length, behind its B."""
        expect(len(text) == self.length_of(), f"{len(text)} tokens, not {self.length_of()}")
        reader = Reader(text)
        reader.take("B")
        return reader

    def chance(self):
        """The stated chance, by the page; None if the page gives no formula."""

    def own_chance(self, stated):
        """That of this part, None if nothing says it; stated is what the program says."""
        return self.chance()

    def sure(self):
        """Whether the context always gives the answer away."""
        return True

    def read(self, text):
        """What a sequence consists of; Broken if it is not built as promised."""

    def positions(self, shape, first):
        """The positions that are scored; first is the first that the program scores, or None."""

    def answer(self, seen, before):
        """The symbol to predict, from the symbols so far and the positions asked before."""

    def offered(self, seen, before):
        """The answers that the context offers, each as often as it is guessed; none: no chance."""

    def count(self, shape, targets, tally):
        """Tells the tally what was drawn."""


class Repetition(Task):
    """Cyclic repetition: a random prefix is repeated to the end."""

    name = "recall"
    follows = True

    def __init__(self, length, size=None):
        super().__init__()
        self.length, self.size = length, size

    def read(self, text):
        expect(text[0] in ("B", "_"), f"{text[0]} at 0")
        expect(self.length in (None, len(text)), f"{len(text)} tokens, not {self.length}")
        return text

    def positions(self, shape, first):
        """All from the end of the first round. It has T/4 to T/2 symbols; several may fit."""
        length = len(shape)
        periods = range(max(1, length // 4), length // 2 + 1)
        fit = [p for p in periods if shape[1 + p :] == shape[1:-p]]
        expect(fit, "no period from T/4 to T/2")
        return range(first if first in fit else fit[0], length)

    def answer(self, seen, before):
        period = before[0] if before else len(seen) - 1  # the first that is asked ends a round
        return seen[len(seen) - period]

    def own_chance(self, stated):
        return stated if self.size else None  # a mixture states that of the task itself

    def offered(self, seen, before):
        period = before[0] if before else len(seen) - 1
        return seen[1 : 1 + period]

    def count(self, shape, targets, tally):
        if self.size:
            first = [number(s, "s", self.size) for s in shape[1 : 1 + len(shape) // 4]]
            tally.even("symbols", first, self.size)
