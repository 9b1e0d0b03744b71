"""Rows of judged items: people's scores are equal, and the judge errs alike, favours a system, or sees one less well.

Bands come from a first look at 500 test sets (of `judged-own-items-permutation`, at 4,000): the slope is estimated, so
nothing is exact, and of few items that people looked at intervals are too narrow. What the judges are worth is printed
by `python -m tests.validity.judged_rows`.
"""

from dataclasses import dataclass

import numpy as np

from registry.judged import make_columns, subtract_statistics
from registry.metrics import JudgedMean
from registry.significance import Bootstrap, Permutation, PredictionPowered
from registry.studies.judge import make_corrected_row
from tests.validity.bands import Rate, Size, near
from tests.validity.examinations import ALPHA, CoversScore, PValues
from tests.validity.populations import Population
from tests.validity.row import Row

# of either system how often the judge is right, and how often it says yes whatever it sees
JUDGES = {"unbiased": ((0.85, 0.0), (0.85, 0.0)), "biased-alike": ((0.85, 0.3), (0.85, 0.3)),
          "biased-by-system": ((0.85, 0.4), (0.85, 0.0)), "unlike": ((0.6, 0.3), (0.97, 0.0))}
METRIC = JudgedMean()


def judged_items(units, judge, looked, documents=0, often=None):
    """Two systems of which half of the answers are right, to people, who look at so many of either's.

    A `judge` is one of `JUDGES` or such numbers.
    They look at the same items of both where the numbers are equal. Items lie in `documents` of their own difficulty,
    or are units; with `often`, people look at each of the first half with this probability and at the others with half
    of that.
    """
    of_document = np.arange(units) % documents if documents else None

    def draw(rng, runs):
        ease = rng.standard_normal((runs, units, 1))
        if documents:
            ease = (ease + rng.standard_normal((runs, documents, 1))[:, of_document]) / np.sqrt(2)
        human = (ease + rng.standard_normal((runs, units, 2)) > 0).astype(float)
        right, yes = np.array(JUDGES.get(judge, judge)).T
        said = np.where(rng.random(human.shape) < right, human, 1 - human)
        said = np.where(rng.random(human.shape) < yes, 1.0, said)
        if often is not None:
            chance = np.where(np.arange(units) < units / 2, often, often / 2)[:, None] * np.ones_like(human)
            w = np.where(rng.random((runs, units, 1)) < chance, 1 / chance, 0.0)
            return np.stack(make_columns(said, human, w, 1 / chance - 1), axis=-1)
        order = rng.permuted(np.tile(np.arange(units), (runs, 1)), axis=1)[:, :, None]
        w = (order < np.array(looked)).astype(float)
        return np.stack(make_columns(said, human, w, np.ones_like(human)), axis=-1)

    many = f"{looked[0]}" if looked[0] == looked[1] else f"{looked[0]} and {looked[1]}"
    more = f", in {documents} documents" * bool(documents) + ", by probability" * (often is not None)
    return Population(f"judged, {judge}, {many} of {units} items seen{more}", (0.5, 0.5), draw, METRIC.score,
                      family="additive", units=of_document, judged=True)


@dataclass(frozen=True)
class Corrected:
    """The p-value of study `judge`, of the difference of both systems; or whether the first one's interval covers."""

    covers: bool = False

    def __str__(self):
        return f"{'interval' if self.covers else 'p-value'} of study judge"

    def __call__(self, sample, rng):
        of = sample.matrix.statistics
        if self.covers:
            rows = [make_corrected_row(of[:, n], METRIC, None, ALPHA) for n in range(0, of.shape[1], 2)]
            return np.array([row["low"] <= sample.population.truth[0] <= row["high"] for row in rows])
        differences = (subtract_statistics(of[:, n], of[:, n + 1], lower=False) for n in range(0, of.shape[1], 2))
        return np.array([make_corrected_row(rows, METRIC, None, ALPHA)["p_value"] for rows in differences])


def judged():
    """Swaps, resamples and the study's normal tests; swaps fail where people look at more items of one system."""
    swaps, resamples, normal = PValues(Permutation(), resamples=499), PValues(Bootstrap(), resamples=499), Corrected()
    covers = Corrected(covers=True)
    for judge in JUDGES:
        null = judged_items(300, judge, (60, 60))
        yield Row(f"judged-{judge}-permutation", null, swaps, near(0.05, 0.015), 20_000, 50)
        yield Row(f"judged-{judge}-bootstrap", null, resamples, near(0.055, 0.015), 20_000, 50)
        yield Row(f"judged-{judge}-normal", null, normal, near(0.06, 0.015), 20_000, 50)
        yield Row(f"judged-{judge}-interval", null, covers, (Rate(0.925, 0.955, "coverage"),), 20_000, 50)
    null = judged_items(300, "biased-by-system", (60, 60))
    yield Row("judged-score-interval", null, CoversScore(Bootstrap()), (Rate(0.92, 0.955, "coverage"),), 20_000, 50)
    few, own = judged_items(300, "unlike", (30, 30)), judged_items(300, "unlike", (30, 150))
    yield Row("judged-few-normal", few, normal, (Size(0.05, 0.055, 0.095),), 20_000, 50)
    yield Row("judged-own-items-permutation", own, swaps, (Size(0.05, 0.22, 0.32),), 20_000, 50)
    yield Row("judged-own-items-bootstrap", own, resamples, near(0.055, 0.02), 20_000, 50)
    yield from _with_own_slopes()


def _with_own_slopes():
    """The test that gives each difference a slope of its own: few items seen, clusters, known probabilities."""
    test, looked = PredictionPowered(), (60, 60)
    nulls = {**{judge: judged_items(300, judge, looked) for judge in JUDGES},
             "few": judged_items(300, "unlike", (20, 20)), "own-items": judged_items(300, "unlike", (30, 150)),
             "documents": judged_items(600, "biased-by-system", (120, 120), documents=60),
             "few-documents": judged_items(600, "unlike", (120, 120), documents=30),
             "probabilities": judged_items(300, "unlike", looked, often=0.27)}
    for name, null in nulls.items():
        yield Row(f"judged-{name}-prediction-powered", null, PValues(test), near(0.05, 0.01), 20_000, 50)
    for name in ("biased-by-system", "few", "few-documents", "probabilities"):
        yield Row(f"judged-{name}-prediction-powered-interval", nulls[name], CoversScore(test),
                  (Rate(0.935, 0.965, "coverage"),), 20_000, 50)
    yield Row("judged-unlike-prediction-powered-bootstrap", nulls["unlike"],
              PValues(PredictionPowered("bootstrap"), resamples=499), near(0.055, 0.015), 5_000, 50)


def main():
    """Print of how many items people's scores would tell as much without the judge: mean of 2,000 test sets."""
    for judge in JUDGES:
        for units, looked in ((300, 60), (2000, 200)):
            of = judged_items(units, judge, (looked, looked)).sample(np.random.default_rng(0), 2000).matrix.statistics
            alone = [make_corrected_row(of[:, n], METRIC, None, ALPHA)["effective"] for n in range(0, of.shape[1], 2)]
            differences = [subtract_statistics(of[:, n], of[:, n + 1], lower=False) for n in range(0, of.shape[1], 2)]
            pairs = [make_corrected_row(rows, METRIC, None, ALPHA)["effective"] for rows in differences]
            print(f"{judge}: people looked at {looked} of {units}, scores {np.mean(alone):.0f}, differences "
                  f"{np.mean(pairs):.0f}")


if __name__ == "__main__":
    main()
