"""Every estimator of src/statistics on random inputs, beside SciPy, statsmodels or the definition.

What needs resampling agrees within its Monte-Carlo error, everything else within 1e-9. Inputs are
the kinds that runs give: few values, ties, all alike, shares at 0 and 1, censored times.
"""

import itertools
import math
import random
import sys

import numpy as np
from scipy import optimize, stats
from statsmodels.duration.survfunc import SurvfuncRight, survdiff
from statsmodels.stats import contingency_tables, multitest, proportion, weightstats

import asking
from asking import lifetimes, pair_of_lives


def values(chance, least=2, most=12):
    n = chance.randint(least, most)
    kind = chance.randrange(4)
    if kind == 0:
        return [chance.gauss(0.1, 1) for _ in range(n)]
    if kind == 1:
        return [round(chance.gauss(0, 1), 1) for _ in range(n)]  # ties
    if kind == 2:
        return [chance.choice([0.02, 0.98]) + chance.gauss(0, 0.01) for _ in range(n)]
    return [3 + chance.gauss(0, 1e-3) for _ in range(n)]


def shares(chance):
    kind = chance.randrange(3)
    n = chance.randint(2, 20)
    if kind == 0:
        return [chance.betavariate(0.5, 0.5) for _ in range(n)]
    if kind == 1:
        return [float(chance.random() < 0.8) for _ in range(n)]
    return [1 - chance.random() * 0.01 for _ in range(n)]


def interval(low, high):
    return [low, high]


def t_interval(x, level):
    if np.std(x) == 0:
        return [np.mean(x), np.mean(x)]
    return interval(*stats.t.interval(level, len(x) - 1, np.mean(x), stats.sem(x)))


def mean_share(x, level):
    """Where the squared distance of the mean is what its definition allows, by root finding."""
    mean, n = np.mean(x), len(x)
    if np.std(x) == 0:
        return [mean, mean]
    dispersion = np.var(x, ddof=1) / (mean * (1 - mean))
    t = stats.t.ppf((1 + level) / 2, n - 1)

    def beyond(p):
        return (mean - p) ** 2 - t**2 * dispersion * p * (1 - p) / n

    return [optimize.brentq(beyond, 0, mean, xtol=1e-15), optimize.brentq(beyond, mean, 1, xtol=1e-15)]


def share_difference(x, level):
    mean, n = np.mean(x), len(x)
    error = stats.sem(x) / (1 - mean**2)
    half = stats.t.ppf((1 + level) / 2, n - 1) * error
    return [np.tanh(np.arctanh(mean) - half), np.tanh(np.arctanh(mean) + half)]


def sign_flip(x):
    sums = [abs(sum(s * v for s, v in zip(signs, x))) for signs in itertools.product([1, -1], repeat=len(x))]
    return sum(s >= abs(sum(x)) - 1e-12 * sum(map(abs, x)) for s in sums) / len(sums)


def whole_values(chance):
    """More pairs than can be enumerated, of whole numbers, whose sums can be counted."""
    return [float(chance.randint(-20, 20)) for _ in range(chance.randint(11, 40))]


def counted_sign_flip(x):
    """All sign patterns by the sum that they give: sums are convolved, one value after another."""
    ways = np.ones(1, dtype=object)  # whole numbers of any size
    for value in map(abs, map(int, x)):
        step = np.zeros(2 * value + 1, dtype=object)
        step[0] += 1
        step[-1] += 1
        ways = np.convolve(ways, step)
    middle, far = len(ways) // 2, abs(int(sum(x)))
    if far == 0:
        return 1.0
    return 2 * int(ways[middle + far :].sum()) / 2 ** len(x)


def equivalence(x, margin):
    if len(set(x)) == 1:  # no spread: each difference is as if it had come out so by chance
        return 0.5 ** len(x) if abs(x[0]) < margin else 1.0
    return float(weightstats.ttost_paired(np.array(x), np.zeros(len(x)), -margin, margin)[0])


def accepted(p_of, candidates, alpha):
    """Ends of the shifts whose two-sided p is above alpha; p changes at the candidates alone."""
    held = [shift for shift in candidates if p_of(shift) > alpha]
    return [min(held), max(held)]


def shift_answers(ways, candidates, shift, margin):
    """`ways`: how far the groups lie apart, a row of each way, (apart, by how much a shift moves it)."""
    apart, moved = np.array(ways).T
    least = 2 / len(apart)

    def tails(by):
        now = apart - by * moved
        near = 1e-11 * (1 + abs(now[0]))
        return np.mean(now >= now[0] - near), np.mean(now <= now[0] + near)

    def two_sided(by):
        return min(1, 2 * min(tails(by)))

    ends = None if least > 0.1 else accepted(two_sided, candidates, 0.1)
    return [two_sided(0), two_sided(shift), max(tails(-margin)[0], tails(margin)[1]), ends]


def unpaired(x, y, shift, margin):
    """All ways to deal the values to two groups of these sizes."""
    all_values, n, ways, candidates = np.array(x + y), len(x), [], []
    own = set(range(n))
    for dealt in itertools.combinations(range(len(all_values)), n):
        is_in = np.isin(np.arange(len(all_values)), dealt)
        part = len(own & set(dealt)) / n - len(own - set(dealt)) / len(y)
        ways.append([all_values[is_in].mean() - all_values[~is_in].mean(), part])
        left, come = sorted(own - set(dealt)), sorted(set(dealt) - own)
        if left:
            candidates.append(all_values[left].mean() - all_values[come].mean())
    first = ways[0]
    assert abs(first[0] - (np.mean(x) - np.mean(y))) < 1e-9 and first[1] == 1
    return shift_answers(ways, candidates, shift, margin)


def paired(d, shift, margin):
    ways, candidates = [], []
    for signs in itertools.product([1, -1], repeat=len(d)):
        ways.append([np.dot(signs, d) / len(d), np.mean(signs)])
        flipped = [v for s, v in zip(signs, d) if s < 0]
        if flipped:
            candidates.append(np.mean(flipped))
    return shift_answers(ways, candidates, shift, margin)


def two_groups(chance):
    x = values(chance, 2, 6)
    return [x, values(chance, 2, 6), chance.gauss(0, 1), chance.uniform(0.1, 3)]


def pairs_of_values(chance):
    n = chance.randint(2, 15)
    common = [chance.gauss(0, chance.choice([0, 1])) for _ in range(n)]
    return [[c + chance.gauss(0, 1) for c in common], [c + chance.gauss(0.3, 1) for c in common]]


def within_sight(chance):
    """Differences that lie less than the margin apart on average, so that its p means something."""
    d = values(chance, 2, 8)
    return [d, chance.gauss(0, 1), abs(np.mean(d)) + chance.uniform(0.05, 3)]


def discoveries(p):
    rejected = [one for one, is_so in zip(p, multitest.multipletests(p, 0.05, "fdr_bh")[0]) if is_so]
    return max(rejected) if rejected else None


def survival(data):
    return SurvfuncRight([t for t, _ in data], [int(e) for _, e in data])


def kaplan_meier(data):
    if not any(e for _, e in data):
        return []
    curve = survival(data)
    errors = [0.0 if s < 1e-12 else se for s, se in zip(curve.surv_prob, curve.surv_prob_se)]
    return [list(row) for row in zip(curve.surv_times, curve.n_risk, curve.n_events, curve.surv_prob, errors)]


def median_interval(data):
    """Brookmeyer and Crowley's, on the scale log(-log S)."""
    if not any(e for _, e in data):
        return None
    with np.errstate(all="ignore"):  # where all or none are left
        low, high = survival(data).quantile_ci(0.5, method="cloglog")
    if math.isnan(low):
        return None
    return [float(low), "inf" if math.isinf(high) else float(high)]


def restricted_mean(data, horizon):
    steps = [s for s in kaplan_meier(data) if s[0] < horizon]
    edges = [0.0] + [s[0] for s in steps] + [horizon]
    heights = [1.0] + [s[3] for s in steps]
    areas = [(b - a) * h for a, b, h in zip(edges, edges[1:], heights)]
    variance = sum(
        sum(areas[i + 1 :]) ** 2 * d / (n * (n - d)) for i, (_, n, d, _, _) in enumerate(steps) if n > d
    )
    return [sum(areas), math.sqrt(variance)]


def log_rank(first, second):
    data = first + second
    if not any(e for _, e in data):
        return 1.0
    groups = [0] * len(first) + [1] * len(second)
    with np.errstate(all="ignore"):
        p = survdiff([t for t, _ in data], [int(e) for _, e in data], groups)[1]
    return 1.0 if math.isnan(p) else float(p)


def count_pair(chance):
    trials = chance.randint(1, 40)
    return [chance.randint(0, trials), trials]


# name: (how many times the cases, arguments, what is right, how near)
QUESTIONS = {
    "student_t_cdf": (lambda c: [c.gauss(0, 5), c.choice([1, 2, 4.5, 30])], lambda t, d: stats.t.cdf(t, d)),
    "student_t_quantile": (lambda c: [c.uniform(0.001, 0.999), c.randint(1, 60)], lambda p, d: stats.t.ppf(p, d)),
    "normal_quantile": (lambda c: [c.uniform(1e-6, 1 - 1e-6)], stats.norm.ppf),
    "chi_squared_tail": (lambda c: [c.expovariate(0.3)], lambda x: stats.chi2.sf(x, 1)),
    "t_interval": (lambda c: [values(c), c.choice([0.9, 0.95])], t_interval),
    "wilson": (count_pair, lambda k, n: list(proportion.proportion_confint(k, n, method="wilson"))),
    "mean_share": (lambda c: [shares(c), 0.95], mean_share),
    "share_difference": (lambda c: [[c.uniform(-0.9, 0.9) for _ in range(c.randint(2, 12))], 0.95], share_difference),
    "sign_flip": (lambda c: [values(c, 1, 10)], sign_flip),
    "sign_flip of many": (lambda c: [whole_values(c)], counted_sign_flip),
    "mcnemar": (
        lambda c: [c.randint(0, 20), c.randint(0, 20)],
        lambda b, c: contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0,
    ),
    "equivalence": (lambda c: [values(c, 2), c.uniform(0.01, 2)], equivalence),
    "unpaired": (two_groups, unpaired),
    "paired": (within_sight, paired),
    "pairing": (pairs_of_values, lambda x, y: stats.f_oneway(*zip(x, y)).pvalue),
    "f_tail": (lambda c: [c.expovariate(0.5), c.randint(1, 30), c.randint(1, 30)], lambda x, a, b: stats.f.sf(x, a, b)),
    "discoveries": (lambda c: [[c.random() ** 4 for _ in range(c.randint(1, 30))]], discoveries),
    "holm": (
        lambda c: [[c.random() ** 3 for _ in range(c.randint(1, 9))]],
        lambda p: list(multitest.multipletests(p, method="holm")[1]),
    ),
    "kaplan_meier": (lambda c: [lifetimes(c)], kaplan_meier),
    "median_interval": (lambda c: [lifetimes(c)], median_interval),
    "restricted_mean": (lambda c: [lifetimes(c), c.choice([3.0, 5.0])], restricted_mean),
    "log_rank": (pair_of_lives, log_rank),
}


SAMPLES = 20_000  # of both, of more than six values


def bca_agrees(x, ours, seed):
    """Whether both ends are SciPy's but for the Monte-Carlo error of two such ends, five times.

    An end is a quantile of the samples' means, at a share that BCa works out from its own count of
    the means below the mean. That count moves the share by its error times phi(z) / phi(0), twice.
    """
    drawn = stats.bootstrap((x,), np.mean, n_resamples=SAMPLES, method="BCa", rng=seed)
    means = drawn.bootstrap_distribution
    for end, our in zip(drawn.confidence_interval, ours):
        share = min(max(np.mean(means <= end), 1 / SAMPLES), 1 - 1 / SAMPLES)
        of_count = stats.norm.pdf(stats.norm.ppf(share)) / stats.norm.pdf(0)
        error = math.sqrt(2 * (share * (1 - share) + of_count**2) / SAMPLES)
        low, high = (np.quantile(means, min(max(share + by * error, 0), 1)) for by in (-5, 5))
        if not low - 1e-9 <= our <= high + 1e-9:
            return False
    return True


def check_bootstrap(ask, chance, cases):
    """Those of so many skewed samples whose BCa interval is another than SciPy's."""
    given = [[chance.gauss(0, 1) ** 2 for _ in range(chance.randint(7, 25))] for _ in range(cases)]
    answers = ask([("bca", [x]) for x in given])
    return [x for x, ours in zip(given, answers) if not bca_agrees(x, ours, chance.randrange(2**31))]


def main():
    options = asking.options(__doc__)
    chance = random.Random(options.seed)

    def ask(questions):
        return asking.ask(options.answers, questions)

    wrong = asking.Wrong()
    for name, (draw, right) in QUESTIONS.items():
        given = [draw(chance) for _ in range(options.cases)]
        for case, ours in zip(given, ask([(name.split()[0], case) for case in given]), strict=True):
            wrong.unless_alike(name, case, ours, right(*case))
    others = check_bootstrap(ask, chance, options.cases)
    for x in others[:10]:
        print(f"bca{x} lies beyond five Monte-Carlo errors from SciPy's")
    print(f"{len(QUESTIONS) + 1} estimators x {options.cases} inputs, {wrong.count + len(others)} wrong")
    sys.exit(1 if wrong.count or others else 0)


main()
