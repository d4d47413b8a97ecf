"""Solvers of the tasks with needles in noise, from docs/tasks.md alone."""

from samples import Reader, Repetition, Task, expect, number


class Needle(Task):
    name = "needle"
    keys = {
        "length": 64,
        "needles": 4,
        "queries": 1,
        "depth": None,
        "noise_tokens": 64,
        "keys": 32,
        "values": 32,
    }
    settings = [
        ({}, "train"),
        ({"depth": 25, "length": 40, "needles": 3, "queries": 2}, "valid"),
        ({"queries": 3, "needles": 5, "keys": 10, "values": 12, "length": 30}, "test"),
    ]
    pair = ("k", "v")

    def sizes(self):
        return self.of["keys"], self.values

    def chance(self):
        return 1 / self.needles

    def context(self, reader):
        """Pairs with the noise before each, and the noise."""
        pairs, noise = [], []
        while reader.next() != "?":
            if reader.next()[:1] == self.pair[0]:
                expect(not pairs or pairs[-1][2] < len(noise), "two needles in one place")
                first = reader.take(self.pair[0], self.sizes()[0])
                pairs.append((first, reader.take(self.pair[1], self.sizes()[1]), len(noise)))
            else:
                noise.append(reader.take("n", self.noise_tokens))
        expect(len(pairs) == self.needles, f"{len(pairs)} needles")
        for side in (0, 1):
            expect(len({p[side] for p in pairs}) == len(pairs), "two needles share a word")
        return pairs, noise

    def read(self, text):
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        reader = Reader(text)
        reader.take("B")
        pairs, noise = self.context(reader)
        asked = []
        for _ in range(self.queries):
            reader.take("?")
            asked.append(reader.take("k", self.of["keys"]))
        reader.end()
        order = [p[0] for p in pairs]
        expect(set(asked) <= set(order), "a key that no needle has is asked for")
        expect(len(set(asked)) == len(asked), "a key is asked for twice")
        return pairs, noise, [order.index(key) for key in asked]

    def positions(self, shape, first):
        return range(self.length - 2 * self.queries + 1, self.length, 2)

    def answer(self, seen, before):
        return seen[seen.index(seen[-1]) + 1]

    def offered(self, seen, before):
        return [s for s in seen if s[0] == "v"]

    def places(self, pairs, noise, first, tally):
        """Where the needles lie: the one asked for first, and the others beside it."""
        gaps = [p[2] for p in pairs]
        at = gaps[first]
        if self.depth is None:
            tally.even("its place", [at], len(noise) + 1)
            tally.even("its index", [first], len(pairs))
        else:
            off = abs(at - self.depth / 100 * len(noise))
            expect(off <= 0.5, f"{at} of {len(noise)} noise tokens before it")
        others = [g - (g > at) for g in gaps if g != at]
        tally.drawn("other places", others, len(noise))
        tally.even("noise", noise, self.noise_tokens)
        for side, letter in enumerate(self.pair):
            tally.drawn(letter, [p[side] for p in pairs], self.sizes()[side])
            tally.even(f"its {letter}", [pairs[first][side]], self.sizes()[side])

    def count(self, shape, targets, tally):
        pairs, noise, asked = shape
        self.places(pairs, noise, asked[0], tally)
        if self.depth is None:
            tally.order("index", asked, len(pairs))


class AssociativeNeedle(Needle):
    name = "associative_needle"
    keys = {
        "length": 64,
        "needles": 4,
        "depth": None,
        "things": 32,
        "names": 32,
        "noise_tokens": 32,
        "world": 0,
        "direct_share": 0.25,
        "bare_share": 0.25,
        "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"depth": 25, "length": 31, "needles": 2, "direct_share": 0.5}, "valid"),
        ({"world": 7, "names": 6, "length": 30, "recall_share": 0.5}, "test"),
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
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        reader = Reader(text)
        reader.take("B")
        pairs, noise = self.context(reader)
        reader.take("?")
        reader.take("a" if self.kind == "direct" else "b", self.things)
        reader.end()
        thing = number(self.thing(text[-1]), "a", self.things)
        order = [p[1] for p in pairs]
        expect(thing in order, "the question belongs to no needle")
        return pairs, noise, [order.index(thing)]

    def thing(self, asked):
        return asked if self.kind == "direct" else self.learnt[self.things, self.world][asked]

    def positions(self, shape, first):
        return [self.length - 1]

    def answer(self, seen, before):
        return seen[seen.index(self.thing(seen[-1])) - 1]

    def offered(self, seen, before):
        return [s for s in seen if s[0] == "x"]

    def count(self, shape, targets, tally):
        pairs, noise, asked = shape
        self.places(pairs, noise, asked[0], tally)


class Bare(AssociativeNeedle):
    follows = True

    def chance(self):
        return 1 / self.things

    def read(self, text):
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        reader = Reader(text)
        reader.take("B")
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
