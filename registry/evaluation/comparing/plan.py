"""What a comparison will do, before it does: its pairs, how they come about, the draws, work and memory that it takes.

Of every board that is not there yet a few systems are loaded and a few of their pairs are tested
(`registry.significance.pairwise.base`); the rest is arithmetic on their shapes. How long it takes is told while it
works.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from registry.evaluation.comparing.board_keys import BoardKey, families
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import Vetted, VettedBoard, tested_board
from registry.evaluation.resolve import resolve_significance
from registry.manifest import Significance
from registry.significance import CORRECTIONS, Matrix, PairTest
from registry.significance.base import Method
from registry.significance.multiple import GATEKEEPING, count_required_draws, count_required_units
from registry.significance.pairwise.base import TriedPairs, few_systems, try_pairs
from registry.store import comparisons

_PROCESS = 2**28  # bytes of the program itself with its libraries
SHORT = 10**9  # additions, which take some second
_COPIES = 2  # of a board's statistics at the most at once, in as few bytes as they need
_LOADED = 2**21 * 40  # bytes of the statistics that are loaded at once


@dataclass(frozen=True)
class PlannedBoard:
    """A board that is to be made.

    Attributes:
        key: Which board it is.
        settings: Of the comparison, with numbers in the place of `auto`.
        new: How many of their pairs no earlier comparison has tested.
        cells: Items times columns of the statistics of one system.
        cell: The bytes that each of these numbers takes.
        tried: What a few of its pairs show; None where there are none, or where the test will be refused.
        units: How many units are swapped or resampled at the most.
        why_drawn: Why pairs are drawn that are computed elsewhere.
    """

    key: BoardKey
    settings: Significance
    new: int
    cells: int
    cell: int
    tried: TriedPairs | None
    units: int = 0
    why_drawn: str = ""

    @property
    def systems(self) -> int:
        """How many take part."""
        return len(self.key.members)

    @property
    def pairs(self) -> int:
        """How many pairs the family has."""
        return math.comb(self.systems, 2)

    @property
    def by_pair(self) -> bool:
        """Whether p-values of pairs are corrected, and not their joint draws, which no pair then does without."""
        return CORRECTIONS[self.settings.correction].function is not None

    @property
    def is_two_sided(self) -> bool:
        """Whether no pair is tested one-sided."""
        return self.settings.alternative == "two-sided"

    @property
    def most_draws(self) -> int:
        """The most draws that a pair gets, `resolve` allowed for."""
        return max(self.settings.draws, (self.settings.resolve or 0) if self.by_pair else 0)

    @property
    def drawn(self) -> int:
        """How many of the new pairs will be drawn."""
        return self.of_method("monte-carlo")

    def of_method(self, method: Method) -> int:
        """How many of the new pairs will come about so."""
        return 0 if self.tried is None else self.tried.of_method(method, self.new)

    def count_additions(self, test: PairTest) -> float:
        """Return about how many additions its pairs and intervals take."""
        if self.tried is None:
            return 0
        is_drawn = self.drawn > 0 or test.draws_intervals
        draws = self.settings.draws * (self.cells * self.systems + self.drawn) if is_drawn else 0
        return draws + (self.new - self.drawn) * self.tried.work


@dataclass(frozen=True)
class Hopeless:
    """The first board of a family, its pairs, those drawn, of which none can be significant, and the draws it needs."""

    board: PlannedBoard
    pairs: int
    drawn: int
    needed: int


@dataclass(frozen=True)
class Plan:
    """What a comparison will do: the boards that are not there yet, and how they are tested, by how many at once."""

    boards: tuple[PlannedBoard, ...]
    test: PairTest
    threads: int
    memory: int

    @property
    def pairs(self) -> int:
        """How many pairs will be tested."""
        return sum(board.new for board in self.boards)

    def of_method(self, method: Method) -> int:
        """How many of them will come about so, as far as a few of them show."""
        return sum(board.of_method(method) for board in self.boards)

    @property
    def reasons(self) -> list[str]:
        """Why pairs are drawn that the test computes elsewhere."""
        return sorted({board.why_drawn for board in self.boards if board.drawn and board.why_drawn})

    @property
    def is_short(self) -> bool:
        """Whether it takes about a second at the most, by arithmetic."""
        return sum(board.count_additions(self.test) for board in self.boards) < SHORT

    @property
    def n_bytes(self) -> int:
        """About how much memory it will take at the most."""
        return _PROCESS + max((sum(map(self._of_board, boards)) for boards in families(self.boards)), default=0)

    def _of_board(self, board: PlannedBoard) -> int:
        cells = board.cells * board.systems
        multiplied = min(4 * cells, self.memory // 8) if board.drawn else 0
        scores = min(8 * board.systems * board.settings.draws, self.memory) if board.drawn else 0
        return _COPIES * board.cell * cells + min(40 * cells, _LOADED) + multiplied + scores

    def of_few_units(self) -> Iterator[tuple[PlannedBoard, int]]:
        """The boards that have too few units for any pair to be significant, with the number that could."""
        for board in self.boards if self.test.swaps_units else ():
            settings = board.settings
            if board.tried and settings.runs == "fixed":
                # Of Holm others may go first.
                of_all = board.key.family if settings.correction == "bonferroni" else None
                pairs = board.pairs if of_all is None else of_all.pairs
                needed = count_required_units(pairs, settings.correction, settings.alpha, two_sided=board.is_two_sided)
                if board.units < needed:
                    yield board, needed

    def hopeless(self) -> Iterator[Hopeless]:
        """The families none of whose drawn pairs can be significant, by their first boards (those with units enough).

        Pairs that are not drawn are taken to have the smallest p-values there are. Under gatekeeping each board is
        looked at by itself, as only pairs on the same items share alpha from the beginning.
        """
        few = {board.key.name for board, _ in self.of_few_units()}
        for boards, share in self._corrected_together():
            first, pairs = boards[0], sum(board.pairs for board in boards)
            if first.key.name in few:
                continue
            drawn = sum(board.tried.of_method("monte-carlo", board.pairs) if board.by_pair else board.pairs
                        for board in boards if board.tried)
            p = np.zeros(pairs)
            p[:drawn] = np.nan
            needed = count_required_draws(p, first.settings.correction, first.settings.alpha * share) if drawn else 0
            if needed > first.most_draws:
                yield Hopeless(first, pairs, drawn, needed)

    def _corrected_together(self) -> Iterator[tuple[Sequence[PlannedBoard], float]]:
        """The boards whose p-values are looked at together, with their share of alpha."""
        in_turn = bool(self.boards) and self.boards[0].settings.correction == GATEKEEPING
        for boards in ([[board] for board in self.boards] if in_turn else families(self.boards)):
            if boards[0].by_pair:
                yield boards, 1.0
                continue
            total = sum(board.pairs for board in boards)
            for items in dict.fromkeys(board.key.items for board in boards):
                group = [board for board in boards if board.key.items == items]
                yield group, sum(board.pairs for board in group) / max(1, total)


def plan(connection: Connection, vetted: Vetted, request: Request) -> Plan:
    """Plan the comparison of all systems on every board of a task, none of which is refused; nothing is written.

    A cluster is connected to where there is work for it, so that what is wrong with it is known before.

    Raises:
        UnknownNameError, MismatchError, InputError: As `compare` does, or of a cluster.
    """
    test, _ = resolve_significance(request.significance)
    boards = tuple(_planned(connection, of, request, test) for of in vetted.boards if of.there is None)
    here = Plan(boards, test, request.execution.threads, request.execution.memory)
    is_work = request.execution.cluster is not None and not here.is_short
    return replace(here, threads=request.execution.at_once) if is_work else here


def _planned(connection: Connection, of: VettedBoard, request: Request, test: PairTest) -> PlannedBoard:
    key, n = of.key, len(of.key.members)
    request = key.request(request)
    settings, new = request.significance, _new_pairs(connection, key, request)
    matrix = None if n < 2 else _few(connection, of, request)
    if matrix is None:
        return PlannedBoard(key, settings, new, 0, 0, None)
    items, systems, columns = matrix.statistics.shape
    cells = items * columns
    cell = matrix.statistics.nbytes // (cells * systems)
    refused = test.refusal(matrix.by_unit)
    tried = None if refused else try_pairs(test, matrix, request.of_pairs)
    matrix = matrix.by_unit
    return PlannedBoard(key, settings, new, cells, cell, tried, matrix.n_units, test.why_drawn(matrix))


def _few(connection: Connection, of: VettedBoard, request: Request) -> Matrix | None:
    """Return the matrix of a few systems of a board, which may be loaded already."""
    members = of.key.members
    few = [members[n] for n in few_systems(len(members))]
    if of.loaded is not None:
        return of.loaded.matrix.of_systems(sorted(map(of.loaded.members.index, few)))
    board = tested_board(connection, replace(of.key, members=few), request)
    return None if board is None else board.matrix


def _new_pairs(connection: Connection, key: BoardKey, request: Request) -> int:
    """How many pairs are left beside those of systems that an earlier comparison like this one has tested."""
    settings = request.significance
    before = comparisons.find_compared(
        connection, test_set_id=key.test_set.test_set_id, gold_revision_id=key.gold.gold_revision_id,
        facet=key.facet_name, metric_id=key.metric.metric_id, test=repr(resolve_significance(settings)[0]),
        alternative=request.alternative, candidate=settings.candidate, unit=settings.unit,
        resamples=settings.draws, seed=settings.seed, interval=settings.interval, confidence=settings.confidence,
        runs=settings.runs)
    members = {member.submission_id for member in key.members}
    return math.comb(len(members), 2) - math.comb(len(members & before), 2)
