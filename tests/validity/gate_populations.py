"""Populations in which a candidate, system 0, is worse than the base, system 1, by exactly the margin."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import numpy as np

from registry.metrics import BLEU
from tests.conftest import ROOT
from tests.validity.populations import F1, Population, over_one, quotient_of, ratio

COLUMNS = {
    "prf": ("true_positives", "predicted", "gold"),
    "bleu": ("hyp_len", "ref_len", *(f"correct_{n}" for n in range(1, 5)), *(f"total_{n}" for n in range(1, 5)))}
SCORES = {"prf": quotient_of(F1), "bleu": BLEU().score}
OPTIONS = {"prf": {"quotient": F1, "family": "prf", "score_range": (0, 1)},
           "bleu": {"family": "bleu", "score_range": BLEU.score_range}}


def find_margin(population):
    """Return the loss of the candidate, to 12 decimal places because of rounding errors."""
    return round(population.truth[1] - population.truth[0], 12)


@cache
def load_sentences(task, family):
    """Return the statistics of the sentences of a sample task, [sentences, columns] for each system."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "registry.duckdb"
        subprocess.run([sys.executable, "-m", "registry", "run", ROOT / "sample_data" / task / "task.toml",
                        "--db", database, "--quiet"], check=True, capture_output=True)
        with duckdb.connect(str(database), read_only=True) as connection:
            rows = connection.execute(f"""
                SELECT name, {', '.join(COLUMNS[family])} FROM statistics_{family} JOIN scoring USING (scoring_id)
                JOIN submission USING (submission_id) JOIN system USING (system_id)
                ORDER BY name, item_id""").fetchall()
    return {name: np.array([row[1:] for row in rows if row[0] == name], float) for name in {row[0] for row in rows}}


def reduce_counts(sentences, columns, count):
    """Return sentences in which some columns are smaller by a count, and at least 0."""
    reduced = sentences.copy()
    reduced[:, columns] = np.maximum(reduced[:, columns] - count, 0)
    return reduced


def mix(name, family, units, *cases):
    """Sentences drawn from a sample task; in each case, both systems have certain outputs.

    Args:
        name: Name of the population.
        family: `prf` or `bleu`.
        units: Number of sentences.
        cases: The probability of a case, and the statistics of the candidate and of the base in it; the base has its
            statistics of the first case in all other sentences, and so has the candidate.
    """
    rest = 1 - sum(share for share, *_ in cases)
    usual = cases[0][2]
    shares = np.array([*(share for share, *_ in cases), rest])
    outputs = np.stack([np.stack(pair, axis=1) for _, *pair in cases] + [np.stack([usual, usual], axis=1)])
    means = np.tensordot(shares, outputs.mean(axis=1), 1)

    def draw(rng, runs):
        shape = runs, units
        return outputs[rng.choice(len(shares), shape, p=shares), rng.integers(outputs.shape[1], size=shape)]

    return Population(name, tuple(SCORES[family](means).tolist()), draw, SCORES[family], **OPTIONS[family])


def entities(units):
    """F1 of named entities."""
    systems = load_sentences("entities", "prf")
    small, large, crf = (systems[name] for name in ("aspen-s", "aspen-xl", "birch-crf"))
    yield mix("another system", "prf", units, (1, crf, small))
    yield mix("another system in 3 of 10 sentences", "prf", units, (0.3, small, large))
    yield mix("all entities lost in 1 of 20 sentences", "prf", units, (0.05, reduce_counts(crf, [0, 1], 99), crf))
    yield from lose_rarely("prf", units, crf, reduce_counts(crf, [0, 1], 99), reduce_counts(crf, [0], 1))


def translations(units):
    """Corpus BLEU."""
    systems = load_sentences("translation", "bleu")
    large, harbour, small = (systems[name] for name in ("north-large", "harbour", "north-small"))
    lost = reduce_counts(large, [2, 3, 4, 5], 99)
    yield mix("another system", "bleu", units, (1, small, harbour))
    yield mix("another system in 1 of 10 sentences", "bleu", units, (0.1, harbour, large))
    yield mix("no word correct in 1 of 20 sentences", "bleu", units, (0.05, lost, large))
    yield from lose_rarely("bleu", units, large, lost, reduce_counts(large, [4, 5], 1))


def lose_rarely(family, units, usual, lost, changed):
    """Small changes in some sentences, and a large loss or gain in few."""
    yield mix("small changes; 1 of 50 sentences lost", family, units, (0.05, changed, usual),
              (0.02, lost, usual), (0.05, usual, changed))
    yield mix("small changes; 1 of 200 sentences lost", family, units, (0.05, changed, usual),
              (0.005, lost, usual), (0.05, usual, changed))
    yield mix("small losses; 1 of 100 sentences gained", family, units, (0.2, changed, usual), (0.01, usual, lost))


def bounded(units):
    """Scores from 0 to 1."""
    def lose_most(rng, runs):
        base = (rng.random((runs, units)) < 0.8).astype(float)
        is_lost = (base == 1) & (rng.random((runs, units)) < 0.025)
        return over_one(np.stack([np.where(is_lost, 0.1, base), base], axis=-1), 1)

    def gain_most(rng, runs):
        base = np.where(rng.random((runs, units)) < 0.02, 0.0, 0.9)
        return over_one(np.stack([np.where(base, 0.862, 1.0), base], axis=-1), 3)

    def draw_beta(rng, runs):
        return over_one(np.stack([rng.beta(*shape, (runs, units)) for shape in ((0.45, 0.55), (0.5, 0.5))], axis=-1), 9)

    def draw_offset(rng, runs):
        """Lose 0.9 in 1 of 50 items, gain a little in others."""
        is_lost = rng.random((runs, units)) < 0.02
        return over_one(np.stack([np.where(is_lost, 0.05, 0.96), np.full((runs, units), 0.95)], axis=-1), 2)

    for name, truth, draw in (
            ("0 or 1; 0.9 lost in 1 of 50 items", (0.782, 0.8), lose_most),
            ("0.9 lost in 1 of 50 items, 0.01 gained in others", (0.9418, 0.95), draw_offset),
            ("1 gained in 1 of 50 items, 0.038 lost in others", (0.86476, 0.882), gain_most),
            ("independent Beta(0.45, 0.55) and Beta(0.5, 0.5)", (0.45, 0.5), draw_beta)):
        yield ratio(name, truth, draw, score_range=(0, 1))


def unbounded(units):
    """Means of scores without a highest value."""
    def draw(rng, runs):
        base = np.abs(rng.normal(5, 0.3, (runs, units)))
        return over_one(np.stack([base - np.exp(rng.standard_normal((runs, units)) - 0.5), base], axis=-1), 6)

    yield ratio("lognormal losses", (4.0, 5.0), draw)
