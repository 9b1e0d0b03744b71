"""Test all pairs of systems, correct their p-values, and rank the systems.

A comparison is the stored result of one leaderboard. If a system or a setting changes, `compare` stores a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats
from registry.evaluation.comparing.board_keys import group_by_family
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.pair_results import BoardIntervals, BoardResults, Decisions, FamilyResults
from registry.evaluation.comparing.plan import Plan, plan
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import VettedBoard, VettedTask, vet
from registry.evaluation.metric_ids import choose_alias
from registry.evaluation.resolve import resolve_significance
from registry.identity import canonical_json, short
from registry.manifest import Significance
from registry.messages import BoardWarning
from registry.plugins import versions
from registry.provenance import Signature
from registry.significance import CORRECTIONS, JointMatrix, rank
from registry.significance.base import METHODS
from registry.significance.multiple import STEP_DOWN
from registry.significance.resampling.scores import share_resamples
from registry.store import catalog, comparisons, models
from registry.store.catalog import ComparisonRow, TaskRow
from registry.store.log import Journal, now
from registry.store.rows import insert_bulk, insert_many


@dataclass
class ComparisonSummary:
    """Counts and messages of `compare`, which compares all systems of a task.

    Attributes:
        n_comparisons: Number of leaderboards with a new comparison.
        n_tested: Number of pairs on these leaderboards that were tested.
        n_reused: Number of pairs on these leaderboards whose results were already stored.
        is_random: True if a new comparison depends on random numbers.
        is_parallel: True if threads shared the work.
        warnings: Warnings about leaderboards.
        notes: Other messages.
    """

    n_comparisons: int = 0
    n_tested: int = 0
    n_reused: int = 0
    is_random: bool = False
    is_parallel: bool = False
    warnings: list[BoardWarning] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def prepare(connection: Connection, task_row: TaskRow, request: Request) -> tuple[VettedTask, Plan]:
    """Check that the test applies to each leaderboard, and estimate the cost.

    Returns:
        The checked leaderboards, and the estimated cost of comparing their systems.

    Raises:
        UnknownNameError: The test or the correction is unknown.
        MismatchError: A submission is not scored yet.
        InputError: The test does not apply to some leaderboards.
    """
    vetted = vet(connection, task_row, request)
    vetted.raise_refusals()
    return vetted, plan(connection, vetted, request)


def compare(connection: Connection, journal: Journal, task_row: TaskRow, request: Request,
            vetted: VettedTask | None = None) -> ComparisonSummary:
    """Compare all systems on every leaderboard of a task, and store the results.

    If the same comparison is already stored, `compare` only marks it as the latest one.

    Args:
        connection: Connection in a transaction.
        journal: Writes the command to the log.
        task_row: The task.
        request: The requested comparison.
        vetted: The leaderboards, as `vet` has checked them for the same request; None: `compare` calls `vet`.

    Raises:
        UnknownNameError: A metric, test or correction is unknown.
        MismatchError: A submission is not scored yet.
        InputError: The test does not apply to some leaderboards, or needs clusters that the test set does not declare.
            The error lists all these leaderboards.
    """
    summary = ComparisonSummary()
    for alias in request.metrics or ():
        choose_alias(connection, [task_row], alias)
    vetted = vet(connection, task_row, request) if vetted is None else vetted
    vetted.raise_refusals()
    summary.warnings += vetted.warnings
    current = [digest for boards in group_by_family(vetted.boards)
               for digest in _compare_family(connection, journal, boards, request, summary)]
    if summary.is_random and (note := _explain_unused_resolve(request.significance)):
        summary.notes.append(note)
    # Retiring a comparison can make the one before it obsolete.
    while obsolete := comparisons.find_obsolete(connection, task_row.slug, current, request.metrics):
        for comparison in obsolete:
            catalog.set_values(connection, models.comparison, comparison.comparison_id, sequence=0)
            journal.event(connection, "board-retired", task_row.slug, signature=comparison.signature,
                          digest=comparison.digest)
    return summary


def delete_unused_results(connection: Connection, journal: Journal) -> None:
    """Delete the pair results of this command that no comparison uses.

    They are results with too few resamples, which results with more resamples replaced, and results of systems that
    were withdrawn meanwhile. `verify` repeats comparisons, so it could not verify such results.
    """
    if journal.changed:
        comparisons.delete_unused_results(connection, journal.run_id(connection))


def _compare_family(connection: Connection, journal: Journal, vetted: Sequence[VettedBoard], request: Request,
                    summary: ComparisonSummary) -> list[str]:
    """Compare systems on leaderboards whose p-values are corrected together.

    New comparisons are stored. Comparisons that are already stored become the latest ones.

    Returns:
        The digests of their comparisons, new or already stored.
    """
    boards = {board.digest: board.take_board(connection, request) for board in vetted if board.stored is None}
    results: dict[str, BoardComparison] = {}
    if any(board is not None for board in boards.values()):
        # The correction also needs the p-values of the leaderboards that are already stored.
        boards |= {board.digest: board.take_board(connection, request) for board in vetted if board.stored is not None}
        loaded = {board.digest: loaded for board in vetted if (loaded := boards[board.digest]) is not None}
        results = dict(zip(loaded, compare_boards(
            connection, journal, list(loaded.values()), [request] * len(loaded)), strict=True))
    digests = []
    for board in vetted:
        key, stored = board.key, board.stored
        latest = comparisons.latest_sequence(
            connection, test_set_id=key.test_set.test_set_id, track_id=key.members[0].track_id,
            facet=key.facet_name, alias=key.metric.alias)
        if stored is None:
            if board.digest not in results:
                continue
            results[board.digest].store(board.digest, latest + 1, summary)
        elif stored.sequence == 0 or stored.sequence < latest:
            catalog.set_values(connection, models.comparison, stored.comparison_id, sequence=latest + 1)
            journal.event(connection, "compare-again", key.task.slug, signature=stored.signature, digest=board.digest)
        digests.append(board.digest)
    return digests


def compare_boards(connection: Connection, journal: Journal, boards: Sequence[Board],
                   requests: Sequence[Request]) -> list[BoardComparison]:
    """Test all pairs of systems on some leaderboards; correct p-values together.

    Each leaderboard gets an equal part of the memory for its resamples.

    Args:
        connection: Connection in a transaction.
        journal: Writes the command to the log.
        boards: The leaderboards.
        requests: The request of each leaderboard. If they come from stored comparisons, they can differ in unit and
            alternative.
    """
    results = []
    for board, request in zip(boards, requests, strict=True):
        execution = replace(request.execution, memory=request.execution.memory // len(boards))
        resolved = board.key.resolve_request(replace(request, execution=execution))
        board = replace(board, matrix=share_resamples(board.matrix, resolved.settings))
        test, _ = resolve_significance(resolved.significance)
        results.append(BoardResults(connection, journal, board, resolved, test))
    family = FamilyResults(results)
    return [BoardComparison(result, decisions, family)
            for result, decisions in zip(results, family.test_all_pairs(), strict=True)]


def _explain_unused_resolve(settings: Significance) -> str | None:
    if settings.resolve is None:
        return None
    if CORRECTIONS[settings.correction].function is None:
        return f'resolve has no effect with correction = "{settings.correction}"; increase resamples instead'
    if settings.resamples != "auto" and settings.resolve <= settings.resamples:
        return (f"resolve has no effect, because resolve = {settings.resolve} is not larger than resamples = "
                f"{settings.resamples}; increase resolve")
    return None


@dataclass(frozen=True, eq=False)
class BoardComparison:
    """Test results of one leaderboard, before they are stored.

    Attributes:
        results: The leaderboard with unadjusted test results of its pairs.
        decisions: The adjusted p-values of the pairs.
        family: All leaderboards whose p-values are corrected together.
    """

    results: BoardResults
    decisions: Decisions
    family: FamilyResults

    def store(self, digest: str, sequence: int, summary: ComparisonSummary) -> None:
        """Rank the systems of a leaderboard, and store the ranks and test results.

        Args:
            digest: Digest of the data and settings, which identifies the comparison.
            sequence: Number of the comparison; the latest of a leaderboard has the largest.
            summary: Receives the counts of the comparison.
        """
        board, pairs, connection, decisions = (
            self.results.board, self.results.pairs, self.results.connection, self.decisions)
        results, n_tested = pairs.results, int(pairs.is_tested.sum())
        summary.n_tested += n_tested
        summary.n_reused += len(results) - n_tested
        a, b = pairs.canonical.T
        is_ahead = results["difference"] > 0
        # With alpha above 0.5 a one-sided test could be significant against its own alternative.
        is_against = self.results.sides * np.where(is_ahead ^ pairs.is_swapped, 1, -1) < 0
        significant = (decisions.adjusted <= self.results.settings.alpha) & ~is_against & (
            results["favours"] * results["difference"] > 0)
        wins = np.zeros((len(board.members),) * 2, dtype=bool)
        wins[a, b], wins[b, a] = significant & is_ahead, significant & ~is_ahead
        intervals = BoardIntervals(self.results)
        is_random = self.family.is_random or intervals.has_test_intervals
        summary.is_random |= is_random
        summary.is_parallel |= is_random or self.results.test.name in STEP_DOWN
        comparison_id = self._store_comparison(digest, sequence, intervals, is_random=is_random)
        submissions = np.array([member.submission_id for member in board.members])
        insert_bulk(connection, models.comparison_pair, {
            "comparison_id": comparison_id, "position": np.arange(len(results)),
            "submission_a": submissions[pairs.a], "submission_b": submissions[pairs.b],
            "pair_result_id": results["pair_result_id"], "is_swapped": pairs.is_swapped,
            "p_adjusted": decisions.adjusted, "is_significant": significant, "is_resolved": decisions.resolved})
        if (overall := resolve_significance(self.results.settings)[1]) is not None:
            insert_many(connection, models.overall_result, [
                {"comparison_id": comparison_id, "test": repr(overall), **asdict(overall.run(board.matrix))}])
        insert_many(connection, models.standing, [
            {"comparison_id": comparison_id, **row}
            for row in _rank_members(board, wins, intervals.scores, self.results.request)])
        intervals.store_differences()
        summary.n_comparisons += 1

    def _store_comparison(self, digest: str, sequence: int, intervals: BoardIntervals, *, is_random: bool) -> int:
        """Insert the row of table `comparison`, and return its id."""
        results, board = self.results, self.results.board
        key, settings, request = board.key, results.settings, results.request
        methods = {METHODS[code] for code in np.unique(results.pairs.results["method"])}
        signature = str(Signature(
            metric=key.metric.alias, task=key.task.slug, task_version=key.task.version,
            test_set=key.test_set.name, track=key.track, facet=key.facet_name,
            n_items=len(board.items),
            n_clusters=board.matrix.n_units if settings.unit == "cluster" else None, strata=settings.strata,
            gold=short(key.gold_digest),
            test=repr(results.test), alternative=request.alternative,
            method="mixed" if len(methods) > 1 else next(iter(methods), None), runs=settings.runs,
            seed=settings.seed if is_random else None, correction=settings.correction,
            family_size=self.family.n_pairs, alpha=settings.alpha,
            identity=short(key.digest(request, is_random=is_random)),
            n_boards=len(self.family.boards),
            plugins=tuple(versions([key.metric.name, key.gold.reader, repr(results.test)]).items())))
        chance_codes = results.chance_codes
        insert_many(results.connection, models.comparison, [{
            "digest": digest, "sequence": sequence, "test_set_id": key.test_set.test_set_id,
            "gold_revision_id": key.gold.gold_revision_id, "track_id": key.members[0].track_id,
            "facet": key.facet_name, "metric_id": key.metric.metric_id, "alias": key.metric.alias,
            "test": repr(results.test), "alternative": request.alternative, "unit": settings.unit,
            "alpha": settings.alpha, "correction": settings.correction, "resamples": settings.draws,
            "seed": settings.seed, "interval": settings.interval, "confidence": settings.confidence,
            "n_items": len(board.items), "n_units": board.matrix.n_tested, "n_systems": len(board.members),
            "family_size": self.family.n_pairs,
            "signature": signature, "run_id": results.journal.run_id(results.connection), "created_at": now(),
            "runs": settings.runs, "request": canonical_json(
                key.describe_request(request) | {"intervals": intervals.description}
                | ({"chance_codes": chance_codes} if chance_codes else {})
                | ({"joint": board.matrix.describe()} if isinstance(board.matrix, JointMatrix) else {}))}])
        results.journal.event(results.connection, "compare", key.task.slug, signature=signature, digest=digest,
                              late=[member.submission_id for member in board.members if member.late])
        return int(catalog.get(results.connection, ComparisonRow, digest=digest).comparison_id)


def _rank_members(board: Board, wins: Flags, intervals: Floats, request: Request) -> Iterator[dict[str, Any]]:
    """Rank the systems, and yield a row of table `standing` for each, best first.

    Args:
        board: The leaderboard.
        wins: True if the row's system is significantly better than the column's system, [systems, systems].
        intervals: Confidence intervals of scores, [systems, 2].
        request: The request, which says if baselines and late submissions have ranks.
    """
    ranked = [n for n, member in enumerate(board.members) if request.is_ranked(member.kind, late=member.late)]
    ranking = rank(board.scores[ranked], wins[np.ix_(ranked, ranked)], lower_is_better=board.matrix.lower_is_better)
    positions = {n: position for position, n in enumerate(ranked)}
    ranks = {"rank": ranking.rank, "rank_low": ranking.low, "rank_high": ranking.high, "cluster": ranking.cluster}
    for n, member in enumerate(board.members):
        runs = board.run_scores[n]
        yield {
            "position": n, "submission_id": member.submission_id, "scoring_id": member.scoring_id,
            "kind": member.kind, "late": member.late, "score": float(board.scores[n]),
            "ci_low": float(intervals[n, 0]), "ci_high": float(intervals[n, 1]), "wins": int(wins[n].sum()),
            "losses": int(wins[:, n].sum()), "runs": len(runs),
            "run_sd": float(runs.std(ddof=1)) if len(runs) > 1 else None,
            **{name: int(values[positions[n]]) if n in positions else None for name, values in ranks.items()},
        }
