"""The estimators of times to an event on random inputs, beside lifelines, within 1e-9."""

import math
import random
import sys
import warnings

from lifelines import KaplanMeierFitter
from lifelines.statistics import logrank_test
from lifelines.utils import median_survival_times, restricted_mean_survival_time

import asking


def fitted(data):
    return KaplanMeierFitter().fit([t for t, _ in data], [e for _, e in data])


def kaplan_meier(data):
    """Times of events, those at risk and with an event, and the share that is left; without errors."""
    curve = fitted(data)
    table = curve.event_table
    table = table[table.observed > 0]
    return [
        [float(t), int(row.at_risk), int(row.observed), float(curve.survival_function_.loc[t].iloc[0])]
        for t, row in table.iterrows()
    ]


def median_interval(data):
    curve = fitted(data)
    if not any(0 < left < 1 for left in curve.survival_function_.iloc[:, 0]):
        return None  # no step has a variance; lifelines then answers with an interval of no width
    ends = median_survival_times(curve.confidence_interval_).iloc[0]
    low, high = map(float, ends)
    return None if math.isinf(low) else [low, "inf" if math.isinf(high) else high]


def restricted_mean(data, horizon):
    return [float(restricted_mean_survival_time(fitted(data), t=horizon))]


def log_rank(first, second):
    if not any(e for _, e in first + second):
        return 1.0
    sides = [list(zip(*side)) for side in (first, second)]
    p = logrank_test(sides[0][0], sides[1][0], sides[0][1], sides[1][1]).p_value
    return 1.0 if math.isnan(p) else float(p)


# name: (arguments, what is right, which numbers of our answer it has)
QUESTIONS = {
    "kaplan_meier": (lambda c: [asking.lifetimes(c)], kaplan_meier, lambda steps: [s[:4] for s in steps]),
    "median_interval": (lambda c: [asking.lifetimes(c)], median_interval, lambda ends: ends),
    "restricted_mean": (
        lambda c: [asking.lifetimes(c), c.choice([3.0, 5.0])],
        restricted_mean,
        lambda answer: answer[:1],
    ),
    "log_rank": (asking.pair_of_lives, log_rank, lambda p: p),
}


def main():
    options = asking.options(__doc__)
    chance = random.Random(options.seed)
    warnings.simplefilter("ignore")  # of curves that no event ends
    wrong = asking.Wrong()
    for name, (draw, right, shared) in QUESTIONS.items():
        given = [draw(chance) for _ in range(options.cases)]
        answers = asking.ask(options.answers, [(name, case) for case in given])
        for case, ours in zip(given, answers, strict=True):
            wrong.unless_alike(name, case, shared(ours), right(*case))
    print(f"{len(QUESTIONS)} estimators x {options.cases} inputs, {wrong.count} wrong")
    sys.exit(1 if wrong.count else 0)


main()
