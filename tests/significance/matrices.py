"""Matrices of statistics that tests of many kernels begin with, and what they draw them from."""

import numpy as np
from hypothesis import strategies as st

from registry.evaluation.matrices import Counts, Steps, build_matrix
from registry.families import step_of
from registry.metrics import Mean
from registry.significance import Permutation, Settings, StatisticMatrix
from registry.significance.intervals import group_by_item

ACCURACY = ((1, 0), (0, 1))
PRECISION, RECALL, F1 = (((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((2, 0, 0), (0, 1, 1)))
own_denominators = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(0, 4), st.integers(1, 5)), min_size=1, max_size=7,
).map(lambda rows: [[[a, d], [b, e]] for a, d, b, e in rows])
alternatives = st.sampled_from(["two-sided", "greater", "less"])


def quotient(sums):
    return np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] != 0)


def matrix(statistics, quotient_=ACCURACY, **options):
    return StatisticMatrix(np.asarray(statistics, dtype=float), quotient, quotient=quotient_, **options)


def in_steps(values, places=9):
    """Statistics of item scores as they are counted: whole steps of so many decimal places, over the steps of a 1."""
    values = np.asarray(values, dtype=float)
    return np.stack([np.rint(values * 10**places), np.full_like(values, 10**places)], axis=-1)


def of_labels(right):
    """A matrix of right (1) and wrong (0) answers, [items, systems]."""
    right = np.asarray(right, dtype=float)
    return matrix(np.stack([right, np.ones_like(right)], axis=-1))


def permuted(m, pair=(0, 1), **options):
    return Permutation().run(m, [pair], Settings(**options))[0]


def uneven(seed, units=200, systems=4):
    rng = np.random.default_rng(seed)
    under = rng.integers(1, 9, (units, systems))
    return np.stack([rng.integers(0, under + 1), under], axis=-1).astype(float)


def of_scores(pairs):
    values = np.asarray(pairs, dtype=float)
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    steps = Steps.choose(Mean(), [statistics], step_of(statistics))
    return build_matrix(Mean(), Counts.from_statistics(statistics, steps))


def matrix_by(metric, statistics):
    """The matrix of a metric from its statistics, by unit."""
    statistics = np.asarray(statistics, dtype=float)
    steps = Steps.choose(metric, [statistics], step_of(statistics))
    return group_by_item(build_matrix(metric, Counts.from_statistics(statistics, steps)))


def of_values(metric, values):
    values = np.asarray(values, dtype=float)
    return matrix_by(metric, np.stack([values, np.ones_like(values)], axis=-1))


def of_classes(metric, gold, predicted):
    """A matrix from labels: gold [items] and predicted [items, systems], numbers from 0."""
    one_hot = np.eye(1 + max(gold.max(), predicted.max()))
    said, there = one_hot[predicted], np.broadcast_to(one_hot[gold][:, None], (*predicted.shape, len(one_hot)))
    return matrix_by(metric, np.stack([there * said, said, there], axis=-1).reshape(*predicted.shape, -1))


def yehs_relations(quotient):
    """Yeh 2000, section 3.3: 103 relations, recalled by both 19, by I only 28, by II only 6; spurious 5, 43, 9."""
    rows = [[[1, 1, 1]] * 2] * 19 + [[[1, 1, 1], [0, 0, 1]]] * 28 + [[[0, 0, 1], [1, 1, 1]]] * 6
    rows += [[[0, 0, 1]] * 2] * 50
    rows += [[[0, 1, 0]] * 2] * 5 + [[[0, 1, 0], [0, 0, 0]]] * 43 + [[[0, 0, 0], [0, 1, 0]]] * 9

    def score(sums):
        over, under = (sums @ np.array(side, dtype=float) for side in quotient)
        return np.divide(over, under, out=np.full_like(over, np.nan), where=under != 0)

    return StatisticMatrix(np.array(rows, dtype=float), score, quotient=quotient, family="prf")


def f1(sums):
    return quotient(np.stack([2 * sums[..., 0], sums[..., 1] + sums[..., 2]], axis=-1))


def of_spans(rng, clusters, *, known=True):
    """Two systems' spans in items of clusters that are easy or hard for either of them."""
    n, c = len(clusters), int(clusters.max()) + 1
    gold = rng.poisson(4, n)
    systems = []
    for ease in rng.beta(4, 2, (2, c)):
        hits, extra = rng.binomial(gold, ease[clusters]), rng.poisson(1, n)
        systems.append(np.stack([hits, hits + extra, gold], axis=-1))
    return StatisticMatrix(np.stack(systems, axis=1).astype(float), f1, units=clusters, quotient=F1 if known else None)


def of_answers(rows, metric, units=None):
    """A matrix of answers from rows (A gives it, B gives it, the gold has it)."""
    statistics = np.array([[[gold * a, a, gold], [gold * b, b, gold]] for a, b, gold in rows], dtype=float)
    return StatisticMatrix(statistics, metric.score, units=units, quotient=metric.quotient, family="prf",
                           answers_to=np.arange(len(rows)))


def shared(rows, **options):
    """A matrix of rows (numerator of A, numerator of B, denominator)."""
    return matrix([[[a, w], [b, w]] for a, b, w in rows], **options)
