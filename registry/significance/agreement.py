"""Agreement of annotators: Krippendorff's alpha, kappas, intraclass correlations and percent agreement.

A coefficient is a function of statistics that add up over items, such as counts of pairs of values (coincidences). So
the statistics of a resample of the items are a weighted sum, and those of all resamples are one product of matrices.
Intervals are BCa bootstrap intervals over items or clusters of items, at the levels of Student's t distribution. They
hold for these annotators, because these are not resampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from registry.arrays import Flags, Floats, Ints, share
from registry.errors import InputError
from registry.significance.base import Settings
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.resampling.draws import blocks, draw_counts
from registry.significance.resampling.exceedances import find_bca_levels

Level = Literal["nominal", "ordinal", "interval", "ratio"]

LEAST_UNITS = 50  # with 20, intervals of rare labels have a coverage of 87 % (tests/validity/agreement_hits.py)
LEAST_SHARED = 5  # items that a pair of annotators shares; with fewer, its alpha says little
_AT_ONCE = 2**22  # counts, or sums, of resamples in one product
_FEW_COLUMNS = 64  # of statistics; their products are faster if they are not sparse
_ROUNDING = 1e-12  # smallest share of its parts at which a difference is no rounding error
ICC_NAMES = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
CITATIONS = {
    "Krippendorff's alpha": "Krippendorff 2004; Krippendorff 2011",
    "percent agreement": "Fleiss 1971",
    "Fleiss' kappa": "Fleiss 1971",
    "Cohen's kappa": "Cohen 1960",
    "weighted kappa": "Cohen 1968",
    "ICC": "Shrout and Fleiss 1979",
    "BCa interval": "Efron 1987; Hesterberg 2015",
}


@dataclass(frozen=True, eq=False)
class Ratings:
    """Values that annotators gave to items, at most one value per item and annotator.

    Attributes:
        items, annotators, codes: The number of the item, the annotator and the category of each rating, [ratings].
        values: The value of each category, in ascending order, [categories]; positions if categories are texts.
        level: The level of measurement.
        n_items, n_annotators: Numbers of all items and annotators.
        clusters: The number of the cluster of each item, [items]; None if items are resampled one by one.
    """

    items: Ints
    annotators: Ints
    codes: Ints
    values: Floats
    level: Level
    n_items: int
    n_annotators: int
    clusters: Ints | None = None

    def select(self, selected: Flags) -> Ratings:
        """Return some of the ratings, with the same numbers of items, annotators and categories."""
        return replace(self, items=self.items[selected], annotators=self.annotators[selected],
                       codes=self.codes[selected])

    def drop_unpaired(self) -> Ratings:
        """Return the ratings of items with two or more ratings, and number these items from 0.

        Clusters are numbered from 0, too.
        """
        sizes = np.bincount(self.items, minlength=self.n_items)
        selected = np.flatnonzero(sizes > 1)
        paired = self.select((sizes > 1)[self.items])
        clusters = None if self.clusters is None else np.unique(self.clusters[selected], return_inverse=True)[1]
        return replace(paired, items=np.searchsorted(selected, paired.items), n_items=len(selected), clusters=clusters)

    @cached_property
    def counts(self) -> Any:
        """How often each category occurs in each item, sparse [items, categories].

        Items with fewer than two ratings are empty, because nothing can agree in them.
        """
        sizes = np.bincount(self.items, minlength=self.n_items)
        is_paired = sizes[self.items] > 1
        counts = sparse.csr_array(
            (np.ones(np.count_nonzero(is_paired)), (self.items[is_paired], self.codes[is_paired])),
            shape=(self.n_items, len(self.values)))
        counts.sum_duplicates()
        return counts

    @cached_property
    def sizes(self) -> Floats:
        """Number of ratings of each item, [items]; 0 if there are fewer than two."""
        sizes: Floats = self.counts.sum(axis=1)
        return sizes

    @property
    def n_rated(self) -> int:
        """Number of items with two or more ratings."""
        return int(np.count_nonzero(self.sizes))

    @property
    def are_equal_sizes(self) -> bool:
        """True if all items with two or more ratings have the same number of ratings."""
        return len(np.unique(self.sizes[self.sizes > 0])) == 1

    @property
    def is_complete(self) -> bool:
        """True if every annotator rated every item that has two or more ratings."""
        return self.n_rated > 0 and bool((self.sizes[self.sizes > 0] == self.n_annotators).all())

    @cached_property
    def table(self) -> Ints:
        """Codes of the items that every annotator rated, [items, annotators]; other items have -1 everywhere."""
        table = np.full((self.n_items, self.n_annotators), -1)
        table[self.items, self.annotators] = self.codes
        table[(table < 0).any(axis=1)] = -1
        return table


@dataclass(frozen=True, eq=False)
class Coefficient:
    """One or several coefficients of agreement that are functions of the same sums over items.

    Attributes:
        names: The names of the coefficients.
        statistics: Statistics of each unit (item or cluster), an array or sparse array [units, columns].
        score: Function from sums, [resamples, columns], to coefficients, [resamples, names]. An undefined coefficient
            is nan.
        n_items: Number of items with two or more ratings.
        units: The numbers of the units of `statistics`, in ascending order; None: all units.
        base: A coefficient of all units. If there is one, `statistics` are differences from its statistics.
    """

    names: tuple[str, ...]
    statistics: Any
    score: Callable[[Floats], Floats]
    n_items: int
    units: Ints | None = None
    base: Coefficient | None = None

    @property
    def totals(self) -> Floats:
        """Sums of the statistics of all units, [columns]."""
        totals = np.asarray(self.statistics.sum(axis=0), dtype=np.float64)
        return totals if self.base is None else totals + self.base.totals

    @property
    def estimates(self) -> Floats:
        """The coefficients of all items, [names]."""
        estimates: Floats = self.score(self.totals[None])[0]
        return estimates

    def group(self, clusters: Ints) -> Coefficient:
        """Return the coefficient with clusters as units.

        Args:
            clusters: The number of the cluster of each item, [items].
        """
        clusters = clusters if self.units is None else clusters[self.units]
        units, rows = np.unique(clusters, return_inverse=True)
        members = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(units), len(rows)))
        return replace(self, statistics=members @ self.statistics, units=None if self.units is None else units)

    def compress(self) -> Coefficient:
        """Return the coefficient with few columns as an array, because its products are faster."""
        is_narrow = self.statistics.shape[1] <= _FEW_COLUMNS
        return replace(self, statistics=self.statistics.toarray()) if is_narrow else self

    def add(self, weights: Floats, base_sums: Floats | None) -> Floats:
        """Compute sums of statistics over resamples, [resamples, columns].

        Args:
            weights: How often each resample has each unit, [resamples, units].
            base_sums: The sums of `base`; None if there is none.
        """
        sums: Floats = (weights if self.units is None else weights[:, self.units]) @ self.statistics
        return sums if base_sums is None else sums + base_sums

    def jackknife(self, n_units: int) -> Floats:
        """Compute the coefficients without each unit (item or cluster), [units, names]."""
        totals, statistics, units = self.totals, self.statistics, self.units
        if self.base is not None and units is not None:
            places = sparse.csr_array((np.ones(len(units)), (units, np.arange(len(units)))),
                                      shape=(n_units, len(units)))
            statistics, units = self.base.statistics + places @ statistics, None
        scores = [self.score(totals - (statistics[rows] if isinstance(statistics, np.ndarray) else
                                       statistics[rows].toarray())) for rows in _slices(*statistics.shape)]
        if units is None:
            return np.concatenate(scores)
        without = np.repeat(self.estimates[None], n_units, axis=0)
        without[units] = np.concatenate(scores)
        return without


@dataclass(frozen=True)
class Estimate:
    """A coefficient of agreement with its confidence interval.

    Attributes:
        coefficient: The name of the coefficient.
        value: The coefficient; nan if it is undefined.
        low, high: The ends of the interval; nan if there is none.
        n_items: Number of items with two or more ratings.
        undefined: Share of resamples in which the coefficient is undefined.
        is_constant: True if all resamples have the same coefficient, so that there is no interval.
    """

    coefficient: str
    value: float
    low: float
    high: float
    n_items: int
    undefined: float
    is_constant: bool


def _prepare(ratings: Ratings) -> Ratings:
    """Return the items with two or more ratings.

    Raises:
        InputError: There is only one annotator, no item has two ratings, only one category occurs in these items, or
            the level of measurement does not fit the values.
    """
    if ratings.n_annotators < 2:
        raise InputError("there is only one annotator; agreement needs two or more")
    ratings = ratings.drop_unpaired()
    if not ratings.n_items:
        raise InputError("no item has ratings of two annotators; agreement needs items that several annotators rated")
    if len(np.unique(ratings.codes)) < 2:
        raise InputError("all values of items with two or more ratings are equal, so alpha is undefined, because "
                         "chance alone explains the agreement; add items with other values")
    if ratings.level == "ratio" and ratings.values[0] < 0:
        raise InputError(f"the level ratio needs numbers from 0 up, but the smallest value is {ratings.values[0]:g}; "
                         "use the level interval")
    return ratings


def measure_agreement(ratings: Ratings, settings: Settings) -> list[Estimate]:
    """Compute the coefficients of agreement that fit the level of measurement, with confidence intervals.

    - All levels: Krippendorff's alpha.
    - Nominal and ordinal: percent agreement.
    - Nominal: Fleiss' kappa if items have equal numbers of ratings; Cohen's kappa if there are two annotators.
    - Ordinal: weighted kappas if there are two annotators.
    - Interval and ratio: intraclass correlations if every annotator rated every item.

    Args:
        ratings: The ratings.
        settings: Number of resamples, seed and confidence.

    Raises:
        InputError: Agreement cannot be computed.
    """
    ratings = _prepare(ratings)
    coefficients = [make_alpha(ratings)]
    if ratings.level in ("nominal", "ordinal"):
        coefficients.append(make_percent_agreement(ratings))
    if ratings.level == "nominal" and ratings.are_equal_sizes:
        coefficients.append(make_fleiss_kappa(ratings))
    if ratings.level == "nominal" and ratings.n_annotators == 2:
        coefficients.append(make_cohen_kappa(ratings))
    if ratings.level == "ordinal" and ratings.n_annotators == 2:
        coefficients += [make_cohen_kappa(ratings, "linear"), make_cohen_kappa(ratings, "quadratic")]
    if ratings.level in ("interval", "ratio") and ratings.is_complete and ratings.n_rated > 1:
        coefficients.append(make_intraclass_correlations(ratings))
    return estimate(coefficients, ratings, settings)


def measure_without_annotators(ratings: Ratings, settings: Settings) -> list[Estimate]:
    """Compute alpha without each annotator in turn, [annotators]."""
    ratings = _prepare(ratings)
    columns = _AlphaColumns.choose(ratings)
    alpha = _make_alpha(columns, ratings)
    coefficients = []
    for annotator in range(ratings.n_annotators):
        items = np.unique(ratings.items[ratings.annotators == annotator])
        rest = ratings.select(np.isin(ratings.items, items) & (ratings.annotators != annotator))
        change = columns.compute(rest)[items] - alpha.statistics[items]
        n_items = ratings.n_items - int(np.count_nonzero(ratings.sizes[items] == 2))
        coefficients.append(replace(alpha, statistics=change, n_items=n_items, units=items, base=alpha))
    return estimate(coefficients, ratings, settings)


def measure_pairs(ratings: Ratings, settings: Settings) -> dict[tuple[int, int], Estimate]:
    """Compute alpha of each pair of annotators that share at least `LEAST_SHARED` items."""
    ratings = _prepare(ratings)
    rated = sparse.csr_array((np.ones(len(ratings.items), dtype=np.int64), (ratings.annotators, ratings.items)),
                             shape=(ratings.n_annotators, ratings.n_items))
    shared = sparse.triu(rated @ rated.T, 1).tocoo()
    is_enough = shared.data >= LEAST_SHARED
    pairs = sorted(zip(*(axis[is_enough].tolist() for axis in shared.coords), strict=True))
    by_annotator = [np.flatnonzero(ratings.annotators == annotator) for annotator in range(ratings.n_annotators)]
    coefficients = []
    for pair in pairs:
        alpha = make_alpha(ratings.select(np.concatenate([by_annotator[annotator] for annotator in pair])))
        items = np.flatnonzero(np.diff(alpha.statistics.indptr))
        coefficients.append(replace(alpha, statistics=alpha.statistics[items], units=items))
    return dict(zip(pairs, estimate(coefficients, ratings, settings), strict=True))


def measure_categories(ratings: Ratings, settings: Settings) -> list[Estimate]:
    """Compute nominal alpha of each category against all other categories, [categories]."""
    ratings = _prepare(ratings)
    return estimate([make_category_alphas(ratings)], ratings, settings)


def make_alpha(ratings: Ratings) -> Coefficient:
    """Return Krippendorff's alpha (Krippendorff 2011).

    Alpha is 1 - D_o / D_e. D_o is the mean disagreement within items, D_e that of all pairs of values. The disagreement
    of two values is the square of: whether they differ (nominal), the difference of their mean ranks (ordinal), their
    difference (interval), or their difference divided by their sum (ratio).
    """
    return _make_alpha(_AlphaColumns.choose(ratings), ratings)


def _make_alpha(columns: _AlphaColumns, ratings: Ratings) -> Coefficient:
    return Coefficient(("Krippendorff's alpha",), columns.compute(ratings), columns.score, ratings.n_rated)


@dataclass(frozen=True, eq=False)
class _AlphaColumns:
    """The statistics of items from which alpha is computed.

    - Counts of categories, which give the expected disagreement; at the level interval, the moments of values.
    - The observed disagreement; at the level ordinal, the coincidences of each pair of different categories, because
      their ranks, and so their disagreements, are those of the resample.

    Attributes:
        level: The level of measurement.
        values: The values of the categories, minus about their mean, [categories].
        pairs: The pairs of different categories that occur in items, the lower one first, [pairs, 2].
        distances: The disagreement of each two categories at the level ratio, [categories, categories].
    """

    level: Level
    values: Floats
    pairs: Ints
    distances: Floats

    @classmethod
    def choose(cls, ratings: Ratings) -> Self:
        """Choose the statistics for some ratings and any part of them."""
        counts, values = ratings.counts, ratings.values
        distances = np.empty((0, 0))
        if ratings.level == "ratio":
            distances = share(np.subtract.outer(values, values), np.add.outer(values, values), 0.0)**2
        centred = values - counts.sum(axis=0) @ values / max(counts.sum(), 1)
        return cls(ratings.level, centred, _count_coincidences(counts, ratings.sizes)[0], distances)

    def compute(self, ratings: Ratings) -> Any:
        """Return the statistics, sparse [items, columns]."""
        counts = ratings.counts
        pairs, coincidences = _count_coincidences(counts, ratings.sizes)
        first, second = pairs.T
        if self.level == "ordinal":
            codes, all_codes = (each[:, 0] * len(self.values) + each[:, 1] for each in (pairs, self.pairs))
            places = sparse.csr_array((np.ones(len(pairs)), (np.arange(len(pairs)), np.searchsorted(all_codes, codes))),
                                      shape=(len(pairs), len(self.pairs)))
            return _join(counts, coincidences @ places)
        if self.level == "nominal":
            return _join(counts, coincidences.sum(axis=1)[:, None])
        if self.level == "ratio":
            return _join(counts, coincidences @ self.distances[first, second][:, None])
        moments = counts @ np.stack([np.ones(len(self.values)), self.values, self.values**2], axis=1)
        return _join(moments, coincidences @ ((self.values[second] - self.values[first])**2)[:, None])

    def score(self, sums: Floats) -> Floats:
        """Compute alpha from sums of the statistics."""
        if self.level == "ordinal":
            return self._score_ordinal(sums)
        parts, observed = sums[:, :-1], sums[:, -1]
        if self.level == "interval":
            n, total, squares = parts.T
            expected = 2 * (n * squares - total**2)
            expected = np.where(expected > _ROUNDING * n * squares, expected, 0.0)
        else:
            n = parts.sum(axis=1)
            expected = n**2 - (parts**2).sum(axis=1) if self.level == "nominal" else (
                parts @ self.distances * parts).sum(axis=1)
        return 1 - share((n - 1) * observed, expected)[:, None]

    def _score_ordinal(self, sums: Floats) -> Floats:
        """Compute ordinal alpha.

        The ordinal disagreement of two categories is the squared difference of their mean ranks. It is the same as the
        sum of counts between them in Krippendorff's definition.
        """
        counts, coincidences = np.split(sums, [len(self.values)], axis=1)
        n = counts.sum(axis=1)
        ranks = np.cumsum(counts, axis=1) - (counts + n[:, None]) / 2  # minus their mean
        expected = 2 * n * (counts * ranks**2).sum(axis=1)
        observed = (coincidences * (ranks[:, self.pairs[:, 1]] - ranks[:, self.pairs[:, 0]])**2).sum(axis=1)
        return 1 - share((n - 1) * observed, expected)[:, None]


def _join(*parts: Any) -> Any:
    """Join the columns of arrays, sparse or not, as one sparse array."""
    return sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")


def _count_coincidences(counts: Any, sizes: Floats) -> tuple[Ints, Any]:
    """Count the pairs of different categories in each item.

    Args:
        counts: How often each category occurs in each item, sparse [items, categories].
        sizes: Number of ratings of each item, [items].

    Returns:
        The pairs of categories that occur, the lower one first, [pairs, 2]; and, as sparse [items, pairs], the number
        of both ordered pairs of values, divided by the number of ratings minus 1.
    """
    n_categories = counts.shape[1]
    distinct = np.diff(counts.indptr)
    items, pairs, numbers = [], [], []
    for n in np.unique(distinct[distinct > 1]).tolist():
        rows = np.flatnonzero(distinct == n)
        places = counts.indptr[rows][:, None] + np.arange(n)
        categories, times = counts.indices[places].astype(np.int64), counts.data[places]
        i, j = np.triu_indices(n, 1)
        items.append(np.repeat(rows, len(i)))
        pairs.append((categories[:, i] * n_categories + categories[:, j]).ravel())
        numbers.append((2 * times[:, i] * times[:, j] / (sizes[rows] - 1)[:, None]).ravel())
    if not items:
        return np.empty((0, 2), dtype=np.int64), sparse.csr_array((counts.shape[0], 0))
    found, columns = np.unique(np.concatenate(pairs), return_inverse=True)
    coincidences = sparse.csr_array((np.concatenate(numbers), (np.concatenate(items), columns)),
                                    shape=(counts.shape[0], len(found)))
    return np.stack(np.divmod(found, n_categories), axis=1), coincidences


def make_category_alphas(ratings: Ratings) -> Coefficient:
    """Return nominal alpha of each category against all others, [categories]."""
    counts, sizes = ratings.counts, ratings.sizes
    others = counts.multiply((sizes - 1)[:, None]).tocsr()  # the shape of `counts`, for the numbers of other values
    others.data = 2 * counts.data * (np.repeat(sizes, np.diff(counts.indptr)) - counts.data)
    others = others.multiply(share(np.ones(len(sizes)), sizes - 1, 0.0)[:, None]).tocsr()
    n_categories = counts.shape[1]

    def score(sums: Floats) -> Floats:
        total, times, observed = sums[:, :1], sums[:, 1:n_categories + 1], sums[:, n_categories + 1:]
        return 1 - share((total - 1) * observed, 2 * times * (total - times))

    statistics = _join(sizes[:, None], counts, others)
    return Coefficient(("Krippendorff's alpha",) * n_categories, statistics, score, ratings.n_rated)


def make_percent_agreement(ratings: Ratings) -> Coefficient:
    """Return the share of equal pairs of values in an item, as a mean over items (Fleiss 1971)."""
    statistics = np.stack([ratings.sizes > 0, _agree(ratings)], axis=1)
    return Coefficient(("percent agreement",), sparse.csr_array(statistics),
                       lambda sums: share(sums[:, 1], sums[:, 0])[:, None], ratings.n_rated)


def _agree(ratings: Ratings) -> Floats:
    """Return the share of equal pairs of values of each item, [items]."""
    sizes = ratings.sizes
    return share((ratings.counts**2).sum(axis=1) - sizes, sizes * (sizes - 1), 0.0)


def make_fleiss_kappa(ratings: Ratings) -> Coefficient:
    """Return Fleiss' kappa (Fleiss 1971).

    Raises:
        InputError: Items have different numbers of ratings.
    """
    if not ratings.are_equal_sizes:
        raise InputError("Fleiss' kappa needs the same number of ratings of all items; use Krippendorff's alpha")

    def score(sums: Floats) -> Floats:
        n_items, agreement, counts = sums[:, 0], sums[:, 1], sums[:, 2:]
        chance = ((counts / counts.sum(axis=1, keepdims=True))**2).sum(axis=1)
        return _correct_for_chance(agreement / n_items, chance)[:, None]

    statistics = _join(np.stack([ratings.sizes > 0, _agree(ratings)], axis=1), ratings.counts)
    return Coefficient(("Fleiss' kappa",), statistics, score, ratings.n_rated)


def _correct_for_chance(agreement: Floats, chance: Floats) -> Floats:
    disagreement = 1 - chance
    return 1 - share(1 - agreement, np.where(disagreement > _ROUNDING, disagreement, 0.0))


def make_cohen_kappa(ratings: Ratings, weights: Literal["none", "linear", "quadratic"] = "none") -> Coefficient:
    """Return Cohen's kappa of two annotators (Cohen 1960), or weighted kappa (Cohen 1968).

    Weights are differences of values, or of positions of categories at the level ordinal, or their squares.

    Raises:
        InputError: There are not two annotators.
    """
    if ratings.n_annotators != 2:
        raise InputError(f"Cohen's kappa compares two annotators, not {ratings.n_annotators}; use Krippendorff's alpha")
    values = ratings.values if ratings.level in ("interval", "ratio") else np.arange(len(ratings.values))
    distances = np.abs(np.subtract.outer(values, values)).astype(np.float64)
    distances = {"none": np.sign(distances), "linear": distances, "quadratic": distances**2}[weights]
    is_rated = ratings.table[:, 0] >= 0
    first, second = ratings.table[is_rated].T
    n_categories, rows = len(values), np.flatnonzero(is_rated)

    def mark(codes: Ints) -> Any:
        return sparse.csr_array((np.ones(len(rows)), (rows, codes)), shape=(ratings.n_items, n_categories))

    def score(sums: Floats) -> Floats:
        n, observed = sums[:, 0], sums[:, 1]
        chance = (sums[:, 2:n_categories + 2] @ distances * sums[:, n_categories + 2:]).sum(axis=1)
        return 1 - share(n * observed, chance)[:, None]

    observed = np.zeros((ratings.n_items, 2))
    observed[rows, 0], observed[rows, 1] = 1, distances[first, second]
    name = "Cohen's kappa" if weights == "none" else f"weighted kappa ({weights})"
    return Coefficient((name,), _join(observed, mark(first), mark(second)), score, len(rows))


def make_intraclass_correlations(ratings: Ratings) -> Coefficient:
    """Return the six intraclass correlations of Shrout and Fleiss 1979, in the order of `ICC_NAMES`.

    ICC(1,1) treats annotators as different for each item, ICC(2,1) as a sample of annotators, and ICC(3,1) as the only
    annotators of interest. ICC(1,k), ICC(2,k) and ICC(3,k) are those of the mean over the annotators.

    Raises:
        InputError: An annotator did not rate every item, or there is only one item.
    """
    if not ratings.is_complete or ratings.n_rated < 2:
        raise InputError("intraclass correlations need two or more items, each with ratings of all annotators")
    is_rated = ratings.sizes > 0
    values = ratings.values[ratings.table[is_rated]]
    values = values - values.mean()
    k = ratings.n_annotators
    statistics = np.zeros((ratings.n_items, k + 3))
    statistics[is_rated] = np.column_stack([np.ones(len(values)), (values**2).sum(axis=1), values.sum(axis=1)**2 / k,
                                            values])

    def score(sums: Floats) -> Floats:
        n, squares, between, columns = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
        correction = columns.sum(axis=1)**2 / (n * k)
        by_item = between - correction
        within = squares - between
        by_annotator = (columns**2).sum(axis=1) / n - correction
        residual = np.maximum(within - by_annotator, 0.0)
        b, w = by_item / (n - 1), within / (n * (k - 1))
        a, e = by_annotator / (k - 1), residual / ((n - 1) * (k - 1))
        parts = [(b - w, b + (k - 1) * w), (b - e, b + (k - 1) * e + k * (a - e) / n), (b - e, b + (k - 1) * e),
                 (b - w, b), (b - e, b + (a - e) / n), (b - e, b)]
        least = _ROUNDING * squares
        return np.stack([share(part, np.where(np.abs(whole) > least, whole, 0.0)) for part, whole in parts], axis=1)

    return Coefficient(ICC_NAMES, sparse.csr_array(statistics), score, ratings.n_rated)


def estimate(coefficients: Sequence[Coefficient], ratings: Ratings, settings: Settings) -> list[Estimate]:
    """Estimate coefficients, with confidence intervals from resamples of the items or clusters.

    All coefficients have the same resamples.

    Args:
        coefficients: The coefficients of these ratings, with statistics of items.
        ratings: The ratings.
        settings: Number of resamples, seed and confidence.

    Returns:
        One estimate for each name of each coefficient.
    """
    n_units = ratings.n_items
    bases = {id(each.base): each.base for each in coefficients if each.base is not None}
    if ratings.clusters is not None:
        n_units = int(ratings.clusters.max()) + 1
        bases = {key: base.group(ratings.clusters) for key, base in bases.items()}
        coefficients = [each.group(ratings.clusters) for each in coefficients]
    bases = {key: base.compress() for key, base in bases.items()}
    coefficients = [replace(each.compress(), base=bases.get(id(each.base))) for each in coefficients]
    score_block = partial(_score_block, coefficients, n_units, settings.seed)
    scored = list(settings.execution.map(score_block, blocks(settings.resamples)))
    estimates = []
    for n, coefficient in enumerate(coefficients):
        resampled = np.concatenate([block[n] for block in scored])
        without = coefficient.jackknife(n_units)
        for place, (name, value) in enumerate(zip(coefficient.names, coefficient.estimates.tolist(), strict=True)):
            defined = resampled[:, place][~np.isnan(resampled[:, place])]
            undefined = 1 - len(defined) / len(resampled)
            low, high, is_constant = math.nan, math.nan, False
            # Intervals of the defined resamples have a coverage of 90 % if 1 % of the resamples are undefined.
            if not math.isnan(value) and undefined <= MOST_UNDEFINED:
                is_constant = bool(np.ptp(defined) <= _ROUNDING)
                if not is_constant:
                    low, high = _find_interval(value, defined, without[:, place], settings.confidence)
            estimates.append(Estimate(name, value, low, high, coefficient.n_items, undefined, is_constant))
    return estimates


def _score_block(coefficients: Sequence[Coefficient], n_units: int, seed: int,
                 numbered_block: tuple[int, int]) -> list[Floats]:
    """Compute the coefficients of a block of resamples, [resamples, names] each."""
    counts = draw_counts(None, n_units, seed, numbered_block)
    widest = max(coefficient.statistics.shape[1] for coefficient in coefficients)
    scores: list[list[Floats]] = [[] for _ in coefficients]
    for rows in _slices(len(counts), max(n_units, widest)):
        weights = counts[rows].astype(np.float64)
        base_sums = {id(base): base.add(weights, None) for base in {
            id(each.base): each.base for each in coefficients if each.base is not None}.values()}
        for parts, coefficient in zip(scores, coefficients, strict=True):
            parts.append(coefficient.score(coefficient.add(weights, base_sums.get(id(coefficient.base)))))
    return [np.concatenate(parts) for parts in scores]


def _slices(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _AT_ONCE // max(1, columns))
    return (slice(start, start + step) for start in range(0, rows, step))


def _find_interval(value: float, resampled: Floats, without: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of the BCa interval, at the levels of a t interval.

    Percentiles of few units are too narrow (Hesterberg 2015).

    Args:
        value: The coefficient.
        resampled: The coefficient in resamples, [resamples].
        without: The coefficient without each unit (item or cluster), [units].
        confidence: The confidence level.
    """
    from scipy.special import ndtr, stdtrit

    n = len(without)
    outside = float(ndtr(stdtrit(n - 1, (1 - confidence) / 2) * math.sqrt(n / (n - 1))))
    low, high = np.quantile(resampled, find_bca_levels(value, resampled, without, outside)).tolist()
    return low, high
