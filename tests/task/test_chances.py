#!/usr/bin/env python3
"""Do the tests in chances.py pass fair draws, and only those?"""

import math
import random
import sys

sys.dont_write_bytecode = True

import chances


def p_values(fill, size=4000):
    tally, draw = chances.Tally(), random.Random(5)
    for _ in range(size):
        fill(tally, draw)
    return dict(tally.results())


def test_tally():
    """Fair draws pass and bent ones do not, for each sort of draw."""
    steep, flat = ([g**-a for g in range(1, 25)] for a in (0.99, 0.8))
    sizes = [1 / (n + math.sqrt(8)) for n in range(3, 9)]
    sorts = {
        "even": (
            lambda t, d: t.even("x", [d.randrange(9)], 9),
            lambda t, d: t.even("x", [int(9 * d.random() ** 1.2)], 9),
        ),
        "slots": (
            lambda t, d: t.weighted("x", d.choices(range(24), steep)[0], steep),
            lambda t, d: t.weighted("x", d.choices(range(24), flat)[0], steep),
        ),
        "nodes": (
            lambda t, d: t.weighted("x", d.choices(range(6), sizes)[0], sizes),
            lambda t, d: t.weighted("x", d.randrange(6), sizes),
        ),
        "drawn": (
            lambda t, d: t.drawn("x", d.sample(range(20), 12), 20),
            lambda t, d: t.drawn("x", sorted(range(20), key=lambda i: d.random() + i / 60)[:9], 20),
        ),
        "rank": (
            lambda t, d: (n := d.randrange(2, 9)) and t.rank("x", d.randrange(n), n),
            lambda t, d: (n := d.randrange(2, 9)) and t.rank("x", d.choice([0, d.randrange(n)]), n),
        ),
        "order": (
            lambda t, d: t.order("x", d.sample(range(5), 3), 5),
            lambda t, d: t.order("x", sorted(d.sample(range(5), 3)), 5),
        ),
        "rate": (
            lambda t, d: t.rate("x", sum(d.random() < 0.2 for _ in range(3)), 3, 0.2),
            lambda t, d: t.rate("x", sum(d.random() < 0.23 for _ in range(3)), 3, 0.2),
        ),
    }
    for name, (fair, bent) in sorts.items():
        assert p_values(fair)["x"] > 1e-3, (name, p_values(fair))
        assert p_values(bent)["x"] < 1e-4, (name, p_values(bent))
    low = 0
    for seed in range(200):  # p is even itself: the scale of draws without replacement is right
        tally, draw = chances.Tally(), random.Random(seed)
        for _ in range(200):
            tally.drawn("x", draw.sample(range(9), 6), 9)
        low += dict(tally.results())["x"] < 0.5
    assert 75 < low < 125, low
    for again in ([1, 1], [1, 9], [-1]):
        for draw in (chances.Tally().order, chances.Tally().drawn):
            try:
                draw("x", again, 9)
            except ValueError:
                continue
            raise AssertionError(again)


def test_chances():
    def near(a, b):
        return abs(a - b) < 1e-9 * max(1, abs(b))

    for x in (0.1, 1, 5, 30, 200):
        assert near(chances.chi_squared_tail(x, 2), math.exp(-x / 2))
        assert near(chances.chi_squared_tail(x, 1), math.erfc(math.sqrt(x / 2)))
        assert near(chances.chi_squared_tail(x, 4), math.exp(-x / 2) * (1 + x / 2))
    assert abs(chances.chi_squared_tail(124.342, 100) - 0.05) < 1e-5
    assert near(chances.binomial_p(0, 10, 0.5), 2 / 1024)
    assert near(chances.binomial_p(9, 10, 0.5), 22 / 1024)
    assert chances.binomial_p(5, 10, 0.5) == 1 and chances.binomial_p(3, 3, 1) == 1
    assert chances.clustered_p([(0.25, 1)] * 50, 0.25) == 1
    assert chances.clustered_p([(0.25, 1)] * 50, 0.26) < 1e-6
    assert chances.clustered_p([(3, 3), (0, 3)] * 20, 0.5) == 1
    assert chances.clustered_p([(3, 3)] * 15 + [(0, 3)] * 5, 0.5) > 0.01  # 20 samples, not 60
    assert chances.chi_squared_p([0, 5], [0, 1]) is None
    assert chances.chi_squared_p([1, 5], [0, 1]) == 0


test_tally()
test_chances()
print("chances.py tells fair draws from bent ones")
