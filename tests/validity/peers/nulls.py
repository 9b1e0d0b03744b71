"""Test sets on which nothing is to be found, as any program can take them: arrays, texts, boards and histories.

A null draws its test sets one after the other from the seed that its name is, so that all programs see the same ones.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sacrebleu
from scipy.special import ndtr

from registry.metrics import BLEU
from registry.significance import StatisticMatrix
from tests.significance.histories.open_boards import independent, log_p_values, stairs
from tests.validity.populations import binary, correlated, graded, lopsided, over_one, ratio, skewed

BATCH = 50


@dataclass(frozen=True)
class Null:
    """Where test sets come from.

    Attributes:
        name: What it is.
        draw: From a generator and a number to so many test sets.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Iterator[Any]]

    def test_sets(self, runs):
        """The first so many."""
        for batch in range(-(-runs // BATCH)):
            rng = np.random.default_rng(np.random.SeedSequence(zlib.crc32(self.name.encode()), spawn_key=(batch,)))
            yield from list(self.draw(rng, BATCH))[:runs - batch * BATCH]


@dataclass(frozen=True)
class Scores:
    """Item scores of systems, [systems, items], their matrix, and their true scores."""

    scores: np.ndarray
    matrix: StatisticMatrix
    truth: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class Texts:
    """Two translations of the same references, and their matrix."""

    hypotheses: tuple[list[str], list[str]]
    references: list[str]
    matrix: StatisticMatrix
    seed: int


@dataclass(frozen=True)
class History:
    """Answers that are right or wrong, [submissions, items], and which submissions are truly new bests."""

    right: np.ndarray
    is_better: np.ndarray
    log_p: np.ndarray


def of_population(population):
    """A population of docs/validity.md whose score is the mean of items."""
    def draw(rng, runs):
        sample, seed = population.sample(rng, runs), int(rng.integers(2**31))
        for run in range(runs):
            matrix = sample.matrix.by_unit.select_systems(range(run * sample.systems, (run + 1) * sample.systems))
            yield Scores((matrix.statistics[:, :, 0] / matrix.statistics[:, :, 1]).T, matrix, population.truth,
                         seed + run)

    return Null(population.name, draw)


def shares(units, systems):
    """Scores from 0 to 1 without ties, of systems that are equally good."""
    def draw(rng, runs):
        return over_one(ndtr(correlated(rng, (runs, units, systems), 0.5)), 9)

    return ratio(f"scores from 0 to 1, {systems} systems, {units} items", (0.5,) * systems, draw)


def texts(segments, quality=0.7):
    """Translations that get words right as often as each other, and as seldom in hard segments."""
    def draw(rng, runs):
        for _ in range(runs):
            references, hypotheses = [], ([], [])
            for length in rng.integers(5, 26, segments):
                words = rng.integers(0, 500, length)
                ease = rng.uniform(-0.2, 0.2) + quality
                references.append(" ".join(f"w{word}" for word in words))
                for of in hypotheses:
                    right = rng.random(length) < ease
                    of.append(" ".join(f"{'w' if hit else 'x'}{word}" for word, hit in zip(words, right, strict=True)))
            yield Texts(hypotheses, references, _matrix(hypotheses, references), int(rng.integers(2**31)))

    return Null(f"translations, {segments} segments, by BLEU", draw)


def _matrix(hypotheses, references):
    found = [[sacrebleu.sentence_bleu(*pair) for pair in zip(of, [[of] for of in references], strict=True)]
             for of in hypotheses]
    statistics = [[[of.sys_len, of.ref_len, *of.counts, *of.totals] for of in system] for system in found]
    return StatisticMatrix(np.array(statistics, dtype=float).transpose(1, 0, 2), BLEU().score, family="bleu")


def history(draw_one, name, submissions):
    """Submissions to an open board, of which those that are no better than one before must not be a new best."""
    def draw(rng, runs):
        for _ in range(runs):
            right, solved = draw_one(rng)
            right, solved = right[:submissions], solved[:submissions]
            shared = int(solved.max())
            solid = np.arange(shared) < solved[:, None]
            yield History(np.hstack([right, solid]), np.append(False, np.diff(solved) > 0), log_p_values(right, solved))

    return Null(name, draw)


FEW, SKEWED, RIGHT = of_population(graded(20)), of_population(lopsided(20)), of_population(binary(50))
LONG_TAILS, MANY_ITEMS = of_population(skewed(50)), of_population(binary(2000))
TRANSLATIONS = texts(60)
FIVE, TEN = (of_population(binary(200, (0.7,) * systems)) for systems in (5, 10))
NEAR = replace(of_population(binary(200, tuple(np.linspace(0.7, 0.709, 10)))), name="ten near each other, 200 items")
SHARES = of_population(shares(200, 10))
EQUALS = history(independent, "100 submissions of the same quality", 100)
STAIRS = history(stairs, "20 submissions, every other one far better", 20)
