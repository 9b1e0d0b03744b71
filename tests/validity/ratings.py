"""How often tests of adjusted mean ratings err, and which differences they find, beside tests of two systems.

    python -m tests.validity.ratings [DESIGNS]

People rate the documents of five systems, sentence by sentence. Every system is rated on a random share of the
documents. Documents and annotators are random, and both favour some systems. The first two systems are compared. A
difference that is added to a system moves its estimate and interval alike, so intervals miss the true difference as
often as equal systems are found to differ. `adjusted` holds for other annotators. `these` groups ratings by document
only; it holds for the annotators of the data, so it errs if it misses the difference that includes their preferences.

Designs are drawn, and many scores of each design. The weights of residuals in the squared error depend on the design
only, so they are computed once. For the first scores, the error is compared with that of `JointEstimates`.
"""

import sys
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import special

from registry.significance.joint.estimates import Groups
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
        uneven: Whether each annotator rates 0.7 times as much as the one before.
        scales: Standard deviation of the logarithm of the width of an annotator's scale.
        is_skewed: Whether the errors of single ratings have an exponential distribution.
    """

    annotators: int
    documents: int
    overlap: float
    assignment: str
    annotator_by_system: float = 0.3
    uneven: bool = False
    scales: float = 0.0
    is_skewed: bool = False

    @property
    def description(self):
        """How documents are assigned, and what is unusual."""
        unusual = {"uneven": self.uneven, "scales differ": self.scales, "skewed": self.is_skewed,
                   "strong preferences": self.annotator_by_system > 0.5}
        return ", ".join([self.assignment, *(name for name, is_so in unusual.items() if is_so)])

    def draw_design(self, rng):
        """Draw who rates what: ratings without scores."""
        n = max(1, round(self.overlap * self.documents))
        document = np.concatenate([rng.permutation(self.documents)[:n] for _ in range(SYSTEMS)])
        system = np.repeat(np.arange(SYSTEMS), n)
        shares = (0.7 if self.uneven else 1.0) ** np.arange(self.annotators)
        annotator = rng.choice(self.annotators, max(len(system), self.documents), p=shares / shares.sum())
        annotator = annotator[:len(system)] if self.assignment == "output" else annotator[document]
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
        errors = rng.exponential(size=preferences.shape) if self.is_skewed else rng.standard_normal(preferences.shape)
        scores = preferences + NOISE * errors
        for spread, levels in (
                (SEVERITY, design.annotator), (DOCUMENT, design.document), (SENTENCE, design.item),
                (DOCUMENT_BY_SYSTEM, design.document * SYSTEMS + design.system),
                (SENTENCE_BY_SYSTEM, design.item * SYSTEMS + design.system)):
            scores += spread * rng.standard_normal((levels.max() + 1, SCORES))[levels]
        scales = np.exp(self.scales * rng.standard_normal((design.n_annotators, SCORES)))[design.annotator]
        return scores * scales, preferences * scales


CAMPAIGNS = [
    *(Campaign(*numbers) for numbers in product(ANNOTATORS, DOCUMENTS, OVERLAPS, ASSIGNMENTS)),
    *(Campaign(annotators, 60, 0.5, "output", **unusual) for annotators in (6, 12) for unusual in (
        {"uneven": True}, {"scales": 0.4}, {"is_skewed": True}, {"annotator_by_system": 1.0},
        {"uneven": True, "annotator_by_system": 1.0})),
    *(Campaign(annotators, documents, 0.5, assignment) for annotators, documents in ((60, 60), (60, 120), (120, 120))
      for assignment in ("output", "document"))]


def square_errors(joint, groups, residuals):
    """Variances of the difference of the first two systems from one kind of groups, for many scores of a design."""
    return sum(np.square((weights[:, 0] - weights[:, 1]) @ residuals[block.rows])
               for block, weights, _ in joint.adjust_groups(Groups(groups)))


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
    residuals = scores - dense @ effects
    cells = design.document * design.n_annotators + design.annotator
    by_document, by_annotator, by_both = (
        square_errors(joint, groups, residuals) for groups in (design.document, design.annotator, cells))
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
    for n, campaign in enumerate(CAMPAIGNS):
        rates = measure(campaign, designs, [20271205, n])
        share, degrees, *_ = rates["adjusted"]
        cells = [campaign.annotators, campaign.documents, f"{100 * campaign.overlap:.0f} %", campaign.description,
                 f"{100 * share:.0f} %", f"{degrees:.1f}", *(f"{100 * rates[name][2]:.1f}" for name in METHODS),
                 *(f"{100 * rates[name][3]:.0f}" for name in METHODS)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
