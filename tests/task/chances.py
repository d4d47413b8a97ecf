"""Whether what was drawn is drawn as it should be: tails of distributions and a tally of draws."""

import collections
import math
import random


def gamma_tail(a, x):
    """The regularised upper incomplete gamma function Q(a, x)."""
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:  # the series of the lower function
        term = total = 1 / a
        n = a
        while abs(term) > abs(total) * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    b = x + 1 - a  # the continued fraction of the upper one, by Lentz's method
    c, d = 1e300, 1 / b
    result = d
    for i in range(1, 100_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * result


def chi_squared_tail(x, degrees):
    return gamma_tail(degrees / 2, x / 2)


def binomial_p(hits, trials, p):
    """Twice the smaller tail of so many hits or more, or fewer."""
    if p <= 0 or p >= 1:
        return float(hits == trials * p)
    log = math.lgamma(trials + 1)

    def mass(k):
        ways = log - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        return math.exp(ways + k * math.log(p) + (trials - k) * math.log1p(-p))

    at = mass(hits)
    below = math.fsum(mass(k) for k in range(hits))
    return min(1.0, 2 * min(below + at, 1 - below))


def clustered_p(rows, p):
    """Whether hits are a share p of trials, for rows (hits, trials) of one sample each."""
    rows = list(rows)
    if all(trials == 1 and hits in (0, 1) for hits, trials in rows):
        return binomial_p(int(sum(hits for hits, _ in rows)), len(rows), p)
    rest = [hits - p * trials for hits, trials in rows]
    if abs(math.fsum(rest)) <= 1e-9 * len(rest):
        return 1.0
    z = abs(math.fsum(rest)) / math.sqrt(math.fsum(r * r for r in rest))
    return math.erfc(z / math.sqrt(2))


def chi_squared_p(counts, weights, scale=1.0, least=10):
    """Counts beside what weights expect. Neighbouring cells that expect under least are joined."""
    total, whole = sum(counts), math.fsum(weights)
    if any(n and not w for n, w in zip(counts, weights)):
        return 0.0
    cells = []
    for count, weight in zip(counts, weights):
        if cells and cells[-1][1] < least:
            cells[-1] = [cells[-1][0] + count, cells[-1][1] + total * weight / whole]
        else:
            cells.append([count, total * weight / whole])
    if len(cells) > 1 and cells[-1][1] < least:
        count, expected = cells.pop()
        cells[-1] = [cells[-1][0] + count, cells[-1][1] + expected]
    if len(cells) < 2:
        return None
    far = math.fsum((n - e) ** 2 / e for n, e in cells)
    return chi_squared_tail(far * scale, len(cells) - 1)


class Tally:
    """Counts of what was drawn, by the name of the draw, and how likely they are."""

    BINS = 20

    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.weights = {}
        self.counts = collections.defaultdict(collections.Counter)
        self.scales = collections.defaultdict(lambda: 1.0)
        self.rates = collections.defaultdict(list)

    def _add(self, name, values, weights, scale=1.0):
        if len(self.weights.setdefault(name, weights)) != len(weights):
            raise ValueError(f"{name}: now {len(weights)} cells, before {len(self.weights[name])}")
        self.scales[name] = scale
        for value in values:
            if not 0 <= value < len(weights):
                raise ValueError(f"{name}: {value} of {len(weights)}")
            self.counts[name][value] += 1

    def even(self, name, values, size):
        """Independent draws from 0 … size - 1, all equally likely."""
        if size > 1:
            self._add(name, values, [1] * size)

    def weighted(self, name, value, weights):
        self._add(name, [value], weights)

    def drawn(self, name, values, size):
        """One draw of some of 0 … size - 1, without replacement.

        Their counts vary by (size - k)/(size - 1) less than those of independent draws."""
        if len(set(values)) != len(values):
            raise ValueError(f"{name}: {values} has one twice")
        if values and len(values) < size:
            self._add(name, values, [1] * size, (size - 1) / (size - len(values)))

    def rank(self, name, value, size):
        """A draw from 0 … size - 1, where size differs between draws."""
        if not 0 <= value < size:
            raise ValueError(f"{name}: {value} of {size}")
        self.below(name, value / size, 1 / size)

    def below(self, name, less, equal):
        """A draw that is less with probability `less`, and the same with probability `equal`."""
        if equal < 1:
            at = min(0.999_999_999, less + self.random.random() * equal)
            self._add(name, [int(at * self.BINS)], [1] * self.BINS)

    def order(self, name, values, size):
        """Draws without replacement one after another: each is even among those that are left."""
        left = list(range(size))
        for value in values:
            if value not in left:
                raise ValueError(f"{name}: {value} again, or not one of {size}")
            at = left.index(value)
            self.rank(name, at, len(left))
            left.pop(at)

    def rate(self, name, hits, trials, p):
        """Hits of one sample, each with probability p."""
        self.rates[name, p].append((hits, trials))

    def results(self):
        for name, weights in self.weights.items():
            counts = [self.counts[name][i] for i in range(len(weights))]
            p = chi_squared_p(counts, weights, self.scales[name])
            if p is not None:
                yield name, p
            if p is not None and len(counts) > self.BINS:  # a trend is clearer in few cells
                eighth = max(10, sum(counts) / 8 - 1)
                p = chi_squared_p(counts, weights, self.scales[name], eighth)
                if p is not None:
                    yield f"{name} in eighths", p
        for (name, share), rows in self.rates.items():
            yield name, clustered_p(rows, share)
