"""What a board makes of its p-values: adjusted ones, decisions, ranks; made again from the stored p-values alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from registry.evaluation.comparing.settings import Request
from registry.evaluation.verifying.faults import Fault
from registry.identity import canonical_json
from registry.significance import CORRECTIONS, rank
from registry.significance.multiple import adjust_boards, number_chains
from registry.store.statistics import fetch_columns

Columns = Mapping[str, NDArray[Any]]

_PLACES = {"rank": "rank", "rank_low": "low", "rank_high": "high", "cluster": "cluster"}  # as `Ranking` calls them


def verify_decisions(connection: Connection, left_out: Collection[int] = ()) -> Iterator[Fault]:
    """Hold the adjusted p-values, decisions and ranks of every board against its p-values and scores.

    Args:
        connection: To a public file.
        left_out: The ids of comparisons that are not verified.
    """
    families: dict[str, list[tuple[Any, Columns]]] = {}
    for board in connection.exec_driver_sql("""
            SELECT comparison_id, split_part(signature, '|', -1) AS id, alpha, correction, request, better,
                concat_ws(', ', test_set.name, track.name, facet) AS items,
                concat_ws(', ', test_set.name, track.name, facet, alias) AS board
            FROM comparison JOIN metric USING (metric_id) JOIN test_set USING (test_set_id)
            LEFT JOIN track ON track.track_id = comparison.track_id ORDER BY comparison_id"""):
        if board.comparison_id in left_out:
            continue
        pairs = _columns(connection, """
            SELECT submission_a, submission_b, is_significant, p_adjusted, p_value,
                if(is_swapped, -difference, difference) AS difference, if(is_swapped, -favours, favours) AS favours,
                (alternative = 'two-sided' OR ((alternative = 'greater') <> is_swapped) = (
                    if(is_swapped, -difference, difference) > 0)) AS agrees
            FROM comparison_pair JOIN pair_result USING (pair_result_id)
            JOIN pair_request USING (pair_request_id)""", board.comparison_id)
        family = json.loads(board.request).get("family", str(board.comparison_id))
        families.setdefault(canonical_json(family), []).append((board, pairs))
    for of_family in families.values():
        yield from _of_family(of_family)
        for board, pairs in of_family:
            standings = _columns(connection, "SELECT * FROM standing", board.comparison_id)
            yield from _of_standings(board, pairs, standings)


def _columns(connection: Connection, select: str, comparison_id: int) -> Columns:
    """Columns of a comparison, in order; NULL is nan, or in texts a dash."""
    query = text(f"{select} WHERE comparison_id = {comparison_id} ORDER BY position")
    found = fetch_columns(connection, query)
    return {name: np.ma.filled(column.astype(np.float64), np.nan) if column.dtype.kind in "fiub" else
            np.ma.filled(column, "-") for name, column in found.items()}


def _of_family(boards: Sequence[tuple[Any, Columns]]) -> Iterator[Fault]:
    """Hold the adjusted p-values of a family's boards against the others, and decisions against these."""
    order = json.loads(boards[0][0].request).get("family", {}).get("boards", [boards[0][0].board])
    boards = sorted((of for of in boards if len(of[1]["p_value"])), key=lambda of: order.index(of[0].board))
    if boards and CORRECTIONS[boards[0][0].correction].function is not None:
        chains = number_chains([(board.items, np.stack([pairs["submission_a"], pairs["submission_b"]]).astype(np.int64))
                                for board, pairs in boards])
        adjusted = adjust_boards([pairs["p_value"] for _, pairs in boards], chains, boards[0][0].correction)
        for (board, pairs), of_board in zip(boards, adjusted, strict=True):
            yield from _differing("pair", board.id, "p_adjusted", pairs["p_adjusted"], of_board)
    for board, pairs in boards:
        significant = (pairs["p_adjusted"] <= board.alpha) & (pairs["favours"] * pairs["difference"] > 0) & (
            pairs["agrees"] == 1)
        yield from _differing("pair", board.id, "is_significant", pairs["is_significant"],
                              significant.astype(np.float64))


def _of_standings(board: Any, pairs: Columns, standings: Columns) -> Iterator[Fault]:
    """Hold wins, losses and ranks against the decisions and the scores."""
    place = {submission: n for n, submission in enumerate(standings["submission_id"])}
    if unknown := (set(pairs["submission_a"]) | set(pairs["submission_b"])) - place.keys():
        yield Fault("surplus", "pair", board.id, f"pairs of {len(unknown)} systems that the board does not have")
        return
    wins = np.zeros((len(place),) * 2, dtype=bool)
    for a, b, won, difference in zip(*(pairs[key] for key in (
            "submission_a", "submission_b", "is_significant", "difference")), strict=True):
        if won:
            wins[(place[a], place[b]) if difference > 0 else (place[b], place[a])] = True
    request = Request.recorded(board.request)
    ranked = np.flatnonzero([request.ranks(kind, late=bool(late)) for kind, late in zip(
        standings["kind"], standings["late"], strict=True)])
    ranking = rank(standings["score"][ranked], wins[np.ix_(ranked, ranked)], lower_is_better=board.better == "lower")
    derived = {key: np.full(len(place), np.nan) for key in _PLACES}
    for key, of in _PLACES.items():
        derived[key][ranked] = getattr(ranking, of)
    derived |= {"wins": wins.sum(axis=1).astype(np.float64), "losses": wins.sum(axis=0).astype(np.float64)}
    for key, values in derived.items():
        yield from _differing("standing", board.id, key, standings[key], values)


def _differing(of: str, name: str, key: str, stored: NDArray[Any], derived: NDArray[Any]) -> Iterator[Fault]:
    wrong = np.flatnonzero(~((stored == derived) | (np.isnan(stored) & np.isnan(derived))))
    if len(wrong):
        n = int(wrong[0])
        yield Fault("altered", of, name, f"{key} of row {n} is {stored[n]}, and {derived[n]} when derived again"
                    + (f"; {len(wrong)} rows differ so" if len(wrong) > 1 else ""))
