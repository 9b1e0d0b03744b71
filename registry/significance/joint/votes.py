"""Strengths of systems from votes that compare two systems.

The model of Bradley and Terry (1952) says that system A wins against B with the log odds s_A - s_B of their strengths.
An order effect and covariates can be added to these log odds. Ties are half wins, or have a parameter (Davidson 1970).
The errors are valid if the model is not true; then the strengths depend on which pairs were voted on. Win rates need no
model, and depend on the opponents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from registry.arrays import Flags, Floats, Ints
from registry.messages import Messages
from registry.significance.base import Settings
from registry.significance.crossed import compute_log_p
from registry.significance.joint.connections import (
    LEAST_WINS,
    Components,
    count_wins,
    find_components,
    find_firm_groups,
)
from registry.significance.joint.estimates import Comparisons, JointEstimates
from registry.significance.rank_sets import RankSets

Ties = Literal["half", "davidson"]

_STEPS, _HALVINGS = 100, 40  # of Newton's method
_CLOSE = 1e-10  # last step, in log odds
_CLOSE_END = 1e-7  # last step towards the end of an interval
_LARGEST_END = 25.0  # finite end of an interval, in log odds
_LARGEST = 40.0  # log odds; beyond, a covariate or the order predicts all outcomes
_RIDGE = 1e-13  # keeps the information regular far from the maximum, relative to its largest value
_SEPARATED = "the order or a covariate predicts all outcomes of some systems; leave it out"
_SINGULAR = 1e-10  # smallest eigenvalue of the scaled information


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes, each of which compares two systems.

    Attributes:
        a, b: Indices of the two systems, [votes].
        outcomes: 1 if the first system wins, 0 if the second one wins, 0.5 for a tie, or the probability with which a
            judge prefers the first system, [votes].
        n_systems: Number of systems.
        weights: Weights, such as inverse sampling probabilities, [votes]; None: 1. They are no counts.
        order: 1 if the first system was shown first or played at home, -1 if the second one was, 0 if neither, [votes];
            None: no order effect.
        covariates: Differences of properties of the two outputs, such as length, [votes, covariates]; None: none.
        groups: Groups of dependent votes, such as `voter` and `prompt`, as in `JointEstimates`.
    """

    a: Ints
    b: Ints
    outcomes: Floats
    n_systems: int
    weights: Floats | None = None
    order: Ints | None = None
    covariates: Floats | None = None
    groups: Mapping[str, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.a)

    def select(self, chosen: Flags | Ints) -> Votes:
        """Return some of the votes."""
        return Votes(
            self.a[chosen], self.b[chosen], self.outcomes[chosen], self.n_systems,
            None if self.weights is None else self.weights[chosen],
            None if self.order is None else self.order[chosen],
            None if self.covariates is None else self.covariates[chosen],
            {name: groups[chosen] for name, groups in self.groups.items()})

    @cached_property
    def wins(self) -> sparse.csr_array:
        """Numbers of wins, ties as half wins, [systems, systems]."""
        return count_wins(self.a, self.b, self.outcomes, self.n_systems)


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths of systems.

    Only the systems of the largest component have strengths. For others, `components` has the order.

    Attributes:
        strengths: Strengths as log odds; their mean is 0.
        nuisance: Order effect, effects of covariates, and the logarithm of the tie parameter, as far as they are in the
            model.
        components: Which systems can be compared.
        firm_groups: Groups of the compared systems that are firmly connected, as in `find_firm_groups`; -1 for other
            systems, [systems].
    """

    strengths: JointEstimates
    nuisance: JointEstimates
    components: Components
    firm_groups: Ints
    _likelihood: _Likelihood
    _parameters: Floats

    @property
    def scores(self) -> Floats:
        """The strengths, [systems]."""
        return self.strengths.scores

    def estimate_scores(self, *, confidence: float = 0.95) -> Comparisons:
        """Return the strengths with their errors, in the form of differences from 0."""
        return self.strengths.estimate_scores(confidence=confidence)

    def compute_rank_sets(self, settings: Settings, *, alpha: float = 0.05) -> RankSets:
        """Compute simultaneous confidence sets of the ranks of the strengths."""
        return self.strengths.compute_rank_sets(settings, alpha=alpha)

    @property
    def warnings(self) -> Messages:
        """Warnings of too few voters, and of systems that few wins connect."""
        n_groups = int(self.firm_groups.max(initial=-1)) + 1
        weak = Messages.make("weak-links", groups=n_groups, least=LEAST_WINS) if n_groups > 1 else ()
        return Messages((*self.strengths.warnings, *weak))

    def compare(self, a: Ints, b: Ints, *, confidence: float = 0.95) -> Comparisons:
        """Compare pairs of systems, as `JointEstimates.compare` does.

        If a pair is not firmly connected, p-value and interval come from the profile likelihood. Its statistic is
        divided by the ratio of the variance to the variance under the model, if this is above 1.
        """
        wald = self.strengths.compare(a, b, confidence=confidence)
        is_weak = (self.firm_groups[a] != self.firm_groups[b]) & np.isfinite(wald.errors)
        log_p, low, high = wald.log_p.copy(), wald.low.copy(), wald.high.copy()
        for n in np.flatnonzero(is_weak):
            log_p[n], low[n], high[n] = self._profile(int(a[n]), int(b[n]), float(wald.degrees[n]), confidence)
        return replace(wald, log_p=log_p, low=low, high=high)

    def _profile(self, a: int, b: int, degrees: float, confidence: float) -> tuple[float, float, float]:
        """Return the log p-value and the interval of a difference from the profile likelihood."""
        from scipy.special import stdtrit

        contrast = np.zeros(len(self._parameters))
        systems = self.components.largest
        contrast[np.searchsorted(systems, a)], contrast[np.searchsorted(systems, b)] = 1, -1
        under_model = self.strengths.model_covariance
        model = float(under_model[a, a] + under_model[b, b] - 2 * under_model[a, b])
        scale = max(1.0, float(self.strengths.squared_errors[a, b]) / model)
        difference, highest = float(contrast @ self._parameters), self._likelihood.evaluate(self._parameters)[0]
        at_zero = self._likelihood.maximize(self._parameters - contrast * difference / 2, contrast)
        root = np.sqrt(max(0.0, 2 * (highest - self._likelihood.evaluate(at_zero)[0]) / scale))
        log_p = compute_log_p(np.array([root]), np.ones((1, 1)), np.array([[degrees]]), "two-sided")[0]
        bar = highest - scale * float(stdtrit(degrees, (1 + confidence) / 2)) ** 2 / 2
        low, high = (self._likelihood.find_end(self._parameters, sign * contrast, bar) for sign in (-1, 1))
        return float(log_p), -low, high


def fit_bradley_terry(votes: Votes, *, ties: Ties = "half") -> BradleyTerry:
    """Estimate strengths by maximum likelihood, with Newton's method.

    Args:
        votes: The votes.
        ties: `half`: a tie is half a win of either system (quasi-likelihood). `davidson`: ties have a parameter, unless
            no votes are ties, or all.

    Raises:
        ValueError: The order or covariates predict all outcomes, or are linear combinations of each other.
    """
    components = find_components(votes.wins)
    systems = components.largest
    is_inside = np.isin(votes.a, systems) & np.isin(votes.b, systems)
    inside = votes.select(is_inside & (votes.a != votes.b))
    inside = replace(inside, a=np.searchsorted(systems, inside.a), b=np.searchsorted(systems, inside.b),
                     n_systems=len(systems))
    is_tied = inside.outcomes == 0.5
    has_ties = ties == "davidson" and bool(is_tied.any()) and not is_tied.all()
    likelihood = _Likelihood.make(inside, has_ties=has_ties)
    summary = _Likelihood.make(_aggregate(inside), has_ties=has_ties)
    n, start = len(systems), np.zeros(likelihood.n_parameters)
    parameters, inverse = np.full(len(start), np.nan), np.zeros((len(start), len(start)))
    if n > 1:
        summary.invert(start)
        parameters = summary.maximize(start)
        inverse = summary.invert(parameters)
    contributions, designs = likelihood.linearize(parameters)
    of_strengths = np.zeros((len(parameters), votes.n_systems))
    of_strengths[:, systems] = inverse[:, :n] - inverse[:, :n].mean(axis=1, keepdims=True)
    scores = np.full(votes.n_systems, np.nan)
    if n > 1:
        scores[systems] = parameters[:n] - parameters[:n].mean()
    strengths = JointEstimates(scores, contributions, of_strengths, designs, inside.groups, inside.weights)
    nuisance = replace(strengths, scores=parameters[n:], inverse=inverse[:, n:])
    firm_groups = np.full(votes.n_systems, -1)
    firm_groups[systems] = find_firm_groups(inside.wins)
    return BradleyTerry(strengths, nuisance, components, firm_groups, summary, parameters)


def compute_win_rates(votes: Votes) -> JointEstimates:
    """Return the mean points of each system per vote: 1 for a win, 0.5 for a tie, with the influences of the votes.

    A win rate depends on the opponents of a system and on the sampling of pairs. Order and covariates are ignored.
    """
    n, n_votes = votes.n_systems, len(votes)
    weights = np.ones(n_votes) if votes.weights is None else votes.weights
    points, sums = np.zeros((2, n))
    sides = ((votes.a, votes.outcomes), (votes.b, 1 - votes.outcomes))
    for system, outcome in sides:
        points += np.bincount(system, weights * outcome, n)
        sums += np.bincount(system, weights, n)
    scores = np.divide(points, sums, out=np.full(n, np.nan), where=sums > 0)

    def spread(values: Floats, systems: Ints) -> sparse.csr_array:
        return sparse.csr_array((values, systems, np.arange(n_votes + 1)), shape=(n_votes, n))

    first, second = (spread(weights * (outcome - scores[system]), system) for system, outcome in sides)
    variances = np.where(sums > 0, scores * (1 - scores), 0)
    designs = tuple(spread(np.sqrt(weights * variances[system]), system) for system, _ in sides)
    inverse = np.diag(np.divide(1, sums, out=np.zeros(n), where=sums > 0))
    return JointEstimates(scores, first + second, inverse, designs, votes.groups, votes.weights)


def _aggregate(votes: Votes) -> Votes:
    """Replace identical votes by one with the sum of their weights; votes with covariates are returned unchanged."""
    if votes.covariates is not None:
        return votes
    order = np.zeros(len(votes), dtype=np.int64) if votes.order is None else votes.order
    points, level = np.unique(votes.outcomes, return_inverse=True)
    code = ((votes.a * votes.n_systems + votes.b) * len(points) + level) * 3 + order + 1
    _, first, numbers = np.unique(code, return_index=True, return_inverse=True)
    distinct = votes.select(first)
    return replace(distinct, weights=np.bincount(numbers, votes.weights, len(first)).astype(np.float64), groups={})


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Log-likelihood of votes.

    With the log odds x of a win against a loss, the probabilities of win, loss and tie are proportional to exp(x / 2),
    exp(-x / 2) and exp(t) with the logarithm t of the tie parameter. Without one, a tie is half a win and half a loss.

    Attributes:
        design: Derivatives of x by the parameters, [votes, parameters]: strengths, order effect, covariates; and a
            column of zeros for t.
        outcomes: Points of the first system, [votes].
        weights: Weights, [votes].
        n_strengths: Number of strengths.
        has_ties: Whether t, the last parameter, is in the model.
    """

    design: sparse.csr_array
    outcomes: Floats
    weights: Floats
    n_strengths: int
    has_ties: bool

    @classmethod
    def make(cls, votes: Votes, *, has_ties: bool) -> _Likelihood:
        n = len(votes)
        columns = [sparse.csr_array((np.tile([1.0, -1.0], n), np.stack([votes.a, votes.b], axis=1).ravel(),
                                     np.arange(0, 2 * n + 1, 2)), shape=(n, votes.n_systems))]
        if votes.order is not None:
            columns.append(sparse.csr_array(votes.order[:, None].astype(np.float64)))
        if votes.covariates is not None:
            columns.append(sparse.csr_array(votes.covariates))
        if has_ties:
            columns.append(sparse.csr_array((n, 1)))
        weights = np.ones(n) if votes.weights is None else votes.weights
        return cls(sparse.csr_array(sparse.hstack(columns)), votes.outcomes, weights, votes.n_systems, has_ties)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return self.design.shape[1]

    def evaluate(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient, and the information, [parameters, parameters]."""
        log_odds, tie = self._split(parameters)
        level = np.logaddexp(np.logaddexp(log_odds / 2, -log_odds / 2), tie)
        is_tied = self.outcomes == 0.5
        values = (self.outcomes - 0.5) * log_odds - level + (np.where(is_tied, tie, 0) if self.has_ties else 0)
        residuals, of_ties = self._residuals(parameters)
        gradient = self.design.T @ residuals
        gradient[-1] += of_ties.sum()
        information = sum(((design.T @ design).toarray() for design in self._roots(parameters)),
                          np.zeros((self.n_parameters,) * 2))
        return float(self.weights @ values), gradient, information

    def maximize(self, parameters: Floats, contrast: Floats | None = None) -> Floats:
        """Return the parameters with the largest likelihood.

        Args:
            parameters: Start of the iteration.
            contrast: The contrast that keeps its value; None: none.

        Raises:
            ValueError: There is no maximum.
        """
        value, gradient, information = self.evaluate(parameters)
        for _ in range(_STEPS):
            try:
                step = self._solve(gradient, information, contrast)
            except np.linalg.LinAlgError:
                raise ValueError(_SEPARATED) from None
            for _ in range(_HALVINGS):
                best = self.evaluate(parameters + step)
                if best[0] >= value - 1e-12 * abs(value):
                    break
                step /= 2
            parameters, (value, gradient, information) = parameters + step, best
            if np.abs(self.design @ step).max(initial=0) < _CLOSE and (not self.has_ties or abs(step[-1]) < _CLOSE):
                break
            if np.abs(self.design @ parameters).max() > _LARGEST:
                raise ValueError(_SEPARATED)
        return parameters

    def find_end(self, parameters: Floats, contrast: Floats, bar: float) -> float:
        """Return the largest value of a contrast with which the likelihood can reach a bar.

        This is an end of a profile-likelihood interval, by the method of Venzon and Moolgavkar (1988). An end above 25
        is infinite.

        Args:
            parameters: The parameters with the largest likelihood.
            contrast: The contrast.
            bar: The log-likelihood.
        """
        # The likelihood is replaced by a parabola. On the line of the largest likelihood for each value of the
        # contrast, parameters change by H^-1 (g + m c) with the gradient g, the information H, the contrast c and a
        # multiplier m > 0, which follows from the bar.
        def expand(point: Floats) -> tuple[float, Floats, Floats, float]:
            value, gradient, information = self.evaluate(point)
            regular = self._fix_level(information) + _RIDGE * information.max() * np.eye(len(information))
            free, along = np.linalg.solve(regular, np.stack([gradient, contrast], axis=1)).T
            return value, free, along, 2 * (value - bar) + float(gradient @ free)

        _, free, along, excess = expand(parameters)
        for _ in range(_STEPS):
            step = free + along * np.sqrt(excess / (contrast @ along))
            step /= max(1.0, 2 * float(contrast @ step) / (_LARGEST_END - float(contrast @ parameters)))
            for _ in range(_HALVINGS):
                _, next_free, next_along, next_excess = expand(parameters + step)
                if next_excess >= 0:
                    break
                step = step / 2
            parameters, free, along, excess = parameters + step, next_free, next_along, next_excess
            if abs(contrast @ step) < _CLOSE_END:
                break
        end = float(contrast @ parameters)
        return end if end < _LARGEST_END - 1e-3 else np.inf

    def invert(self, parameters: Floats) -> Floats:
        """Return the covariance of the parameters under the model, with strengths that add up to 0.

        Raises:
            ValueError: The information is singular.
        """
        information = self._fix_level(self.evaluate(parameters)[2])
        scale = 1 / np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
        if len(scale) and np.linalg.eigvalsh(information * scale[:, None] * scale)[0] < _SINGULAR:
            raise ValueError("the order effect and covariates depend linearly on each other or on the systems; leave "
                             "one out")
        return np.asarray(np.linalg.inv(information))

    def linearize(self, parameters: Floats) -> tuple[sparse.csr_array, tuple[sparse.csr_array, ...]]:
        """Return the contributions of votes to the gradient, and square roots of their information.

        Both are as in `JointEstimates`.
        """
        residuals, of_ties = self._residuals(parameters)
        contributions = sparse.diags_array(residuals) @ self.design + self._put_last(of_ties)
        return sparse.csr_array(contributions), self._roots(parameters)

    def _split(self, parameters: Floats) -> tuple[Floats, float]:
        return self.design @ parameters, float(parameters[-1]) if self.has_ties else -np.inf

    def _probabilities(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        log_odds, tie = self._split(parameters)
        level = np.logaddexp(np.logaddexp(log_odds / 2, -log_odds / 2), tie)
        return np.exp(log_odds / 2 - level), np.exp(-log_odds / 2 - level), np.exp(tie - level)

    def _residuals(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the weighted derivatives of the log-likelihood by x and t, [votes] each."""
        win, loss, tie = self._probabilities(parameters)
        of_ties = self.weights * ((self.outcomes == 0.5) - tie) if self.has_ties else np.zeros(len(tie))
        return self.weights * (self.outcomes - 0.5 - (win - loss) / 2), of_ties

    def _roots(self, parameters: Floats) -> tuple[sparse.csr_array, ...]:
        # Cholesky factors of the information about x and t
        win, loss, tie = self._probabilities(parameters)
        root = np.sqrt(self.weights * (win + loss - (win - loss) ** 2) / 4)
        scaled = sparse.diags_array(root) @ self.design
        if not self.has_ties:
            return (sparse.csr_array(scaled),)
        shared = np.divide(-self.weights * tie * (win - loss) / 2, root, out=np.zeros_like(root), where=root > 0)
        rest = np.sqrt(np.maximum(0, self.weights * tie * (1 - tie) - shared**2))
        return sparse.csr_array(scaled + self._put_last(shared)), self._put_last(rest)

    def _put_last(self, values: Floats) -> sparse.csr_array:
        n = len(values)
        return sparse.csr_array((values, (np.arange(n), np.full(n, self.n_parameters - 1))),
                                shape=(n, self.n_parameters))

    def _solve(self, gradient: Floats, information: Floats, contrast: Floats | None) -> Floats:
        information = self._fix_level(information)
        if contrast is None:
            return np.asarray(np.linalg.solve(information, gradient))
        free, fixed = np.linalg.solve(information, np.stack([gradient, contrast], axis=1)).T
        return np.asarray(free - fixed * (contrast @ free) / (contrast @ fixed))

    def _fix_level(self, information: Floats) -> Floats:
        # only differences of strengths are in the likelihood
        fixed, n = information.copy(), self.n_strengths
        fixed[:n, :n] += np.trace(information[:n, :n]) / n**2
        return fixed
