"""How often tests of two metrics that agree equally with people err, by the unit that the permutations swap.

    python -m tests.validity.metric_agreement [RUNS]

A run is a test set with scores by people and by two metrics of the same population. A test errs if its p-value is at
most 5 %.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from registry.significance import Settings
from registry.significance.metric_agreement import MEASURES, HumanScores, compare_metrics
from tests.validity.examinations import ALPHA, HERE

SYSTEMS, OF_DOCUMENT = 8, 6
PERMUTATIONS = 99


@dataclass(frozen=True)
class JudgedPopulation:
    """Where scores by people and by two metrics come from.

    Attributes:
        name: What it is, for the table.
        draw: From a generator to the scores by people [items, systems] and those by both metrics.
    """

    name: str
    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def number_documents(items):
    return np.arange(items) // OF_DOCUMENT


def draw_scores(rng, items=90, item_bias=(0.0, 0.0), document_bias=0.0, noise=(1.0, 1.0)):
    """Scores of outputs with a quality; each metric has errors by item, document and output with these deviations."""
    def normal(*shape):
        return rng.standard_normal(shape)

    quality = normal(items, 1) + 0.25 * normal(1, SYSTEMS) + 0.7 * normal(items, SYSTEMS)
    human = quality + 0.7 * normal(items, SYSTEMS)
    metrics = []
    for bias, deviation in zip(item_bias, noise, strict=True):
        of_items = bias * normal(items, 1)
        of_documents = document_bias * normal(items // OF_DOCUMENT, 1)[number_documents(items)]
        metrics.append(quality + of_items + of_documents + deviation * normal(items, SYSTEMS))
    return human, np.stack(metrics)


POPULATIONS = {
    "independent": JudgedPopulation("errors of single outputs", draw_scores),
    "item bias": JudgedPopulation("errors that the outputs for an item share", partial(
        draw_scores, item_bias=(1.5, 1.5))),
    "document bias": JudgedPopulation("errors that the outputs for a document share", partial(
        draw_scores, document_bias=1.5)),
    "unlike": JudgedPopulation("errors of single outputs by one metric, of whole items by the other", partial(
        draw_scores, item_bias=(0.0, 1.5), noise=(np.hypot(1.5, 1.0), 1.0))),
    "unlike, more items": JudgedPopulation("the same, 360 items", partial(
        draw_scores, items=360, item_bias=(0.0, 1.5), noise=(np.hypot(1.5, 1.0), 1.0))),
}
# Only Pearson's r of all outputs is equal for unlike metrics: their errors have the same variance.
ROWS = [
    ("independent", "pearson", "item"), ("independent", "pearson", "single score"),
    ("item bias", "pearson", "item"), ("item bias", "pearson", "single score"),
    ("document bias", "pearson", "cluster"), ("document bias", "pearson", "item"),
    ("unlike", "pearson", "item"), ("unlike, more items", "pearson", "item"),
    ("item bias", "spa", "item"), ("item bias", "spa", "single score"), ("item bias", "accuracy", "item"),
    ("item bias", "acc-eq-by-item", "item"), ("item bias", "kendall-by-item", "item"),
    ("item bias", "pearson-of-means", "item"),
]


def measure_error(population, measure, unit, runs):
    """The share of test sets in which two metrics with the same agreement differ significantly."""
    rng = np.random.default_rng([20271202, list(POPULATIONS).index(population)])
    errors = 0
    for _ in range(runs):
        human, metrics = POPULATIONS[population].draw(rng)
        settings = Settings(resamples=PERMUTATIONS, seed=int(rng.integers(2**32)), execution=HERE)
        (p_value,) = compare_metrics(HumanScores(human), metrics, MEASURES[measure], settings,
                                     number_documents(len(human)) if unit == "cluster" else None,
                                     swap_single_scores=unit == "single score").p_values
        errors += p_value <= ALPHA
    return errors / runs


def main(runs=1000):
    """Print the table."""
    print("| errors of the metrics | measure | swapped | error rate at 5 % | standard error |")
    print("| --- | --- | --- | --- | --- |")
    for population, measure, unit in ROWS:
        share = measure_error(population, measure, unit, runs)
        print(f"| {POPULATIONS[population].name} | `{measure}` | {unit} | {100 * share:.1f} % | "
              f"{100 * np.sqrt(share * (1 - share) / runs):.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
