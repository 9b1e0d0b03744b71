"""Details of systems, pairs and earlier bests on a page, which boards do not hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, text

from registry.boards.leaderboard import Leaderboard, make_display_names
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.store import catalog, models
from registry.store.catalog import TaskRow
from registry.store.rows import has_row

FEW = 30  # systems up to which all pairs are counted, unless they have so many answers that this takes long:
ANSWERS = 20_000_000  # that are looked up, of all pairs together


class PairRegions(NamedTuple):
    """The answers of two systems: how many only the first gives (D1), only the second (D2), and both.

    `_tp` are right, `_fp` wrong. Of systems with several runs it is the average over all pairs of runs.
    """

    a: tuple[str, str]
    b: tuple[str, str]
    d1_tp: float
    d1_fp: float
    d2_tp: float
    d2_fp: float
    shared_tp: float
    shared_fp: float


@dataclass(frozen=True)
class Regions:
    """The regions of pairs of systems on one test set.

    Attributes:
        test_set: Its name.
        gold: How many answers the gold has.
        complete: Whether all pairs are there; else those of systems that stand one above the other, and of each with
            the best one.
        pairs: Systems are (team, name).
    """

    test_set: str
    gold: int
    complete: bool
    pairs: tuple[PairRegions, ...]


class _Given(NamedTuple):
    """What a submission gives, over all of its runs."""

    name: tuple[str, str]
    scoring_id: int
    runs: int
    right: int
    answers: int


def regions(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard]) -> Iterator[Regions]:
    """The regions of pairs on every test set whose items have answers, in the order of its first leaderboard."""
    for test_set in dict.fromkeys(board.test_set for board in boards):
        given, gold = _given(connection, task.slug, test_set), _gold(connection, task.task_id, test_set)
        if not gold or not given:
            continue
        of_track = [[given[of.team, of.system] for of in board.standings if (of.team, of.system) in given]
                    for board in _one_of_each_track(boards, test_set)]
        pairs, complete = _chosen(of_track)
        shared = _shared(connection, [(a.scoring_id, b.scoring_id) for a, b in pairs])
        yield Regions(test_set, gold, complete, tuple(
            _regions(a, b, *shared.get((a.scoring_id, b.scoring_id), (0, 0))) for a, b in pairs))


def _one_of_each_track(boards: Sequence[Leaderboard], test_set: str) -> list[Leaderboard]:
    """The first leaderboard of each track, on all items of a test set if there is one."""
    found: dict[str | None, Leaderboard] = {}
    for board in sorted(boards, key=lambda board: board.facet is not None):
        if board.test_set == test_set:
            found.setdefault(board.track, board)
    return list(found.values())


def _chosen(boards: Sequence[Sequence[_Given]]) -> tuple[list[tuple[_Given, _Given]], bool]:
    """The pairs to count, and whether these are all."""
    every = list(dict.fromkeys(pair for board in boards for pair in combinations(board, 2)))
    if all(len(board) <= FEW for board in boards) and sum(a.answers + b.answers for a, b in every) <= ANSWERS:
        return every, True
    near = dict.fromkeys(pair for board in boards for n, of in enumerate(board[1:])
                         for pair in ((board[n], of), (board[0], of)))
    return list(near), False


def _given(connection: Connection, task: str, test_set: str) -> Mapping[tuple[str, str], _Given]:
    rows = connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.scoring_id, any_value(runs.n) AS runs,
            count_if(response.correct) AS correct, count(response.answer_id) AS answers
        FROM ranked_submission AS ranked
        JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
        LEFT JOIN response USING (scoring_id)
        WHERE ranked.task = :task AND ranked.test_set = :test_set AND ranked.scoring_id IS NOT NULL
        GROUP BY ranked.team, ranked.system, ranked.scoring_id"""), {"task": task, "test_set": test_set})
    return {(team, system): _Given((team, system), *of) for team, system, *of in rows}


def _gold(connection: Connection, task_id: int, test_set: str) -> int:
    """How many answers the gold of a test set has."""
    return int(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.name = :test_set AND in_gold"""),
        {"task": task_id, "test_set": test_set}).scalar_one())


def _shared(connection: Connection, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """How many answers two scorings share, over all pairs of runs: right ones, and all; none where they share none."""
    if not pairs:
        return {}
    rows = connection.execute(text("""
        WITH pair AS (SELECT unnest(list_value :first) AS a, unnest(list_value :second) AS b)
        SELECT a, b, count_if(ours.correct) AS correct, count(*) AS answers
        FROM pair JOIN response AS ours ON ours.scoring_id = a
        JOIN response AS theirs ON theirs.scoring_id = b AND theirs.answer_id = ours.answer_id
        GROUP BY a, b""").bindparams(bindparam("first", expanding=True), bindparam("second", expanding=True)),
        {"first": [a for a, _ in pairs], "second": [b for _, b in pairs]})
    return {(a, b): (correct, answers) for a, b, correct, answers in rows}


def _regions(a: _Given, b: _Given, right: int, answers: int) -> PairRegions:
    """The averages over all pairs of runs."""
    both = a.runs * b.runs
    shared_tp, shared_fp = right / both, (answers - right) / both
    return PairRegions(a.name, b.name, a.right / a.runs - shared_tp, (a.answers - a.right) / a.runs - shared_fp,
                       b.right / b.runs - shared_tp, (b.answers - b.right) / b.runs - shared_fp, shared_tp, shared_fp)


LISTED = 8  # items in each of a system's two lists at most


class TellingItem(NamedTuple):
    """An item with a system's score on it and the mean of the others'; `alone`: no other is as good, or as bad."""

    item: str
    score: float
    others: float
    above: bool
    alone: bool


@dataclass(frozen=True)
class Telling:
    """The items that set one system apart from the others of its track on a test set.

    Scores are items' own, by the primary metric, averaged over runs.

    Attributes:
        test_set, track: Where.
        team, system: Which system.
        best_alone, worst_alone: On how many items it is better, or worse, than every other one.
        right_or_wrong: Whether items are either right (1) or wrong (0).
        items: Those on which it is furthest above the others, then those on which it is furthest below, the furthest
            first in both.
    """

    test_set: str
    track: str | None
    team: str
    system: str
    best_alone: int
    worst_alone: int
    right_or_wrong: bool
    items: tuple[TellingItem, ...]


def telling_items(connection: Connection, task: TaskRow, limit: int) -> Iterator[Telling]:
    """The items that set each system apart, so many in each of its lists at most."""
    metric, most = catalog.primary_metric(connection, task.task_id), min(limit, LISTED)
    sign, back = ("-score", -1) if metric.better == "lower" else ("score", 1)
    rows = connection.execute(text(f"""
        WITH given AS (
            SELECT scoring_id, item_id, avg(score) AS score FROM item_score
            WHERE task = :task AND metric = :metric AND score IS NOT NULL GROUP BY scoring_id, item_id),
        scored AS (
            SELECT ranked.test_set, ranked.track, team, system, item_id, score, {sign} AS value
            FROM given JOIN ranked_submission AS ranked USING (scoring_id)),
        on_item AS (
            SELECT test_set, track, item_id, sum(value) AS total, count(*) AS n, max(value, 2) AS best,
                min(value, 2) AS worst, bool_and(score IN (0, 1)) AS right_or_wrong
            FROM scored GROUP BY ALL HAVING count(*) > 1),
        held AS (
            SELECT scored.*, right_or_wrong, (total - value) / (n - 1) AS others, round(value - others, 12) AS gain,
                value = best[1] AND best[1] > best[2] AS is_best, value = worst[1] AND worst[1] < worst[2] AS is_worst
            FROM scored JOIN on_item ON on_item.test_set = scored.test_set AND on_item.item_id = scored.item_id
                AND on_item.track IS NOT DISTINCT FROM scored.track)
        SELECT test_set, track, team, system, count_if(is_best) AS best_alone, count_if(is_worst) AS worst_alone,
            bool_and(right_or_wrong) AS right_or_wrong,
            max([gain, -item_id, value, others, is_best::DOUBLE], {most}) FILTER (gain > 0) AS above,
            min([gain, item_id, value, others, is_worst::DOUBLE], {most}) FILTER (gain < 0) AS below
        FROM held GROUP BY test_set, track, team, system
        ORDER BY test_set, track NULLS FIRST, team, system"""),  # noqa: S608 - a whole number, and a column
        {"task": task.slug, "metric": metric.alias}).all()
    keys = _keys(connection, {int(abs(of[1])) for row in rows for of in (*(row.above or ()), *(row.below or ()))})
    for *said, above, below in rows:
        items = [TellingItem(keys[int(abs(item))], back * value, back * others, listed is above, bool(alone))
                 for listed in (above, below) for _, item, value, others, alone in listed or ()]
        yield Telling(*(*said, tuple(items)))


def _keys(connection: Connection, item_ids: Collection[int]) -> dict[int, str]:
    """The keys of items."""
    item = models.item.c
    return dict(map(tuple, connection.execute(select(item.item_id, item.key).where(item.item_id.in_(item_ids)))))


@dataclass(frozen=True)
class Phases:
    """The times in which the scores of a task were hidden.

    Attributes:
        hidden: From when until when, in UTC, each after the one before.
    """

    hidden: tuple[tuple[datetime, datetime], ...] = ()

    def seen_from(self, begin: datetime, end: datetime | None) -> datetime | None:
        """The first moment from `begin`, and before `end`, at which scores were shown; None where there is none.

        >>> phases = Phases(((datetime(2026, 1, 5), datetime(2026, 1, 9)),))
        >>> phases.seen_from(datetime(2026, 1, 6), None), phases.seen_from(datetime(2026, 1, 6), datetime(2026, 1, 8))
        (datetime.datetime(2026, 1, 9, 0, 0), None)
        """
        for since, until in self.hidden:
            if since <= begin < until:
                begin = until
        return begin if end is None or begin < end else None


def phases(connection: Connection, task: str) -> Phases:
    """What the log says of when the scores of a task were hidden."""
    told = connection.execute(text("""
        SELECT "at", CAST(details ->> '$.blind_until' AS TIMESTAMP) AS until,
            lead("at") OVER (ORDER BY event_id) AS next
        FROM event
        WHERE action IN ('task', 'hide', 'reveal') AND subject = :task AND json_exists(details, '$.blind_until')
        ORDER BY event_id"""), {"task": task})
    ends = ((of.at, of.until if of.next is None else min(of.until, of.next)) for of in told if of.until is not None)
    return Phases(tuple((since, until) for since, until in ends if since < until))


LABELS = 200  # of more than so many, labels are no classes that could be confused
CLASS = 10  # items from which on a label is a class: of fewer, its name would tell the gold of single items
OTHER = "other labels"


class Cell(NamedTuple):
    """How often the gold has one label and a system gives another, by the labels' places; None: there is none."""

    gold: int | None
    predicted: int | None
    items: int


@dataclass(frozen=True)
class Confusions:
    """The confusions of all systems on one test set.

    Attributes:
        test_set: Its name.
        typed: Whether these are types of answers at the same places rather than labels of items.
        labels: The most frequent in the gold first.
        gold: How often the gold has each.
        systems: The cells of every system that are not empty, over all of its runs, by (team, name).

    `OTHER`, where it is the last of the labels, is all that have no name here; these are not told apart.
    """

    test_set: str
    typed: bool
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    systems: Mapping[tuple[str, str], tuple[Cell, ...]]


def confusions(connection: Connection, task: TaskRow, *, every_name: bool) -> Iterator[Confusions]:
    """The confusions on every test set whose gold has labels or types.

    Args:
        connection: One transaction.
        task: Whose.
        every_name: Whether labels that few items have are named too, which tells the gold of these; else they count as
            `OTHER`.
    """
    for test_set, (typed, counts) in _gold_labels(connection, task).items():
        named = [name for name, n in counts.items() if every_name or n >= CLASS]
        if named and 1 < len(counts) <= LABELS:
            cells = _cells(connection, task.slug, test_set, {name: n for n, name in enumerate(named)})
            gold = [counts[name] for name in named]
            if any(len(named) in cell[:2] for of_system in cells.values() for cell in of_system):
                named, gold = [*named, OTHER], [*gold, sum(counts.values()) - sum(gold)]
            yield Confusions(test_set, typed, tuple(named), tuple(gold), cells)


def _gold_labels(connection: Connection, task: TaskRow) -> dict[str, tuple[bool, dict[str, int]]]:
    """How often the gold of every test set has each label or type, and whether it is types."""
    rows = connection.execute(text("""
        WITH gold AS (
            SELECT test_set.name AS test_set, test_set.position, item_id, key, type,
                bool_or(type <> '') OVER (PARTITION BY gold_revision_id) AS typed
            FROM answer JOIN test_set USING (gold_revision_id)
            WHERE test_set.task_id = :task AND test_set.is_declared AND in_gold),
        several AS (SELECT test_set FROM gold GROUP BY test_set HAVING NOT any_value(typed)
            AND count(*) > count(DISTINCT item_id))
        SELECT test_set, typed, if(typed, type, key) AS name, count(*) AS n FROM gold
        WHERE test_set NOT IN (FROM several)
        GROUP BY test_set, typed, if(typed, type, key)
        ORDER BY any_value(position), test_set, n DESC, name"""), {"task": task.task_id})
    found: dict[str, tuple[bool, dict[str, int]]] = {}
    for row in rows:
        found.setdefault(row.test_set, (row.typed, {}))[1][row.name] = row.n
    return found


def _cells(connection: Connection, task: str, test_set: str,
           at: Mapping[str, int]) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """The cells of every system, labels by their places; those without a place have the next one together."""
    chosen = {"task": task, "test_set": test_set}
    low, high = connection.execute(text("""
        SELECT min(scoring_id), max(scoring_id)
        FROM scoring JOIN test_set USING (gold_revision_id) JOIN task USING (task_id)
        WHERE slug = :task AND test_set.name = :test_set"""), chosen).one()
    rows = connection.execute(text("""
        SELECT team, system, gold, predicted, sum(items)::INTEGER AS items FROM confusion
        WHERE task = :task AND test_set = :test_set
            AND scoring_id BETWEEN :low AND :high  -- so that responses of other tasks are not looked at
        GROUP BY team, system, gold, predicted
        ORDER BY items DESC, gold, predicted, team, system"""), {**chosen, "low": low, "high": high})
    counted: dict[tuple[str, str], dict[tuple[int | None, int | None], int]] = {}
    for row in rows:
        gold, predicted = (None if name is None else at.get(name, len(at)) for name in (row.gold, row.predicted))
        of_system = counted.setdefault((row.team, row.system), {})
        of_system[gold, predicted] = of_system.get((gold, predicted), 0) + row.items
    return {system: tuple(Cell(*place, n) for place, n in cells.items()) for system, cells in counted.items()}


class Version(NamedTuple):
    """A version of a system on a test set.

    `score` is by the primary metric and today's gold; None where it has none, or was hidden as long as the version was
    the system's last.
    """

    test_set: str
    team: str
    system: str
    version: str
    at: datetime
    late: bool
    score: float | None


class Runs(NamedTuple):
    """The scores of a system's runs by one metric, over all items of a test set; `names` tell the runs apart."""

    test_set: str
    team: str
    system: str
    metric: str
    scores: tuple[float | None, ...]
    names: tuple[str, ...]


def versions(connection: Connection, task: TaskRow, phases: Phases) -> list[Version]:
    """All versions of all systems but withdrawn ones, each system's in the order in which they came."""
    metric = catalog.primary_metric(connection, task.task_id)
    rows = connection.execute(text("""
        SELECT test_set.name AS test_set, team.name AS team, system.name AS system, s.version, s.created_at, s.late,
            score.value, lead(s.created_at) OVER (PARTITION BY s.test_set_id, s.system_id ORDER BY s.submission_id)
                AS replaced
        FROM submission AS s JOIN test_set USING (test_set_id) JOIN system USING (system_id) JOIN team USING (team_id)
        LEFT JOIN scoring ON scoring.submission_id = s.submission_id
            AND scoring.gold_revision_id = test_set.gold_revision_id AND scoring.missing = s.missing
        LEFT JOIN score ON score.scoring_id = scoring.scoring_id AND score.metric_id = :metric
        WHERE test_set.task_id = :task AND test_set.is_declared AND NOT s.withdrawn
        ORDER BY test_set.position, s.system_id, s.submission_id"""),
        {"task": task.task_id, "metric": metric.metric_id})
    return [Version(of.test_set, of.team, of.system, of.version, of.created_at, of.late,
                    of.value if phases.seen_from(of.created_at, of.replaced) is not None else None) for of in rows]


def runs(connection: Connection, task: TaskRow) -> list[Runs]:
    """The scores of the runs of every system that has several, by all metrics."""
    if not has_row(connection, "submission_source WHERE replicate > 0"):
        return []
    rows = connection.execute(text("""
        SELECT ranked.test_set, ranked.team, ranked.system, task_metric.alias, ranked.submission_id,
            list(of_run.value ORDER BY of_run.replicate) AS scores
        FROM ranked_submission AS ranked JOIN replicate_score AS of_run USING (scoring_id)
        JOIN task_metric ON task_metric.metric_id = of_run.metric_id AND task_metric.is_declared
            AND task_metric.task_id = :task_id
        WHERE ranked.task = :task
        GROUP BY ranked.test_set, ranked.team, ranked.system, alias, ranked.submission_id, task_metric.position
        HAVING count(*) > 1
        ORDER BY ranked.submission_id, task_metric.position"""), {"task": task.slug, "task_id": task.task_id}).all()
    factors = catalog.replicate_factors(connection, sorted({row.submission_id for row in rows}))
    return [Runs(of.test_set, of.team, of.system, of.alias, tuple(of.scores),
                 _names(factors.get(of.submission_id, ()), len(of.scores))) for of in rows]


def _names(factors: Sequence[Mapping[str, str]], n: int) -> tuple[str, ...]:
    """What tells runs apart: what is declared of them, else their numbers."""
    if len(factors) == n:
        return tuple(", ".join(f"{name} {level}" for name, level in of.items()) for of in factors)
    return tuple(f"run {number}" for number in range(1, n + 1))


@dataclass(frozen=True)
class NewBest:
    """A new best of a leaderboard, or a new score of the same.

    Attributes:
        at: When it was first shown, in UTC.
        shown: The system's name for people; `tied`: how many others have the same rank.
        score: Of the comparison of then.
        significant: Whether it was significantly better than the best before, which was still on the board; None where
            the two were not compared, and of the first.
        p_adjusted: Of the two, corrected in their family of then.
        why: What else changed since the best before: the gold, the metric.
        entry: Of the log, which tells when it was compared.
    """

    at: datetime
    team: str
    system: str
    shown: str
    tied: int
    score: float
    significant: bool | None = None
    p_adjusted: float | None = None
    why: tuple[str, ...] = ()
    entry: int | None = None


@dataclass(frozen=True)
class History:
    """The bests of a leaderboard, the first one first; `n_states`: how many comparisons of it were shown so far."""

    key: LeaderboardKey
    n_states: int
    bests: tuple[NewBest, ...]


def histories(connection: Connection, task: TaskRow, phases: Phases, until: int | None = None) -> list[History]:
    """The histories of all leaderboards on all items that have been in several states.

    Args:
        connection: One transaction.
        task: Whose.
        phases: When its scores were hidden.
        until: The last entry of the log that counts; None: all do.
    """
    if connection.execute(_SEVERAL, {"task": task.slug, "task_id": task.task_id}).scalar_one() is None:
        return []
    rows = connection.execute(text(_STATES), {"task": task.slug, "task_id": task.task_id, "until": until}).all()
    found = []
    for key, of_board in groupby(rows, key=lambda row: LeaderboardKey(
            task.slug, row.test_set, row.track, None, row.metric)):
        states = [(at, state) for state in of_board
                  if (at := phases.seen_from(state.made, state.replaced)) is not None]
        if len(states) > 1:
            found.append(_history(connection, key, states))
    return found


# Whether some board of a task may have been in several states, which is found out sooner than which: a comparison for
# each, and each asked for once.
_SEVERAL = text("""
    WITH compared AS (
        SELECT count(*) AS n, count(DISTINCT (test_set_id, track_id, facet, alias)) AS boards
        FROM comparison JOIN test_set USING (test_set_id) WHERE task_id = :task_id)
    SELECT (
        SELECT 1 FROM compared WHERE boards < n OR boards < (
            SELECT count(*) FROM event WHERE action IN ('compare', 'compare-again') AND subject = :task))""")

# Every time that a comparison was asked for, with the best system of then, board by board in the order of the log.
_STATES = """
    WITH asked AS (
        SELECT details ->> '$.digest' AS digest, event_id, "at" FROM event
        WHERE action IN ('compare', 'compare-again') AND subject = :task
            AND event_id <= coalesce(CAST(:until AS INTEGER), event_id)),
    state AS (
        SELECT test_set.name AS test_set, test_set.position AS test_set_position, track.name AS track,
            c.alias AS metric, metric.name AS metric_name, task_metric.position, c.comparison_id, c.gold_revision_id,
            coalesce(asked.event_id, (SELECT min(event_id) FROM event WHERE event.run_id = c.run_id)) AS entry,
            coalesce(asked."at", c.created_at) AS made
        FROM comparison AS c JOIN test_set USING (test_set_id) JOIN metric USING (metric_id)
        JOIN task_metric ON task_metric.task_id = test_set.task_id AND task_metric.alias = c.alias
        LEFT JOIN track ON track.track_id = c.track_id LEFT JOIN asked USING (digest)
        WHERE test_set.task_id = :task_id AND c.facet IS NULL AND c.sequence > 0 AND task_metric.is_declared
            AND test_set.is_declared),
    first AS (
        SELECT comparison_id, arg_min(submission_id, standing.position) AS submission_id, count(*) - 1 AS tied,
            any_value(score) AS score
        FROM standing
        WHERE rank = 1 AND score IS NOT NULL AND comparison_id IN (SELECT comparison_id FROM state)
        GROUP BY comparison_id)
    SELECT state.*, first.tied, first.score, first.submission_id, team.name AS team, system.name AS system,
        team.name || '/' || system.name || '@' || submission.version AS submission,
        lead(made) OVER (PARTITION BY test_set, track, metric ORDER BY entry) AS replaced
    FROM state JOIN first USING (comparison_id) JOIN submission USING (submission_id) JOIN system USING (system_id)
    JOIN team USING (team_id)
    WHERE entry <= coalesce(CAST(:until AS INTEGER), entry)
    ORDER BY test_set_position, test_set, track NULLS FIRST, state.position, metric, entry"""


def _history(connection: Connection, key: LeaderboardKey, states: Sequence[tuple[datetime, Any]]) -> History:
    moved = [states[0]] + [
        after for before, after in pairwise(states)
        if (before[1].submission_id, before[1].score) != (after[1].submission_id, after[1].score)]
    decided = _decisions(connection, [(of.comparison_id, of.submission_id, before.submission_id)
                                      for (_, before), (_, of) in pairwise(moved)])
    bests = []
    names = make_display_names([{"system": of.system, "submission": of.submission} for _, of in moved])
    for n, ((at, of), shown) in enumerate(zip(moved, names, strict=True)):
        before = moved[n - 1][1] if n else of
        why = [said for said, column in (("the gold was revised", "gold_revision_id"),
                                         ("the metric was changed", "metric_name"))
               if getattr(of, column) != getattr(before, column)]
        significant, p = decided.get((of.comparison_id, before.submission_id), (None, None))
        bests.append(NewBest(at, of.team, of.system, shown, of.tied, of.score, significant, p, tuple(why),
                             of.entry))
    return History(key, len(states), tuple(bests))


def _decisions(connection: Connection, pairs: Sequence[tuple[int, int, int]]) -> Mapping[
        tuple[int, int], tuple[bool, float | None]]:
    """What was decided of each new best and the one before it, by the comparison and the latter."""
    if not pairs:
        return {}
    rows = connection.execute(text(f"""
        SELECT comparison_id, asked.former, is_significant, p_adjusted
        FROM (VALUES {", ".join(str(pair) for pair in pairs)}) AS asked(comparison_id, best, former)
        JOIN comparison_pair AS pair USING (comparison_id)
        WHERE least(submission_a, submission_b) = least(best, former)
            AND greatest(submission_a, submission_b) = greatest(best, former)"""))  # noqa: S608 - whole numbers
    return {(comparison, former): (significant, p) for comparison, former, significant, p in rows}


@dataclass(frozen=True)
class Details:
    """What a page says of a task's systems beside their places on its leaderboards.

    Attributes:
        versions: Of all systems, in the order in which they came.
        runs: The scores of the runs of those that have several.
        regions: Which answers two systems share, and which only one of them gives.
        confusions: What each says where the gold says something else.
        telling: The items that set each apart; empty where no items are shown.
        histories: How the best scores moved.
    """

    versions: Sequence[Version] = ()
    runs: Sequence[Runs] = ()
    regions: Sequence[Regions] = ()
    confusions: Sequence[Confusions] = ()
    telling: Sequence[Telling] = ()
    histories: Sequence[History] = ()


NO_DETAILS = Details()


def load_details(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard], items: int,
            until: int | None = None) -> Details:
    """Read the details of a task.

    Args:
        connection: One transaction, in which the boards were read.
        task: Whose.
        boards: Its leaderboards.
        items: How many items of each test set are shown; none: none is named, nor a label that few items have.
        until: The last entry of the log that counts; None: all do.
    """
    hidden = phases(connection, task.slug)
    return Details(
        versions(connection, task, hidden), runs(connection, task),
        tuple(regions(connection, task, boards)), tuple(confusions(connection, task, every_name=items > 0)),
        tuple(telling_items(connection, task, items)) if items else (), histories(connection, task, hidden, until))
