"""Adjusted mean ratings of systems that were not all rated on the same items.

Annotators rate outputs of systems on items. The model is the sum of an effect of the system, one of the item, one of
the annotator, and an error. `adjust` estimates it by least squares from all ratings, so a system is neither rewarded
for easy items nor for lenient annotators. The differences of systems do not depend on how the levels of items and
annotators are weighted. `adjust` returns the influence of every rating, so that errors are computed from whole items
and whole annotators (`JointEstimates`) and not from the residual variance of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from registry.arrays import ROUNDING, Flags, Floats, Ints, without_rounding
from registry.errors import InputError
from registry.messages import Message, Messages
from registry.significance.joint.estimates import LEAST_GROUPS, JointEstimates
from registry.significance.joint.leverage import LeastSquaresEstimates

Effect = Literal["item", "annotator"]
EFFECTS: tuple[Effect, ...] = ("item", "annotator")

_SINGULAR = 1e-9  # smaller eigenvalues of the scaled normal equations count as 0
_SAME_ROW = 1e-6  # largest difference of equal entries of an eigenvector, relative to the largest entry


@dataclass(frozen=True, eq=False)
class Ratings:
    """Human ratings, one entry per rating in each array. Higher scores are better.

    Systems, items, annotators and documents have numbers from 0, without gaps. An annotator may rate an output several
    times.

    Attributes:
        system: System whose output was rated, [ratings].
        item: Item of the output, [ratings].
        annotator: Annotator, [ratings]; None: unknown.
        score: Rating, [ratings].
        weight: Weight in least squares, above 0, [ratings]; None: all ratings have the same weight.
        document: Document of the item, or another cluster of items, [ratings]; None: items are independent.
    """

    system: Ints
    item: Ints
    annotator: Ints | None
    score: Floats
    weight: Floats | None = None
    document: Ints | None = None

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return int(self.system.max()) + 1

    @property
    def weights(self) -> Floats:
        """Weights in least squares, [ratings]."""
        return np.ones(len(self.score)) if self.weight is None else self.weight

    @property
    def units(self) -> Ints:
        """Independent unit of each rating: its document if documents are declared, otherwise its item, [ratings]."""
        return self.item if self.document is None else self.document

    @property
    def n_annotators(self) -> int:
        """Number of annotators; 0 if they are unknown."""
        return 0 if self.annotator is None else int(self.annotator.max()) + 1


def standardize(ratings: Ratings) -> Ratings:
    """Replace scores by z-scores of each annotator, as WMT does.

    The mean and the standard deviation (with n - 1) are those of all ratings of the annotator, unweighted. An annotator
    whose ratings are all equal gets 0. Errors that are computed later take these means and deviations as known.
    """
    annotator, score = _require_annotators(ratings), ratings.score
    counts = np.bincount(annotator)
    centred = score - (np.bincount(annotator, score) / counts)[annotator]
    without_rounding(centred, np.full(len(score), np.abs(score).max()))
    squares = np.bincount(annotator, np.square(centred))
    deviations = np.sqrt(squares / np.maximum(counts - 1, 1))[annotator]
    return replace(ratings, score=np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 0))


def _require_annotators(ratings: Ratings) -> Ints:
    if ratings.annotator is None:
        raise InputError("the ratings do not name their annotators")
    return ratings.annotator


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Weighted least squares with effects of systems, items and annotators.

    The normal equations of the largest factor are diagonal. This factor is eliminated first, so that the remaining
    equations, for systems and the other factor, are solved as a dense matrix.

    Attributes:
        ratings: The ratings.
        effects: Factors with effects, in addition to the systems.
        annotators: `random`: errors hold for other annotators, too. `fixed`: they hold for the annotators of the data
            only, including their preferences for systems. `auto`: `random` for at least six annotators.

    Measured error rates at 5 % (`python -m tests.validity.ratings`): at most 6 % for 3 to 120 annotators. They are 6.1
    to 7.1 % for random annotators with preferences as large as the errors of single ratings, if annotators rate systems
    unequally often. With three random annotators hardly any difference is significant.
    """

    ratings: Ratings
    effects: Sequence[Effect] = EFFECTS
    annotators: Literal["auto", "random", "fixed"] = "auto"

    @cached_property
    def factors(self) -> list[Ints]:
        """Level of every rating for each factor: systems first, and the factor with most levels last."""
        others = [self.ratings.item if name == "item" else _require_annotators(self.ratings) for name in self.effects]
        return [self.ratings.system, *sorted(others, key=np.max)]

    @cached_property
    def design(self) -> sparse.csr_array:
        """Indicators of the levels of all factors, [ratings, levels]."""
        sizes = [int(levels.max()) + 1 for levels in self.factors]
        starts = np.cumsum([0, *sizes[:-1]])
        columns = np.stack([start + levels for start, levels in zip(starts, self.factors, strict=True)], axis=1)
        n_ratings, n_factors = columns.shape
        return sparse.csr_array((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, n_factors)),
                                shape=(n_ratings, sum(sizes)))

    @cached_property
    def components(self) -> Ints:
        """Number of the group of comparable systems to which each system belongs, [systems].

        The ratings determine the difference of two systems only within a group. Systems are not comparable if no chain
        of shared items connects them, or if their differences cannot be distinguished from those of their annotators.
        """
        rows = self._null_space[:self.ratings.n_systems]
        numbers = np.full(len(rows), -1, dtype=np.int64)
        while (numbers < 0).any():
            first = int(np.argmax(numbers < 0))
            is_near = (np.abs(rows - rows[first]) <= _SAME_ROW).all(axis=1)
            numbers[is_near & (numbers < 0)] = numbers.max() + 1
        return numbers

    @cached_property
    def inverse(self) -> Floats:
        """Columns of the inverse of the normal equations that give the centred scores of systems, [levels, systems]."""
        systems = self._root[:self.ratings.n_systems]
        return np.asarray(self._basis @ (systems - systems.mean(axis=0)).T)

    @cached_property
    def effect_sizes(self) -> Floats:
        """Estimated effects of all levels, [levels]. Without a constraint they are not unique, but their sums are."""
        sums = self.design.T @ (self.ratings.weights * self.ratings.score)
        n = self._n_dense
        dense = self._root @ (self._root.T @ (sums[:n] - self._coupling.T @ self._share(sums[n:])))
        return np.concatenate([dense, self._share(sums[n:] - self._coupling @ dense)])

    @cached_property
    def residuals(self) -> Floats:
        """Scores minus the fitted scores; 0 if they are only rounding errors, [ratings]."""
        scores = self.ratings.score
        return without_rounding(scores - self.design @ self.effect_sizes, np.abs(scores).max())

    @cached_property
    def means(self) -> Floats:
        """Adjusted mean of every system, [systems].

        It is the mean fitted score over all items, if all annotators of an item had rated the system on this item. All
        items have the same weight, and so have all annotators of one item. If all annotators rate all items, annotators
        have the same weights, too. Without effects of items and annotators, it is the mean of the system's ratings.
        """
        n, items = self.ratings.n_systems, self.ratings.item
        annotators = np.zeros_like(items) if self.ratings.annotator is None else self.ratings.annotator
        cells = np.unique(np.stack([items, annotators]), axis=1, return_index=True)[1]
        others = self.design[cells][:, n:] @ self.effect_sizes[n:]
        level = float((np.bincount(items[cells], others) / np.bincount(items[cells])).mean())
        return self.effect_sizes[:n] + level

    @property
    def groups(self) -> dict[str, Ints]:
        """Ways in which ratings depend on each other: by item (or document), and by annotator if these are random."""
        ratings = self.ratings
        groups = {"item" if ratings.document is None else "document": ratings.units}
        is_random = self.annotators == "random" or (self.annotators == "auto" and ratings.n_annotators >= LEAST_GROUPS)
        return {**groups, "annotator": _require_annotators(ratings)} if is_random else groups

    @property
    def warnings(self) -> Messages:
        """Warnings of too few items, documents or annotators."""
        n = self.ratings.n_annotators
        few = Message("few-groups", {"groups": n, "kind": "annotator", "least": LEAST_GROUPS})
        is_few = "annotator" not in self.groups and 0 < n < LEAST_GROUPS
        return Messages((*((few,) if is_few else ()), *self.estimates.warnings))

    @property
    def estimates(self) -> JointEstimates:
        """The centred adjusted means, and the influences of all ratings."""
        if refusal := self.explain_refusal(range(self.ratings.n_systems)):
            raise InputError(str(refusal))
        weights = self.ratings.weights
        return LeastSquaresEstimates(
            self.means - self.means.mean(), _scale(self.design, weights * self.residuals), self.inverse,
            (_scale(self.design, np.sqrt(weights)),), self.groups, residuals=np.sqrt(weights) * self.residuals,
            basis=self._basis if self.effects else self._basis[:, :0], levels=self.factors[-1])

    def explain_refusal(self, names: Sequence[object]) -> Message | None:
        """Explain why the ratings do not determine all differences of systems.

        Args:
            names: Names of the systems, [systems].

        Returns:
            The reason, or None if they do.
        """
        groups = [[str(names[int(system)]) for system in np.flatnonzero(self.components == number)]
                  for number in range(int(self.components.max()) + 1)]
        return Message("unconnected-ratings", {"groups": groups, "effects": list(self.effects)}) if groups[1:] else None

    @cached_property
    def _n_dense(self) -> int:
        n_levels = self.design.shape[1]
        return n_levels - (int(self.factors[-1].max()) + 1 if len(self.factors) > 1 else 0)

    @cached_property
    def _normal(self) -> sparse.csr_array:
        return sparse.csr_array(self.design.T @ _scale(self.design, self.ratings.weights))

    @cached_property
    def _coupling(self) -> sparse.csr_array:
        return self._normal[self._n_dense:, :self._n_dense]

    def _share(self, sums: Floats) -> Floats:
        totals = self._normal.diagonal()[self._n_dense:]
        return np.asarray((sums.T / totals).T)

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats, Flags]:
        n = self._n_dense
        own = self._normal[:n, :n].toarray()
        scaled = _scale(self._coupling, 1 / self._normal.diagonal()[n:])
        reduced = own - (self._coupling.T @ scaled).toarray()
        scale = 1 / np.sqrt(np.diag(own))
        values, vectors = np.linalg.eigh(scale[:, None] * reduced * scale)
        return scale, values, vectors, values > _SINGULAR

    @cached_property
    def _root(self) -> Floats:
        """Root of the inverse of the dense equations, [dense levels, rank]."""
        scale, values, vectors, is_regular = self._eigen
        return np.asarray(scale[:, None] * vectors[:, is_regular] / np.sqrt(values[is_regular]))

    @cached_property
    def _basis(self) -> Floats:
        """The root with the rows of the eliminated factor, [levels, rank]."""
        return np.concatenate([self._root, -self._share(self._coupling @ self._root)])

    @cached_property
    def _null_space(self) -> Floats:
        scale, _, vectors, is_regular = self._eigen
        null = scale[:, None] * vectors[:, ~is_regular]
        return np.asarray(null / np.abs(null).max(axis=0, initial=ROUNDING))


def _scale(rows: sparse.csr_array, factors: Floats) -> sparse.csr_array:
    return sparse.csr_array(sparse.diags_array(factors) @ rows)
