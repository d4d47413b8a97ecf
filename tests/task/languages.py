"""A solver of the generated language, from docs/tasks.md alone."""

import collections
import functools
import math

from samples import Reader, Task, expect, number


class Document:
    """What a document has shown so far, and what may come next."""

    def __init__(self, task):
        self.task = task
        self.state = ""  # a unit begins
        self.at = 0
        self.clause = []  # the last one, up to its end or so far
        self.whole = False  # a clause has ended
        self.size = self.inside = 0  # words of the clause and of the aside
        self.context = self.before = "B"  # of the next word, and the word before an aside
        self.known = {}  # the words of each name
        self.rest = []  # what is to be repeated
        self.decided = collections.defaultdict(lambda: [0, 0])  # hits and trials of each decision
        self.named, self.first_words, self.words = [], [], []

    def copy_share(self):
        return self.task.copy if self.whole else 0

    def end_share(self):
        """How likely a clause ends behind the words that it has."""
        short = self.size < self.task.shortest
        return 0 if short else 1 / (self.task.longest - self.size + 1)

    def close_share(self):
        return 1 / (self.task.aside_words - self.inside + 1)

    def options(self):
        """How likely each symbol comes next; None stands for followers that are not known."""
        task, found, clause = self.task, {}, 0.0
        if self.state == "repeat":
            return {self.rest[0]: 1.0}
        if self.state == "name":
            return {symbol: 1 / task.words for symbol in task.symbols("w", task.words)}
        if self.state == "":
            found["c"] = self.copy_share()
            for symbol in task.symbols("k", task.names):
                found[symbol] = task.mention / task.names
            clause = 1 - self.copy_share() - task.mention
        elif self.state == "word":
            found["."] = self.end_share()
            found["("] = (1 - found["."]) * task.aside
            clause = 1 - found["."] - found["("]
        elif self.state == "inside":
            found[")"] = self.close_share()
            clause = 1 - found[")"]
        else:  # behind a bracket
            clause = 1.0
        context = "B" if self.state == "" else self.context
        followers = task.table.get(context)
        for symbol, share in zip(followers or [None], task.shares if followers else [1]):
            found[symbol] = clause * share
        return {symbol: p for symbol, p in found.items() if p > 1e-12}

    def decide(self, what, p, hit):
        """Something has or has not happened, which was p likely. Returns whether it has."""
        expect(hit or p < 1 - 1e-12, f"no {what} at {self.at}")
        expect(p > 1e-12 or not hit, f"{what} at {self.at}")
        if 1e-12 < p < 1 - 1e-12:
            self.decided[what, p][0] += hit
            self.decided[what, p][1] += 1
        return hit

    def word(self, symbol, sort):
        number(symbol, "w", self.task.words)
        self.task.follow(self.context, symbol)
        self.words.append((sort, self.context, symbol))
        self.context = symbol

    def own_word(self, symbol, sort):
        """One of the clause itself, not of an aside."""
        self.word(symbol, sort)
        self.size += 1
        return "word"

    def take(self, symbol):
        """The next symbol; Broken if it may not come next."""
        self.at += 1
        was = self.state
        if was == "":
            self.state = self.begin(symbol)
        elif was == "repeat":
            expected = self.rest.pop(0)
            expect(symbol == expected, f"{symbol} at {self.at} repeats {expected}")
            self.state = "repeat" if self.rest else ""
        elif was == "name":
            self.first_words.append(number(symbol, "w", self.task.words))
            words = self.known[self.named[-1]]
            words.append(symbol)
            self.state = "" if len(words) == self.task.name_words else "name"
        else:
            self.state = self.go_on(symbol)
            self.clause.append(symbol)
        self.whole |= was == "word" and self.state == ""

    def begin(self, symbol):
        task, copied = self.task, self.copy_share()
        if self.decide("copy", copied, symbol == "c"):
            self.rest = list(self.clause)
            return "repeat"
        again = "" if self.whole else " before any clause"
        if self.decide(f"mention{again}", task.mention / (1 - copied), symbol[:1] == "k"):
            name = number(symbol, "k", task.names)
            self.named.append(name)
            later = name in self.known
            self.rest = list(self.known.setdefault(name, []))
            return ("repeat" if later else "name") if task.name_words else ""
        self.context, self.clause, self.size = "B", [symbol], 0
        return self.own_word(symbol, "first words")

    def go_on(self, symbol):
        """Inside a clause."""
        if self.state == "word":
            if self.decide(f"end behind {self.size} words", self.end_share(), symbol == "."):
                return ""
            if self.decide("aside", self.task.aside, symbol == "("):
                self.before, self.inside = self.context, 0
                return "open"
            return self.own_word(symbol, "words")
        if self.state == "closed":
            return self.own_word(symbol, "words behind asides")
        if self.state == "inside":
            what = f"end of an aside behind {self.inside} words"
            if self.decide(what, self.close_share(), symbol == ")"):
                self.context = self.before
                return "closed"
        self.word(symbol, "words in asides" if self.inside else "first words of asides")
        self.inside += 1
        return "inside"


class Language(Task):
    name = "language"
    keys = {
        "length": 256, "words": 64, "followers": 4, "alpha": 1.0, "shortest": 2, "longest": 6, "aside": 0.1,
        "aside_words": 2, "copy": 0.15, "mention": 0.25, "names": 16, "name_words": 2, "world": 0,
    }
    settings = [
        ({}, "train"),
        ({"copy": 0, "mention": 0, "alpha": 2, "world": 3, "length": 100}, "valid"),
        ({"aside": 0, "alpha": 0.5, "shortest": 1, "longest": 3, "mention": 0.5}, "test"),
        (
            {
                "words": 8,
                "followers": 2,
                "names": 3,
                "name_words": 1,
                "length": 40,
                "aside": 0.3,
                "aside_words": 3,
                "copy": 0.4,
                "alpha": 0.5,
                "world": 5,
            },
            "valid",
        ),
    ]
    follows = True
    learnt = {}  # how often each word followed each context, by (world, words, followers)

    def __init__(self, **changed):
        super().__init__(**changed)
        self.table = {}  # all followers of a context, the most frequent first
        self.ordered = set()  # contexts where that order is beyond doubt
        self.met = collections.defaultdict(set)  # the followers of a context that were seen
        self.shares = self.weights(self.alpha)
        self.reading = None, []

    def weights(self, alpha):
        parts = [r**-alpha for r in range(1, self.followers + 1)]
        return [part / math.fsum(parts) for part in parts]

    @staticmethod
    @functools.cache
    def symbols(letter, size):
        return [letter] if size == 1 else [f"{letter}{i}" for i in range(size)]

    def chance(self):
        """It is counted, so no formula gives it; prepare() compares it."""

    def prepare(self, program):
        """Learns the followers from clauses of other samples, which depend on the world alone."""
        counts = self.learn(program)
        sizes = self.words, self.followers
        for (world, *other), known in self.learnt.items():
            same = world != self.world and tuple(other) == sizes and known.keys() == counts.keys()
            same = same and all(set(known[context]) == set(counts[context]) for context in counts)
            expect(not same, f"followers are the same in worlds {world} and {self.world}")
        for context, often in counts.items():
            ranked = [word for word, _ in often.most_common()]
            self.met[context] = set(ranked)
            if len(ranked) == self.followers:
                self.table[context] = ranked
                if self.clear(often.total()):
                    self.ordered.add(context)
        sure = sum(counts[context].total() for context in self.ordered)
        whole = sum(often.total() for often in counts.values())
        expect(sure > whole / 2, f"{sure} of {whole} words are behind others with a clear order")
        self.check_chance(program)

    def clear(self, draws):
        """Whether so many draws put neighbouring ranks in their order, by 4 standard errors."""
        shares = self.weights(1)
        pairs = zip(shares, shares[1:])
        return all((p - q) ** 2 * draws >= 16 * (p + q - (p - q) ** 2) for p, q in pairs)

    def learn(self, program):
        key = self.world, self.words, self.followers
        if key in self.learnt:
            return self.learnt[key]
        own = {"world": self.world, "words": self.words, "followers": self.followers}
        plain = {"copy": 0, "mention": 0, "aside": 0, "shortest": 9, "longest": 9, "length": 1000}
        task, many = Language(**own, **plain), self.words * self.followers
        counts = collections.defaultdict(collections.Counter)
        known = {"B", ".", *self.symbols("w", self.words)}
        for sample in program.show(task.overrides(), many, "valid", seed=777).samples:
            expect(known.issuperset(sample.text), "more than words, though nothing else is drawn")
            for before, word in zip(sample.text, sample.text[1:]):
                if word != ".":
                    counts["B" if before == "." else before][word] += 1
        least = self.weights(1)[-1]
        for context, often in counts.items():
            rare = (1 - least) ** often.total() > 1e-12  # one may have been missed
            right = len(often) <= self.followers if rare else len(often) == self.followers
            expect(right, f"{len(often)} followers of {context} in {often.total()} words")
        sets = {frozenset(often) for often in counts.values()}
        expect(len(sets) > 1 or self.followers == self.words, "all words have the same followers")
        self.learnt[key] = counts
        return counts

    def check_chance(self, program):
        """The share of the most frequent token, among as many tokens as the page says."""
        size = math.ceil(65_536 / self.length)
        shown = program.show(self.overrides(), size)
        targets = [[symbol for _, symbol in sample.scored] for sample in shown.samples]
        often = collections.Counter(symbol for row in targets for symbol in row)
        most, times = often.most_common(1)[0]
        share = times / often.total()
        rest = [row.count(most) - share * len(row) for row in targets]
        far = 6 * math.sqrt(2 * math.fsum(r * r for r in rest)) / often.total()
        what = f"stated chance: {shown.chance:.6f}, where {most} is {share:.6f} of the tokens"
        expect(abs(shown.chance - share) <= far, what)

    def follow(self, context, symbol):
        """A word followed a context: one of so many that ever do."""
        met = self.met[context]
        full = len(met) == self.followers and symbol not in met
        expect(not full, f"{symbol} follows {context}, as do {len(met)} other words")
        met.add(symbol)

    def read(self, text):
        expect(len(text) == self.length, f"{len(text)} tokens, not {self.length}")
        Reader(text).take("B")
        document = Document(self)
        for symbol in text[1:]:
            document.take(symbol)
        return document

    def positions(self, shape, first):
        return range(self.length)

    def answer(self, seen, before):
        """The only symbol that may come next; None where several may."""
        document, read = self.reading
        if document is None or seen[:-1] != read:
            document, read = Document(self), seen[:1]
        for symbol in seen[len(read) :]:
            document.take(symbol)
        self.reading = document, seen
        options = document.options()
        return next(iter(options)) if len(options) == 1 else None

    def count(self, shape, targets, tally):
        if len(targets) == self.length:  # the last is no input
            shape.take(targets[-1])
        for (what, p), (hits, trials) in shape.decided.items():
            tally.rate(what, hits, trials, p)
        tally.even("names", shape.named, self.names)
        tally.even("words of names", shape.first_words, self.words)
        for sort, context, word in shape.words:
            if context in self.ordered:
                rank = self.table[context].index(word)
                tally.weighted(f"ranks of {sort}", rank, self.shares)


TASKS = [Language]
