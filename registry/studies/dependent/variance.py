"""What items, runs, prompts and annotators each add to the error of a difference, and what more of them would buy.

A system that is trained with several seeds, or asked several times, has runs. A difference of two systems on one test
set is uncertain because other items would have been as good and because other runs would have; which of these matters
says what to have more of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from statistics import median
from typing import ClassVar

from registry.errors import InputError, counted
from registry.significance import Crossed
from registry.significance.crossed import CrossedPair, Source, crossing, crossing_names
from registry.significance.pairwise.crossed import Over
from registry.studies.board_study import BoardStudy, Case, called
from registry.studies.study import Finding, Row


class Variance(BoardStudy):
    """Variance components of every pair's difference, and the pair's tests over items, over runs, and over both.

    Every system needs two runs or more. The table `pairs` has the standard error of each difference where only items
    are others, only runs, or both, with p-values that are adjusted over the pairs. `sources` has the components: the
    deviation of items, of either system's runs, of prompts and annotators where runs differ by those, and of their
    interactions, with what each adds to the squared error, and its share of that. `more` says what the error would be
    with one more of something, and with twice as many.
    """

    name: ClassVar[str] = "variance"
    title: ClassVar[str] = "What do items, runs and prompts add to the error of differences?"
    citation: ClassVar[str] = "Cornfield and Tukey 1956; Searle, Casella and McCulloch 1992, chapter 4; Banerjee 1961"
    settings: ClassVar = ("unit", "alpha")
    fixed: ClassVar = {"runs": "random", "test": "crossed", "interval": "dual", "overall": None, "strata": None}
    computes: ClassVar = False
    every_metric: ClassVar = True
    by_response: ClassVar = False

    def run(self, case: Case) -> Finding:
        """Estimate the components of every pair.

        Raises:
            InputError: A system has one run, or the statistics do not add up.
        """
        board, matrix = case.board, case.board.matrix.by_unit
        if reason := Crossed().refusal(matrix):
            raise InputError(reason)
        if matrix.n_units < 2:
            return Finding({"pairs": [], "sources": [], "more": []}, ["One unit says nothing of others."])
        places = list(combinations(range(len(board.members)), 2))
        crossed, names = crossing(matrix), called(board.members)
        overs: list[Over] = ["all", *crossed.names]  # type: ignore[list-item]
        p = {over: case.adjusted([of.p_value for of in Crossed(over=over).run(matrix, places, case.settings)])
             for over in overs}
        found: dict[str, list[Row]] = {"pairs": [], "sources": [], "more": []}
        for n, (a, b) in enumerate(places):
            pair, said = crossed.pair(a, b), {"system_a": names[a], "system_b": names[b]}
            found["pairs"].append(
                said | {"difference": float(matrix.difference(board.scores[a], board.scores[b]))}
                | {f"error_{over}": math.sqrt(sum(of.squared for of in pair.bounds(crossed.axes(over))))
                   for over in overs}
                | {f"p_{over}": p[over][n] for over in overs})
            components = list(pair.components())
            found["sources"] += [said | row for row in _sources(pair, components, crossed.names, (names[a], names[b]))]
            found["more"] += [said | row for row in _more(pair, components, crossed.names)]
        return Finding(found, _reading(case, *found.values()))


def _levels(pair: CrossedPair, source: Source) -> list[int]:
    """The number of levels of each factor of a source; of one that is its own, of either system's."""
    return [pair.tables[source.side or 0].shape[axis] for axis in source.axes]


def _sources(pair: CrossedPair, sources: list[Source], axes: Sequence[str], names: tuple[str, str]) -> Iterator[Row]:
    total = sum(max(0.0, of.squared) for of in sources)
    for of in sources:
        squared = max(0.0, of.squared)
        yield {"source": " x ".join(axes[axis] for axis in of.axes), "of": "" if of.side is None else names[of.side],
               "levels": math.prod(_levels(pair, of)), "degrees": of.degrees,
               "deviation": math.sqrt(squared * math.prod(_levels(pair, of))),
               "squared_error": squared, "share": squared / total if total else math.nan}


def _more(pair: CrossedPair, sources: list[Source], names: Sequence[str]) -> Iterator[Row]:
    """What the error would be with more levels of each factor, in both systems where each has its own."""
    for axis in pair.axes:
        levels = [table.shape[axis] for table in pair.tables]
        yield {"more": names[axis], "levels": min(levels), "error": _error(sources, axis, levels, levels),
               "error_one_more": _error(sources, axis, levels, [n + 1 for n in levels]),
               "error_twice": _error(sources, axis, levels, [2 * n for n in levels])}


def _error(sources: list[Source], axis: int, levels: list[int], wanted: list[int]) -> float:
    """The error where a factor has the wanted number of levels, of either system."""
    return math.sqrt(sum(max(0.0, of.squared) * (levels[of.side or 0] / wanted[of.side or 0] if axis in of.axes else 1)
                         for of in sources))


def _reading(case: Case, pairs: list[Row], sources: list[Row], more: list[Row]) -> list[str]:
    of_pair = len(sources) // len(pairs)
    shares = {name: median(sum(row["share"] for row in sources[at:at + of_pair] if row["source"] == name)
                           for at in range(0, len(sources), of_pair))
              for name in dict.fromkeys(row["source"] for row in sources)}
    matrix, names = case.board.matrix, crossing_names(case.board.matrix)
    units = "clusters" if matrix.units is not None else "items"
    said = [f"{matrix.n_units} {units}, " + ", ".join(
        f"{_span(row['levels'] for row in more if row['more'] == name)} {name}" for name in names[1:])
        + ". Of the squared error of the middle pair, " + ", ".join(
            f"{100 * share:.0f} % come of {name.replace('items', units)}" for name, share in shares.items()) + "."]
    for name in names:
        of = [row for row in more if row["more"] == name]
        one, twice = (median(1 - row[key] / row["error"] if row["error"] else 0.0 for row in of)
                      for key in ("error_one_more", "error_twice"))
        said.append(f"One more of the {name.replace('items', units)} would make the middle error {_percent(one)} "
                    f"smaller, twice as many {_percent(twice)}.")
    return [*said, _decisions(case, pairs, names),
            "Components are estimated without bias, and those below 0 shown as 0. With few runs they are uncertain: of "
            "two runs a deviation is estimated with one degree of freedom."]


def _span(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return " to ".join(map(str, dict.fromkeys((found[0], found[-1]))))


def _decisions(case: Case, pairs: list[Row], names: Sequence[str]) -> str:
    alpha = case.request.significance.alpha
    by = {over: sum(row[f"p_{over}"] <= alpha for row in pairs) for over in ("all", *names)}
    return (f"At {100 * alpha:g} %, of {counted(len(pairs), 'pair')}, " + ", ".join(
        f"{by[name]} differ where only {name} are others" for name in names)
        + f", and {by['all']} where all are.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
