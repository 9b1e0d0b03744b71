"""Lists of interesting items, and the answers of all systems to an item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, text

from registry.errors import InputError, MismatchError, UnknownNameError
from registry.evaluation.ingest.context import ParseCache
from registry.items import Answer, Item, Links, Tagged
from registry.manifest import decode_manifest
from registry.readers import READERS, Reader
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow, ScoringRow, TaskRow, TestSetRow
from registry.store.rows import select_rows
from registry.treebank import Sentence
from registry.values import parse

Kind = Literal["label", "answer", "span", "tree", "alignment", "ranking", "text", "number"]


@dataclass(frozen=True)
class KnownAnswer:
    """One of the different answers that the gold or some system gives to an item.

    Attributes:
        key: The content: a label, the tokens of a span such as `3-4`, an arc of a tree such as `2>5`, ...
        type: The type of the answer, such as the label of a span; empty without types.
        in_gold: True if the gold has the answer.
        possible: True if the gold marks the answer as merely possible, so that systems may leave it out.
        relevance: The relevance of a document; None if it was not judged.
    """

    key: str
    type: str = ""
    in_gold: bool = False
    possible: bool = False
    relevance: int | None = None


@dataclass(frozen=True)
class SystemOutput:
    """Response to one item by one run of a system, or by the gold.

    Attributes:
        source: `gold` for the gold, `gold NAME` for a named reference, `system` for a run.
        team, system, replicate, track: The team, the system, the number and the track of the run; None for the gold.
        said: The answers, as indices of `ItemView.known`. If answers have scores, the best one is first. Only the first
            answers of a ranking are included. None if the response is a text or numbers.
        returned: The number of answers.
        found: The number of answers that the gold has, too.
        text: The response, if it is a text.
        numbers: The response, if it consists of numbers, by name. A single number has the empty name.
        score: The score by the primary metric.
        scores: The scores by all metrics; the keys are the metrics' aliases.
    """

    source: str
    team: str | None = None
    system: str | None = None
    replicate: int | None = None
    said: Sequence[int] | None = None
    returned: int = 0
    found: int = 0
    text: str | None = None
    numbers: Mapping[str, float] | None = None
    score: float | None = None
    track: str | None = None
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemView:
    """One item with the gold and the answers of all runs.

    Attributes:
        task, test_set, item: The task, the test set and the key of the item.
        metric: The alias of the primary metric.
        kind: The kind of responses.
        outputs: The responses of the gold, and then of every run.
        tokens: The words of the item; empty if they are unknown.
        known: All different answers. The answers of the gold come first, the most relevant one at the beginning and
            merely possible ones at the end.
        place: The index of the item in its test set, from 0.
        facets: The facets of the item, in the form `attribute=value`.
    """

    task: str
    test_set: str
    item: str
    metric: str
    kind: Kind
    outputs: Sequence[SystemOutput]
    tokens: Sequence[str] = ()
    known: Sequence[KnownAnswer] = ()
    place: int = 0
    facets: Sequence[str] = ()

    @property
    def text(self) -> str | None:
        """The words of the item as one line; None if they are unknown."""
        return " ".join(self.tokens) if self.tokens else None

    def select_correct(self, output: SystemOutput) -> list[KnownAnswer]:
        """Return the answers of a system's output that are in the gold."""
        return [self.known[n] for n in output.said or () if self.known[n].in_gold]

    def select_incorrect(self, output: SystemOutput) -> list[KnownAnswer]:
        """Return the answers of a system's output that are not in the gold."""
        return [self.known[n] for n in output.said or () if not self.known[n].in_gold]

    def select_missing(self, output: SystemOutput) -> list[KnownAnswer]:
        """Return the gold answers that a system's output lacks.

        Gold answers that are merely possible are not missing.
        """
        places = set(output.said or ())
        return [answer for n, answer in enumerate(self.known)
                if answer.in_gold and not answer.possible and n not in places]


Values = Sequence[Sequence[Answer | None]]  # the answers of every run to all items of the gold
FIRST = 20  # documents of a ranking that are shown
_ALL = 2**31 - 1

_GOLD = """
    SELECT item_id, answer_id, key, type FROM answer
    WHERE in_gold AND item_id IN (SELECT unnest(CAST(:items AS INTEGER[])))
    ORDER BY answer_id"""
_RESPONSES = """
    SELECT scoring_id, replicate, item_id, answer_id, key, type,
        row_number() OVER (run ORDER BY score DESC NULLS LAST, if(:ranking, key, NULL) DESC, answer_id) AS place,
        count(*) OVER run AS returned, count_if(in_gold) OVER run AS found
    FROM response JOIN answer USING (answer_id)
    WHERE item_id IN (SELECT unnest(CAST(:items AS INTEGER[])))
        AND scoring_id IN (SELECT unnest(CAST(:scorings AS INTEGER[])))
    WINDOW run AS (PARTITION BY scoring_id, replicate, item_id)
    QUALIFY place <= :most
    ORDER BY answer_id"""


class Run(NamedTuple):
    """One run of a submission: one of several outputs, such as one per random seed."""

    team: str
    system: str
    track: str | None
    replicate: int
    scoring_id: int


class _Response(NamedTuple):
    scoring_id: int
    replicate: int
    item_id: int
    answer_id: int
    key: str
    type: str
    place: int
    returned: int
    found: int


class ItemAnswers(NamedTuple):
    """All answers to one item, by the gold and by all runs of the systems.

    Attributes:
        known: The different answers of the gold and of all runs.
        golds: The gold, or each reference.
        responses: For each run, the fields of `SystemOutput` that contain the response.
    """

    known: list[KnownAnswer]
    golds: list[SystemOutput]
    responses: list[dict[str, Any]]


def _load_answer_sets(connection: Connection, items: Mapping[int, Item], runs: Sequence[Run], *,
                      is_ranking: bool) -> dict[int, ItemAnswers]:
    """Load the answers of the gold and of all runs to some items.

    Only the first `FIRST` documents of a ranking are loaded.

    Returns:
        The answers, by the id of the item.
    """
    parameters = {"items": list(items), "scorings": [run.scoring_id for run in runs], "ranking": is_ranking,
                  "most": FIRST if is_ranking else _ALL}
    golds: dict[int, dict[int, tuple[str, str]]] = {item_id: {} for item_id in items}
    for item_id, answer_id, key, type_ in connection.execute(text(_GOLD), parameters):
        golds[item_id][answer_id] = (key, type_)
    responses: dict[int, list[_Response]] = defaultdict(list)
    for row in map(_Response._make, connection.execute(text(_RESPONSES), parameters)):
        responses[row.item_id].append(row)
    return {item_id: _make_answer_set(item, golds[item_id], responses[item_id], runs)
            for item_id, item in items.items()}


def _make_answer_set(item: Item, gold: Mapping[int, tuple[str, str]], responses: Iterable[_Response],
                     runs: Sequence[Run]) -> ItemAnswers:
    """Collect the different answers that the gold and all runs give to one item."""
    possible = {f"{source + 1}-{target + 1}" for source, target in item.gold.possible} if isinstance(
        item.gold, Links) else set()
    judged: Mapping[str, int] = item.gold if isinstance(item.gold, dict) else {}
    sure_first = sorted(gold, key=lambda answer_id: (gold[answer_id][0] in possible,
                                                     -judged.get(gold[answer_id][0], 0)))
    known = [KnownAnswer(key, type_, in_gold=True, possible=key in possible, relevance=judged.get(key))
             for key, type_ in map(gold.__getitem__, sure_first)]
    places = {answer_id: n for n, answer_id in enumerate(sure_first)}
    by_run: dict[tuple[int, int], list[_Response]] = defaultdict(list)
    for row in responses:
        if row.answer_id not in places:
            places[row.answer_id] = len(known)
            known.append(KnownAnswer(row.key, row.type, relevance=judged.get(row.key)))
        by_run[row.scoring_id, row.replicate].append(row)
    outputs = []
    for run in runs:
        rows = sorted(by_run[run.scoring_id, run.replicate], key=lambda row: row.place)
        outputs.append({"said": tuple(places[row.answer_id] for row in rows),
                        "returned": rows[0].returned if rows else 0, "found": rows[0].found if rows else 0})
    return ItemAnswers(known, [SystemOutput("gold", said=range(len(gold)), returned=len(gold), found=len(gold))],
                       outputs)


def _load_values(connection: Connection, parsed: ParseCache, runs: Sequence[Run]) -> Values:
    answers = {scoring_id: parsed.load_joined(catalog.get(connection, ScoringRow, scoring_id=scoring_id))
               for scoring_id in dict.fromkeys(run.scoring_id for run in runs)}
    return [answers[run.scoring_id][run.replicate] for run in runs]


def _make_texts(item: Item, answers: Sequence[Answer | None]) -> ItemAnswers:
    golds = [SystemOutput("gold" if name == "gold" else f"gold {name}", text=reference)
             for name, reference in item.gold.items()]
    return ItemAnswers([], golds, [{"text": None if answer is None else str(answer.value)} for answer in answers])


def _make_numbers(item: Item, answers: Sequence[Answer | None]) -> ItemAnswers:
    return ItemAnswers([], [SystemOutput("gold", numbers=_name_numbers(item.gold))], [
        {"numbers": None if answer is None else _name_numbers(answer.value)} for answer in answers])


def _name_numbers(value: Any) -> Mapping[str, float] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return {"log-probability": value[0], "tokens": value[1]}
    return None if value is None else {"": value}


Rows = list[dict[str, Any]]
ALL_ITEMS = 2**31  # a limit that is larger than any number of items


def list_disputed_items(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """Return the items on which submissions disagree most.

    If items have sets of answers, disagreement is the mean number of answers that two runs do not share. For other
    items, disagreement is the standard deviation of the scores by the primary metric.

    Raises:
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    if has_answers(connection, task):
        return select_rows(connection, """
            SELECT task, test_set, item, mean_differing, answers, runs FROM item_disagreement
            WHERE task = :task AND (:test_set IS NULL OR test_set = :test_set)
            ORDER BY mean_differing DESC, item_id LIMIT :limit""", task=task.slug, limit=limit, test_set=test_set)
    return select_rows(connection, """
        SELECT task, test_set, item, metric, sd, worst, best, mean, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric AND (:test_set IS NULL OR test_set = :test_set)
        ORDER BY sd DESC NULLS LAST, item_id LIMIT :limit""",
        task=task.slug, metric=catalog.primary_metric(connection, task.task_id).alias, limit=limit, test_set=test_set)


def list_items_of_systems(connection: Connection, task: TaskRow, systems: Sequence[str], limit: int,
                          test_set: str | None = None) -> Rows:
    """Return the items on which the scores of some systems differ most, with the score of each system.

    Scores are those of the item alone by the primary metric, averaged over the runs of a system. Items on which the
    scores are equal are left out.

    Args:
        connection: A connection to the store.
        task: The task.
        systems: Names of two or more systems; `team/system` if a name alone is ambiguous.
        limit: The largest number of items.
        test_set: The only test set; None for all.

    Raises:
        UnknownNameError: The task has no system of this name.
        InputError: Two teams have a system of this name, or fewer than two systems are named.
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    names = {f"{row['team']}/{row['system']}": row["system"] for row in select_rows(
        connection, "SELECT DISTINCT team, system FROM ranked_submission WHERE task = :task", task=task.slug)}
    full_names: dict[str, str] = {}
    for name in systems:
        matches = [full_name for full_name, system in names.items() if name in (system, full_name)]
        if not matches:
            raise UnknownNameError("system", name, sorted(names.values()))
        if len(matches) > 1:
            raise InputError(f"--system {name}: several teams have a system of this name; name one of "
                             f"{', '.join(sorted(matches))}")
        full_names[matches[0]] = name
    if len(full_names) < 2:
        raise InputError("--system: name two or more systems to list the items on which they differ")
    columns = ", ".join(f"avg(score) FILTER (team || '/' || system = :system{n}) AS score{n}"
                        for n in range(len(full_names)))
    rows = select_rows(connection, f"""
        SELECT task, test_set, item, metric, {columns} FROM item_score
        WHERE task = :task AND metric = :metric AND (:test_set IS NULL OR test_set = :test_set)
        AND list_contains(:systems, team || '/' || system)
        GROUP BY task, test_set, item, metric, item_id HAVING max(score) > min(score) AND count(*) = count(score)
        ORDER BY max(score) - min(score) DESC, item_id LIMIT :limit""",  # noqa: S608  # only numbers
        task=task.slug, metric=catalog.primary_metric(connection, task.task_id).alias, limit=limit, test_set=test_set,
        systems=list(full_names), **{f"system{n}": name for n, name in enumerate(full_names)})
    return [{key: row[key] for key in ("task", "test_set", "item", "metric")}
            | {name: row[f"score{n}"] for n, name in enumerate(full_names.values())} for row in rows]


def list_hard_items(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """Return the items with the worst mean score by the primary metric.

    Raises:
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    metric = catalog.primary_metric(connection, task.task_id)
    direction = "ASC" if metric.better == "higher" else "DESC"
    return select_rows(connection, f"""
        SELECT task, test_set, item, metric, mean, sd, worst, best, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric AND (:test_set IS NULL OR test_set = :test_set)
        ORDER BY mean {direction}, item_id LIMIT :limit""",  # noqa: S608
        task=task.slug, metric=metric.alias, limit=limit, test_set=test_set)


def list_suspect_items(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """Return items whose gold may be wrong, because all submissions contradict it.

    The items on which most submissions agree on another answer come first.

    Raises:
        MismatchError: The answers are free texts, such as translations. A text that differs from the gold does not
            contradict it. Or the gold is withheld.
    """
    require_items(connection, task)
    if not has_answers(connection, task):
        raise MismatchError(f"{task.slug} has scores or free texts of items, which cannot contradict a gold; "
                            f"`registry items {task.slug} hard` lists the items with the worst scores")
    return select_rows(connection, """
        SELECT task, test_set, item, missed, spurious, instead, support, runs FROM suspect_item
        WHERE task = :task AND (:test_set IS NULL OR test_set = :test_set)
        ORDER BY support DESC, item_id LIMIT :limit""", task=task.slug, limit=limit, test_set=test_set)


def require_items(connection: Connection, task: TaskRow) -> None:
    """Check that this registry file contains the items of a task.

    A public file does not contain them if the task withholds its gold.

    Raises:
        MismatchError: The gold is withheld.
    """
    for test_set in catalog.test_sets(connection, task.task_id):
        catalog.item_ids(connection, test_set.gold_revision_id)


def has_answers(connection: Connection, task: TaskRow) -> bool:
    """Return True if answers to the task's items are labels, spans or other sets.

    Free texts and numbers are not sets of answers.
    """
    return bool(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.is_declared"""), {"task": task.task_id}).scalar_one())


_KINDS: Mapping[str, Kind] = {
    "label": "label", "answer": "answer", "span": "span", "tree": "tree", "alignment": "alignment",
    "ranking": "ranking", "segment": "text"}


def load_item_views(connection: Connection, task: TaskRow, key: str) -> list[ItemView]:
    """Load an item by its key, with the answers of the gold and of all runs.

    The result has one element for each test set that contains the item.

    Raises:
        UnknownNameError: No test set has the item.
        MismatchError: The gold is withheld, or texts are not in this public file.
    """
    require_items(connection, task)
    views, parsed, all_keys = list[ItemView](), ParseCache(connection), list[str]()
    for test_set in catalog.test_sets(connection, task.task_id):
        keys = catalog.item_keys(connection, test_set.gold_revision_id)
        all_keys += keys
        if key in keys:
            views += _load_views(connection, parsed, task, test_set, [keys.index(key)])
    if not views:
        raise UnknownNameError("item", key, all_keys)
    return views


def load_disputed_items(connection: Connection, task: TaskRow, limit: int) -> list[ItemView]:
    """Load the items of each test set on which systems disagree most.

    The result includes the answers of the gold and of all runs to these items.
    """
    views, parsed = list[ItemView](), ParseCache(connection)
    for test_set in catalog.test_sets(connection, task.task_id):
        places = {key: n for n, key in enumerate(catalog.item_keys(connection, test_set.gold_revision_id))}
        selected = [places[row["item"]] for row in list_disputed_items(connection, task, limit, test_set.name)
                    if row.get("mean_differing") or row.get("sd")]
        if selected:
            views += _load_views(connection, parsed, task, test_set, selected)
    return views


def _load_views(connection: Connection, parsed: ParseCache, task: TaskRow, test_set: TestSetRow,
                places: Sequence[int]) -> Iterator[ItemView]:
    """Load some items of a test set with the answers of the gold and of all runs.

    Args:
        connection: A connection to the store.
        parsed: Cache of parsed files.
        task: The task.
        test_set: The test set.
        places: The positions of the items in the gold, from 0.
    """
    first, _ = catalog.item_ids(connection, test_set.gold_revision_id)
    gold_items = parsed.items(test_set.gold_revision_id)
    items = {first + place: gold_items[place] for place in places}
    kind, runs = _find_kind(connection, test_set), _load_runs(connection, test_set)
    metric = catalog.primary_metric(connection, task.task_id)
    aliases = [task_metric.alias for task_metric in catalog.task_metrics(connection, task.task_id)]
    scores = {tuple(row[:4]): row.score for row in connection.execute(text("""
        SELECT item_id, scoring_id, replicate, metric, score FROM item_score
        WHERE task = :task AND test_set = :test_set AND list_contains(:items, item_id)"""),
        {"task": task.slug, "test_set": test_set.name, "items": list(items)})}
    facets = _load_facets(connection, task, test_set)
    answers = _load_answers(connection, parsed, kind, items, runs, first)
    for item_id, item in items.items():
        known, golds, responses = answers[item_id]
        outputs = [*golds]
        for run, response in zip(runs, responses, strict=True):
            run_scores = {alias: scores.get((item_id, run.scoring_id, run.replicate, alias)) for alias in aliases}
            outputs.append(SystemOutput("system", run.team, run.system, run.replicate, track=run.track,
                                        score=run_scores[metric.alias], scores=run_scores, **response))
        yield ItemView(task.slug, test_set.name, item.key, metric.alias, kind, outputs, _get_tokens(item), known,
                       item_id - first, facets.get(item_id, ()))


def _find_kind(connection: Connection, test_set: TestSetRow) -> Kind:
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    reader: Reader = parse("reader", READERS, revision.reader)
    return _KINDS.get(reader.gives, "number")


def _load_runs(connection: Connection, test_set: TestSetRow) -> list[Run]:
    return [Run._make(row) for row in connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.track, source.replicate, ranked.scoring_id
        FROM ranked_submission AS ranked JOIN submission_source AS source USING (submission_id)
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.team, ranked.system, source.replicate"""), {"test_set": test_set.test_set_id})]


def _load_answers(connection: Connection, parsed: ParseCache, kind: Kind, items: Mapping[int, Item],
                  runs: Sequence[Run], first: int) -> Mapping[int, ItemAnswers]:
    if kind not in ("text", "number"):
        return _load_answer_sets(connection, items, runs, is_ranking=kind == "ranking")
    make_answers = _make_texts if kind == "text" else _make_numbers
    values = _load_values(connection, parsed, runs)
    return {item_id: make_answers(item, [run_values[item_id - first] for run_values in values])
            for item_id, item in items.items()}


def _get_tokens(item: Item) -> Sequence[str]:
    if isinstance(item.gold, Tagged):
        return item.gold.tokens
    return [word.form for word in item.gold.words] if isinstance(item.gold, Sentence) else ()


def _load_facets(connection: Connection, task: TaskRow, test_set: TestSetRow) -> dict[int, list[str]]:
    (declared,) = (section for section in decode_manifest(task.manifest).test_set if section.name == test_set.name)
    facets: dict[int, list[str]] = {}
    for name in declared.facets:
        for item_id, value in catalog.item_attribute(connection, test_set.gold_revision_id, name).items():
            facets.setdefault(item_id, []).append(f"{name}={value}")
    return facets
