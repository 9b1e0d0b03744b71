"""Looks of a gate: tests of the first units of a test set, before the other units are scored.

The units of a test set are in a random order that depends only on their names and the seed. Look k of K uses the first
k / K of the units. Look k may spend the alpha that looks before it left of 2 - 2 Phi(z / sqrt(k / K)), where z is the
quantile of alpha / 2 (Lan and DeMets 1983, like O'Brien and Fleming). The levels of all looks add up to alpha, so the
error of all looks together is at most alpha, regardless of the correlation of the looks (Bonferroni).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Ints
from registry.errors import InputError, counted
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board, load_board
from registry.evaluation.comparing.settings import Request
from registry.identity import digest_array, digest_json, salt_digest
from registry.store import catalog
from registry.store.statistics import load_statistics
from registry.studies.study import BoardSubject, Case, Parts, Row, check_same_items


def spend_alpha(alpha: float, share: float) -> float:
    """Return the part of alpha that looks at a share of the units may spend, all together."""
    from scipy.special import ndtr, ndtri

    if share in (0, 1):
        return alpha * share
    return float(2 * ndtr(ndtri(alpha / 2) / math.sqrt(share)))


def compute_level(alpha: float, look: int, looks: int) -> float:
    """Return the significance level of one look."""
    return spend_alpha(alpha, look / looks) - spend_alpha(alpha, (look - 1) / looks)


@dataclass(frozen=True, eq=False)
class GateCase(Case):
    """Leaderboards of a gate, reduced to the units of one look; the candidate is the first system of each.

    Attributes:
        digests: For this look and each look before it, a digest of both systems' statistics in the units of the look.
            It does not change if more units are scored later.
    """

    digests: tuple[str, ...]

    @property
    def criteria(self) -> str:
        """Digest of metrics, test sets, gold, and the submissions that the candidate is compared with."""
        keys = [board.key for board in self.boards]
        return digest_json([[key.metric.alias, key.metric.name, key.test_set.name, key.track, key.members[1].submission,
                             key.gold_digest] for key in keys])


@dataclass(frozen=True, eq=False)
class GateSubject(BoardSubject):
    """Leaderboards of a gate; each one has two systems, of which the first one is the candidate.

    Attributes:
        look: Number of the look; without looks, it is look 1 of 1.
        looks: Number of looks.
        missing: For each metric and test set, the number of items that a system does not answer.
    """

    look: int
    looks: int
    missing: list[Row]

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, **({"missing": self.missing} if self.missing else {})}

    def load(self, connection: Connection, parts: Parts) -> GateCase | None:
        """Load the leaderboards, reduced to the units of the look.

        Raises:
            InputError: A system is not scored on all units of the look, or systems are scored on different items.
        """
        boards, digests = [], []
        for key in self.keys:
            board = load_board(connection, key, self.request)
            if board is None:
                continue
            numbers = number_looks(connection, key, self.request, self.looks)
            if self.looks > 1:
                needed = np.flatnonzero(numbers <= self.look)
                self._check_items(connection, key, needed)
                board = _select_items(board, np.isin(board.items, needed))
            boards.append(_order_systems(check_same_items(board), [member.name for member in key.members]))
            digests.append(list(_digest_looks(connection, boards[-1], numbers[board.items], self.look)))
        if not boards:
            return None
        salt = self.keys[0].task.salt
        return GateCase(tuple(boards), self, parts,
                        tuple(salt_digest(digest_json(column), salt) for column in zip(*digests, strict=True)))

    def _check_items(self, connection: Connection, key: BoardKey, needed: Ints) -> None:
        for member in key.members:  # with `missing = "own"`, each system is scored on the items that it answers
            board = load_board(connection, replace(key, members=[member]), self.request)
            lacking = needed if board is None else np.setdiff1d(needed, board.items)
            if len(lacking):
                example = catalog.item_keys(connection, key.gold.gold_revision_id)[int(lacking[0])]
                raise InputError(
                    f"{key.name}: {member.submission} has no score on {len(lacking)} of the "
                    f"{counted(len(needed), 'item')} of look {self.look}, such as {example!r}; submit its answers to "
                    "the items that --items prints, with --missing own")


def number_looks(connection: Connection, key: BoardKey, request: Request, looks: int) -> Ints:
    """Return the look that tests each item of a test set first, [items of the gold].

    The units are sorted by the SHA-256 digest of the seed and their name.
    """
    names: Sequence[str] = catalog.item_keys(connection, key.gold.gold_revision_id)
    if key.with_unit(request).significance.unit == "cluster" and key.test_set.cluster_attribute is not None:
        first_item, n_items = catalog.item_ids(connection, key.gold.gold_revision_id)
        clusters = catalog.item_attribute(connection, key.gold.gold_revision_id, key.test_set.cluster_attribute)
        names = [clusters.get(first_item + n, "") for n in range(n_items)]
    units = sorted(set(names), key=lambda name: hashlib.sha256(f"{request.seed}\n{name}".encode()).digest())
    looks_by_unit = {unit: 1 + n * looks // len(units) for n, unit in enumerate(units)}
    return np.array([looks_by_unit[name] for name in names], dtype=np.int64)


def _digest_looks(connection: Connection, board: Board, numbers: Ints, look: int) -> Iterator[str]:
    """Yield a digest of both systems' statistics for each look; `numbers` are the looks of the board's items."""
    key = board.key
    statistics, _ = load_statistics(
        connection, board.metric.family, key.metric.metric_id, [member.scoring_id for member in board.members],
        *catalog.item_ids(connection, key.gold.gold_revision_id))
    for number in range(1, look + 1):
        items = board.items[numbers <= number]
        yield digest_json([digest_array(system[items]) for system in statistics])


def _select_items(board: Board, is_selected: Flags) -> Board:
    matrix = replace(board.matrix.select_items(np.flatnonzero(is_selected)), unequal=False)
    return replace(board, items=board.items[is_selected], matrix=matrix)


def _order_systems(board: Board, names: Sequence[str]) -> Board:
    """Return a leaderboard with its systems in the order of `names`."""
    places = [[member.name for member in board.members].index(name) for name in names]
    matrix = board.matrix.select_systems(places)
    return replace(board, members=[board.members[n] for n in places], matrix=matrix, scores=matrix.scores(),
                   digests=[board.digests[n] for n in places], run_scores=[board.run_scores[n] for n in places])
