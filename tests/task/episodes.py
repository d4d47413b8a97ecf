"""Solvers of in_context and context_qa, from docs/tasks.md alone."""

import collections
import math

from samples import Reader, Task, expect, number


class InContext(Task):
    name = "in_context"
    keys = {
        "classes": 4, "shots": 12, "features": 2, "symbols": 32, "labels": 16, "flip": 0.1,
        "score_all": True, "recall_share": 0.0,
    }
    training = False  # what is trained has more targets than what is shown
    settings = [
        ({"flip": 0}, "test"),
        ({"flip": 0.1, "features": 3, "shots": 16, "recall_share": 0.5}, "valid"),
        ({"score_all": True, "flip": 0, "classes": 5, "labels": 5, "symbols": 6}, "train"),
    ]

    def length_of(self):
        return 1 + self.shots * (self.features + 1) + self.features

    def chance(self):
        return 1 / self.classes

    def read(self, text):
        reader = self.begun(text)
        shots = []
        for _ in range(self.shots):
            symbols = [reader.take("s", self.symbols) for _ in range(self.features)]
            shots.append((symbols, reader.take("l", self.labels)))
        query = [reader.take("s", self.symbols) for _ in range(self.features)]
        reader.end()
        found = len({label for _, label in shots})
        expect(found == self.classes, f"{found} of {self.classes} classes are shown")
        if self.flip == 0:
            self.check_prototypes(shots)
        return shots, query

    def check_prototypes(self, shots):
        for i, (symbols, label) in enumerate(shots):
            for others, other in shots[:i]:
                same = [a == b for a, b in zip(symbols, others)]
                if label == other:
                    expect(all(same), f"two examples of l{label} differ, though flip is 0")
                else:
                    expect(not any(same), f"prototypes of l{label} and l{other} share a feature")

    def positions(self, shape, first):
        last = self.length_of() - 1
        if not (self.training and self.score_all):
            return [last]
        labels = [label for _, label in shape[0]]
        again = [i for i, label in enumerate(labels) if label in labels[:i]]
        return [(i + 1) * (self.features + 1) - 1 for i in again] + [last]

    def sure(self):
        return self.flip == 0

    def answer(self, seen, before):
        """The label with the likeliest example, given what its class has shown."""
        query, step = seen[-self.features :], self.features + 1
        by_label = collections.defaultdict(list)
        for at in range(1, len(seen) - self.features, step):
            by_label[seen[at + step - 1]].append(seen[at : at + step - 1])
        return max(by_label, key=lambda label: self.likelihood(query, by_label[label]))

    def likelihood(self, query, known):
        whole = 1.0
        for feature, symbol in enumerate(query):
            seen = collections.Counter(symbols[feature] for symbols in known)
            keep, other = 1 - self.flip, self.flip / self.symbols
            rest = self.symbols - len(seen)
            total = sum(self.of_prototype(s, seen) for s in seen) + rest * other ** seen.total()
            same = self.of_prototype(symbol, seen) / total
            whole *= keep * same + other
        return whole

    def of_prototype(self, symbol, seen):
        keep, other = 1 - self.flip, self.flip / self.symbols
        alike = seen[symbol]
        return (keep + other) ** alike * other ** (seen.total() - alike)

    def offered(self, seen, before):
        if len(seen) < self.length_of():
            return None
        return sorted({s for s in seen if s[0] == "l"})

    def count(self, shape, targets, tally):
        shots, query = shape
        labels = [label for _, label in shots]
        target = number(targets[-1], "l", self.labels)
        often = collections.Counter(labels)
        rest = self.shots - self.classes
        weights = [
            math.comb(rest, n) * (self.classes - 1) ** (rest - n) for n in range(rest + 1)
        ]
        tally.weighted("shots of its class", often[target] - 1, weights)
        first = list(often)
        tally.even("its class", [first.index(target)], self.classes)
        tally.order("labels", first, self.labels)
        tally.even("symbols", [shots[0][0][0]], self.symbols)
        shots = [*shots, (query, target)]
        same = [(a, b) for i, (a, x) in enumerate(shots) for b, y in shots[:i] if x == y]
        kept = (1 - self.flip) ** 2
        alike = sum(p == q for a, b in same for p, q in zip(a, b))
        if same and self.flip:
            trials = len(same) * self.features
            tally.rate("features alike", alike, trials, kept + (1 - kept) / self.symbols)


class ContextQa(Task):
    name = "context_qa"
    keys = {
        "facts": 8, "questions": 2, "distractors": 0.5, "unanswerable": 0.25, "summary_share": 0.5,
        "recall_share": 0.0, "entities": 16, "attributes": 16, "values": 32,
    }
    settings = [
        ({}, "train"),
        ({"facts": 5, "questions": 3, "distractors": 0.3, "unanswerable": 0.05}, "valid"),
        ({"facts": 6, "distractors": 1, "unanswerable": 0, "recall_share": 0.5}, "test"),
    ]

    def length_of(self):
        return None

    def parts(self):
        own = 1 - self.recall_share
        found = super().parts()
        del found[self.name]
        found["question"] = (self, own * (1 - self.summary_share))
        found["summary"] = (Summary(**self.changed), own * self.summary_share)
        return found

    def chance(self):
        return max(self.unanswerable, (1 - self.unanswerable) / self.facts)

    def fact(self, reader):
        return (
            reader.take("e", self.entities),
            reader.take("a", self.attributes),
            reader.take("v", self.values),
        )

    def near(self, share, most):
        """How many are that share of so many; the page does not say how it is rounded."""
        return range(math.ceil(share * most - 1 + 1e-9), math.floor(share * most + 1 - 1e-9) + 1)

    def read(self, text):
        reader = Reader(text)
        reader.take("B")
        facts = [self.fact(reader) for _ in range(self.facts)]
        known = {fact[:2] for fact in facts}
        expect(len(known) == len(facts), "two facts have one entity and attribute")
        asked = []
        for _ in range(self.questions):
            reader.take("?")
            question = reader.take("e", self.entities), reader.take("a", self.attributes)
            asked.append(question)
        reader.end()
        others = [fact for fact in known if fact not in asked]
        near = [f for f in others if any((f[0] == q[0]) != (f[1] == q[1]) for q in asked)]
        wanted = self.near(self.distractors, len(others))
        expect(len(near) in wanted, f"{len(near)} of {len(others)} are near misses")
        return facts, asked

    def positions(self, shape, first):
        at = 1 + 3 * self.facts
        return range(at + 2, at + 3 * self.questions, 3)

    def answer(self, seen, before):
        facts = seen[1 : seen.index("?")]
        for e, a, v in zip(facts[::3], facts[1::3], facts[2::3]):
            if [e, a] == seen[-2:]:
                return v
        return "unknown"

    def offered(self, seen, before):
        if self.unanswerable >= (1 - self.unanswerable) / self.facts:
            return ["unknown"]
        return seen[3 : seen.index("?") : 3]

    def count(self, shape, targets, tally):
        facts, asked = shape
        unknown = sum(target == "unknown" for target in targets)
        tally.rate("unanswerable", unknown, len(targets), self.unanswerable)
        keys = [fact[:2] for fact in facts]
        if asked[0] in keys:
            tally.even("asked fact", [keys.index(asked[0])], self.facts)
        tally.even("values", [facts[0][2]], self.values)
        tally.even("entities", [asked[0][0]], self.entities)
        tally.even("attributes", [asked[0][1]], self.attributes)


class Summary(ContextQa):
    follows = True

    def own_chance(self, stated):
        return None

    def read(self, text):
        reader = Reader(text)
        reader.take("B")
        facts, marked = [], []
        while reader.next() != "=":
            if reader.next() == "!":
                reader.take("!")
                marked.append(len(facts))
            facts.append(self.fact(reader))
        expect(len(facts) == self.facts, f"{len(facts)} facts")
        left = self.facts - len(marked)
        wanted = [min(n, self.facts - 1) for n in self.near(self.distractors, self.facts)]
        expect(left in wanted, f"{left} facts are not marked")
        reader.take("=")
        start = reader.at - 1
        for at in marked:
            for letter, part in zip("eav", facts[at]):
                if (at, letter) != (marked[-1], "v"):
                    reader.take(f"{letter}{part}")
        reader.end()
        return facts, marked, range(start, len(text))

    def positions(self, shape, first):
        return shape[2]

    def answer(self, seen, before):
        end = seen.index("=")
        repeated = []
        for at in range(end):
            if seen[at] == "!":
                repeated += seen[at + 1 : at + 4]
        return repeated[len(seen) - end - 1]

    def offered(self, seen, before):
        return None

    def count(self, shape, targets, tally):
        facts, marked, _ = shape
        tally.drawn("marked", marked, self.facts)
        tally.even("values", [facts[0][2]], self.values)
        tally.even("entities", [facts[0][0]], self.entities)


TASKS = [InContext, ContextQa]
