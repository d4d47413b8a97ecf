"""Solvers of the tasks that follow, count or order what is shown, from docs/tasks.md alone."""

import collections
import functools
import math

from samples import Reader, Task, expect


class KHop(Task):
    name = "k_hop"
    keys = {
        "nodes": 8, "least_nodes": 3, "hops": 4, "asked": None, "questions": 8, "names": 32,
        "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"least_nodes": 8}, "valid"),
        ({"nodes": 20, "least_nodes": 2, "hops": 9, "asked": 3, "recall_share": 0.5}, "test"),
        ({"nodes": 2, "least_nodes": 2, "names": 2}, "train"),
    ]
    follows = True

    def length_of(self):
        return 2 * self.nodes + 3 * self.questions

    def weights(self):
        sizes = range(self.least_nodes, self.nodes + 1)
        return [1 / (n + math.sqrt(self.nodes)) for n in sizes]

    def chance(self):
        weights = self.weights()
        alike = math.fsum(w / n for n, w in enumerate(weights, self.least_nodes))
        return alike / math.fsum(weights)

    def read(self, text):
        reader = self.begun(text)
        edges, asked = [], []
        while reader.next()[:1] == "n":
            edges.append((reader.take("n", self.names), reader.take("n", self.names)))
        then = dict(edges)
        expect(self.least_nodes <= len(edges) <= self.nodes, f"{len(edges)} nodes")
        expect(len(then) == len(edges), "a node has two successors")
        at, met = edges[0][0], set()
        while at not in met and at in then:
            met.add(at)
            at = then[at]
        expect(at == edges[0][0] and len(met) == len(edges), "the edges are no cycle")
        for question in range(self.questions):
            hops = reader.take("h", self.hops + 1)
            expect(hops == self.asked if self.asked else hops > 0, f"h{hops} is asked")
            node = reader.take("n", self.names)
            expect(node in then, "a node of no edge is asked for")
            asked.append((hops, node, reader.at - 1))
            if question < self.questions - 1:
                reader.take("n", self.names)
        while reader.next():
            reader.take("_")
        return edges, asked

    def positions(self, shape, first):
        return [at for _, _, at in shape[1]]

    def answer(self, seen, before):
        edges = seen[1 : self.edge_end(seen)]
        then = dict(zip(edges[::2], edges[1::2]))
        node = seen[-1]
        for _ in range(int(seen[-2][1:])):
            node = then[node]
        return node

    def edge_end(self, seen):
        return next(at for at, symbol in enumerate(seen) if symbol[0] == "h")

    def offered(self, seen, before):
        return seen[1 : self.edge_end(seen) : 2]

    def count(self, shape, targets, tally):
        edges, asked = shape
        tally.weighted("nodes", len(edges) - self.least_nodes, self.weights())
        order = [edge[0] for edge in edges]
        for hops, node, _ in asked:
            if not self.asked:
                tally.even("hops", [hops - 1], self.hops)
            tally.rank("asked node", order.index(node), len(order))
        if len(edges) > 1:
            tally.rank("place of the next edge", order.index(edges[0][1]) - 1, len(edges) - 1)
        tally.order("names", order, self.names)


class VariableTracking(Task):
    name = "variable_tracking"
    keys = {
        "length": 64, "chains": 3, "hops": 2, "names": 32, "values": 16, "noise_tokens": 16,
        "recall_share": 0.0,
    }
    settings = [
        ({}, "train"),
        ({"chains": 2, "hops": 1, "length": 15}, "valid"),
        ({"chains": 5, "hops": 0, "length": 20, "names": 7, "recall_share": 0.5}, "test"),
        ({"chains": 1, "hops": 3, "length": 14}, "train"),
    ]
    follows = True

    def chance(self):
        size = self.chains * (self.hops + 1)
        return math.fsum(1 / (size - i) for i in range(self.hops + 1)) / (self.hops + 1)

    def read(self, text):
        reader = self.begun(text)
        chains, order, noise, before = {}, [], [], []
        ends = {}  # the value of the chain that a name now ends
        while reader.next() != "?":
            if reader.next()[:1] == "n":
                noise.append(reader.take("n", self.noise_tokens))
                continue
            name = reader.take("x", self.names)
            again = any(name in chain for chain in chains.values())
            expect(not again, f"x{name} is assigned twice")
            if reader.next()[:1] == "d":
                value = reader.take("d", self.values)
                expect(value not in chains, f"d{value} is assigned twice")
                chains[value] = [name]
            else:
                source = reader.take("x", self.names)
                expect(source in ends, f"x{source} ends no chain")
                value = ends.pop(source)
                chains[value].append(name)
            ends[name] = value
            order.append(value)
            before.append(len(noise))
        expect(len(chains) == self.chains, f"{len(chains)} chains")
        for value, chain in chains.items():
            expect(len(chain) == self.hops + 1, f"{len(chain)} names hold d{value}")
        reader.take("?")
        asked = reader.take("d", self.values)
        expect(asked in chains, "a value that was not assigned is asked for")
        for _ in range(self.hops):
            reader.take("x", self.names)
        reader.end()
        return chains, order, noise, before, asked

    def positions(self, shape, first):
        return range(self.length - self.hops - 1, self.length)

    def answer(self, seen, before):
        end = seen.index("?")
        context, held = seen[1:end], [seen[end + 1]]
        at = 0
        while at < len(context):
            if context[at][0] == "n":
                at += 1
                continue
            if context[at + 1] in held:
                held.append(context[at])
            at += 2
        return held[1 + len(seen) - end - 2]

    def offered(self, seen, before):
        end = seen.index("?")
        return sorted({s for s in seen[:end] if s[0] == "x"} - set(seen[end:]))

    def count(self, shape, targets, tally):
        chains, order, noise, before, asked = shape
        tally.order("names", [name for chain in chains.values() for name in chain], self.names)
        tally.order("values", chains, self.values)
        tally.even("asked chain", [list(chains).index(asked)], self.chains)
        tally.even("noise", noise, self.noise_tokens)
        at = tally.random.randrange(len(order))
        tally.even("noise before an assignment", [before[at]], len(noise) + 1)
        places = [i for i, value in enumerate(order) if value == asked]
        ways = math.comb(len(order), len(places))
        at = sum(math.comb(place, i + 1) for i, place in enumerate(places))
        tally.even("interleaving", [at], ways)


class CommonWords(Task):
    name = "common_words"
    keys = {"length": 64, "words": 64, "asked": 2, "alpha": 1.5, "recall_share": 0.0}
    settings = [
        ({}, "train"),
        ({"alpha": 2, "asked": 3, "length": 40, "recall_share": 0.5}, "valid"),
        ({"length": 200, "words": 20, "asked": 4}, "test"),
        ({"length": 20, "words": 2, "asked": 1}, "train"),
    ]
    follows = True

    @functools.cached_property
    def frequencies(self):
        """How often each rank occurs, from the most frequent."""
        size = self.length - 1 - self.asked
        parts = [r**-self.alpha for r in range(1, self.words + 1)]
        found = []
        for part in parts:
            often = max(1, math.floor(size * part / math.fsum(parts) + 1e-9))
            found.append(min(often, size - sum(found)))
        found[0] += size - sum(found)
        return [often for often in found if often]

    def chance(self):
        distinct, asked = len(self.frequencies), self.asked
        return math.fsum(1 / (distinct - i) for i in range(asked)) / asked

    def read(self, text):
        asked, reader = self.asked, self.begun(text)
        words = [reader.take("w", self.words) for _ in range(self.length - 1 - asked)]
        reader.take("?")
        for _ in range(asked - 1):
            reader.take("w", self.words)
        reader.end()
        ranked = collections.Counter(words).most_common()
        often = [n for _, n in ranked]
        wanted = self.frequencies
        expect(often == wanted, f"words occur {often[:9]} … times, not {wanted[:9]} …")
        top = often[: asked + 1]
        expect(len(set(top)) == len(top), f"of the most frequent two occur equally often: {top}")
        return words, [word for word, _ in ranked]

    def positions(self, shape, first):
        return range(self.length - self.asked, self.length)

    def answer(self, seen, before):
        end = seen.index("?")
        return collections.Counter(seen[1:end]).most_common()[len(seen) - end - 1][0]

    def offered(self, seen, before):
        end = seen.index("?")
        return sorted(set(seen[1:end]) - set(seen[end:]))

    def count(self, shape, targets, tally):
        words, ranked = shape
        tally.order("most frequent words", ranked[: self.asked], self.words)
        tally.drawn("words", ranked, self.words)
        for rank in range(self.asked):
            places = [at for at, word in enumerate(words) if word == ranked[rank]]
            tally.drawn(f"places of word {rank + 1}", places, len(words))


class SelectiveCopy(Task):
    name = "selective_copy"
    keys = {"length": 256, "copied": 16, "symbols": 14, "recall_share": 0.0}
    settings = [
        ({}, "train"),
        ({"length": 11, "copied": 3}, "valid"),
        ({"length": 40, "copied": 15, "symbols": 3, "recall_share": 0.5}, "test"),
    ]

    def chance(self):
        return 1 / self.copied + (1 - 1 / self.copied) / self.symbols

    def read(self, text):
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        end = self.length - self.copied - 1
        reader = Reader(text)
        shown = {}
        while reader.at < end:
            if reader.next() == "_":
                reader.take("_")
            else:
                symbol = reader.take("s", self.symbols)
                shown[reader.at - 1] = symbol
        expect(len(shown) == self.copied, f"{len(shown)} symbols")
        reader.take("c")
        for _ in range(self.copied):
            reader.take("_")
        reader.end()
        return shown, end

    def positions(self, shape, first):
        return range(self.length - self.copied, self.length)

    def answer(self, seen, before):
        end = seen.index("c")
        return [s for s in seen[:end] if s != "_"][len(seen) - end - 2]

    def offered(self, seen, before):
        return [s for s in seen[: seen.index("c")] if s != "_"]

    def count(self, shape, targets, tally):
        shown, end = shape
        tally.drawn("places", list(shown), end)
        tally.even("symbols", shown.values(), self.symbols)


TASKS = [KHop, VariableTracking, CommonWords, SelectiveCopy]
