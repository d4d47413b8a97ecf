#!/usr/bin/env python3
"""Does solve.py object? Correct samples are damaged, and fair draws are bent.

usage: tests/task/test_solve.py [PATH/difflab]
The correct samples are the examples of docs/tasks.md and, with a program, its own.
"""

import collections
import copy
import random
import re
import sys

sys.dont_write_bytecode = True

import solve
from episodes import ContextQa, InContext, Summary
from languages import Language
from needles import AssociativeNeedle, Bare, Needle
from recalling import FuzzyRecall, Mqar, NoisyRecall, Recall
from samples import ROOT, Broken, Program, Sample, Shown
from tracking import CommonWords, KHop, SelectiveCopy, VariableTracking

def trained(**keys):
    """The page shows in_context as it is trained."""
    part = InContext(**keys)
    part.training = True
    return part


# The examples of the page: heading, which example, who reads it, and where an answer may not leak.
EXAMPLES = [
    ("needle", 0, Needle(length=13, needles=2), 1),
    ("needle", 1, Recall(length=8), 2),
    (
        "needle",
        2,
        Needle(**{"length": 20, "needles": 2, "key_tokens": 2, "distractors.near": 1,
                  "distractors.stale": 1}),
        1,
    ),
    ("associative_needle", 0, AssociativeNeedle("direct", length=11, needles=2), 1),
    ("associative_needle", 1, AssociativeNeedle(length=11, needles=2), 1),
    ("associative_needle", 2, Bare(length=10), 3),
    ("mqar", 0, Mqar(length=12, pairs=2, random_filler=False), 5),
    ("noisy_recall", 0, NoisyRecall(length=13, noise=0.35), 4),
    ("fuzzy_recall", 0, FuzzyRecall(pairs=2, longest=2, queries=1), 0),
    ("k_hop", 0, KHop(nodes=4, questions=2), 13),
    ("variable_tracking", 0, VariableTracking(chains=2, hops=1, length=15), 3),
    ("common_words", 0, CommonWords(length=14, words=6), 2),
    ("selective_copy", 0, SelectiveCopy(length=11, copied=3), 9),
    ("in_context", 0, trained(features=2, classes=2, shots=3), 0),
    ("context_qa", 0, ContextQa(facts=3), 10),
    ("context_qa", 1, Summary(facts=2), 1),
]
# Words 4, 3, 1 and 1 times, as in the page's example, come from no alpha.
OWN = Sample("", "B w5 w2 w5 w3 w5 w5 w1 w2 w5 w0 w5 ? w5".split(), [(12, "w5"), (13, "w2")])


# And one of in_context without flips, where every answer is sure.
SURE = Sample("", "B s3 s9 l5 s4 s1 l2 s3 s9 l5 s4 s1".split(), [(8, "l5"), (11, "l2")])

# In the page's example of the language "." is a token.
WORDS = "B w3 w1 ( w7 ) w4 . k2 w9 w0 c w3 w1 ( w7 ) w4 . k2 w9 w0".split()
SPOKEN = Sample("", WORDS[:-1], list(enumerate(WORDS[1:])))


def examples():
    """The examples of docs/tasks.md by heading."""
    found, heading, inputs = collections.defaultdict(list), "", None
    for line in (ROOT / "docs" / "tasks.md").read_text().splitlines():
        if line.startswith("## "):
            heading = re.split(r"[ ,]+", line)[1]
        elif line.startswith("inputs"):
            inputs = line.split()[1:]
        elif line.startswith("targets"):
            targets = line.split()[1:]
            scored = [(at, symbol) for at, symbol in enumerate(targets) if symbol != "."]
            found[heading].append(Sample(heading, inputs[: len(targets)], scored))
    return found


def objections(part, *samples):
    complaints = solve.Complaints(part, "train")
    solve.check_part(part.name, part, samples, complaints, solve.Seen())
    return complaints.kinds


def damaged(sample, **changed):
    other = copy.deepcopy(sample)
    for name, value in changed.items():
        setattr(other, name, value)
    return other


def check_damages(part, sample, leak=None):
    """Every way to spoil one sample is objected to."""
    assert not objections(part, sample), (part.name, objections(part, sample))
    scored = sample.scored
    for i, (at, target) in list(enumerate(scored))[:: max(1, len(scored) // 64)]:
        sure = part.sure() and part.answer(sample.text[: at + 1], [p for p, _ in scored[:i]])
        wrong = f"{target[0]}{int(target[1:] or 0) + 1}" if target[1:].isdigit() else "v0"
        spoilt = [*scored[:i], (at, wrong), *scored[i + 1 :]]
        kinds = objections(part, damaged(sample, scored=spoilt))
        assert not sure or kinds["answer"], (part.name, kinds)
        offered = part.offered(sample.text[: at + 1], [p for p, _ in scored[:i]]) or []
        for other in sorted(set(offered) - {target})[:3]:  # what belongs to another pair
            swapped = [*scored[:i], (at, other), *scored[i + 1 :]]
            kinds = objections(part, damaged(sample, scored=swapped))
            assert not sure or kinds["answer"], (at, other)
        if len(scored) > 1 and not isinstance(part, solve.recalling.Repetition):
            kinds = objections(part, damaged(sample, scored=scored[:i] + scored[i + 1 :]))
            assert kinds["scored positions"], (part.name, "missing", at, kinds)
    assert objections(part, damaged(sample, scored=scored[:-1]))["scored positions"], part.name
    assert objections(part, damaged(sample, scored=[]))["scored positions"], part.name
    free = sorted(set(range(len(sample.text))) - {at for at, _ in scored})
    for at in free[:: max(1, len(free) // 6)]:
        more = sorted([*scored, (at, scored[0][1])])
        kinds = objections(part, damaged(sample, scored=more))
        assert kinds["scored positions"], (part.name, "extra", at, kinds)
    for cut in (sample.text[:-1], sample.text + sample.text[-1:], sample.text[1:]):
        kinds = objections(part, damaged(sample, text=cut))
        assert kinds, (part.name, "another length")
    if leak is not None:
        text = list(sample.text)
        text[leak] = scored[0][1]
        assert objections(part, damaged(sample, text=text)), (part.name, "leaks at", leak)


def test_examples():
    page = examples()
    known = zip(page["associative_needle"][2].text[1::2], page["associative_needle"][2].scored)
    AssociativeNeedle.learnt[32, 0] = {sign: thing for thing, (_, sign) in known}
    for heading, which, part, leak in EXAMPLES:
        own = heading == "common_words"
        check_damages(part, OWN if own else page[heading][which], leak)
    check_damages(trained(features=2, classes=2, shots=3, flip=0), SURE, 2)
    check_damages(Language(length=len(WORDS) - 1), SPOKEN)
    AssociativeNeedle.learnt.clear()


def test_more_damages():
    """What the general ones leave out, task by task."""
    page = examples()

    def refused(part, sample, text):
        assert len(text.split()) == len(sample.text)
        assert objections(part, damaged(sample, text=text.split())), text

    part, sample = EXAMPLES[0][2], page["needle"][0]
    refused(part, sample, "B n5 n9 k1 v4 n2 n7 n1 k1 v9 n3 ? k1")  # one key twice
    refused(part, sample, "B n5 n9 k1 v9 n2 n7 n1 k2 v9 n3 ? k2")  # one value twice
    refused(part, sample, "B n5 n9 k1 v4 k2 v9 n2 n7 n1 n3 ? k2")  # two needles in one place
    refused(part, sample, "B n5 n9 k1 v4 n2 n7 n1 k2 v9 n3 ? k7")  # a key of no needle
    assert objections(Needle(length=13, needles=2, depth=0), sample)["structure"]
    part, sample = EXAMPLES[5][2], page["mqar"][0]
    refused(part, sample, "k4 v1 k9 v7 k9 _ _ k4 _ _ _ _")  # not the first of its slot
    refused(part, sample, "k4 v1 k9 v7 k9 _ k9 _ _ _ k4 _")  # asked twice
    part, sample = EXAMPLES[6][2], page["noisy_recall"][0]
    refused(part, sample, "B k3 v8 n1 n6 k1 v2 n6 k3 v9 n2 n2 k1")  # two values
    refused(part, sample, "B k3 v8 n1 n6 k1 v8 n6 k3 v8 n2 n2 k1")  # one value of two keys
    refused(part, sample, "B k3 v8 n1 n6 k1 v2 n6 k3 v8 n2 n2 k7")  # no query at the end
    part, sample = EXAMPLES[7][2], page["fuzzy_recall"][0]
    refused(part, sample, "_ _ B k1 v3 k2 k2 v5 v2 ? k2 k2 v5")  # a token twice in a key
    refused(part, sample, "_ _ B k1 v3 k2 k1 v5 v2 ? k1 v3 v5")  # a shorter key is asked for
    refused(part, sample, "B k2 k1 v3 v1 k2 k1 v5 v2 ? k2 k1 v3")  # two keys are alike
    part, sample = EXAMPLES[8][2], page["k_hop"][0]
    refused(part, sample, "B n7 n2 n2 n7 n5 n5 h2 n7 n7 h1 n2 _ _")  # two cycles
    refused(part, sample, "B n7 n2 n2 n5 n5 n7 h2 n7 n2 h1 n2 _ _")  # another node follows
    part, sample = EXAMPLES[9][2], page["variable_tracking"][0]
    refused(part, sample, "B x4 d7 n3 x1 x9 x9 d2 n8 x8 x4 n3 ? d2 x9")  # out of order
    refused(part, sample, "B x4 d7 n3 x9 d2 x4 x9 n8 x8 x4 n3 ? d2 x9")  # a name twice
    refused(part, sample, "B x4 d7 n3 x9 d2 x1 x4 n8 x8 x4 n3 ? d2 x9")  # from one no longer last
    part, sample = EXAMPLES[14][2], page["context_qa"][1]
    refused(part, sample, "B ! e3 a1 v7 e5 a6 v1 = e5 a6")  # not what is marked


def needles(seed, split="train", start=0.0, chance=0.25, key=None, index=None, count=600):
    """Needles by this file's own hand, fair or bent."""
    part, draw, found = Needle(), random.Random(f"{seed} {split}"), []
    for i in range(count):
        keys, values = draw.sample(range(32), 4), draw.sample(range(32), 4)
        places = sorted(draw.sample(range(54), 4))
        asked = draw.randrange(4)
        if draw.random() < start:  # its place is in the front half
            asked = 0
            places = sorted([draw.randrange(27), *draw.sample(range(27, 54), 3)])
        if key and draw.random() < key:
            keys[asked] = 0 if 0 not in keys else keys[asked]
        if index and draw.random() < index:
            asked = 3
        text = ["B"]
        for at in range(54):
            if at in places:
                which = places.index(at)
                text += [f"k{keys[which]}", f"v{values[which]}"]
            text += [f"n{draw.randrange(64)}"] if at < 53 else []
        text += ["?", f"k{keys[asked]}"]
        sample = Sample("needle", text, [(63, f"v{values[asked]}")], index=i, origin=f"{i}")
        number_symbols(sample)
        found.append(sample)
    assert len(found[0].text) == part.length
    return Shown(130, 64, chance, found)


def number_symbols(sample):
    base = {"B": 0, "?": 1, "k": 2, "v": 34, "n": 66}
    token = lambda symbol: base[symbol[0]] + int(symbol[1:] or 0)  # noqa: E731
    sample.tokens = [token(symbol) for symbol in sample.text]
    sample.targets = [token(symbol) for _, symbol in sample.scored]


class Fake:
    """A program that shows needles of this file."""

    def __init__(self, change=lambda shown: None, **bent):
        self.change, self.bent, self.asked = change, bent, 0

    def show(self, overrides, count, split="train", seed=0):
        self.asked += 1
        shown = needles(seed, split, count=count, **self.bent)
        self.change(shown)
        return shown


def complaints(program):
    return "\n".join(solve.check_setting(Needle(), "train", program, 600, solve.Seen()))


def test_settings():
    assert complaints(Fake()) == "", complaints(Fake())
    for bent, what in (
        ({"start": 0.3}, "its place"),
        ({"index": 0.2}, "its index"),
        ({"key": 0.1}, "its k"),
        ({"chance": 0.26}, "stated chance"),
    ):
        assert what in complaints(Fake(**bent)), (bent, complaints(Fake(**bent)))

    def spoil(shown, at, **changed):
        for name, value in changed.items():
            setattr(shown.samples[at], name, value)

    for change, what in (
        (lambda shown: shown.samples.pop(), "samples"),
        (lambda shown: spoil(shown, 7, share=0.5) or spoil(shown, 0, share=0.5), "share"),
        (lambda shown: spoil(shown, 3, part="recall"), "parts"),
        (lambda shown: spoil(shown, 3, tokens=[200] * 64), "means two things"),
        (lambda shown: setattr(shown, "vocab_size", 100), "in a vocabulary of 100"),
        (lambda shown: setattr(shown, "length", 63), "length"),
        (lambda shown: spoil(shown, 5, targets=[35]), "means two things"),
        (lambda shown: spoil(shown, 9, scored=[], targets=[]), "scored positions"),
    ):
        assert what in complaints(Fake(change)), (what, complaints(Fake(change)))
    lucky = Fake(lambda shown: bend_first(shown, lucky))
    assert complaints(lucky) == "" and lucky.asked == 2  # a doubt that does not come again


def bend_first(shown, program):
    if program.asked == 1:
        shown.samples = needles(0, start=0.3).samples


def test_same_again():
    task = Needle()
    task.first = {("needle", s.index): s.same() for s in needles(0, count=solve.FEW).samples}
    others = [("train", 1), ("valid", 0), ("test", 0)]

    def said(ask):
        program = Fake()
        program.show = lambda overrides, count, split, seed: ask(seed, split, count)
        return " ".join(solve.same_again(task, "train", program, others))

    assert said(lambda seed, split, count: needles(seed, split, count=count)) == ""
    deaf = said(lambda seed, split, count: needles(0, split, count=count))
    assert "seed 1, train" in deaf and "valid" not in deaf
    deaf = said(lambda seed, split, count: needles(seed, "train", count=count))
    assert "valid" in deaf and "test" in deaf and "seed 1" not in deaf
    drawn = iter(range(100, 200))
    assert "gives others" in said(lambda seed, split, count: needles(next(drawn), count=count))


def test_program(program):
    """The same damages to samples of the program."""
    for kind in solve.TASKS.values():
        changed, split = kind.settings[0]
        task = kind(**changed)
        task.prepare(program)
        try:
            shown = program.show(task.overrides(), 3, split)
        except Broken as broken:
            raise AssertionError(broken) from None
        for name, samples in solve.by_part(shown).items():
            part = task.parts()[name][0]
            part.split = split
            for sample in samples:
                check_damages(part, sample)


def main():
    for test in (test_examples, test_more_damages, test_settings, test_same_again):
        test()
    if len(sys.argv) > 1:
        test_program(Program(sys.argv[1]))
    print("solve.py objects to every damage")


main()
