"""Differences of systems in facets: where does a difference hold?

"Significant in one facet and not significant in another" does not show that the facets differ (Gelman and Stern 2006).
So the study tests the difference of differences: in a facet, minus that in the rest of the items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags
from registry.errors import InputError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import load_values
from registry.evaluation.comparing.settings import Request
from registry.identity import replace_undefined
from registry.parallel.execution import Execution
from registry.significance.diagnostics.assumptions import one_sided_misuses
from registry.significance.facets import FacetContrasts, compare_facets
from registry.significance.intervals import ClosedForm, Ends, refusal
from registry.significance.matrix import Matrix
from registry.store.catalog import TaskRow
from registry.studies.study import (
    BoardStudy,
    BoardSubject,
    Case,
    Choice,
    Finding,
    Parts,
    Row,
    is_named,
    name_systems,
    option,
)
from registry.studies.suites import warn_by_set

_MOST_NAMED = 4  # contrasts in a sentence
_MOST_INFLUENCES = 2**27  # influences of units on contrasts, of 1 GB


class Facets(BoardStudy):
    """Differences of systems in each facet, compared with the rest of the items.

    A facet is the items with one value of an attribute, such as a genre. For each pair of systems and each facet, the
    table `facets` has the difference in the facet with its confidence interval, the difference in all other items, and
    the first minus the second, with a simultaneous confidence interval and an adjusted p-value. Differences are
    positive if system A is better; A is the system that `--system` names first or, without this option, the better one
    on the board. Simultaneous intervals hold for all facets and pairs together. Both the facet and the rest need an
    effective sample size of 50, and 10 units in which the systems differ. The table `pairs` says whether the better
    system on the board is better in every facet: it is if the one-sided test of each single facet, by the test of the
    task, is significant at alpha.
    """

    name: ClassVar[str] = "facets"
    title: ClassVar[str] = "Where does a difference hold?"
    citation: ClassVar[str] = "Gelman and Stern 2006; Efron and Tibshirani 1993, section 12.5; Berger 1982"
    choice: ClassVar = ("metric", "test_set", "track")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    default_settings = MappingProxyType({"resamples": 9999})
    supports_responses: ClassVar[bool] = False
    attributes: tuple[str, ...] = option((), "An item attribute, such as genre; can be repeated. Default: the facets "
                                         "of the manifest.", name="attribute", metavar="NAME")
    separator: str = option("", "Text between several values of one item, such as ';'.", metavar="TEXT")
    systems: tuple[str, ...] = option((), "Only the pairs of these systems; by default all.", name="system",
                                      metavar="NAME")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.systems) == 1:
            raise InputError(f"--system {self.systems[0]} names one system, but a difference needs two; repeat "
                             "--system NAME, or leave it out")

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        """Yield each board once per attribute, reduced to the selected systems.

        Raises:
            UnknownNameError: No board has a system of this name.
            InputError: No test set declares facets, and no attribute is selected.
        """
        subjects = list(super().find_subjects(connection, task, request, choice))
        members = [member for subject in subjects for member in subject.keys[0].members]
        for name in self.systems:
            if not any(is_named(member, name) for member in members):
                raise UnknownNameError("system", name, sorted({member.system for member in members}))
        attributes = [(subject, attribute) for subject in subjects for attribute in self.attributes
                      or request.facets.get(subject.keys[0].test_set.name, ())]
        if subjects and not attributes:
            raise InputError(f"{task.slug} declares no facets; name an item attribute, such as --attribute genre, or "
                             'add facets = ["genre"] to the [[test_set]] of the manifest')
        for subject, attribute in attributes:
            key = self._select_systems(subject.keys[0])
            if len(key.members) > 1:
                yield FacetSubject(self, (key,), {m.name: subject.attributes[m.name] for m in key.members}, request,
                                   attribute)

    def _select_systems(self, key: BoardKey) -> BoardKey:
        if not self.systems:
            return key
        return replace(key, family=None, members=[
            member for member in key.members if any(is_named(member, name) for name in self.systems)])

    def run(self, case: FacetCase) -> Finding:
        matrix, test, alpha = case.board.matrix, case.test, case.request.significance.alpha
        if matrix.runs is not None:
            raise InputError('this study requires fixed runs; set runs = "fixed"')
        if matrix.judged is not None:
            raise InputError(f"{case.board.key.metric.alias} combines scores of a judge and of people, which this "
                             "study does not support; select another metric by --metric")
        if test.is_one_sided:
            raise InputError(f"{test!r} always tests the direction of the observed gain; use --test permutation")
        values, members = self._split_values(case)
        pairs = list(combinations(range(len(case.board.members)), 2))
        swapped = [pair for pair in pairs if self._is_swapped(case, pair)]
        if len(values) * len(pairs) * matrix.n_units > _MOST_INFLUENCES:
            raise InputError(f"{len(pairs)} pairs in {len(values)} facets of {matrix.n_units} units need too much "
                             "memory; select systems by --system NAME, at least twice")
        matrices = [matrix.select_items(np.flatnonzero(flags)).by_unit for flags in members]
        settings = replace(case.settings, alternative="greater")

        def test_facet(n: int) -> Any:
            if reason := test.refusal(matrices[n]):
                raise InputError(f"{case.subject.attribute}={values[n]}: {reason}")
            tested = [*pairs, *((b, a) for a, b in swapped)]
            return replace_undefined([result.p_value for result in test.run(matrices[n], tested, settings)])

        p_better = case.parts.compute_all(range(len(values)), test_facet)
        contrasts = compare_facets(replace(matrix, strata=None), members, pairs,
                                   replace(case.settings, confidence=1 - alpha))
        names = name_systems(case.board.members)
        intervals = [_compute_intervals(part, pairs, 1 - alpha, case.settings.execution) for part in matrices]
        rows = [row for n, pair in enumerate(pairs)
                for row in _make_rows(contrasts, intervals, p_better, values, names, case.subject.attribute, n, pair)]
        shown = [_swap_systems(row, p_better[place % len(values)][len(pairs) + swapped.index(pair)])
                 if (pair := pairs[place // len(values)]) in swapped else row for place, row in enumerate(rows)]
        total = matrix.difference(*(case.board.scores[list(side)] for side in zip(*pairs, strict=True)))
        pair_rows = [_make_pair_row(rows[len(values) * n:len(values) * (n + 1)], float(total[n]), alpha)
                     for n in range(len(pairs))]
        return Finding({"facets": shown, "pairs": pair_rows},
                       _describe(case.subject.attribute, shown, pair_rows, alpha),
                       warn_by_set(matrices, values, lambda part: one_sided_misuses(test, part)))

    def _is_swapped(self, case: FacetCase, pair: tuple[int, int]) -> bool:
        """Return True if the user names the systems of a pair in the other order than the board."""
        if not self.systems:
            return False
        a, b = (next(n for n, name in enumerate(self.systems) if is_named(case.board.members[place], name))
                for place in pair)
        return b < a

    def _split_values(self, case: FacetCase) -> tuple[list[str], Flags]:
        """Return the values of the attribute, and which items have each value, [values, items]."""
        split = [[part.strip() for part in text.split(self.separator)] if self.separator else [text]
                 for text in case.values]
        values = sorted({value for parts in split for value in parts if value})
        if len(values) < 2:
            raise InputError(f"all items have {case.subject.attribute}={''.join(values)}; name an attribute with two "
                             "or more values")
        members = np.array([[value in parts for parts in split] for value in values])
        if members.all(axis=1).any():
            value = values[int(members.all(axis=1).argmax())]
            raise InputError(f"all items have {case.subject.attribute}={value}, so there is no rest to compare it "
                             "with; remove this value from the gold")
        return values, members


@dataclass(frozen=True, eq=False)
class FacetCase(Case):
    """A leaderboard with the value of an attribute for each of its items."""

    subject: FacetSubject
    values: list[str]


@dataclass(frozen=True, eq=False)
class FacetSubject(BoardSubject):
    """A leaderboard and an attribute of its items, before they are loaded."""

    attribute: str

    @property
    def name(self) -> str:
        """Name of the leaderboard and of the attribute."""
        return f"{super().name} by {self.attribute}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Digest of the leaderboard, attributes of its submissions, and the attribute of items."""
        return {**super().identity, "attribute": self.attribute}

    def load(self, connection: Connection, parts: Parts) -> FacetCase | None:
        """Load the leaderboard with its statistics, and the values of the attribute.

        Raises:
            InputError: Systems are scored on different items, or an item lacks the attribute.
        """
        case = super().load(connection, parts)
        if case is None:
            return None
        return FacetCase(case.boards, self, case.parts, load_values(connection, case.board, self.attribute))


def _compute_intervals(matrix: Matrix, pairs: Sequence[tuple[int, int]], confidence: float,
                       execution: Execution) -> Ends:
    """Return the confidence interval of the difference of each pair within one facet, as on its leaderboard."""
    if refusal(matrix) is not None:
        return Ends(*np.full((2, len(pairs)), np.nan))
    a, b = np.array(pairs, dtype=np.int64).T
    return ClosedForm(matrix, confidence, execution=execution).differences(a, b)


def _make_rows(contrasts: FacetContrasts, intervals: Sequence[Ends], p_better: Sequence[Sequence[float | None]],
               values: Sequence[str], names: Sequence[str], attribute: str, n: int,
               pair: tuple[int, int]) -> Iterator[Row]:
    for facet, value in enumerate(values):
        inside, outside = float(contrasts.inside[facet, n]), float(contrasts.outside[facet, n])
        yield {"system_a": names[pair[0]], "system_b": names[pair[1]], "attribute": attribute, "value": value,
               "units": int(contrasts.units[facet]), "effective_sample_size": float(contrasts.effective[facet]),
               "in_facet": inside, "in_facet_low": float(intervals[facet].low[n]),
               "in_facet_high": float(intervals[facet].high[n]), "in_rest": outside,
               "facet_minus_rest": inside - outside,
               "low": float(contrasts.low[facet, n]), "high": float(contrasts.high[facet, n]),
               "p_adjusted": float(contrasts.p_values[facet, n]), "p_better": p_better[facet][n],
               "reason": contrasts.reasons[facet][n]}


def _swap_systems(row: Row, p_better: float | None) -> Row:
    """Return a row of the table `facets` with its systems exchanged.

    Args:
        row: The row.
        p_better: P-value of the test that the new system A is better in the facet.
    """
    return row | {"system_a": row["system_b"], "system_b": row["system_a"], "in_facet": -row["in_facet"],
                  "in_facet_low": -row["in_facet_high"], "in_facet_high": -row["in_facet_low"],
                  "in_rest": -row["in_rest"], "facet_minus_rest": -row["facet_minus_rest"], "low": -row["high"],
                  "high": -row["low"], "p_better": p_better}


def _make_pair_row(rows: Sequence[Row], difference: float, alpha: float) -> Row:
    p_values = [math.nan if row["p_better"] is None else row["p_better"] for row in rows]
    p = max(p_values) if all(map(math.isfinite, p_values)) else math.nan
    least = min(rows, key=lambda row: row["in_facet"] if math.isfinite(row["in_facet"]) else math.inf)
    return {"system_a": rows[0]["system_a"], "system_b": rows[0]["system_b"], "difference": difference,
            "facets": len(rows), "least_difference": least["in_facet"], "in": least["value"], "p_every": p,
            "better_in_every": p <= alpha}


def _describe(attribute: str, rows: Sequence[Row], pair_rows: Sequence[Row], alpha: float) -> list[str]:
    tested = [row for row in rows if not row["reason"]]
    shown = sorted((row for row in tested if row["p_adjusted"] <= alpha), key=lambda row: -abs(row["facet_minus_rest"]))
    n_others = len(tested) - len(shown)
    places = "facet" if len(pair_rows) == 1 else "combination of facet and pair", (
        "facets" if len(pair_rows) == 1 else "combinations of facet and pair")
    sentences = [_describe_contrast(attribute, row, alpha) for row in shown[:_MOST_NAMED]]
    if len(shown) > _MOST_NAMED:
        sentences.append(f"{len(shown) - _MOST_NAMED} more of these differences are shown in the table.")
    if n_others:
        sentences.append(f"In {'the other ' if shown else ''}{counted(n_others, *places)}, no difference from the rest "
                         "is shown, which does not mean that there is none.")
    if len(tested) < len(rows):
        reasons = list(dict.fromkeys(f"{row['value']}: {row['reason']}" for row in rows if row["reason"]))
        sentences.append(f"{counted(len(rows) - len(tested), *places)} could not be compared with the rest ("
                         f"{listed(reasons, _MOST_NAMED, '; ')}).")
    every = [f"{row['system_a']} than {row['system_b']}" for row in pair_rows if row["better_in_every"]]
    if len(pair_rows) == 1:
        p = pair_rows[0]["p_every"]
        sentences.append(f"Better in every {attribute}: {every[0] if every else 'not shown'} "
                         f"(p {'is undefined' if math.isnan(p) else f'= {p:.3g}'}).")
    else:
        sentences.append(f"Better in every {attribute}: shown for {len(every)} of {len(pair_rows)} pairs"
                         + (f" ({listed(every, _MOST_NAMED)})." if every else "."))
    return sentences


def _describe_contrast(attribute: str, row: Row, alpha: float) -> str:
    change = row["facet_minus_rest"]
    low, high = sorted((abs(row["low"]), abs(row["high"])))  # both have the sign of the change, as it is significant
    return (f"In {attribute}={row['value']}, {row['system_a']} is {_describe_lead(row['in_facet'])} {row['system_b']}, "
            f"elsewhere {_describe_lead(row['in_rest'])} it: {abs(change):.4f} {'more' if change > 0 else 'less'} "
            f"({100 * (1 - alpha):g} % simultaneous CI {low:.4f} to {high:.4f}).")


def _describe_lead(difference: float) -> str:
    return f"{abs(difference):.4f} {'ahead of' if difference >= 0 else 'behind'}"
