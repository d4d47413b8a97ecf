"""Solvers of the tasks with needles in noise, from docs/tasks.md alone."""

import collections

from samples import Repetition, Task, expect, number


NO_DISTRACTORS = {
    "key_tokens": 1, "distractors.near": 0, "distractors.same_value": 0, "distractors.stale": 0,
    "noise_names": "own",
}


class Pair:
    """A needle or a distractor: its key, its value and the noise tokens before it."""

    def __init__(self, key, value, gap):
        self.key, self.value, self.gap = tuple(key), value, gap

    def near(self, key):
        return self.key != key and self.key[:-1] == key[:-1] and len(key) > 1


class Needle(Task):
    name = "needle"
    keys = {
        "length": 64, "needles": 4, "queries": 1, "depth": None, "noise_tokens": 64, "keys": 32,
        "values": 32, **NO_DISTRACTORS,
    }
    settings = [
        ({}, "train"),
        ({"depth": 25, "length": 40, "needles": 3, "queries": 2}, "valid"),
        ({"length": 6, "needles": 1, "noise_tokens": 1, "keys": 1}, "test"),
        ({"queries": 3, "needles": 5, "keys": 10, "values": 12, "length": 30}, "test"),
        ({"key_tokens": 2, "distractors.near": 3, "keys": 6, "length": 48}, "valid"),
        ({"distractors.same_value": 3, "queries": 2, "length": 50}, "test"),
        ({"distractors.stale": 2, "queries": 2, "depth": 20, "length": 50}, "train"),
        ({"noise_names": "keys", "noise_tokens": 9, "length": 50}, "valid"),
        (
            {
                "key_tokens": 3,
                "distractors.near": 1,
                "distractors.same_value": 1,
                "distractors.stale": 1,
                "queries": 2,
                "needles": 3,
                "noise_names": "keys",
                "length": 80,
            },
            "train",
        ),
    ]
    pair = ("k", "v")

    def __init__(self, **changed):
        super().__init__(**changed)
        more = {**NO_DISTRACTORS, **self.of}
        self.tokens = more["key_tokens"]
        self.near, self.same, self.stale = (
            more[f"distractors.{sort}"] for sort in ("near", "same_value", "stale")
        )
        self.asked = self.of.get("queries", 1)
        self.own_noise = more["noise_names"] == "own"

    def sizes(self):
        return self.of["keys"] + (0 if self.own_noise else self.noise_tokens), self.values

    def distinct_values(self):
        return self.needles + self.asked * (self.near + self.stale)

    def chance(self):
        return 1 / self.distinct_values()

    def context(self, reader):
        """Pairs with the noise before each, and the noise."""
        letter = "n" if self.own_noise else self.pair[0]
        size = self.noise_tokens if self.own_noise else self.sizes()[0]
        pairs, noise, waiting = [], [], []

        def is_noise(words):
            noise.extend(number(word, letter, size) for word in words)

        while reader.next() != "?":
            word = reader.next()
            expect(word, "the sequence ends before a question")
            reader.at += 1
            if word[:1] != self.pair[1]:
                waiting.append(word)
                continue
            before = len(waiting) - self.tokens
            expect(before >= 0, f"{word} at {reader.at} has no key")
            is_noise(waiting[:before])
            key = [number(one, self.pair[0], self.sizes()[0]) for one in waiting[before:]]
            pairs.append(Pair(key, number(word, self.pair[1], self.sizes()[1]), len(noise)))
            waiting = []
        is_noise(waiting)
        total = self.distinct_values() + self.same
        expect(len(pairs) == total, f"{len(pairs)} pairs, not {total}")
        expect(len({p.value for p in pairs}) == self.distinct_values(), "values are not distinct")
        if not self.own_noise:
            names = {symbol for p in pairs for symbol in p.key}
            expect(not names & set(noise), "a symbol is key and noise")
            expect(len(set(noise)) <= self.noise_tokens, "more sorts of noise than there are")
        return pairs, noise

    def read(self, text):
        reader = self.begun(text)
        pairs, noise = self.context(reader)
        asked = []
        for _ in range(self.queries):
            reader.take("?")
            asked.append(tuple(reader.take("k", self.sizes()[0]) for _ in range(self.tokens)))
        reader.end()
        expect(len(set(asked)) == len(asked), "a key is asked for twice")
        return self.sorted(pairs, noise, asked)

    def sorted(self, pairs, noise, asked):
        """All pairs but stale ones, the noise, where the asked ones are, and the stale ones."""
        stale, indices = [], []
        for key in asked:
            of_key = [p for p in pairs if p.key == key]
            expect(of_key, "a key that no needle has is asked for")
            expect(len(of_key) == 1 + self.stale, f"{len(of_key)} pairs of a key")
            stale += [(p, of_key[-1]) for p in of_key[:-1]]
            near = [p for p in pairs if p.near(key)]
            expect(len(near) == self.near, f"{len(near)} near pairs")
            expect(len({p.key for p in near}) == len(near), "two near pairs have one key")
        rest = [p for p in pairs if all(p is not old for old, _ in stale)]
        expect(len({p.gap for p in rest}) == len(rest), "two needles in one place")
        firsts = [p.key[0] for p in rest if not any(p.near(key) for key in asked)]
        expect(len(set(firsts)) == len(firsts), "two keys begin alike")
        times = collections.Counter(p.value for p in rest)
        expect(max(times.values()) == 1 + self.same, "no value is repeated so often")
        for key in asked:
            indices.append(next(i for i, p in enumerate(rest) if p.key == key))
        return rest, noise, indices, stale

    def positions(self, shape, first):
        step = 1 + self.tokens
        return range(self.length - step * self.queries + self.tokens, self.length, step)

    def answer(self, seen, before):
        """The value behind the last place where the key of the question stood before."""
        key = seen[-self.tokens :]
        context = seen[: seen.index("?")]
        places = range(len(context) - self.tokens)
        fit = [t + self.tokens for t in places if context[t : t + self.tokens] == key]
        return context[[t for t in fit if context[t][0] == "v"][-1]]

    def offered(self, seen, before):
        return sorted({s for s in seen if s[0] == "v"})

    def places(self, pairs, noise, first, tally):
        """Where the needles lie: the one asked for first, and the others beside it."""
        gaps = [p.gap for p in pairs]
        at = gaps[first]
        if self.depth is None:
            tally.even("its place", [at], len(noise) + 1)
            tally.even("its index", [first], len(pairs))
        else:
            off = abs(at - self.depth / 100 * len(noise))
            expect(off <= 0.5, f"{at} of {len(noise)} noise tokens before it")
        others = [g - (g > at) for g in gaps if g != at]
        tally.drawn("other places", others, len(noise))
        if self.own_noise:
            tally.even("noise", noise, self.noise_tokens)
        sizes = self.sizes()
        values = sorted({p.value for p in pairs})
        tally.drawn(self.pair[1], values, sizes[1])
        tally.even(f"its {self.pair[1]}", [pairs[first].value], sizes[1])
        if not self.near:
            tally.drawn(self.pair[0], [p.key[0] for p in pairs], sizes[0])
        for i, symbol in enumerate(pairs[first].key):
            tally.even(f"symbol {i} of its {self.pair[0]}", [symbol], sizes[0])

    def count(self, shape, targets, tally):
        pairs, noise, asked, stale = shape
        self.places(pairs, noise, asked[0], tally)
        if self.depth is None:
            tally.order("index", asked, len(pairs))
        for old, current in stale:
            tally.rank("place of a stale pair", old.gap, current.gap + 1)
        if self.same:
            times = collections.Counter(p.value for p in pairs)
            hits = sum(times[pairs[i].value] > 1 for i in asked)
            tally.rate("asked for the repeated value", hits, len(asked), 1 / self.needles)


class AssociativeNeedle(Needle):
    name = "associative_needle"
    keys = {
        "length": 64, "needles": 4, "queries": 1, "depth": None, "things": 32, "names": 32,
        "noise_tokens": 32, "world": 0, "direct_share": 0.25, "bare_share": 0.25, "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"depth": 25, "length": 31, "needles": 2, "direct_share": 0.5}, "valid"),
        ({"world": 7, "names": 6, "length": 30, "recall_share": 0.5}, "test"),
        ({"queries": 3, "needles": 5, "depth": 75, "length": 40}, "train"),
    ]
    pair = ("x", "a")
    learnt = {}  # the thing of each sign, by (things, world)

    def __init__(self, kind="associative", **changed):
        super().__init__(**changed)
        self.kind = kind

    def sizes(self):
        return self.names, self.things

    def parts(self):
        own = 1 - self.recall_share
        found = {
            "direct": (AssociativeNeedle("direct", **self.changed), own * self.direct_share),
            "bare": (Bare(**self.changed), own * self.bare_share),
            "recall": (Repetition(self.length), self.recall_share),
        }
        rest = 1 - sum(share for _, share in found.values())
        found["associative"] = (AssociativeNeedle(**self.changed), rest)
        return {name: part for name, part in found.items() if part[1] > 0}

    def prepare(self, program):
        """Learns π from bare pairs of other samples; another world has another."""
        learnt = self.learn(program, self.world)
        for (things, world), other in self.learnt.items():
            same = things == self.things and world != self.world and other == learnt
            expect(not same, f"π is the same in worlds {world} and {self.world}")

    def learn(self, program, world):
        if (self.things, world) not in self.learnt:
            bare = {"world": world, "things": self.things, "bare_share": 0.9, "direct_share": 0}
            shown = program.show(AssociativeNeedle(**bare).overrides(), 40, "valid", seed=777)
            pairs = set()
            for sample in (s for s in shown.samples if s.part == "bare"):
                pairs |= set(zip(sample.text[1:-1:2], sample.text[2::2]))
            things, signs = ({p[side] for p in pairs} for side in (0, 1))
            expect(len(pairs) == len(things) == len(signs), "π is no bijection")
            expect(len(pairs) == self.things, f"{len(pairs)} of {self.things} things are bare")
            self.learnt[self.things, world] = {sign: thing for thing, sign in pairs}
        return self.learnt[self.things, world]

    def read(self, text):
        reader = self.begun(text)
        pairs, noise = self.context(reader)
        things = [p.value for p in pairs]
        for words in things, [p.key for p in pairs]:
            expect(len(set(words)) == len(words), "two needles share a word")
        asked = []
        for _ in range(self.queries):
            reader.take("?")
            reader.take("a" if self.kind == "direct" else "b", self.things)
            thing = number(self.thing(text[reader.at - 1]), "a", self.things)
            expect(thing in things, "the question belongs to no needle")
            asked.append(things.index(thing))
        reader.end()
        expect(len(set(asked)) == len(asked), "a needle is asked for twice")
        return pairs, noise, asked, []

    def thing(self, asked):
        return asked if self.kind == "direct" else self.learnt[self.things, self.world][asked]

    def positions(self, shape, first):
        return range(self.length - 2 * self.queries + 1, self.length, 2)

    def answer(self, seen, before):
        return seen[seen.index(self.thing(seen[-1])) - 1]

    def offered(self, seen, before):
        return [s for s in seen if s[0] == "x"]

    def count(self, shape, targets, tally):
        pairs, noise, asked, _ = shape
        self.places(pairs, noise, asked[0], tally)
        if self.depth is None:
            tally.order("index", asked, len(pairs))


class Bare(AssociativeNeedle):
    follows = True

    def chance(self):
        return 1 / self.things

    def read(self, text):
        reader = self.begun(text)
        things = []
        while reader.next():
            things.append(reader.take("a", self.things))
            if reader.next():
                reader.take("b", self.things)
        return things

    def positions(self, shape, first):
        return range(1, self.length, 2)

    def answer(self, seen, before):
        known = self.learnt[self.things, self.world]
        return next(sign for sign, thing in known.items() if thing == seen[-1])

    def offered(self, seen, before):
        return [f"b{i}" for i in range(self.things)]

    def count(self, shape, targets, tally):
        tally.even("things", shape, self.things)


TASKS = [Needle, AssociativeNeedle]
