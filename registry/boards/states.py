"""Stored states of leaderboards, and the causes of changes between two states.

A state is a leaderboard as one comparison computed it. A later comparison, such as one with corrected gold, makes a new
state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.boards.leaderboard import DECIMALS, PairDecision, Standing, get_metric_display, make_board_title
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.evaluation.ingest.context import ParseCache
from registry.evaluation.metric_ids import choose_alias
from registry.families import FAMILIES
from registry.identity import canonical_json
from registry.items import Item
from registry.readers import READERS, Reader
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow
from registry.store.embargoes import require_scores
from registry.values import parse

# The names of a comparison's settings, as people see them.
SETTINGS = ("test", "alternative", "candidate", "unit", "runs", "strata", "alpha", "correction", "resamples", "seed",
            "interval", "confidence", "overall", "family")


# Settings that change only adjusted p-values, and causes (`_find_causes`) that leave all p-values the same.
_FAMILY_SETTINGS = ("alpha", "correction", "family")
_CHANGES_WITHOUT_P_VALUES = ("ranked", "version", "overall")


@dataclass(frozen=True)
class State:
    """A leaderboard as one stored comparison computed it.

    Two states of a leaderboard can be compared, for example before and after a correction of the gold.

    Attributes:
        key: Identifies the leaderboard.
        comparison_id: The id of the comparison in the database that contains the state.
        signature: The signature of the leaderboard, which identifies the state in every database.
        metric_name: The metric with its options.
        gold: The digest of the gold.
        task_version: The version of the task.
        n_items: The number of items.
        n_units: The number of units that are resampled or permuted.
        code: The version of the program that made the comparison.
        settings: The settings of the comparison; the keys are `SETTINGS`.
        systems: The standing of each system, best first; the keys are names `team/system`.
        pairs: The test result of each pair; a key has the names of both systems in alphabetical order.
        declared_title: The title of the metric in tables; None if the task declares none.
        decimals: The number of decimals of displayed scores.
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
        """The title of the board."""
        return make_board_title(self.key._asdict() | {"metric_name": self.metric_name}, self.declared_title)


def load_latest_states(connection: Connection, task: str | None = None,
                       metric: str | None = None) -> dict[LeaderboardKey, list[State]]:
    """Load the two latest versions (states) of every leaderboard, the newest first.

    Each comparison stores a new state. A leaderboard with a single comparison has only one state.

    Args:
        connection: A connection to the store.
        task: A task's id; None: all tasks.
        metric: A metric's alias; None: all metrics.

    Raises:
        HiddenError: The scores of the task, or of all tasks, are hidden.
    """
    require_scores(connection, task)
    if metric is not None:
        metric = choose_alias(connection, catalog.tasks(connection, task), metric)
    rows = connection.execute(text(f"""
        WITH stated AS ({_STATES} WHERE task_metric.is_declared AND test_set.is_declared AND c.sequence > 0)
        SELECT * FROM stated
        WHERE (:task IS NULL OR task = :task) AND (:metric IS NULL OR metric = :metric)
        QUALIFY row_number() OVER (
            PARTITION BY task, test_set, track, facet, metric ORDER BY sequence DESC) <= 2
        ORDER BY test_set_position, track NULLS FIRST, facet NULLS FIRST, metric_position, task, sequence DESC
        """), {"task": task, "metric": metric}).all()  # noqa: S608
    states: dict[LeaderboardKey, list[State]] = {}
    for row in rows:
        states.setdefault(_make_key(row), []).append(_load_state(connection, row))
    return states


def load_states(connection: Connection, name: str | None, task: str | None = None,
                metric: str | None = None) -> dict[LeaderboardKey, State]:
    """Load stored versions (states) of leaderboards: one by its id, or the latest.

    A state is a leaderboard as one stored comparison computed it.

    Args:
        connection: A connection to the store.
        name: The id of a state, which is the end of its signature; None: the latest state of every leaderboard.
        task: A task's id; None: all tasks. Only used without `name`.
        metric: A metric's alias; None: all metrics. Only used without `name`.

    Raises:
        UnknownNameError: No state has this id.
        InputError: The name is the id of a task.
        HiddenError: The scores of the task, or of all tasks, are hidden.
    """
    if name is None:
        return {key: last for key, (last, *_) in load_latest_states(connection, task, metric).items()}
    rows = connection.execute(text(f"{_STATES} ORDER BY comparison_id")).all()  # the last row with an id counts
    rows_by_id = {row.signature.rpartition("id:")[2]: row for row in rows}
    if (row := rows_by_id.get(name.rpartition("id:")[2])) is None:
        if any(row.task == name for row in rows):
            raise InputError(f"{name!r} is a task, not a database file or a state; --task {name} selects it")
        raise UnknownNameError("database file or state of a board", name, rows_by_id)
    state = _load_state(connection, row)
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


def _make_key(row: Any) -> LeaderboardKey:
    return LeaderboardKey(row.task, row.test_set, row.track, row.facet, row.metric)


def _load_state(connection: Connection, row: Any) -> State:
    standings = connection.execute(text("""
        SELECT submission_id, team.name AS team, system.name AS system, version, score, rank, rank_low, rank_high,
            cluster
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": row.comparison_id}).all()
    systems = {f"{standing.team}/{standing.system}": Standing(
        rank=standing.rank, rank_low=standing.rank_low, rank_high=standing.rank_high, cluster=standing.cluster,
        system=standing.system, display_name=standing.system, team=standing.team, score=standing.score,
        submission=f"{standing.team}/{standing.system}@{standing.version}") for standing in standings}
    request = json.loads(row.request)["significance"]
    family = request.get("family", "board")
    settings = {name: getattr(row, name) for name in SETTINGS if name not in ("strata", "family", "candidate")} | {
        "candidate": request.get("candidate"), "strata": _find_in_signature(row.signature, "strata"),
        "family": family if isinstance(family, str) else "; ".join(family)}
    version = str(_find_in_signature(row.signature, "task")).rpartition("@")[2]
    pairs = _load_pairs(connection, row.comparison_id, [standing.submission_id for standing in standings],
                        list(systems))
    return State(_make_key(row), row.comparison_id, row.signature, row.metric_name, row.gold, version, row.n_items,
                 row.n_units, row.code, settings, systems, dict(pairs),
                 **get_metric_display(row.manifest, row.metric, row.metric_name))


def _find_in_signature(signature: str, key: str) -> str | None:
    match = re.search(rf"\|{key}:([^|]*)", signature)
    return match[1] if match else None


def _load_pairs(connection: Connection, comparison_id: int, submissions: Sequence[int],
                names: Sequence[str]) -> Iterator[tuple[tuple[str, str], PairDecision]]:
    """Yield the names of each pair of systems, and its test result.

    Args:
        connection: A connection to the store.
        comparison_id: The id of the comparison.
        submissions: The ids of the submissions in the comparison, best first.
        names: The names `team/system` of these submissions. The names of a pair are in alphabetical order.
    """
    places = {submission: n for n, submission in enumerate(submissions)}
    rows = connection.execute(text("""
        SELECT submission_a, submission_b, if(is_swapped, -difference, difference) AS difference, p_value, p_adjusted,
            is_significant
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": comparison_id})
    for row in rows:
        a, b, difference = places[row.submission_a], places[row.submission_b], row.difference
        if names[a] >= names[b]:
            a, b, difference = b, a, None if difference is None else -difference
        values = {"difference": difference, "p_value": row.p_value, "p_adjusted": row.p_adjusted}
        yield (names[a], names[b]), PairDecision(a, b, row.is_significant, values)


@dataclass(frozen=True)
class CorrectedItem:
    """An item whose gold was changed.

    Attributes:
        item: The key of the item.
        before: The part of the gold that was removed; None if the item is new.
        after: The part of the gold that was added; None if the item was deleted.
        on_board: True if the leaderboard counts the item. A leaderboard of a facet counts an item that belonged to the
            facet before or after the correction.
    """

    item: str
    before: str | None
    after: str | None
    on_board: bool


@dataclass(frozen=True)
class SystemItems:
    """Items on which a system's statistics changed, because the gold was corrected.

    Attributes:
        system: The name of the system, `team/system`.
        n_items: The number of items whose statistics changed.
        most: The keys of the items with the largest changes, the largest change first.
    """

    system: str
    n_items: int
    most: tuple[str, ...]


@dataclass(frozen=True)
class Correction:
    """Changes between two versions of a test set's gold, and their effects.

    Attributes:
        n_before, n_after: The number of items in the earlier and in the later version.
        items: The items of the whole test set whose gold changed, in the order of the later gold. Deleted items are
            last.
        systems: The items whose statistics changed, for each system on both boards, in the order of the later board.
    """

    n_before: int
    n_after: int
    items: tuple[CorrectedItem, ...]
    systems: tuple[SystemItems, ...]

    @property
    def on_board(self) -> list[CorrectedItem]:
        """Corrected items that the leaderboard counts."""
        return [item for item in self.items if item.on_board]


def find_correction(before: tuple[Connection, State], after: tuple[Connection, State],
                    most: int = 3) -> Correction | None:
    """Find the items whose gold changed between two states of a leaderboard.

    Args:
        before: A connection to the database of the earlier state, and the earlier state.
        after: A connection to the database of the later state, and the later state.
        most: The number of items to name for each system. Items with the largest changes are named.

    Returns:
        The changes of the gold; None if both states have the same gold.
    """
    if before[1].gold == after[1].gold:
        return None
    (old_items, old_reader), (new_items, new_reader) = _load_gold(*before), _load_gold(*after)
    corrected = []
    for key in [*new_items, *(key for key in old_items if key not in new_items)]:
        old, new = old_items.get(key), new_items.get(key)
        on_board = _is_in_facet(before[1].key.facet, old) or _is_in_facet(after[1].key.facet, new)
        if old is None or new is None:
            corrected.append(CorrectedItem(key, None if old is None else _describe_gold(old_reader, old),
                                           None if new is None else _describe_gold(new_reader, new), on_board))
        elif sides := _find_gold_difference((old_reader, old), (new_reader, new)):
            corrected.append(CorrectedItem(key, *sides, on_board))
    earlier, later = _load_statistics(*before, old_items), _load_statistics(*after, new_items)
    systems = [_find_changed_items(name, earlier[name], later[name], most) for name in after[1].systems
               if name in earlier and name in later]
    return Correction(len(old_items), len(new_items), tuple(corrected), tuple(systems))


def _is_in_facet(facet: str | None, item: Item | None) -> bool:
    if item is None or facet is None:
        return item is not None
    return any(f"{name}={value}" == facet for name, value in item.attributes.items())


def _load_gold(connection: Connection, state: State) -> tuple[dict[str, Item], Reader]:
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=connection.execute(text(
        "SELECT gold_revision_id FROM comparison WHERE comparison_id = :id"), {"id": state.comparison_id}).scalar_one())
    items = ParseCache(connection).items(revision.gold_revision_id)
    return {item.key: item for item in items}, parse("reader", READERS, revision.reader)


def _find_gold_difference(before: tuple[Reader, Item], after: tuple[Reader, Item]) -> tuple[str, str] | None:
    """Compare two versions of the gold of an item, with its attributes.

    Returns:
        What was removed, and what was added; None if nothing was.
    """
    old_content, new_content = (canonical_json([reader.content(item.gold), dict(item.attributes)])
                                for reader, item in (before, after))
    if old_content == new_content:
        return None
    old, new = (_list_answers(*side) for side in (before, after))
    removed, added = [answer for answer in old if answer not in new], [answer for answer in new if answer not in old]
    old_attributes, new_attributes = before[1].attributes, after[1].attributes
    removed += [f"{name} {value}" for name, value in old_attributes.items() if new_attributes.get(name) != value]
    added += [f"{name} {value}" for name, value in new_attributes.items() if old_attributes.get(name) != value]
    if not (removed or added):  # a text, or another gold without a set of answers
        return _describe_gold(*before), _describe_gold(*after)
    return ", ".join(removed) or "-", ", ".join(added) or "-"


def _list_answers(reader: Reader, item: Item) -> list[str]:
    return [f"{answer.type} {answer.key}".strip() for answer in reader.answer_set(item.gold)]


def _describe_gold(reader: Reader, item: Item) -> str:
    content = reader.content(item.gold)
    return ", ".join(_list_answers(reader, item)) or (content if isinstance(content, str) else canonical_json(content))


Statistics = dict[tuple[str, int], tuple[Any, ...]]  # statistics of one system, by item and run


def _load_statistics(connection: Connection, state: State, gold: Mapping[str, Item]) -> dict[str, Statistics]:
    """Load the statistics per item from which scores are computed, for every system.

    Args:
        connection: A connection to the store.
        state: The state of the leaderboard. Only items of its facet are loaded.
        gold: The items of the state's gold by key.

    Returns:
        The statistics, by the name of the system.
    """
    family, metric_id, scorings = "", 0, dict[str, int]()
    for row in connection.execute(text("""
            SELECT metric.family, metric.metric_id, team.name || '/' || system.name AS system, standing.scoring_id
            FROM comparison JOIN metric USING (metric_id) JOIN standing USING (comparison_id)
            JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
            WHERE comparison_id = :id AND standing.scoring_id IS NOT NULL
            ORDER BY standing.scoring_id"""), {"id": state.comparison_id}):
        family, metric_id, scorings[row.system] = row.family, row.metric_id, row.scoring_id
    columns, joins = ", ".join(f"s.{name}" for name in (FAMILIES[family].columns if family else ())), ""
    if family == "confusion":  # every revision numbers labels differently
        columns = "gold.name, predicted.name"
        joins = ("JOIN label AS gold ON gold.label_id = s.gold_label "
                 "JOIN label AS predicted ON predicted.label_id = s.predicted_label")
    statistics = {}
    for system, scoring_id in scorings.items():
        rows = connection.execute(text(f"""
            SELECT item.key, s.replicate, {columns} FROM statistics_{family} AS s JOIN item USING (item_id) {joins}
            WHERE s.scoring_id = :scoring AND s.metric_id = :metric"""),  # noqa: S608 - names of the schema
            {"scoring": scoring_id, "metric": metric_id})
        statistics[system] = {(row[0], row[1]): tuple(row[2:]) for row in rows
                              if _is_in_facet(state.key.facet, gold[row[0]])}
    return statistics


def _find_changed_items(system: str, before: Statistics, after: Statistics, most: int) -> SystemItems:
    changes: dict[str, float] = {}
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        change = 1.0  # if statistics are labels, or if only one state has the item
        if old is not None and new is not None and not any(isinstance(value, str) for value in (*old, *new)):
            change = sum(abs(b - a) for a, b in zip(old, new, strict=True))
        changes[key[0]] = changes.get(key[0], 0) + change
    items = sorted(changes, key=lambda item: (-changes[item], item))
    return SystemItems(system, len(items), tuple(items[:most]))


@dataclass(frozen=True)
class StandingChange:
    """Change of one system's result between two states of a leaderboard.

    Attributes:
        system: The name of the system, `team/system`.
        before, after: The standing in the earlier and in the later state; None if the system is absent.
        why: The cause of the change in a few words, such as `new version`.
    """

    system: str
    before: Standing | None
    after: Standing | None
    why: str

    @property
    def has_moved(self) -> bool:
        """True if the rank, its range or the cluster of the system changed, or if only one state has the system."""
        if self.before is None or self.after is None:
            return True
        return any(getattr(self.before, name) != getattr(self.after, name)
                   for name in ("rank", "rank_low", "rank_high", "cluster"))


@dataclass(frozen=True)
class DecisionChange:
    """Change of one pair's test result between two states of a leaderboard.

    Attributes:
        systems: The names `team/system` of the two systems, first the one that is better in the later state.
        before, after: The test result in the earlier and in the later state.
        why: The cause of the change in a few words, such as `new version`.
    """

    systems: tuple[str, str]
    before: PairDecision
    after: PairDecision
    why: str

    @property
    def is_substantial(self) -> bool:
        """True if the significance or the uncorrected p-value of a pair changed."""
        return self.before.significant != self.after.significant or self.before.p_value != self.after.p_value

    @property
    def is_decision(self) -> bool:
        """True if the significance of a pair changed, or if the other system is now the significantly better one."""
        return self.before.significant != self.after.significant or self.is_reversed

    @property
    def is_reversed(self) -> bool:
        """True if the other system of the pair is now the significantly better one."""
        return (self.before.significant and self.after.significant
                and self.find_better(self.before) != self.find_better(self.after))

    def find_better(self, decision: PairDecision) -> str:
        """Return the name of the system with the better score."""
        return self.systems[0] if (decision.difference or 0) > 0 else self.systems[1]


@dataclass(frozen=True)
class BoardDifference:
    """The differences between two states of a leaderboard.

    Attributes:
        before, after: The earlier and the later state.
        reasons: Sentences about the changed data and settings.
        systems: The systems whose standing changed.
        pairs: The pairs whose test result changed.
        correction: The changes of the gold; None if the gold is the same.
    """

    before: State
    after: State
    reasons: tuple[str, ...]
    systems: tuple[StandingChange, ...]
    pairs: tuple[DecisionChange, ...]
    correction: Correction | None = None


def compare_states(before: State, after: State, correction: Correction | None = None) -> BoardDifference:
    """Return the differences between two states of a leaderboard, and their causes.

    Args:
        before: The earlier state.
        after: The later state.
        correction: The changes of the gold between the two states.
    """
    causes = _find_causes(before, after)
    new_versions = {name for name in before.systems.keys() & after.systems
                    if before.systems[name].version != after.systems[name].version}
    return BoardDifference(before, after, (*causes.values(), *_describe_systems(before, after, new_versions)),
                           tuple(_compare_standings(before, after, new_versions, causes)),
                           tuple(_compare_decisions(before, after, new_versions, causes)), correction)


def _find_causes(before: State, after: State) -> dict[str, str]:
    """Return the changes between two states of a leaderboard that affect all systems.

    Returns:
        Sentences about the changes, by their short names, such as `gold` or `alpha`.
    """
    causes = {}
    if before.gold != after.gold:
        versions = before.task_version, after.task_version
        change = f" (version {versions[0]}, then {versions[1]})" if versions[0] != versions[1] else ""
        causes["gold"] = f"The gold was revised{change}."
    elif before.task_version != after.task_version:
        causes["version"] = f"The task had version {before.task_version}, and now has {after.task_version}."
    if before.metric_name != after.metric_name:
        causes["metric"] = f"The metric was {before.metric_name}, and now is {after.metric_name}."
    if before.n_items != after.n_items:
        causes["items"] = f"The board had {counted(before.n_items, 'item')}, and now has {after.n_items}."
    elif before.n_units != after.n_units and before.settings["unit"] == after.settings["unit"]:
        unit = after.settings["unit"]
        causes["units"] = f"The board had {counted(before.n_units, unit)}, and now has {after.n_units}."
    for name in SETTINGS:
        if before.settings[name] != after.settings[name]:
            old, new = ("none" if state.settings[name] is None else state.settings[name] for state in (before, after))
            causes[name] = f"{name} was {old}, and now is {new}."
    # A setting decides if baselines and late submissions have a rank.
    unranked, ranked = ([name for name, standing in state.systems.items() if standing.rank is not None
                         and name in other.systems and other.systems[name].rank is None]
                        for state, other in ((before, after), (after, before)))
    changes = [f"Ranked before, and now shown without a rank: {', '.join(unranked)}."] if unranked else []
    changes += [f"Shown without a rank before, and now ranked: {', '.join(ranked)}."] if ranked else []
    if changes:
        causes["ranked"] = " ".join(changes)
    if before.code != after.code:
        causes["program"] = f"The program had version {before.code}, and now has {after.code}."
    return causes


def _describe_systems(before: State, after: State, new_versions: set[str]) -> list[str]:
    groups = {"New": [name for name in after.systems if name not in before.systems],
              "Removed": [name for name in before.systems if name not in after.systems],
              "In a new version": [name for name in after.systems if name in new_versions]}
    sentences = [f"{title}: {', '.join(names)}." for title, names in groups.items() if names]
    if len(before.pairs) != len(after.pairs):
        sentences.append(f"The family had {counted(len(before.pairs), 'pair')}, and now has {len(after.pairs)}.")
    return sentences


def _compare_standings(before: State, after: State, new_versions: set[str],
                       causes: Mapping[str, str]) -> Iterator[StandingChange]:
    has_other_systems = bool(before.systems.keys() != after.systems.keys() or new_versions)
    for name in (*after.systems, *(name for name in before.systems if name not in after.systems)):
        old, new = before.systems.get(name), after.systems.get(name)
        if old == new:
            continue
        if old is None or new is None:
            why = "new" if old is None else "gone"
        elif name in new_versions:
            why = "new version"
        elif old.score != new.score:
            reasons = [key for key in ("gold", "metric", "items", "program") if key in causes] or ["score"]
            why = ", ".join([*reasons, *["other systems"] * (has_other_systems and old.rank != new.rank)])
        elif has_other_systems:
            why = "other systems"
        else:
            settings = [key for key in causes if key in (*SETTINGS, "ranked", "units")]
            why = ", ".join(settings or ["other systems"])
        yield StandingChange(name, old, new, why)


def _compare_decisions(before: State, after: State, new_versions: set[str],
                       causes: Mapping[str, str]) -> list[DecisionChange]:
    places = {name: n for n, name in enumerate(after.systems)}
    changes = []
    for pair in after.pairs.keys() & before.pairs.keys():
        old, new = before.pairs[pair], after.pairs[pair]
        if old == new:
            continue
        if new_versions & set(pair):
            reasons = ["new version"]
        elif old.p_value != new.p_value or old.difference != new.difference:
            reasons = [key for key in causes
                       if key not in (*_FAMILY_SETTINGS, *_CHANGES_WITHOUT_P_VALUES)] or ["draws"]
        else:
            reasons = []
        if old.p_adjusted != new.p_adjusted or old.significant != new.significant:
            reasons += [f"family of {len(after.pairs)}"] if len(before.pairs) != len(after.pairs) else []
            reasons += [key for key in causes if key in _FAMILY_SETTINGS]
        why = ", ".join(reasons) or "other pairs"
        if places[pair[0]] > places[pair[1]]:
            pair, old, new = (pair[1], pair[0]), _swap_systems(old), _swap_systems(new)
        changes.append(DecisionChange(pair, old, new, why))
    return sorted(changes, key=lambda change: [places[name] for name in change.systems])


def _swap_systems(decision: PairDecision) -> PairDecision:
    difference = decision.difference
    return PairDecision(decision.b, decision.a, decision.significant, {
        **decision.row, "difference": None if difference is None else -difference})
