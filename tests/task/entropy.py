#!/usr/bin/env python3
"""The stated entropy of the generated language beside that of all documents, one after another.

usage: tests/task/entropy.py [--documents N] PATH/difflab
For each tiny setting, every way to draw a document by docs/tasks.md is followed, the probabilities
of those that give the same tokens are added up, and the entropy of these, per token, is to be the
stated one within 1e-9. Which followers words have must not matter, so two tables are tried.
Larger settings are drawn at random instead: what is known before each token gives the entropy of
that token, and their mean is to be the stated one within 5 standard errors. Nothing here reads the
program's sources. One line per setting; exit 1 if one disagrees.
"""

import argparse
import collections
import itertools
import math
import os
import random
import sys

sys.dont_write_bytecode = True

from languages import Document, Language
from samples import Broken, Program

NEAR = 1e-9
TINY = {
    "length": 7, "words": 3, "followers": 2, "alpha": 1, "shortest": 1, "longest": 2, "aside": 0.3,
    "aside_words": 1, "copy": 0.3, "mention": 0.3, "names": 2, "name_words": 1,
}
ENUMERATED = [
    {},
    {"length": 9, "aside": 0, "copy": 0, "mention": 0.5, "name_words": 2, "alpha": 0.5},
    {"length": 9, "mention": 0, "copy": 0.4, "aside_words": 2, "longest": 3, "alpha": 2},
    {"length": 8, "mention": 0.6, "copy": 0.2, "names": 3, "shortest": 2, "aside": 0},
    {"words": 4, "followers": 3, "mention": 0.1, "shortest": 2, "longest": 4, "name_words": 3},
    {"length": 8, "copy": 0, "mention": 0, "aside": 0.6, "aside_words": 3, "longest": 4},
    {"length": 12, "followers": 1, "copy": 0.5, "mention": 0.4, "names": 1, "name_words": 2},
]
DRAWN = [
    {},
    {"copy": 0, "mention": 0, "aside": 0, "length": 100},
    {"length": 100, "names": 3, "mention": 0.5, "aside": 0.4, "aside_words": 5, "alpha": 0.3},
    {"words": 8, "followers": 2, "names": 3, "name_words": 1, "length": 40, "copy": 0.4},
]


def tables(task):
    """Two tables of followers: words behind each other, and others at random."""
    contexts = ["B", *(f"w{i}" for i in range(task.words))]
    words = contexts[1:]
    drawn = random.Random(task.words)
    turned = {
        context: [words[(i + r) % task.words] for r in range(task.followers)]
        for i, context in enumerate(contexts)
    }
    return turned, {context: drawn.sample(words, task.followers) for context in contexts}


def document(task, table, draw):
    """The tokens behind B, for ever. draw gives an index into the probabilities it is given."""
    clause, names = None, {}

    def evenly(size):
        return draw([1 / size] * size)

    while True:
        unit = draw([task.copy, task.mention, 1 - task.copy - task.mention])
        if unit == 0 and clause is not None:
            yield from ("c", *clause)
        elif unit == 1:
            name = evenly(task.names)
            yield task.symbols("k", task.names)[name]
            if name in names:
                yield from names[name]
                continue
            names[name] = []
            for _ in range(task.name_words):
                names[name].append(f"w{evenly(task.words)}")
                yield names[name][-1]
        else:
            clause = []
            for symbol in clause_of(task, table, draw):
                clause.append(symbol)
                yield symbol


def clause_of(task, table, draw):
    def evenly(first, last):
        return first + draw([1 / (last - first + 1)] * (last - first + 1))

    size = evenly(task.shortest, task.longest)
    word = "B"
    for i in range(size):
        word = table[word][draw(task.shares)]
        yield word
        if i < size - 1 and draw([task.aside, 1 - task.aside]) == 0:
            yield "("
            inner = word
            for _ in range(evenly(1, task.aside_words)):
                inner = table[inner][draw(task.shares)]
                yield inner
            yield ")"
    yield "."


def every(task, table):
    """The probability of each sequence, and in how many ways all of them came about."""
    found, path, ways = collections.defaultdict(float), [], 0
    while True:
        at = 0

        def draw(shares):
            nonlocal at
            if at == len(path):
                path.append([(i, p) for i, p in enumerate(shares) if p > 0])
            at += 1
            return path[at - 1][-1][0]

        tokens = tuple(itertools.islice(document(task, table, draw), task.length))
        found[tokens] += math.prod(left[-1][1] for left in path)
        ways += 1
        while path and len(path[-1]) == 1:
            path.pop()
        if not path:
            return found, ways
        path[-1].pop()


def entropy_of(shares):
    return -math.fsum(p * math.log(p) for p in shares)


def enumerated(task):
    """Nats per token by each table, and a note."""
    for table in tables(task):
        found, ways = every(task, table)
        whole = math.fsum(found.values())
        if abs(whole - 1) > NEAR:
            raise SystemExit(f"{' '.join(task.overrides())}: all sequences have {whole}")
        yield entropy_of(found.values()) / task.length, f"{len(found)} sequences, {ways} ways"


def drawn(task, documents):
    """Nats per token and their standard error."""
    rng = random.Random(1)
    task.table = tables(task)[1]
    means = []

    def draw(shares):
        return rng.choices(range(len(shares)), shares)[0]

    for _ in range(documents):
        known, total = Document(task), 0.0
        for symbol in itertools.islice(document(task, task.table, draw), task.length):
            total += entropy_of(known.options().values())
            known.take(symbol)
        means.append(total / task.length)
    mean = math.fsum(means) / len(means)
    spread = math.fsum((one - mean) ** 2 for one in means) / (len(means) - 1)
    return mean, math.sqrt(spread / len(means))


def stated(program, task):
    answer = program._ask([*task.overrides(), "--samples", "1"])
    if not isinstance(answer.get("entropy"), (int, float)):
        raise Broken("no entropy is stated")
    return answer["entropy"]


def compare(program, changed, tiny, documents):
    """The line of a setting, and whether it agrees."""
    task = Language(**{**(TINY if tiny else {}), **changed})
    keys = " ".join(task.overrides()[1:])
    try:
        said = stated(program, task)
    except Broken as broken:
        return f"{keys}: {broken}", False
    if tiny:
        results = list(enumerated(task))
        fine = all(abs(said - nats) <= NEAR for nats, _ in results)
        nats, how = next((one for one in results if abs(said - one[0]) > NEAR), results[0])
    else:
        nats, error = drawn(task, documents)
        fine = abs(said - nats) <= 5 * error + NEAR
        how = f"± {error:.6f}, {documents} documents"
    return f"{keys}: {said:.12f}, {'as' if fine else 'not'} {nats:.12f} ({how})", fine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", help="PATH/difflab")
    usual = 1000 if os.environ.get("DIFFLAB_TESTS") == "all" else 250
    parser.add_argument("--documents", type=int, default=usual, help="drawn for each larger setting")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    good = True
    for tiny, settings in ((True, ENUMERATED), (False, DRAWN)):
        for changed in settings:
            line, fine = compare(program, changed, tiny, arguments.documents)
            print(line if fine else f"DISAGREES: {line}", flush=True)
            good = good and fine
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
