"""How often the gate is wrong, and how often a good candidate passes.

    python -m tests.validity.gate [--runs N] [--write]

A candidate that is worse by exactly the margin should pass in at most 5 % of test sets, and fail in at most 5 %. The
program counts all samples if items are correct or incorrect; otherwise it simulates N test sets (default: 5,000; 2 / 5
of them if they have 2,000 items and take long).
`--write` replaces the tables of docs/gate.md.
"""

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from multiprocessing import get_context
from types import SimpleNamespace
from unittest import mock

import numpy as np
from scipy import special, stats

from registry.significance import Settings, margins
from registry.significance.base import Observed
from registry.significance.distributions import tango_statistic
from registry.significance.intervals import influences, standard_errors
from registry.significance.margins import compare_with_margin, exact_p_value
from registry.studies import gate
from tests.conftest import ROOT
from tests.validity import gate_populations as populations
from tests.validity.populations import documents, over_one, ratio, spans
from tests.validity.record import markdown, replaced
from tests.validity.row import BATCH

PAGE = ROOT / "docs" / "gate.md"
ALPHA, RESAMPLES = 0.05, 1000
UNITS = (50, 200, 500, 2000)
MARGINS = (0.0, 0.02, 0.1)
RATES = 200  # shares of discordant items that are tried
KINDS = {"bounded": "from 0 to 1", "entities": "F1", "translations": "BLEU", "clustered": "accuracy, in documents",
         "unbounded": "without bounds"}
ERRORS = ("scores", "candidate", "margin", *(f"{n:,} items" for n in UNITS))
FIVE = ("five criteria", "items", "one at its margin: passes", "all at their margins: fails")
POWER = ("scores", "items", "margin", "difference", "gate", "paired t test", "McNemar")


@contextmanager
def repeated_work_once():
    """Compute resamples and exact p-values once, and no needed units and intervals, on which no verdict depends."""
    with (mock.patch.object(margins, "draw_counts", lru_cache(maxsize=2)(margins.draw_counts)),
          mock.patch.object(margins, "exact_p_value", cache(exact_p_value)),
          mock.patch.object(margins.MarginTests, "find_interval", return_value=(math.nan, math.nan)),
          mock.patch.object(gate, "count_needed_units", return_value=None)):
        yield


def clustered(units):
    """Accuracy of items in documents of 2 to 14 items."""
    yield replace(documents(units, (0.7, 0.75)), name="another system")


def make_populations(kind, units):
    """Return the populations of a kind of scores."""
    return list((clustered if kind == "clustered" else getattr(populations, kind))(units))


@cache
def list_samples(n):
    """Return all numbers of items that only one of two systems gets right, [samples] each."""
    only_a, only_b = np.divmod(np.arange((n + 1) ** 2), n + 1)
    return only_a[only_a + only_b <= n], only_b[only_a + only_b <= n]


def compute_share(samples, n, p, q):
    """Return the probability of samples if only A is right with probability p, and only B with probability q."""
    only_a, only_b = samples
    neither = n - only_a - only_b
    logs = special.gammaln(n + 1) - sum(special.gammaln(count + 1) for count in (only_a, only_b, neither))
    logs += special.xlogy(only_a, p) + special.xlogy(only_b, q) + special.xlogy(neither, max(0.0, 1 - p - q))
    return float(np.exp(logs).sum())


@cache
def find_significant(n, margin):
    """Return the samples whose exact p-value is at most alpha; p-values fall with the statistic."""
    only_a, only_b = list_samples(n)
    statistic = tango_statistic(only_a, only_b, n, -margin)
    order = np.argsort(statistic)
    low, high = -1, len(order) - 1  # not significant at `low`, significant at `high`
    while high - low > 1:
        middle = (low + high) // 2
        is_significant = exact_p_value(only_a[order[middle]], only_b[order[middle]], n, margin) <= ALPHA
        low, high = (low, middle) if is_significant else (middle, high)
    selection = statistic >= statistic[order[high]]
    return only_a[selection], only_b[selection]


def count_errors(n, margin):
    """Return the largest probability of a wrong pass and of a wrong failure over all shares of discordant items."""
    angles = np.linspace(0, np.pi / 2, RATES)
    largest = []
    for loss in (margin, -margin):  # the roles of both systems are exchanged for failures
        shares = max(0.0, loss) + ((1 + loss) / 2 - max(0.0, loss)) * np.sin(angles) ** 2
        samples = find_significant(n, loss)
        largest.append(max(compute_share(samples, n, max(0.0, q - loss), q) for q in shares))
    return tuple(largest)


def count_power(n, margin, difference, discordant):
    """Return the probability of passing: by the gate, a t test with margin, and McNemar's exact test."""
    only_a, only_b = samples = list_samples(n)
    p, q = (discordant + difference) / 2, (discordant - difference) / 2
    mean = (only_a - only_b) / n
    error = np.sqrt(((only_a + only_b) / n - mean**2) / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        by_t = stats.t.sf((mean + margin) / error, n - 1) <= ALPHA
    by_mcnemar = stats.binom.sf(only_a - 1, only_a + only_b, 0.5) <= ALPHA
    powers = [compute_share(find_significant(n, margin), n, p, q),
              *(compute_share([side[is_passed] for side in samples], n, p, q) for is_passed in (by_t, by_mcnemar))]
    return powers if margin == 0 else powers[:2]


def simulate(population, margin, runs):
    """Yield the p-values of simulated test sets, and that of a t test: of passing, of failing, of passing by t."""
    rng = np.random.default_rng(np.random.SeedSequence(1))
    for start in range(0, runs, BATCH):
        sample, seed = population.sample(rng, min(BATCH, runs - start)), int(rng.integers(2**32))
        for pair in sample.pairs():
            matrix = sample.matrix.select_systems(pair).by_unit
            observed = Observed.compare(matrix, [(0, 1)])[0]
            test = compare_with_margin(observed, margin, Settings(resamples=RESAMPLES, seed=seed))
            error = float(standard_errors(np.subtract(*influences(matrix).T)))
            t = np.divide(observed.difference + margin, error) if error else 0.0
            p = (1, 1) if test is None else (test.p_inferior, test.p_non_inferior)
            yield *p, stats.t.sf(t, matrix.n_units - 1)


def reduce_runs(runs, units):
    """Return a smaller number of simulated test sets if they are large."""
    return runs if units < UNITS[-1] else runs * 2 // 5


def simulate_errors(kind, units, runs):
    """Return, for each population of a kind, its name, its margin, and the shares of wrong passes and failures."""
    rows, runs = [], runs if kind == "bounded" else reduce_runs(runs, units)
    for population in make_populations(kind, units):
        margin = populations.find_margin(population)
        p_values = np.array(list(simulate(population, margin, runs)))
        rows.append((population.name, margin, *np.mean(p_values[:, :2] <= ALPHA, axis=0)))
    return rows


def rate(units):
    """Ratings in steps of 1/4; in 3 of 10 items a system rates one step higher or lower than the other."""
    def draw(rng, runs):
        base = rng.integers(1, 4, (runs, units))
        step = rng.choice([-1, 0, 1], (runs, units), p=[0.15, 0.7, 0.15])
        return over_one(np.stack([base + step, base], axis=-1) / 4, 2)

    return ratio("", (0.5, 0.5), draw, score_range=(0, 1))


def exchange(family, task, names, units):
    """Two systems that have each other's output in 1 of 10 sentences."""
    systems = populations.load_sentences(task, family)
    a, b = (systems[name] for name in names)
    return populations.mix("", family, units, (0.1, a, b), (0.1, b, a))


def simulate_power(scores, units, margin, runs):
    """Return the shares of equally good candidates that pass: by the gate, and by a t test with margin."""
    population = {
        "ratings": lambda: rate(units),
        "F1": lambda: exchange("prf", "entities", ("aspen-s", "aspen-xl"), units),
        "BLEU": lambda: exchange("bleu", "translation", ("harbour", "north-large"), units)}[scores]()
    p_values = np.array(list(simulate(population, margin, reduce_runs(runs, units))))
    return list(np.mean(p_values[:, [0, 2]] <= ALPHA, axis=0))


def judge(matrices, margin):
    """Return the gate's verdict on a candidate, system 0, by several criteria."""
    members = [SimpleNamespace(system=name, team=name, submission=name) for name in ("candidate", "base")]
    boards = [SimpleNamespace(members=members, matrix=matrix, key=SimpleNamespace(
        metric=SimpleNamespace(alias="score"), test_set=SimpleNamespace(name=f"set {n}"), track=None, name=f"set {n}"))
        for n, matrix in enumerate(matrices)]
    request = SimpleNamespace(significance=SimpleNamespace(alpha=ALPHA))
    case = SimpleNamespace(boards=boards, subject=SimpleNamespace(missing=[]), criteria=[], digests=[""],
                           settings=Settings(resamples=RESAMPLES, seed=1), request=request)
    finding = gate.Gate(base="base", candidate="candidate", margin=margin).run(case)
    return finding.tables["gate"][0]["verdict"]


def simulate_five(kind, share, runs):
    """Return how often one criterion at its margin passes with four perfect ones, and how often five of them fail.

    Args:
        kind: `accuracy`, `scores` or `F1`.
        share: Share of items that all criteria have in common.
        runs: Number of simulated test sets.
    """
    def draw_accuracy(rng, runs):
        drawn = rng.random((runs, 50))
        return over_one(np.stack([drawn < 0.7, (drawn < 0.65) | (drawn >= 0.85)], axis=-1).astype(float))

    def draw_scores(rng, runs):
        base = rng.integers(1, 4, (runs, 200))
        step = rng.choice([-1, 0, 1], (runs, 200), p=[0.25, 0.7, 0.05])
        return over_one(np.stack([base + step, base], axis=-1) / 4, 2)

    population = {"accuracy": ratio("", (0.7, 0.8), draw_accuracy, score_range=(0, 1)),
                  "scores": ratio("", (0.45, 0.5), draw_scores, score_range=(0, 1)),
                  "F1": spans(100, (0.62, 0.7))}[kind]
    margin, rng = populations.find_margin(population), np.random.default_rng(2)
    passed = failed = 0
    for _ in range(runs):
        statistics = population.draw(rng, 5)
        is_shared = rng.random(statistics.shape[1]) < share
        statistics[:, is_shared] = statistics[0, is_shared]
        perfect = statistics.copy()
        if kind == "F1":
            perfect[1:, :, 0] = statistics[1:, :, 0, 2:]
        else:
            perfect[1:, :, 0, 0] = statistics[1:, :, 0, 1]
        failed += judge(make_matrices(population, statistics), margin) == "fail"
        passed += judge(make_matrices(population, perfect), margin) == "pass"
    return passed / runs, failed / runs


def make_matrices(population, statistics):
    """Return a matrix for each test set of statistics, [test sets, items, systems, columns]."""
    return [replace(population, draw=lambda *_, drawn=drawn: drawn[None]).sample(None, 1).matrix
            for drawn in statistics]


def percent(share):
    """Return a share in percent with one decimal place."""
    return f"{100 * share:.1f}"


def measure(runs):
    """Return the rows of the three tables."""
    with repeated_work_once(), ProcessPoolExecutor(min(2, os.cpu_count() or 1), get_context("fork")) as pool:
        counted = {(n, margin): pool.submit(count_errors, n, margin) for n in reversed(UNITS) for margin in MARGINS}
        simulated = {(kind, n): pool.submit(simulate_errors, kind, n, runs) for kind in KINDS for n in UNITS}
        five = {(kind, share): pool.submit(simulate_five, kind, share, runs)
                for kind in ("accuracy", "scores", "F1") for share in (0, 0.8)}
        exact = {key: pool.submit(count_power, *key) for key in (
            (200, 0.05, 0.0, 0.1), (500, 0.02, 0.0, 0.1), (2000, 0.02, 0.0, 0.1), (200, 0.0, 0.06, 0.1),
            (500, 0.0, 0.03, 0.1), (2000, 0.0, 0.03, 0.1))}
        others = {key: pool.submit(simulate_power, *key, runs) for key in (
            ("ratings", 200, 0.05), ("ratings", 500, 0.02), ("ratings", 2000, 0.01), ("F1", 200, 0.03),
            ("F1", 500, 0.02), ("F1", 2000, 0.01), ("BLEU", 200, 3.0), ("BLEU", 500, 2.0), ("BLEU", 2000, 1.0))}
        errors = [("correct or incorrect", "any share of differing items", f"{margin:g}", *(
            " / ".join(map(percent, counted[n, margin].result())) for n in UNITS)) for margin in MARGINS]
        for kind, scores in KINDS.items():
            for rows in zip(*(simulated[kind, n].result() for n in UNITS), strict=True):
                name, margin, *_ = rows[0]
                errors.append((scores, name, f"{margin:.3g}", *(" / ".join(map(percent, row[2:])) for row in rows)))
        together = [(kind, "four of five shared" if share else "separate", *map(percent, running.result()))
                    for (kind, share), running in five.items()]
        powers = [("correct or incorrect", f"{n:,}", f"{margin:g}", f"{difference:g}",
                   *[percent(power) for power in running.result()], *["-"] * (margin > 0))
                  for (n, margin, difference, _), running in exact.items()]
        powers += [(scores, f"{n:,}", f"{margin:g}", "0", *map(percent, running.result()), "-")
                   for (scores, n, margin), running in others.items()]
    return (errors, ERRORS), (together, FIVE), (powers, POWER)


def main(arguments):
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.validity.gate", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5000, metavar="N")
    parser.add_argument("--write", action="store_true", help="replace the tables of docs/gate.md")
    options = parser.parse_args(arguments)
    for rows, header in measure(options.runs):
        if options.write:
            PAGE.write_text(replaced(PAGE.read_text(), rows, header))
        print("\n".join(markdown(rows, header)), end="\n\n", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(sys.argv[1:])
