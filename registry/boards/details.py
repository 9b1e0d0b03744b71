"""Details that the page of a task shows in addition to the leaderboards.

The details are versions and runs of systems, answers that two systems share, confusions of labels, items that
distinguish a system from others, and former best systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

FEW = 30  # shared answers are counted for all pairs if there are at most this many systems,
ANSWERS = 20_000_000  # and if all pairs together have at most this many answers


class PairRegions(NamedTuple):
    """Numbers of answers that both systems of a pair give, or only one system.

    If systems have several runs, the numbers are means over all pairs of runs.

    Attributes:
        a, b: The names of the first and the second system.
        d1_tp, d1_fp: Correct and incorrect answers of only the first system.
        d2_tp, d2_fp: Correct and incorrect answers of only the second system.
        shared_tp, shared_fp: Correct and incorrect answers of both systems.
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
    """Numbers of shared and unshared answers of pairs of systems on one test set.

    Attributes:
        test_set: The name of the test set.
        gold: The number of answers in the gold.
        is_complete: True if all pairs are included. Otherwise only pairs of adjacent systems, and pairs with the best
            system, are included.
        pairs: The numbers of each pair. The name of a system is (team, system).
    """

    test_set: str
    gold: int
    is_complete: bool
    pairs: tuple[PairRegions, ...]


class _Submission(NamedTuple):
    name: tuple[str, str]
    scoring_id: int
    runs: int
    correct: int
    answers: int


def load_regions(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard]) -> Iterator[Regions]:
    """For each test set, load how many answers pairs of systems share."""
    for test_set in dict.fromkeys(board.test_set for board in boards):
        submissions = _load_submissions(connection, task.slug, test_set)
        n_gold = _count_gold(connection, task.task_id, test_set)
        if not n_gold or not submissions:
            continue
        tracks = [[submissions[standing.team, standing.system] for standing in board.standings
                   if (standing.team, standing.system) in submissions]
                  for board in _select_track_boards(boards, test_set)]
        pairs, is_complete = _select_pairs(tracks)
        shared = _count_shared_answers(connection, [(a.scoring_id, b.scoring_id) for a, b in pairs])
        yield Regions(test_set, n_gold, is_complete, tuple(
            _make_regions(a, b, *shared.get((a.scoring_id, b.scoring_id), (0, 0))) for a, b in pairs))


def _select_track_boards(boards: Sequence[Leaderboard], test_set: str) -> list[Leaderboard]:
    tracks: dict[str | None, Leaderboard] = {}
    for board in sorted(boards, key=lambda board: board.facet is not None):
        if board.test_set == test_set:
            tracks.setdefault(board.track, board)
    return list(tracks.values())


def _select_pairs(boards: Sequence[Sequence[_Submission]]) -> tuple[list[tuple[_Submission, _Submission]], bool]:
    """Select the pairs of submissions for which shared answers are counted.

    Many systems have too many pairs. Then only neighbours on a leaderboard and pairs with its best system are selected.

    Returns:
        The pairs, and True if these are all pairs.
    """
    pairs = list(dict.fromkeys(pair for board in boards for pair in combinations(board, 2)))
    if all(len(board) <= FEW for board in boards) and sum(a.answers + b.answers for a, b in pairs) <= ANSWERS:
        return pairs, True
    near = dict.fromkeys(pair for board in boards for n, submission in enumerate(board[1:])
                         for pair in ((board[n], submission), (board[0], submission)))
    return list(near), False


def _load_submissions(connection: Connection, task: str, test_set: str) -> Mapping[tuple[str, str], _Submission]:
    rows = connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.scoring_id, any_value(runs.n) AS runs,
            count_if(response.correct) AS correct, count(response.answer_id) AS answers
        FROM ranked_submission AS ranked
        JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
        LEFT JOIN response USING (scoring_id)
        WHERE ranked.task = :task AND ranked.test_set = :test_set AND ranked.scoring_id IS NOT NULL
        GROUP BY ranked.team, ranked.system, ranked.scoring_id"""), {"task": task, "test_set": test_set})
    return {(team, system): _Submission((team, system), *counts) for team, system, *counts in rows}


def _count_gold(connection: Connection, task_id: int, test_set: str) -> int:
    return int(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.name = :test_set AND in_gold"""),
        {"task": task_id, "test_set": test_set}).scalar_one())


def _count_shared_answers(connection: Connection,
                          pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Count the answers that two submissions share, for several pairs of submissions.

    Returns:
        For each pair of scoring ids (which identify the submissions), the number of shared correct answers and of all
        shared answers. If submissions have several runs, the numbers are sums over all pairs of runs.
    """
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


def _make_regions(a: _Submission, b: _Submission, correct: int, answers: int) -> PairRegions:
    """Return how many answers only the first, only the second and both systems give.

    If systems have several runs, the numbers are means over all pairs of runs.

    Args:
        a: The submission of the first system.
        b: The submission of the second system.
        correct: Number of correct answers that both give, summed over all pairs of runs.
        answers: Number of all answers that both give, summed over all pairs of runs.
    """
    n_pairs = a.runs * b.runs
    shared_tp, shared_fp = correct / n_pairs, (answers - correct) / n_pairs
    return PairRegions(a.name, b.name, a.correct / a.runs - shared_tp, (a.answers - a.correct) / a.runs - shared_fp,
                       b.correct / b.runs - shared_tp, (b.answers - b.correct) / b.runs - shared_fp,
                       shared_tp, shared_fp)


LISTED = 8  # items in each list of a system


class DistinctiveItem(NamedTuple):
    """Item on which one system is better or worse than the other systems on average.

    Attributes:
        item: The key of the item.
        score: The score of the system.
        others: The mean score of the other systems.
        above: True if the system is better than the mean of the others, False if it is worse.
        alone: True if no other system is as good, or (if `above` is False) as bad.
    """

    item: str
    score: float
    others: float
    above: bool
    alone: bool


@dataclass(frozen=True)
class DistinctiveItems:
    """Items on which one system differs most from the other systems of its track.

    Scores are scores of single items by the primary metric, averaged over runs.

    Attributes:
        test_set, track, team, system: The test set, the track, and the names of the team and the system.
        best_alone, worst_alone: The number of items on which the system is better, or worse, than every other system.
        right_or_wrong: True if all scores of items are 0 or 1.
        items: First the items on which the system is better than the mean of the others, then the items on which it is
            worse. Both lists begin with the largest difference.
    """

    test_set: str
    track: str | None
    team: str
    system: str
    best_alone: int
    worst_alone: int
    right_or_wrong: bool
    items: tuple[DistinctiveItem, ...]


def load_distinctive_items(connection: Connection, task: TaskRow, limit: int) -> Iterator[DistinctiveItems]:
    """Yield for each system the items on which it differs most from other systems.

    Args:
        connection: A connection to the store.
        task: The task.
        limit: The largest number of items above the mean of the other systems, and of items below the mean.
    """
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
    item_ids = {int(abs(entry[1])) for row in rows for entry in (*(row.above or ()), *(row.below or ()))}
    item = models.item.c
    keys = dict(map(tuple, connection.execute(select(item.item_id, item.key).where(item.item_id.in_(item_ids)))))
    for *system, above, below in rows:
        items = [DistinctiveItem(keys[int(abs(item_id))], back * value, back * others, entries is above, bool(alone))
                 for entries in (above, below) for _, item_id, value, others, alone in entries or ()]
        yield DistinctiveItems(*(*system, tuple(items)))


@dataclass(frozen=True)
class Phases:
    """Periods in which the scores of a task were hidden.

    Attributes:
        hidden: The beginning and the end of each period, in UTC, in order of time.
    """

    hidden: tuple[tuple[datetime, datetime], ...] = ()

    def find_first_visible(self, begin: datetime, end: datetime | None) -> datetime | None:
        """Return the first moment in a period at which scores were visible.

        Args:
            begin: The beginning of the period.
            end: The end of the period (exclusive); None if it has no end.

        Returns:
            The moment; None if scores were hidden during the whole period.

        >>> phases = Phases(((datetime(2026, 1, 5), datetime(2026, 1, 9)),))
        >>> phases.find_first_visible(datetime(2026, 1, 6), None)
        datetime.datetime(2026, 1, 9, 0, 0)
        >>> phases.find_first_visible(datetime(2026, 1, 6), datetime(2026, 1, 8))
        """
        for since, until in self.hidden:
            if since <= begin < until:
                begin = until
        return begin if end is None or begin < end else None


def load_phases(connection: Connection, task: str) -> Phases:
    """Load the periods in which the scores of a task were hidden, from the log."""
    rows = connection.execute(text("""
        SELECT "at" AS since, CAST(details ->> '$.blind_until' AS TIMESTAMP) AS until,
            lead("at") OVER (ORDER BY event_id) AS next
        FROM event
        WHERE action IN ('task', 'hide', 'reveal') AND subject = :task AND json_exists(details, '$.blind_until')
        ORDER BY event_id"""), {"task": task})
    periods = ((row.since, row.until if row.next is None else min(row.until, row.next))
               for row in rows if row.until is not None)
    return Phases(tuple((since, until) for since, until in periods if since < until))


LABELS = 200  # test sets with more labels have no confusions
CLASS = 10  # a label of fewer items has no name on a page, because its name would reveal the gold of single items
OTHER = "other labels"


class Cell(NamedTuple):
    """One cell of a confusion matrix: the number of items with a pair of labels.

    `gold` and `predicted` are indices of `Confusions.labels`, or None for no label.
    """

    gold: int | None
    predicted: int | None
    items: int


@dataclass(frozen=True)
class Confusions:
    """Confusion matrices of all systems on one test set.

    Attributes:
        test_set: The name of the test set.
        has_types: True if the labels are types of spans or similar answers, False if they are labels of items.
        labels: The labels, the most frequent in the gold first. The last one is `OTHER` if some labels have no name.
        gold: For each label, how often the label occurs in the gold.
        systems: The non-empty cells of each system, summed over all runs. The keys are (team, system).
    """

    test_set: str
    has_types: bool
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    systems: Mapping[tuple[str, str], tuple[Cell, ...]]


def load_confusions(connection: Connection, task: TaskRow, *, every_name: bool) -> Iterator[Confusions]:
    """Yield the confusion matrices of all systems, for each test set with labels.

    A label is the label of an item, or the type of an answer such as a span.

    Args:
        connection: A connection with one transaction for all queries.
        task: The task.
        every_name: True to name rare labels too, although this reveals the gold of the few items with such a label.
            Otherwise they count as `OTHER`.
    """
    for test_set, (has_types, counts) in _load_gold_labels(connection, task).items():
        names = [name for name, n in counts.items() if every_name or n >= CLASS]
        if names and 1 < len(counts) <= LABELS:
            cells = _load_cells(connection, task.slug, test_set, {name: n for n, name in enumerate(names)})
            gold = [counts[name] for name in names]
            if any(len(names) in cell[:2] for system_cells in cells.values() for cell in system_cells):
                names, gold = [*names, OTHER], [*gold, sum(counts.values()) - sum(gold)]
            yield Confusions(test_set, has_types, tuple(names), tuple(gold), cells)


def _load_gold_labels(connection: Connection, task: TaskRow) -> dict[str, tuple[bool, dict[str, int]]]:
    """Count how often each label occurs in the gold of each test set.

    If answers such as spans have types, types are counted instead of labels.

    Returns:
        For each test set: True if types were counted, and the counts.
    """
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
    labels: dict[str, tuple[bool, dict[str, int]]] = {}
    for row in rows:
        labels.setdefault(row.test_set, (row.typed, {}))[1][row.name] = row.n
    return labels


def _load_cells(connection: Connection, task: str, test_set: str,
                places: Mapping[str, int]) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """Load the numbers in the confusion matrix of each system.

    Args:
        connection: A connection to the store.
        task: The id of the task.
        test_set: The name of the test set.
        places: The row or column of each label in the matrix. All other labels share the one after the last.

    Returns:
        The non-empty cells, by (team, system).
    """
    parameters = {"task": task, "test_set": test_set}
    low, high = connection.execute(text("""
        SELECT min(scoring_id), max(scoring_id)
        FROM scoring JOIN test_set USING (gold_revision_id) JOIN task USING (task_id)
        WHERE slug = :task AND test_set.name = :test_set"""), parameters).one()
    rows = connection.execute(text("""
        SELECT team, system, gold, predicted, sum(items)::INTEGER AS items FROM confusion
        WHERE task = :task AND test_set = :test_set
            AND scoring_id BETWEEN :low AND :high  -- skips responses of other tasks
        GROUP BY team, system, gold, predicted
        ORDER BY items DESC, gold, predicted, team, system"""), {**parameters, "low": low, "high": high})
    counts: dict[tuple[str, str], dict[tuple[int | None, int | None], int]] = {}
    for row in rows:
        cell = tuple(None if name is None else places.get(name, len(places)) for name in (row.gold, row.predicted))
        system_counts = counts.setdefault((row.team, row.system), {})
        system_counts[cell[0], cell[1]] = system_counts.get((cell[0], cell[1]), 0) + row.items
    return {system: tuple(Cell(*cell, n) for cell, n in cells.items()) for system, cells in counts.items()}


class Version(NamedTuple):
    """Submitted version of a system on a test set, with its score.

    The score is the score by the primary metric and the current gold. It is None if the version was not scored, or if
    scores were hidden until the next version was submitted.
    """

    test_set: str
    team: str
    system: str
    version: str
    time: datetime
    late: bool
    score: float | None


class Runs(NamedTuple):
    """Scores of a system's runs on all items of a test set, by one metric.

    A run is one of several outputs of a system, such as one per random seed. `names` has the name of each run.
    """

    test_set: str
    team: str
    system: str
    metric: str
    scores: tuple[float | None, ...]
    names: tuple[str, ...]


def load_versions(connection: Connection, task: TaskRow, phases: Phases) -> list[Version]:
    """Load all versions of all systems, except withdrawn versions.

    Versions are ordered by test set, system and time of submission.
    """
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
    return [Version(row.test_set, row.team, row.system, row.version, row.created_at, row.late,
                    None if phases.find_first_visible(row.created_at, row.replaced) is None else row.value)
            for row in rows]


def load_runs(connection: Connection, task: TaskRow) -> list[Runs]:
    """Load the score of each run by each metric, for systems with several runs."""
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
    return [Runs(row.test_set, row.team, row.system, row.alias, tuple(row.scores),
                 _name_runs(factors.get(row.submission_id, ()), len(row.scores))) for row in rows]


def _name_runs(factors: Sequence[Mapping[str, str]], n: int) -> tuple[str, ...]:
    if len(factors) == n:
        return tuple(", ".join(f"{name} {level}" for name, level in levels.items()) for levels in factors)
    return tuple(f"run {number}" for number in range(1, n + 1))


@dataclass(frozen=True)
class NewBest:
    """Change of the best system on a leaderboard, or of the best system's score.

    Attributes:
        time: The time at which the change was first visible, in UTC.
        team, system: The names of the team and the new best system.
        display_name: The name of the system in tables.
        tied: The number of other systems that share the first rank.
        score: The score of the system at that time.
        significant: True if the new best system differed significantly from the previous one. None for the first best
            system, and if the two systems were not compared.
        p_adjusted: The adjusted p-value of the new and the previous best system at that time.
        why: Other changes since the previous best system, such as a revision of the gold.
        entry: The id of the log entry with the time of the comparison.
    """

    time: datetime
    team: str
    system: str
    display_name: str
    tied: int
    score: float
    significant: bool | None = None
    p_adjusted: float | None = None
    why: tuple[str, ...] = ()
    entry: int | None = None


@dataclass(frozen=True)
class History:
    """All best systems that a leaderboard has had, in order of time.

    Attributes:
        key: Task, test set, track, facet and metric, which identify the leaderboard.
        n_states: The number of comparisons with visible scores.
        bests: The changes of the best system or of its score, in order of time.
    """

    key: LeaderboardKey
    n_states: int
    bests: tuple[NewBest, ...]


def load_histories(connection: Connection, task: TaskRow, phases: Phases, until: int | None = None) -> list[History]:
    """For each leaderboard, load the systems that have been the best over time.

    Leaderboards of facets (items with one value of an attribute), and leaderboards with fewer than two visible
    comparisons, are left out.

    Args:
        connection: A connection with one transaction for all queries.
        task: The task.
        phases: The periods in which the scores of the task were hidden.
        until: The id of the last log entry to use; None: all entries.
    """
    if connection.execute(_SEVERAL, {"task": task.slug, "task_id": task.task_id}).scalar_one() is None:
        return []
    rows = connection.execute(text(_STATES), {"task": task.slug, "task_id": task.task_id, "until": until}).all()
    histories = []
    for key, board_rows in groupby(rows, key=lambda row: LeaderboardKey(
            task.slug, row.test_set, row.track, None, row.metric)):
        states = [(time, row) for row in board_rows
                  if (time := phases.find_first_visible(row.made, row.replaced)) is not None]
        if len(states) > 1:
            histories.append(_make_history(connection, key, states))
    return histories


# Returns a row if a board of a task may have had several states. This is faster than finding these boards.
_SEVERAL = text("""
    WITH compared AS (
        SELECT count(*) AS n, count(DISTINCT (test_set_id, track_id, facet, alias)) AS boards
        FROM comparison JOIN test_set USING (test_set_id) WHERE task_id = :task_id)
    SELECT (
        SELECT 1 FROM compared WHERE boards < n OR boards < (
            SELECT count(*) FROM event WHERE action IN ('compare', 'compare-again') AND subject = :task))""")

# All comparisons with the best system at that time, by board, in the order of the log.
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


_SYSTEMS = text("""
    SELECT system.name AS system, team.name || '/' || system.name || '@' || submission.version AS submission
    FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
    WHERE comparison_id = :comparison""")


def _make_history(connection: Connection, key: LeaderboardKey, states: Sequence[tuple[datetime, Any]]) -> History:
    changes = [states[0]] + [
        after for before, after in pairwise(states)
        if (before[1].submission_id, before[1].score) != (after[1].submission_id, after[1].score)]
    decisions = _load_decisions(connection, [(row.comparison_id, row.submission_id, before.submission_id)
                                             for (_, before), (_, row) in pairwise(changes)])
    bests = []
    others = connection.execute(_SYSTEMS, {"comparison": states[-1][1].comparison_id})
    names = make_display_names([{"system": row.system, "submission": row.submission}
                                for row in (*(row for _, row in changes), *others)])[:len(changes)]
    for n, ((time, row), name) in enumerate(zip(changes, names, strict=True)):
        before = changes[n - 1][1] if n else row
        why = [sentence for sentence, column in (("the gold was revised", "gold_revision_id"),
                                                 ("the metric was changed", "metric_name"))
               if getattr(row, column) != getattr(before, column)]
        significant, p = decisions.get((row.comparison_id, before.submission_id), (None, None))
        bests.append(NewBest(time, row.team, row.system, name, row.tied, row.score, significant, p, tuple(why),
                             row.entry))
    return History(key, len(states), tuple(bests))


def _load_decisions(connection: Connection, pairs: Sequence[tuple[int, int, int]]) -> Mapping[
        tuple[int, int], tuple[bool, float | None]]:
    """Load the test results of new best systems against the previous best systems.

    Args:
        connection: A connection to the store.
        pairs: Ids of a comparison, of its best submission, and of the previous best submission.

    Returns:
        Whether the difference is significant, and the adjusted p-value, by the id of the comparison and of the previous
        best submission.
    """
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
    """Additional data about a task's systems, for its web page.

    Attributes:
        versions: The versions of all systems, ordered by test set, system and time of submission.
        runs: The scores of single runs, for systems with several runs.
        regions: How many answers two systems share, for pairs of systems.
        confusions: Numbers of items by gold label and predicted label.
        distinctive_items: The items on which each system differs most from the others; empty if no items are shown.
        histories: The best systems of leaderboards over time.
    """

    versions: Sequence[Version] = ()
    runs: Sequence[Runs] = ()
    regions: Sequence[Regions] = ()
    confusions: Sequence[Confusions] = ()
    distinctive_items: Sequence[DistinctiveItems] = ()
    histories: Sequence[History] = ()


NO_DETAILS = Details()


def load_details(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard], items: int,
                 until: int | None = None) -> Details:
    """Load versions, runs, confusion matrices and other data about a task's systems.

    Args:
        connection: The transaction in which the boards were loaded.
        task: The task.
        boards: The leaderboards of the task.
        items: The number of items of each test set that are shown. If it is 0, the result names neither items nor rare
            labels.
        until: The id of the last log entry to use; None: all entries.
    """
    phases = load_phases(connection, task.slug)
    return Details(
        load_versions(connection, task, phases), load_runs(connection, task),
        tuple(load_regions(connection, task, boards)), tuple(load_confusions(connection, task, every_name=items > 0)),
        tuple(load_distinctive_items(connection, task, items)) if items else (),
        load_histories(connection, task, phases, until))
