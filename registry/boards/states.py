"""Earlier states of leaderboards, and what changed between two of them and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.boards.leaderboard import DECIMALS, PairDecision, Standing, get_metric_display, make_board_title
from registry.errors import UnknownNameError, counted
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.evaluation.ingest.context import ParseCache
from registry.families import FAMILIES
from registry.identity import canonical_json
from registry.items import Item
from registry.readers import READERS, Reader
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow
from registry.store.embargoes import require_scores
from registry.values import parse

# What a comparison was asked for, by the words for it.
SETTINGS = ("test", "alternative", "candidate", "unit", "runs", "strata", "alpha", "correction", "resamples", "seed",
            "interval", "confidence", "overall", "family")


@dataclass(frozen=True)
class State:
    """One state of a leaderboard.

    Attributes:
        key: Of which leaderboard.
        comparison_id: Its number in its database; `signature` identifies it everywhere.
        metric_name: The metric with its options; `gold`: the digest of the gold; `task_version`: the task's; `n_items`,
            `n_units`: how many take part, and of what is resampled or permuted; `code`: the version of the program.
        settings: What was asked for, by `SETTINGS`.
        systems: By `team/system`, best first.
        pairs: By the names of both, in alphabetical order.
        declared_title, decimals: How the task has people see the metric (`Leaderboard`).
    """

    key: LeaderboardKey
    comparison_id: int
    signature: str
    metric_name: str
    gold: str
    task_version: str
    n_items: int
    n_units: int
    code: str
    settings: Mapping[str, Any]
    systems: Mapping[str, Standing]
    pairs: Mapping[tuple[str, str], PairDecision]
    declared_title: str | None = None
    decimals: int = DECIMALS

    @property
    def title(self) -> str:
        """Which board it is of, and by what that ranks."""
        return make_board_title(self.key._asdict() | {"metric_name": self.metric_name}, self.declared_title)


def latest(connection: Connection, task: str | None = None,
           metric: str | None = None) -> dict[LeaderboardKey, list[State]]:
    """The last state of every board (of a task, of a metric), and the one before where there is one.

    Raises:
        HiddenError: The scores of the task, or of all tasks, are hidden from the connection.
    """
    require_scores(connection, task)
    rows = connection.execute(text(f"""
        WITH stated AS ({_STATES} WHERE task_metric.is_declared AND test_set.is_declared AND c.sequence > 0)
        SELECT * FROM stated
        WHERE (:task IS NULL OR task = :task) AND (:metric IS NULL OR metric = :metric)
        QUALIFY row_number() OVER (
            PARTITION BY task, test_set, track, facet, metric ORDER BY sequence DESC) <= 2
        ORDER BY test_set_position, track NULLS FIRST, facet NULLS FIRST, metric_position, task, sequence DESC
        """), {"task": task, "metric": metric}).all()  # noqa: S608
    found: dict[LeaderboardKey, list[State]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(_state(connection, row))
    return found


def states(connection: Connection, name: str | None, task: str | None = None,
           metric: str | None = None) -> dict[LeaderboardKey, State]:
    """The one state with an id, as signatures end with it; without, the last of every board (of a task, of a metric).

    Raises:
        UnknownNameError: None is called so.
        HiddenError: As of `latest`.
    """
    if name is None:
        return {key: last for key, (last, *_) in latest(connection, task, metric).items()}
    rows = connection.execute(text(f"{_STATES} ORDER BY comparison_id")).all()  # the last of one signature
    known = {row.signature.rpartition("id:")[2]: row for row in rows}
    if (found := known.get(name.rpartition("id:")[2])) is None:
        raise UnknownNameError("database file or state of a board", name, known)
    state = _state(connection, found)
    return {state.key: state}


_STATES = """
    SELECT task.slug AS task, task.manifest, test_set.name AS test_set, track.name AS track, c.facet, c.alias AS metric,
        metric.name AS metric_name, gold.digest AS gold, run.code_version AS code,
        c.* EXCLUDE (facet), o.test AS overall, test_set.position AS test_set_position,
        task_metric.position AS metric_position
    FROM comparison AS c
    JOIN test_set USING (test_set_id)
    JOIN task USING (task_id)
    JOIN metric USING (metric_id)
    JOIN task_metric ON task_metric.task_id = task.task_id AND task_metric.alias = c.alias
    JOIN gold_revision AS gold ON gold.gold_revision_id = c.gold_revision_id
    JOIN run ON run.run_id = c.run_id
    LEFT JOIN overall_result AS o USING (comparison_id)
    LEFT JOIN track ON track.track_id = c.track_id"""


def _key(row: Any) -> LeaderboardKey:
    return LeaderboardKey(row.task, row.test_set, row.track, row.facet, row.metric)


def _state(connection: Connection, row: Any) -> State:
    stood = connection.execute(text("""
        SELECT submission_id, team.name AS team, system.name AS system, version, score, rank, rank_low, rank_high,
            cluster
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": row.comparison_id}).all()
    systems = {f"{of.team}/{of.system}": Standing(
        rank=of.rank, rank_low=of.rank_low, rank_high=of.rank_high, cluster=of.cluster, system=of.system,
        display_name=of.system, team=of.team, submission=f"{of.team}/{of.system}@{of.version}", score=of.score)
        for of in stood}
    asked = json.loads(row.request)["significance"]
    family = asked.get("family", "board")
    family = family if isinstance(family, str) else "; ".join(family)
    settings = {name: getattr(row, name) for name in SETTINGS if name not in ("strata", "family", "candidate")} | {
        "candidate": asked.get("candidate"), "strata": _signed(row.signature, "strata"), "family": family}
    version = str(_signed(row.signature, "task")).rpartition("@")[2]
    pairs = _pairs(connection, row.comparison_id, [of.submission_id for of in stood], list(systems))
    return State(_key(row), row.comparison_id, row.signature, row.metric_name, row.gold, version, row.n_items,
                 row.n_units, row.code, settings, systems, dict(pairs),
                 **get_metric_display(row.manifest, row.metric, row.metric_name))


def _signed(signature: str, key: str) -> str | None:
    """What a signature says of something; None where it says nothing."""
    found = re.search(rf"\|{key}:([^|]*)", signature)
    return found[1] if found else None


def _pairs(connection: Connection, comparison_id: int, submissions: Sequence[int],
           names: Sequence[str]) -> Iterator[tuple[tuple[str, str], PairDecision]]:
    """The pairs of a comparison, each in the alphabetical order of the names; submissions are by their ids."""
    place = {submission: n for n, submission in enumerate(submissions)}
    tested = connection.execute(text("""
        SELECT submission_a, submission_b, if(is_swapped, -difference, difference) AS difference, p_value, p_adjusted,
            is_significant
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": comparison_id})
    for of in tested:
        a, b, difference = place[of.submission_a], place[of.submission_b], of.difference
        if names[a] >= names[b]:
            a, b, difference = b, a, None if difference is None else -difference
        row = {"difference": difference, "p_value": of.p_value, "p_adjusted": of.p_adjusted}
        yield (names[a], names[b]), PairDecision(a, b, of.is_significant, row)


@dataclass(frozen=True)
class CorrectedItem:
    """An item with another gold: what of the gold is no more, and what is new; None where the item is not there.

    `on_board` is false if the leaderboard is of a facet, and the item is in neither the earlier nor the later facet.
    """

    item: str
    before: str | None
    after: str | None
    on_board: bool


@dataclass(frozen=True)
class SystemItems:
    """How many items of a system have other statistics, and which changed most, the most changed first."""

    system: str
    n_items: int
    most: tuple[str, ...]


@dataclass(frozen=True)
class Correction:
    """What changed between two revisions of a test set's gold.

    Attributes:
        n_before, n_after: How many items the gold has.
        items: Those with another gold, in its order, of the whole test set.
        systems: By which items of the board scores changed, in the order of the later board.
    """

    n_before: int
    n_after: int
    items: tuple[CorrectedItem, ...]
    systems: tuple[SystemItems, ...]

    @property
    def on_board(self) -> list[CorrectedItem]:
        """The corrected items that the board counts."""
        return [item for item in self.items if item.on_board]


def correction(before: tuple[Connection, State], after: tuple[Connection, State],
               most: int = 3) -> Correction | None:
    """What a correction of the gold between two states of a board did; None where both have the same gold.

    Args:
        before: The earlier state, and a connection to its database.
        after: The later one.
        most: How many items to name of every system.
    """
    if before[1].gold == after[1].gold:
        return None
    (was, reader_before), (now, reader_after) = _gold(*before), _gold(*after)
    changed = []
    for key in [*now, *(key for key in was if key not in now)]:
        old, new = was.get(key), now.get(key)
        on_board = _is_in(before[1].key.facet, old) or _is_in(after[1].key.facet, new)
        if old is None or new is None:
            changed.append(CorrectedItem(key, None if old is None else _said(reader_before, old),
                                         None if new is None else _said(reader_after, new), on_board))
        elif sides := _difference((reader_before, old), (reader_after, new)):
            changed.append(CorrectedItem(key, *sides, on_board))
    earlier, later = _statistics(*before, was), _statistics(*after, now)
    systems = [_of_system(name, earlier[name], later[name], most) for name in after[1].systems
               if name in earlier and name in later]
    return Correction(len(was), len(now), tuple(changed), tuple(systems))


def _is_in(facet: str | None, item: Item | None) -> bool:
    """Whether an item that exists is one of a facet, `attribute=value`; None means all items."""
    if item is None or facet is None:
        return item is not None
    return any(f"{name}={value}" == facet for name, value in item.attributes.items())


def _gold(connection: Connection, state: State) -> tuple[dict[str, Item], Reader]:
    """The items of the gold behind a state, by their keys, and how it was read."""
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=connection.execute(text(
        "SELECT gold_revision_id FROM comparison WHERE comparison_id = :id"), {"id": state.comparison_id}).scalar_one())
    items = ParseCache(connection).items(revision.gold_revision_id)
    return {item.key: item for item in items}, parse("reader", READERS, revision.reader)


def _difference(before: tuple[Reader, Item], after: tuple[Reader, Item]) -> tuple[str, str] | None:
    """What of an item's gold is no more, and what is new; None where it is the same."""
    contents = [canonical_json([reader.content(item.gold), dict(item.attributes)]) for reader, item in (before, after)]
    if contents[0] == contents[1]:
        return None
    was, now = ([_answer(of) for of in reader.answer_set(item.gold)] for reader, item in (before, after))
    gone, new = [of for of in was if of not in now], [of for of in now if of not in was]
    sides = [[f"{name} {value}" for name, value in one.attributes.items() if other.attributes.get(name) != value]
             for one, other in ((before[1], after[1]), (after[1], before[1]))]
    if not (gone or new or any(sides)):  # a text, or something else that has no answers
        return _said(*before), _said(*after)
    return ", ".join([*gone, *sides[0]]) or "-", ", ".join([*new, *sides[1]]) or "-"


def _said(reader: Reader, item: Item) -> str:
    """An item's gold in words: its answers, or else all of it."""
    answers = [_answer(of) for of in reader.answer_set(item.gold)]
    content = reader.content(item.gold)
    return ", ".join(answers) or (content if isinstance(content, str) else canonical_json(content))


def _answer(of: Any) -> str:
    return f"{of.type} {of.key}".strip()


Statistics = dict[tuple[str, int], tuple[Any, ...]]  # by item and run


def _statistics(connection: Connection, state: State, gold: Mapping[str, Item]) -> dict[str, Statistics]:
    """The statistics of every system of a state on the items of its board, by the system's name."""
    family, metric_id, scorings = "", 0, dict[str, int]()
    for row in connection.execute(text("""
            SELECT metric.family, metric.metric_id, team.name || '/' || system.name AS system, standing.scoring_id
            FROM comparison JOIN metric USING (metric_id) JOIN standing USING (comparison_id)
            JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
            WHERE comparison_id = :id AND standing.scoring_id IS NOT NULL
            ORDER BY standing.scoring_id"""), {"id": state.comparison_id}):
        family, metric_id, scorings[row.system] = row.family, row.metric_id, row.scoring_id
    columns = FAMILIES[family].columns if family else ()
    named, joins = ", ".join(f"s.{name}" for name in columns), ""
    if family == "confusion":  # labels have other numbers in every revision
        named = "gold.name, predicted.name"
        joins = ("JOIN label AS gold ON gold.label_id = s.gold_label "
                 "JOIN label AS predicted ON predicted.label_id = s.predicted_label")
    found = {}
    for system, scoring_id in scorings.items():
        rows = connection.execute(text(f"""
            SELECT item.key, s.replicate, {named} FROM statistics_{family} AS s JOIN item USING (item_id) {joins}
            WHERE s.scoring_id = :scoring AND s.metric_id = :metric"""),  # noqa: S608 - names of the schema
            {"scoring": scoring_id, "metric": metric_id})
        found[system] = {(row[0], row[1]): tuple(row[2:]) for row in rows if _is_in(state.key.facet, gold[row[0]])}
    return found


def _of_system(name: str, before: Statistics, after: Statistics, most: int) -> SystemItems:
    amounts: dict[str, float] = {}
    for (item, _), amount in _amounts(before, after):
        amounts[item] = amounts.get(item, 0) + amount
    ordered = sorted(amounts, key=lambda item: (-amounts[item], item))
    return SystemItems(name, len(ordered), tuple(ordered[:most]))


def _amounts(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[tuple[Any, float]]:
    """By how much statistics changed where they did: numbers by their distance, labels and lost items as one."""
    for key in before.keys() | after.keys():
        was, now = before.get(key), after.get(key)
        if was != now:
            numbers = was is not None and now is not None and not any(isinstance(of, str) for of in (*was, *now))
            yield key, sum(abs(b - a) for a, b in zip(was or (), now or (), strict=True)) if numbers else 1.0


_OF_FAMILY = ("alpha", "correction", "family")  # settings that leave raw p-values as they are
_OF_RANKS = ("ranked", "version", "overall")  # what has no say in p-values at all


@dataclass(frozen=True)
class StandingChange:
    """A system whose standing changed: before and after (None: it was not there), and why."""

    system: str
    before: Standing | None
    after: Standing | None
    why: str


@dataclass(frozen=True)
class DecisionChange:
    """A pair whose p-values or decision changed, before and after, and why."""

    systems: tuple[str, str]
    before: PairDecision
    after: PairDecision
    why: str

    @property
    def decided(self) -> bool:
        """Whether it is decided otherwise, or by another raw p-value, not only adjusted anew."""
        return self.before.significant != self.after.significant or self.before.p_value != self.after.p_value


@dataclass(frozen=True)
class BoardDifference:
    """Two states of a leaderboard side by side.

    `reasons` say what changed in what they rest on, and `correction` what a revision of the gold did.
    """

    before: State
    after: State
    reasons: tuple[str, ...]
    systems: tuple[StandingChange, ...]
    pairs: tuple[DecisionChange, ...]
    correction: Correction | None = None


def compare_states(before: State, after: State, correction: Correction | None = None) -> BoardDifference:
    """Compare two states of one leaderboard, between which the gold may have been corrected."""
    causes = _causes(before, after)
    versions = {name for name in before.systems.keys() & after.systems
                if before.systems[name].version != after.systems[name].version}
    systems = tuple(_moved(before, after, versions, causes))
    pairs = tuple(_changed(before, after, versions, causes))
    return BoardDifference(before, after, (*causes.values(), *_of_systems(before, after, versions)), systems, pairs,
                           correction)


def _causes(before: State, after: State) -> dict[str, str]:
    """What changed for all systems at once, by a short name for each, in a sentence."""
    found = {}
    if before.gold != after.gold:
        versions = before.task_version, after.task_version
        named = f" (version {versions[0]}, then {versions[1]})" if versions[0] != versions[1] else ""
        found["gold"] = f"The gold was revised{named}."
    elif before.task_version != after.task_version:
        found["version"] = f"The task was of version {before.task_version}, and is of {after.task_version}."
    if before.metric_name != after.metric_name:
        found["metric"] = f"The metric was {before.metric_name}, and is {after.metric_name}."
    if before.n_items != after.n_items:
        found["items"] = f"{counted(before.n_items, 'item')} took part, and now {after.n_items} do."
    elif before.n_units != after.n_units and before.settings["unit"] == after.settings["unit"]:
        unit = after.settings["unit"]
        found["units"] = f"There were {counted(before.n_units, unit)}, and are {after.n_units}."
    for name in SETTINGS:
        if before.settings[name] != after.settings[name]:
            was, now = ("none" if of.settings[name] is None else of.settings[name] for of in (before, after))
            found[name] = f"{name} was {was}, and is {now}."
    ranked = [f"{said}: {', '.join(names)}." for of, other, said in (
        (before, after, "Ranked before, and now shown without a rank"),
        (after, before, "Shown without a rank before, and now ranked")) if (
            names := [name for name, stood in of.systems.items() if stood.rank is not None
                      and name in other.systems and other.systems[name].rank is None])]
    if ranked:  # of baselines, or of submissions that came late
        found["ranked"] = " ".join(ranked)
    if before.code != after.code:
        found["program"] = f"The program was of version {before.code}, and is of {after.code}."
    return found


def _of_systems(before: State, after: State, versions: set[str]) -> list[str]:
    sets = (("New", [name for name in after.systems if name not in before.systems]),
            ("No longer there", [name for name in before.systems if name not in after.systems]),
            ("In a new version", [name for name in after.systems if name in versions]))
    said = [f"{what}: {', '.join(names)}." for what, names in sets if names]
    if len(before.pairs) != len(after.pairs):
        said.append(f"The family had {counted(len(before.pairs), 'pair')}, and has {len(after.pairs)}.")
    return said


def _moved(before: State, after: State, versions: set[str], causes: Mapping[str, str]) -> list[StandingChange]:
    found = []
    for name in (*after.systems, *(name for name in before.systems if name not in after.systems)):
        was, now = before.systems.get(name), after.systems.get(name)
        if was == now:
            continue
        if was is None or now is None:
            why = "new" if was is None else "gone"
        elif name in versions:
            why = "new version"
        elif was.score != now.score:
            why = ", ".join(key for key in ("gold", "metric", "items", "program") if key in causes) or "score"
        else:
            settings = [key for key in causes if key in (*SETTINGS, "ranked", "units")]
            why = ", ".join(["other systems"] if before.systems.keys() != after.systems.keys() or versions else
                            settings or ["other systems"])
        found.append(StandingChange(name, was, now, why))
    return found


def _changed(before: State, after: State, versions: set[str], causes: Mapping[str, str]) -> list[DecisionChange]:
    found = []
    for pair in after.pairs.keys() & before.pairs.keys():
        was, now = before.pairs[pair], after.pairs[pair]
        if was == now:
            continue
        if versions & set(pair):
            why = "new version"
        elif was.p_value != now.p_value or was.difference != now.difference:
            why = ", ".join(key for key in causes if key not in (*_OF_FAMILY, *_OF_RANKS)) or "draws"
        else:
            family = [f"family of {len(after.pairs)}"] if len(before.pairs) != len(after.pairs) else []
            why = ", ".join([*family, *(key for key in causes if key in _OF_FAMILY)]) or "other pairs"
        found.append(DecisionChange(pair, was, now, why))
    place = {name: n for n, name in enumerate(after.systems)}
    return sorted(found, key=lambda of: sorted(place[name] for name in of.systems))
