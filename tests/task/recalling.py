"""Solvers of the tasks that repeat pairs or a prefix, from docs/tasks.md alone."""

import collections
import math

from samples import Reader, Repetition, Task, expect, number


class Recall(Repetition):
    name = "recall"
    keys = {"length": 64, "vocab_size": 130}
    settings = [
        ({}, "train"),
        ({"length": 13, "vocab_size": 20}, "valid"),
    ]

    def __init__(self, **changed):
        Task.__init__(self, **changed)
        self.size = self.vocab_size - 2

    def parts(self):
        return {"recall": (self, 1)}


class Mqar(Task):
    name = "mqar"
    keys = {
        "length": 64, "vocab_size": 256, "pairs": 8, "power_a": 0.01, "random_filler": True,
        "reassign": 0.0, "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"power_a": 1, "random_filler": False, "reassign": 0.5, "length": 50}, "valid"),
        ({"pairs": 3, "length": 31, "vocab_size": 21, "power_a": 0.5, "recall_share": 0.5}, "test"),
        ({"pairs": 1, "length": 4, "vocab_size": 4}, "train"),
    ]

    def __init__(self, **changed):
        super().__init__(**changed)
        self.again = round(self.reassign * self.pairs)  # how many are shown twice
        self.shown = self.pairs + self.again
        self.slots = (self.length - 2 * self.shown) // 2
        self.known = self.vocab_size // 2 - 1
        self.values = self.vocab_size - 1 - self.known

    def chance(self):
        return 1 / self.shown

    def read(self, text):
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        reader = Reader(text)
        pairs = [
            (reader.take("k", self.known), reader.take("v", self.values)) for _ in range(self.shown)
        ]
        own = collections.Counter(key for key, _ in pairs)
        expect(len(own) == self.pairs and max(own.values()) < 3, f"{own} shown")
        expect(len({value for _, value in pairs}) == len(pairs), "two pairs share a value")
        slots, filler = {}, []
        for at in range(2 * self.shown, self.length):
            symbol = text[at]
            asked = number(symbol, "k", self.known) if symbol[0] == "k" else None
            if asked in own:
                expect(at % 2 == 0, f"the query at {at} is not the first of its slot")
                expect(asked not in slots, f"{symbol} is asked twice")
                slots[asked] = at // 2 - self.shown
            elif not self.random_filler:
                expect(symbol == "_", f"{symbol} at {at}")
            elif symbol != "_":
                value = asked is None and self.known + number(symbol, "v", self.values)
                filler.append(1 + (asked or value))
            else:
                filler.append(0)
        expect(len(slots) == self.pairs, f"{len(slots)} queries")
        expect(max(slots.values()) < self.slots, "a query behind the slots")
        return pairs, [slots[key] for key in own], filler

    def positions(self, shape, first):
        return sorted(2 * (self.shown + slot) for slot in shape[1])

    def answer(self, seen, before):
        end = 2 * self.shown
        return dict(zip(seen[:end:2], seen[1:end:2]))[seen[-1]]  # the last of a key counts

    def offered(self, seen, before):
        return seen[1 : 2 * self.shown : 2]

    def count(self, shape, targets, tally):
        pairs, slots, filler = shape
        weights = [g ** (self.power_a - 1) for g in range(1, self.slots + 1)]
        if not self.again:
            tally.weighted("first slot", slots[0], list(weights))
        if not self.again or self.power_a == 1:  # else the page says no order of drawing
            for slot in slots:
                whole = math.fsum(weights)
                tally.below("slots", math.fsum(weights[:slot]) / whole, weights[slot] / whole)
                weights[slot] = 0.0
        order = [key for key, _ in pairs]
        own = sorted(set(order))
        places = [at - sum(1 + key < at for key in own) for at in filler]
        tally.even("filler", places, self.vocab_size - self.pairs)
        tally.drawn("keys", own, self.known)
        tally.drawn("values", [value for _, value in pairs], self.values)
        twice = [key for key in own if order.count(key) == 2]
        if twice:
            first = order.index(twice[0])
            then = order.index(twice[0], first + 1)
            ways = math.comb(self.shown, 2)
            tally.even("places of a key shown twice", [math.comb(then, 2) + first], ways)


class NoisyRecall(Task):
    name = "noisy_recall"
    keys = {
        "length": 64, "pairs": None, "noise": 0.5, "keys": 8, "values": 16, "noise_tokens": 16,
        "noise_names": "own", "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"length": 13, "noise": 0.35}, "valid"),
        ({"length": 30, "noise": 0.2, "keys": 3, "values": 3, "recall_share": 0.5}, "test"),
        ({"noise_names": "keys", "keys": 4, "noise_tokens": 6}, "train"),
        ({"pairs": 9, "noise": 0.7}, "valid"),
        ({"length": 200, "noise": 0.95}, "test"),
    ]
    follows = True

    def length_of(self):
        if self.pairs is None:
            return self.length
        return math.ceil(2 * self.pairs / (1 - self.noise) - 1e-9)

    def shown(self):
        if self.pairs is not None:
            return self.pairs
        return int((1 - self.noise) * self.length / 2 + 1e-9)

    def chance(self):
        """The keys before the last are even; the last pair is a query, even among keys shown."""
        alike = {0: 1.0}  # how likely so many distinct keys are
        hits = queries = 0.0
        for _ in range(self.shown() - 1):
            then = collections.defaultdict(float)
            for m, p in alike.items():
                again = m / self.of["keys"]
                hits += p * again / m if m else 0
                queries += p * again
                then[m] += p * again
                then[m + 1] += p * (1 - again)
            alike = then
        hits += sum(p / m for m, p in alike.items() if p)
        return hits / (queries + 1)

    def read(self, text):
        reader = self.begun(text)
        order, known, noise, asked = [], {}, [], []
        names = self.of["keys"]
        if self.noise_names == "keys":
            names += self.noise_tokens
        while reader.next():
            behind = reader.text[reader.at + 1 : reader.at + 2]
            if self.noise_names == "keys" and behind and behind[0][0] != "v":
                noise.append(reader.take("k", names))
                continue
            if reader.next()[0] == "n":
                noise.append(reader.take("n", self.noise_tokens))
                continue
            key = reader.take("k", names)
            if key in known:
                asked.append(reader.at - 1)
            order.append((key, len(noise)))
            if reader.next():
                value = reader.take("v", self.values)
                expect(known.setdefault(key, value) == value, f"k{key} has two values")
        expect(len(set(known.values())) == len(known), "two keys have one value")
        expect(len(order) == self.shown(), f"{len(order)} pairs, not {self.shown()}")
        expect(len(noise) == self.length_of() - 2 * len(order), f"{len(noise)} noise tokens")
        if self.noise_names == "keys":
            expect(not set(noise) & set(known), "a symbol is key and noise")
            expect(len(known) <= self.of["keys"], f"{len(known)} keys")
            expect(len(set(noise)) <= self.noise_tokens, f"{len(set(noise))} noise symbols")
        return order, known, noise, asked

    def positions(self, shape, first):
        return shape[3]

    def answer(self, seen, before):
        return seen[seen.index(seen[-1]) + 1]

    def offered(self, seen, before):
        return sorted({s for s in seen if s[0] == "v"})

    def count(self, shape, targets, tally):
        order, known, noise, _ = shape
        keys = [key for key, _ in order]
        if self.noise_names == "own":
            tally.even("keys", keys[:-1], self.of["keys"])
        else:  # which symbols they are is drawn for each sequence
            every = self.of["keys"] + self.noise_tokens
            tally.even("a key", [keys[0]], every)
            tally.even("a noise symbol", noise[:1], every)
        before = sorted(set(keys[:-1]))
        expect(keys[-1] in before, "the last pair is no query")
        tally.rank("last key", before.index(keys[-1]), len(before))
        tally.order("values", known.values(), self.values)
        if self.noise_names == "own":
            tally.even("noise", noise, self.noise_tokens)
        one = tally.random.choice(order[:-1])
        tally.even("noise before a pair", [one[1]], len(noise) + 1)


class FuzzyRecall(Task):
    name = "fuzzy_recall"
    keys = {"pairs": 8, "queries": 2, "longest": 3, "key_tokens": 8, "value_tokens": 8, "recall_share": 0.0}
    settings = [
        ({}, "train"),
        ({"longest": 1}, "valid"),
        ({"longest": 2, "pairs": 4, "value_tokens": 2, "recall_share": 0.5}, "test"),
        ({"longest": 1, "pairs": 2, "queries": 2, "key_tokens": 2}, "train"),
    ]
    follows = True

    def length_of(self):
        return 2 * self.longest * self.pairs + self.queries * (1 + 2 * self.longest)

    def chance(self):
        """Token j of a value of j + 1 or more: other values may begin alike and go on."""
        hits = tokens = 0.0
        for j in range(self.longest):
            long = (self.longest - j) / self.longest
            alike = long / math.perm(self.value_tokens, j)
            same = 1 / (self.value_tokens - j)
            alone = (1 - (1 - alike) ** self.pairs) / (self.pairs * alike)  # mean of 1/values
            hits += long * (same + (1 - same) * alone)
            tokens += long
        return hits / tokens

    def read(self, text):
        expect(len(text) == self.length_of(), f"{len(text)} tokens, not {self.length_of()}")
        reader = Reader(text)
        while reader.next() == "_":
            reader.take("_")
        reader.take("B")
        pairs, asked, at = [], [], []
        while reader.next() != "?":
            pairs.append((self.run(reader, "k"), self.run(reader, "v")))
        expect(len(pairs) == self.pairs, f"{len(pairs)} pairs")
        keys = [key for key, _ in pairs]
        expect(len(set(keys)) == len(keys), "two keys are alike")
        for question in range(self.queries):
            reader.take("?")
            key = self.run(reader, "k")
            expect(key in keys, "a key that was not shown is asked for")
            expect(len(key) == self.longest, f"a key of {len(key)} tokens is asked for")
            expect(keys.index(key) not in asked, "a key is asked for twice")
            asked.append(keys.index(key))
            value = pairs[asked[-1]][1]
            at += range(reader.at - 1, reader.at - 1 + len(value))
            left = len(value) - (question == self.queries - 1)
            for token in value[:left]:
                expect(reader.take("v", self.value_tokens) == token, "another value follows")
        reader.end()
        return pairs, asked, at

    def run(self, reader, letter):
        found, size = [], self.key_tokens if letter == "k" else self.value_tokens
        while reader.next()[:1] == letter:
            found.append(reader.take(letter, size))
        expect(1 <= len(found) <= self.longest, f"{len(found)} tokens of {letter}")
        expect(len(set(found)) == len(found), f"a token twice among {letter}")
        return tuple(found)

    def positions(self, shape, first):
        return shape[2]

    def known(self, seen):
        """The pairs of the context, the key that is asked for, and the value so far."""
        pairs, last = [], ""
        for symbol in seen[seen.index("B") + 1 :]:
            if symbol == "?" or symbol[0] == "k" and last != "k" and last != "?":
                pairs.append(([], []))
            if symbol != "?":
                pairs[-1][symbol[0] == "v"].append(symbol)
            last = symbol[0]
        return pairs[: self.pairs], *pairs[-1]

    def answer(self, seen, before):
        pairs, key, given = self.known(seen)
        return next(value for known, value in pairs if known == key)[len(given)]

    def offered(self, seen, before):
        pairs, _, given = self.known(seen)
        so_far = len(given)
        return [v[so_far] for _, v in pairs if len(v) > so_far and v[:so_far] == given]

    def count(self, shape, targets, tally):
        pairs, asked, _ = shape
        tally.order("index", asked, len(pairs))
        for at, (key, value) in enumerate(pairs):
            tally.even("sizes of values", [len(value) - 1], self.longest)
            tally.order("values", value, self.value_tokens)
            if at not in asked:  # those have M tokens, as the page says elsewhere
                tally.even("sizes of other keys", [len(key) - 1], self.longest)
        tally.order("its key", pairs[asked[0]][0], self.key_tokens)
        tally.order("a key", tally.random.choice(pairs)[0], self.key_tokens)


TASKS = [Recall, Mqar, NoisyRecall, FuzzyRecall]
