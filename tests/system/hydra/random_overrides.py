"""Compares how difflab and Hydra understand random overrides.

Usage: tests/system/hydra/run random_overrides.py [--cases N] [--seed N] [--difflab PROGRAM]
Prints every disagreement that is not on the list in differences.py; exit code 1 if there is any.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import subprocess

import differences
import hydra_answers

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORDS = ["a", "lr", "x1", "foo-bar", "_u", "model", "true", "False", "null", "NULL", "inf", "nan", "e5", "choice"]
NUMBERS = ["0", "1", "-3", "+5", "1_000", "007", "3.14", ".5", "5.", "-1e-3", "1e5", "1E+2", "1_0.0_1", "0x1F", "1__0",
           "-inf", "+nan", "1e", "9223372036854775807", "-0", "-0.0", "1e400", "0.1", "1.0", "1_"]
CHARACTERS = list("/-\\+.$%*@?|")
ESCAPES = ["\\\\", "\\(", "\\)", "\\[", "\\]", "\\{", "\\}", "\\:", "\\=", "\\,", "\\ ", "\\\t", "\\a"]
QUOTED_PARTS = ["a", "b c", "\\", "\\\\", "'", '"', "\\'", '\\"', ",", "]", "}", "${a}", "=", "#", "é", "1", ""]
INTERPOLATIONS = ["${a}", "${a.b}", "${.a}", "${oc.env:X,y}", "${oc.env:X}", "${a[0]}", "${ a }", "${}", "${a,b}"]
FUNCTIONS = ["choice", "range", "interval", "glob", "tag", "sort", "shuffle", "int", "float", "str", "bool", "rnage"]
KEYWORDS = ["start", "stop", "step", "end", "include", "exclude", "sweep", "list", "reverse", "value", "nme"]
BLANKS = ["", "", "", " ", "  ", "\t"]
NOISE = list("abz019_-+.,:=()[]{}'\"\\$@/~ \t#&;<>!^`%*?|") + ["${", "é", "choice(", "range("]


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def one(self, items):
        return self.rng.choice(items)

    def override(self):
        text = self.well_formed()
        if self.rng.random() < 0.4:
            for _ in range(self.rng.randint(1, 3)):
                text = self.damaged(text)
        return text

    def damaged(self, text):
        at = self.rng.randint(0, len(text))
        what = self.rng.random()
        if what < 0.4:
            return text[:at] + self.one(NOISE) + text[at:]
        if what < 0.7:
            return text[:at] + text[at + 1 :]
        end = self.rng.randint(at, min(len(text), at + 8))
        if what < 0.85:
            return text[:at] + text[at:end] * 2 + text[end:]
        return text[:at] + text[at:end][::-1] + text[end:]

    def well_formed(self):
        prefix = self.one(["", "", "", "", "+", "++", "~"])
        if prefix == "~" and self.rng.random() < 0.5:
            return prefix + self.key()
        return prefix + self.key() + "=" + self.one(BLANKS) + self.value()

    def key(self):
        names = ["a", "db", "x-y", "_p", "$v", "a$b", "model", "lr2", "b_c"]
        kind = self.rng.random()
        if kind < 0.45:
            key = self.one(names)
        elif kind < 0.75:
            key = ".".join(self.one(names + ["0", "12", "1_0"]) for _ in range(self.rng.randint(2, 3)))
        elif kind < 0.9:
            key = "/".join(self.one(["a", "db", "x-y", "_p"]) for _ in range(self.rng.randint(2, 3)))
        elif kind < 0.95:
            key = ""
        else:
            key = self.one(["0", "a[0]", "a b", "a:b", "a..b", ".a", "a.", "-a", "a/b.c", "a.b/c", "é"])
        if self.rng.random() < 0.15:
            key += "@" + self.one(["p", "p.q", "_global_", "", "a/b", "p:q", "$p"])
        return key

    def value(self):
        kind = self.rng.random()
        if kind < 0.1:
            return ""
        if kind < 0.75:
            return self.element(3)
        return self.comma().join(self.element(2) for _ in range(self.rng.randint(2, 4)))

    def comma(self):
        return self.one(BLANKS) + "," + self.one(BLANKS)

    def element(self, depth):
        kind = self.rng.random()
        if depth == 0 or kind < 0.5:
            return self.primitive()
        if kind < 0.65:
            items = [self.element(depth - 1) for _ in range(self.rng.randint(0, 3))]
            return "[" + self.one(BLANKS) + self.comma().join(items) + self.one(BLANKS) + "]"
        if kind < 0.78:
            items = [
                self.key_of_map() + self.one(BLANKS) + ":" + self.one(BLANKS) + self.element(depth - 1)
                for _ in range(self.rng.randint(0, 3))
            ]
            return "{" + self.one(BLANKS) + self.comma().join(items) + self.one(BLANKS) + "}"
        return self.function(depth - 1)

    def key_of_map(self):
        return self.one(WORDS + NUMBERS + ["a b", "a.b", "\\:", "'q'", "${a}", "a/b"])

    def function(self, depth):
        name = self.one(FUNCTIONS)
        arguments = []
        if name in ("range", "interval") and self.rng.random() < 0.8:
            arguments = [self.one(NUMBERS[:13] + ["10", "5", "2.5"]) for _ in range(self.rng.randint(1, 3))]
        elif name in ("sort", "tag", "choice", "shuffle", "int", "float", "str", "bool") and self.rng.random() < 0.4:
            pool = self.one([NUMBERS[:12], ["a", "b", "c", "B"], ["true", "1", "0.5", "false"], ["'1'", "2", "x"]])
            arguments = [self.one(pool) for _ in range(self.rng.randint(1, 4))]
            if name == "tag":
                arguments.append(self.one(["choice(a,b)", "range(3)", "interval(0,1)", "1"]))
        else:
            arguments = [self.element(depth) for _ in range(self.rng.randint(0, 3))]
        while self.rng.random() < 0.15:
            arguments.append(
                self.one(KEYWORDS) + self.one(BLANKS) + "=" + self.one(BLANKS) + self.one(["true", "1", "[a,b]", "choice(2,1)"])
            )
        text = name + self.one(BLANKS) + "(" + self.one(BLANKS) + self.comma().join(arguments) + self.one(BLANKS) + ")"
        return self.one([text, text, text, f"{self.one(['sort', 'shuffle', 'int', 'float', 'str', 'choice'])}({text})"])

    def primitive(self):
        kind = self.rng.random()
        if kind < 0.2:
            return self.one(WORDS)
        if kind < 0.45:
            return self.one(NUMBERS)
        if kind < 0.65:
            quote = self.one("'\"")
            return quote + "".join(self.one(QUOTED_PARTS) for _ in range(self.rng.randint(0, 4))) + quote
        if kind < 0.72:
            return self.one(INTERPOLATIONS)
        pools = [WORDS, NUMBERS, CHARACTERS, ESCAPES, INTERPOLATIONS, [" ", "\t", ":"]]
        return "".join(self.one(self.one(pools)) for _ in range(self.rng.randint(1, 5)))


class Difflab:
    """One process that is asked line by line."""

    def __init__(self, program):
        self.command = [program, "config", "parse", "--lines"]
        self.process = None

    def parse(self, text):
        if not self.process:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            return json.loads(answer)
        code, self.process = self.process.wait(), None
        return {"input": text, "ok": None, "error": f"the program ended with code {code}"}


def as_number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same_expansion(hydra, ours):
    """Numbers of a range may differ by Hydra's rounding debris."""
    if hydra is None or ours is None:
        return hydra == ours
    if len(hydra) != len(ours):
        return False
    for a, b in zip(hydra, ours):
        x, y = as_number(a), as_number(b)
        if a != b and (x is None or y is None or not math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)):
            return False
    return True


def agree(hydra, ours):
    if hydra["ok"] != ours["ok"]:
        return False
    if not hydra["ok"]:
        return True
    a, b = dict(hydra), dict(ours)
    b.pop("input")
    if a.pop("sweep", "none") is False:
        b.pop("sweep")  # too long to compare
    elif not same_expansion(hydra.get("sweep", []), b.pop("sweep", [])):
        return False
    # As texts: 1, 1.0 and true are equal in Python, and the order of a map's keys counts.
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--cases", type=int, default=5000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--difflab", default=str(ROOT / "build/release/difflab"))
    options = options.parse_args()

    generator, difflab = Generator(random.Random(options.seed)), Difflab(options.difflab)
    counts, disagreements, seen = collections.Counter(), 0, set()
    while len(seen) < options.cases:
        text = generator.override()
        if text in seen:
            continue
        seen.add(text)
        hydra, ours = hydra_answers.parse(text), difflab.parse(text)
        counts["accepted by Hydra" if hydra["ok"] else "refused by Hydra"] += 1
        if agree(hydra, ours):
            continue
        reason = differences.of_override(text, hydra, ours)
        counts[f"differs on purpose: {reason}" if reason else "DISAGREEMENTS"] += 1
        if not reason:
            disagreements += 1
            print(f"{text!r}\n  Hydra:   {json.dumps(hydra, ensure_ascii=False)}\n  difflab: {json.dumps(ours, ensure_ascii=False)}")
    print(f"{len(seen)} overrides, seed {options.seed}")
    for what, count in sorted(counts.items()):
        print(f"{count:6}  {what}")
    return 1 if disagreements else 0


if __name__ == "__main__":
    raise SystemExit(main())
