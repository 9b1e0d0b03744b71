"""How often tests of adjusted mean ratings err, and which differences they find, beside tests of two systems.

    python -m tests.validity.ratings [DESIGNS]

People rate the documents of five systems, sentence by sentence. Every system is rated on a random share of the
documents. Documents and annotators are random, and both favour some systems. The first two systems are compared. A
difference that is added to a system moves its estimate and interval alike, so intervals miss the true difference as
often as equal systems are found to differ. `adjusted` holds for other annotators. `these` groups ratings by document
only; it holds for the annotators of the data, so it errs if it misses the difference that includes their preferences.

Designs are drawn, and scores of each design. The squared error is a quadratic form of the scores, which is computed
here for many scores at once, and compared with that of `JointEstimates` for the first ones.
"""

import sys
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import special

from registry.significance.joint.estimates import FEW_GROUPS
from registry.significance.joint.overlap import compare_overlapping, compare_paired, compare_unpaired
from registry.significance.joint.ratings import LeastSquares, Ratings
from tests.validity.examinations import ALPHA

SYSTEMS, SENTENCES = 5, 3
ANNOTATORS, DOCUMENTS, OVERLAPS = (3, 6, 12), (5, 20, 60), (0.2, 0.5, 1.0)
ASSIGNMENTS = {"output": "each document of each system by a random annotator",
               "document": "each document of all systems by one annotator",
               "all": "all by all annotators"}
SEVERITY, DOCUMENT, SENTENCE, NOISE = 1.0, 1.0, 0.5, 1.0  # standard deviations
DOCUMENT_BY_SYSTEM, SENTENCE_BY_SYSTEM = 0.5, 0.5
DIFFERENCE = 0.5  # for power
SCORES = 40  # of each design
PEERS = {"paired": compare_paired, "unpaired": compare_unpaired, "overlapping": compare_overlapping}
METHODS = ("adjusted", "these", *PEERS)


@dataclass(frozen=True)
class Campaign:
    """How ratings are collected.

    Attributes:
        annotators, documents: Numbers of them.
        overlap: Share of the documents on which a system is rated.
        assignment: Key of `ASSIGNMENTS`.
        annotator_by_system: Standard deviation of the preference of an annotator for a system.
    """

    annotators: int
    documents: int
    overlap: float
    assignment: str
    annotator_by_system: float = 0.3

    def draw_design(self, rng):
        """Draw who rates what: ratings without scores."""
        n = max(1, round(self.overlap * self.documents))
        document = np.concatenate([rng.permutation(self.documents)[:n] for _ in range(SYSTEMS)])
        system = np.repeat(np.arange(SYSTEMS), n)
        if self.assignment == "output":
            annotator = rng.integers(self.annotators, size=len(system))
        else:
            annotator = rng.integers(self.annotators, size=self.documents)[document]
        if self.assignment == "all":
            annotator = np.repeat(np.arange(self.annotators), len(system))
            system, document = np.tile(system, self.annotators), np.tile(document, self.annotators)
        system, document, annotator = (np.repeat(column, SENTENCES) for column in (system, document, annotator))
        item = document * SENTENCES + np.arange(len(system)) % SENTENCES
        item, annotator, document = (np.unique(levels, return_inverse=True)[1]
                                     for levels in (item, annotator, document))
        return Ratings(system, item, annotator, np.zeros(len(system)), document=document)

    def draw_scores(self, rng, design):
        """Draw scores of equal systems, and the part that annotators prefer a system, [ratings, SCORES] each."""
        cells = design.annotator * SYSTEMS + design.system
        preferences = self.annotator_by_system * rng.standard_normal((cells.max() + 1, SCORES))[cells]
        scores = preferences + NOISE * rng.standard_normal(preferences.shape)
        for spread, levels in (
                (SEVERITY, design.annotator), (DOCUMENT, design.document), (SENTENCE, design.item),
                (DOCUMENT_BY_SYSTEM, design.document * SYSTEMS + design.system),
                (SENTENCE_BY_SYSTEM, design.item * SYSTEMS + design.system)):
            scores += spread * rng.standard_normal((levels.max() + 1, SCORES))[levels]
        return scores, preferences


def sum_by(levels, rows):
    """Sums of the rows of each level."""
    sums = np.zeros((levels.max() + 1, *rows.shape[1:]))
    np.add.at(sums, levels, rows)
    return sums


def weigh_groups(influences, groups):
    """The factor of each group's sums in the difference of the first two systems, [groups, columns].

    By CR2 for few groups; for many by their effective number.

    Args:
        influences: Influences of a unit residual of each rating on the scores and on the severities of annotators.
        groups: Group of each rating.
    """
    contrast = np.eye(influences.shape[1])[0] - np.eye(influences.shape[1])[1]
    if groups.max() >= FEW_GROUPS:
        shares = sum_by(groups, np.square(influences[:, :2]).sum(axis=1))
        effective = shares.sum()**2 / (shares**2).sum()
        return np.tile(contrast * np.sqrt(effective / (effective - 1)), (groups.max() + 1, 1))
    values, vectors = np.linalg.eigh(influences.T @ influences)
    chosen = values > 1e-11 * values.max()
    root, whiten = vectors[:, chosen] * np.sqrt(values[chosen]), vectors[:, chosen] / np.sqrt(values[chosen])
    weights = []
    for group in range(groups.max() + 1):
        block = influences[groups == group] @ whiten
        shares, directions = np.linalg.eigh(block.T @ block)
        factors = np.where(shares > 1 - 1e-8, 0, 1 / np.sqrt(np.maximum(1e-8, 1 - shares)))
        weights.append(contrast @ root @ (directions * factors) @ directions.T @ whiten.T)
    return np.array(weights)


def compare_adjusted(design, scores, preferences):
    """Compare the adjusted means of the first two systems, [SCORES].

    Returns:
        For `adjusted` and `these`: the estimated difference minus the true one, its standard error, and degrees of
        freedom. Empty if the difference cannot be estimated; without one of both if its error cannot be.
    """
    fit = LeastSquares(replace(design, score=scores[:, 0]), annotators="random")
    if fit.components.any():
        return {}
    joint, pair = fit.estimates, (np.array([0]), np.array([1]))
    first, own = joint.compare(*pair), replace(fit, annotators="fixed").estimates.compare(*pair)
    dense = fit.design.toarray()
    solve = np.linalg.pinv(dense.T @ dense, rcond=1e-10, hermitian=True) @ dense.T
    effects, preferred = solve @ scores, solve[:2] @ preferences
    influences, residuals = dense @ np.append(joint.inverse, joint.others, axis=1), scores - dense @ effects
    cells = np.unique(design.document * (design.annotator.max() + 1) + design.annotator, return_inverse=True)[1]
    by_document, by_annotator = (np.square(np.einsum(
        "gk,gks->gs", weigh_groups(influences, groups), sum_by(groups, influences[:, :, None] * residuals[:, None])
    )).sum(axis=0) for groups in (design.document, design.annotator))
    by_both = np.square(sum_by(cells, (influences[:, [0]] - influences[:, [1]]) * residuals)).sum(axis=0)
    squared = np.max([by_document, by_annotator, by_document + by_annotator - by_both], axis=0)
    differences, compared = effects[0] - effects[1], {}
    for name, result, variance, truth in (("adjusted", first, squared, 0.0),
                                          ("these", own, by_document, preferred[0] - preferred[1])):
        if np.isfinite(result.degrees[0]):
            assert np.allclose([result.differences[0], result.errors[0]**2], [differences[0], variance[0]])
            compared[name] = differences - truth, np.sqrt(variance), result.degrees[0]
    return compared


def find_significant(differences, errors, degrees):
    """Whether each difference is significant; nan if its error is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors > 0, 2 * special.stdtr(degrees, -np.abs(differences) / errors) <= ALPHA, np.nan)


def measure(campaign, designs, seed):
    """Rates of one campaign.

    Returns:
        For each method: the share of designs with a result, the median of the degrees of freedom, the share of errors,
        and the share of differences of `DIFFERENCE` that are found.
    """
    rng = np.random.default_rng(seed)
    degrees, significant = {name: [] for name in METHODS}, {name: ([], []) for name in METHODS}
    for _ in range(designs):
        design = campaign.draw_design(rng)
        scores, preferences = campaign.draw_scores(rng, design)
        compared = compare_adjusted(design, scores, preferences)
        for name, compare in PEERS.items():
            columns = [compare(replace(design, score=column), 0, 1) for column in scores.T]
            if columns[0].error > 0:
                compared[name] = tuple(np.array([getattr(one, key) for one in columns])
                                       for key in ("difference", "error", "degrees"))
        for name, (errors, standard_errors, freedom) in compared.items():
            degrees[name].append(np.median(freedom))
            for shift, flags in zip((0, DIFFERENCE), significant[name], strict=True):
                flags.append(2 * special.stdtr(freedom, -np.abs(errors + shift) / standard_errors) <= ALPHA)
    return {name: (len(degrees[name]) / designs, np.median(degrees[name]), *map(np.mean, significant[name]))
            if degrees[name] else (0.0, np.nan, np.nan, np.nan) for name in METHODS}


def main(designs=50):
    """Print one row for each campaign."""
    columns = [f"{kind}: {name}" for kind in ("error", "power") for name in METHODS]
    print(f"| annotators | documents | overlap | rated | has a result | degrees | {' | '.join(columns)} |")
    print("| --- " * (6 + 2 * len(METHODS)) + "|")
    for n, (annotators, documents, overlap, assignment) in enumerate(
            product(ANNOTATORS, DOCUMENTS, OVERLAPS, ASSIGNMENTS)):
        rates = measure(Campaign(annotators, documents, overlap, assignment), designs, [20271205, n])
        share, degrees, *_ = rates["adjusted"]
        cells = [annotators, documents, f"{100 * overlap:.0f} %", assignment, f"{100 * share:.0f} %", f"{degrees:.1f}",
                 *(f"{100 * rates[name][2]:.1f}" for name in METHODS),
                 *(f"{100 * rates[name][3]:.0f}" for name in METHODS)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
