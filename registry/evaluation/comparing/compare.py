"""All pairs of a board tested, adjusted as one family, and ranked.

A comparison is one snapshot of a family: whenever the family changes there is a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats
from registry.evaluation.comparing.board_keys import families
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.pair_results import BoardIntervals, BoardResults, Decisions, FamilyResults
from registry.evaluation.comparing.plan import Plan, plan
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import Vetted, VettedBoard, vet
from registry.evaluation.resolve import resolve_significance
from registry.identity import canonical_json, short
from registry.manifest import Significance
from registry.messages import BoardWarning
from registry.plugins import versions
from registry.provenance import Signature
from registry.significance import CORRECTIONS, rank
from registry.significance.base import METHODS
from registry.significance.multiple import STEP_DOWN
from registry.significance.resampling.scores import share_resamples
from registry.store import catalog, comparisons, models
from registry.store.catalog import ComparisonRow, TaskRow
from registry.store.log import Journal, now
from registry.store.rows import insert_bulk, insert_many


@dataclass
class Compared:
    """What a compare did.

    Attributes:
        made: Comparisons that were not there.
        pairs_computed: Pairs that were tested for them.
        pairs_found: Pairs whose results were there.
        drawn: Whether any of them rests on random draws.
        shared: Whether threads shared the work, as they also do that of many exact tests.
        warnings: What may be wrong.
        notes: What is worth knowing.
    """

    made: int = 0
    pairs_computed: int = 0
    pairs_found: int = 0
    drawn: bool = False
    shared: bool = False
    warnings: list[BoardWarning] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def prepared(connection: Connection, task_row: TaskRow, request: Request) -> tuple[Vetted, Plan]:
    """Vet the boards of a task and plan what has to be computed, before anything of it is.

    Raises:
        UnknownNameError: The test or the correction is not known.
        MismatchError: A submission is not scored yet.
        InputError: The test does not apply to some boards.
    """
    vetted = vet(connection, task_row, request)
    vetted.require()
    return vetted, plan(connection, vetted, request)


def compare(connection: Connection, journal: Journal, task_row: TaskRow, request: Request,
            vetted: Vetted | None = None) -> Compared:
    """Compare all systems on every board of a task; what is there already is only marked as asked for last.

    Args:
        connection: In a transaction.
        journal: Of the command.
        task_row: The task.
        request: What is asked for.
        vetted: The task's boards, where they were just vetted.

    Raises:
        UnknownNameError: A metric, test or correction is not known.
        MismatchError: A submission is not scored yet.
        InputError: The test does not apply to a metric, or clusters are not declared; of all boards at once.
    """
    compared = Compared()
    for alias in request.metrics or ():
        catalog.check_metric(connection, [task_row], alias)
    vetted = vet(connection, task_row, request) if vetted is None else vetted
    vetted.require()
    compared.warnings += vetted.warnings
    shown = [digest for boards in families(vetted.boards)
             for digest in _compare_family(connection, journal, boards, request, compared)]
    if compared.drawn and (note := _idle_resolve(request.significance)):
        compared.notes.append(note)
    while olds := comparisons.find_obsolete(connection, task_row.slug, shown, request.metrics):  # then earlier ones
        for old in olds:
            catalog.set_values(connection, models.comparison, old.comparison_id, sequence=0)
            journal.event(connection, "board-retired", task_row.slug, signature=old.signature, digest=old.digest)
    return compared


def _compare_family(connection: Connection, journal: Journal, vetted: Sequence[VettedBoard], request: Request,
                    compared: Compared) -> list[str]:
    """Compare the boards of one family; gives the digests of their comparisons, new or not."""
    new = {of.digest: of.taken(connection, request) for of in vetted if of.there is None}
    made: dict[str, Comparing] = {}
    if any(board is not None for board in new.values()):  # the p-values of those that are there are needed too
        boards = {of.digest: new[of.digest] if of.there is None else of.taken(connection, request) for of in vetted}
        some = {digest: board for digest, board in boards.items() if board is not None}
        made = dict(zip(some, compare_boards(
            connection, journal, list(some.values()), [request] * len(some)), strict=True))
    shown = []
    for of in vetted:
        key, there = of.key, of.there
        latest = comparisons.latest_sequence(
            connection, test_set_id=key.test_set.test_set_id, track_id=key.members[0].track_id,
            facet=key.facet_name, alias=key.metric.alias)
        if there is None:
            if of.digest not in made:
                continue
            made[of.digest].keep(of.digest, latest + 1, compared)
        elif there.sequence == 0 or there.sequence < latest:
            catalog.set_values(connection, models.comparison, there.comparison_id, sequence=latest + 1)
            journal.event(connection, "compare-again", key.task.slug, signature=there.signature, digest=of.digest)
        shown.append(of.digest)
    return shown


def compare_boards(connection: Connection, journal: Journal, boards: Sequence[Board],
                   requests: Sequence[Request]) -> list[Comparing]:
    """Test all pairs of the boards of one family, and decide them.

    What is drawn for a board takes no more than its share of the memory.

    Args:
        connection: In a transaction.
        journal: Of the command.
        boards: The boards.
        requests: The request of each board; recorded ones of a family can differ in unit and alternative.
    """
    of_boards = []
    for board, request in zip(boards, requests, strict=True):
        execution = replace(request.execution, memory=request.execution.memory // len(boards))
        here = board.key.request(replace(request, execution=execution))
        board = replace(board, matrix=share_resamples(board.matrix, here.settings))
        test, _ = resolve_significance(here.significance)
        of_boards.append(BoardResults(connection, journal, board, here, test))
    family = FamilyResults(of_boards)
    return [Comparing(of, decisions, family) for of, decisions in zip(of_boards, family.of_all_pairs(), strict=True)]


def _idle_resolve(settings: Significance) -> str | None:
    """Say why no pair is drawn again though `resolve` asks for it."""
    if settings.resolve is None:
        return None
    if CORRECTIONS[settings.correction].function is None:
        return f"resolve has no effect: {settings.correction} adjusts the draws of all pairs; raise resamples instead"
    if settings.resamples != "auto" and settings.resolve <= settings.resamples:
        return f"resolve has no effect: it is {settings.resolve}, and {settings.resamples} resamples are drawn at once"
    return None


@dataclass(frozen=True, eq=False)
class Comparing:
    """One comparison in the making.

    Attributes:
        of: The board, what is asked of it, and its pairs, tested.
        decisions: What the family makes of these.
        family: All boards that are decided together.
    """

    of: BoardResults
    decisions: Decisions
    family: FamilyResults

    def keep(self, digest: str, sequence: int, compared: Compared) -> None:
        """Rank, and keep it all as a snapshot; what that does is added to `compared`."""
        board, pairs, connection, decisions = self.of.board, self.of.pairs, self.of.connection, self.decisions
        results, n_computed = pairs.results, int(pairs.computed.sum())
        compared.pairs_computed += n_computed
        compared.pairs_found += len(results) - n_computed
        a, b = pairs.canonical.T
        ahead = results["difference"] > 0
        is_against = self.of.sides * np.where(ahead ^ pairs.is_swapped, 1, -1) < 0  # matters for alpha above 0.5
        significant = (decisions.adjusted <= self.of.settings.alpha) & ~is_against & (
            results["favours"] * results["difference"] > 0)
        wins = np.zeros((len(board.members),) * 2, dtype=bool)
        wins[a, b], wins[b, a] = significant & ahead, significant & ~ahead
        intervals = BoardIntervals(self.of)
        drawn = self.family.are_drawn or intervals.has_own
        compared.drawn |= drawn
        compared.shared |= drawn or self.of.test.name in STEP_DOWN
        comparison_id = self._keep_comparison(digest, sequence, intervals, drawn=drawn)
        submissions = np.array([member.submission_id for member in board.members])
        insert_bulk(connection, models.comparison_pair, {
            "comparison_id": comparison_id, "position": np.arange(len(results)),
            "submission_a": submissions[pairs.a], "submission_b": submissions[pairs.b],
            "pair_result_id": results["pair_result_id"], "is_swapped": pairs.is_swapped,
            "p_adjusted": decisions.adjusted, "is_significant": significant, "is_resolved": decisions.resolved})
        if (overall := resolve_significance(self.of.settings)[1]) is not None:
            insert_many(connection, models.overall_result, [
                {"comparison_id": comparison_id, "test": repr(overall), **asdict(overall.run(board.matrix))}])
        insert_many(connection, models.standing, [
            {"comparison_id": comparison_id, **row}
            for row in _standings(board, wins, intervals.scores, self.of.request)])
        intervals.keep_differences()
        compared.made += 1

    def _keep_comparison(self, digest: str, sequence: int, intervals: BoardIntervals, *, drawn: bool) -> int:
        board, key, settings, request = self.of.board, self.of.board.key, self.of.settings, self.of.request
        methods = {METHODS[code] for code in np.unique(self.of.pairs.results["method"])}
        alternative = request.alternative
        signature = str(Signature(
            metric=key.metric.alias, task=key.task.slug, task_version=key.task.version,
            test_set=key.test_set.name, track=key.track, facet=key.facet_name,
            n_items=len(board.items),
            n_clusters=board.matrix.n_units if settings.unit == "cluster" else None, strata=settings.strata,
            gold=short(key.gold_digest),
            test=repr(self.of.test), alternative=alternative,
            method="mixed" if len(methods) > 1 else next(iter(methods), None), runs=settings.runs,
            seed=settings.seed if drawn else None, correction=settings.correction, family_size=self.family.n_pairs,
            alpha=settings.alpha, identity=short(key.digest(request, drawn=drawn)),
            n_boards=len(self.family.boards),
            plugins=tuple(versions([key.metric.name, key.gold.reader, repr(self.of.test)]).items())))
        insert_many(self.of.connection, models.comparison, [{
            "digest": digest, "sequence": sequence, "test_set_id": key.test_set.test_set_id,
            "gold_revision_id": key.gold.gold_revision_id, "track_id": key.members[0].track_id,
            "facet": key.facet_name, "metric_id": key.metric.metric_id, "alias": key.metric.alias,
            "test": repr(self.of.test), "alternative": alternative, "unit": settings.unit,
            "alpha": settings.alpha, "correction": settings.correction, "resamples": settings.draws,
            "seed": settings.seed, "interval": settings.interval, "confidence": settings.confidence,
            "n_items": len(board.items), "n_units": board.matrix.n_tested, "n_systems": len(board.members),
            "family_size": self.family.n_pairs,
            "signature": signature, "run_id": self.of.journal.run_id(self.of.connection), "created_at": now(),
            "runs": settings.runs, "request": canonical_json(
                key.asked(request) | {"intervals": intervals.said}
                | ({"chance_codes": codes} if (codes := self.of.chance_codes) else {}))}])
        self.of.journal.event(self.of.connection, "compare", key.task.slug, signature=signature, digest=digest,
                              late=[member.submission_id for member in board.members if member.late])
        return int(catalog.get(self.of.connection, ComparisonRow, digest=digest).comparison_id)


def _standings(board: Board, wins: Flags, intervals: Floats, request: Request) -> Iterator[dict[str, Any]]:
    """One row per member, best first; baselines and late ones that are not ranked have no place."""
    ranked = [n for n, m in enumerate(board.members) if request.ranks(m.kind, late=m.late)]
    ranking = rank(board.scores[ranked], wins[np.ix_(ranked, ranked)], lower_is_better=board.matrix.lower_is_better)
    at = {n: m for m, n in enumerate(ranked)}
    for n, member in enumerate(board.members):
        of_runs = board.run_scores[n]
        place = {"rank": ranking.rank, "rank_low": ranking.low, "rank_high": ranking.high, "cluster": ranking.cluster}
        yield {
            "position": n, "submission_id": member.submission_id, "scoring_id": member.scoring_id,
            "kind": member.kind, "late": member.late, "score": float(board.scores[n]),
            "ci_low": float(intervals[n, 0]), "ci_high": float(intervals[n, 1]), "wins": int(wins[n].sum()),
            "losses": int(wins[:, n].sum()), "runs": len(of_runs),
            "run_sd": float(of_runs.std(ddof=1)) if len(of_runs) > 1 else None,
            **{name: int(values[at[n]]) if n in at else None for name, values in place.items()},
        }
