"""The items of a task for people: the ones to look at, and the answers of all systems to one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, text

from registry.errors import MismatchError, UnknownNameError
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
class Known:
    """An answer that the gold or a run gives to an item.

    Attributes:
        key, type: What it is, as readers name it: a label, the tokens of a span such as `3-4`, an arc such as `2>5`.
        in_gold: Whether the gold has it.
        possible: Whether the gold has it as merely possible, so that nobody misses it.
        relevance: The relevance of a document that was judged.
    """

    key: str
    type: str = ""
    in_gold: bool = False
    possible: bool = False
    relevance: int | None = None


@dataclass(frozen=True)
class SystemOutput:
    """What the gold (`system` is None) or one run of a submission says of an item.

    Attributes:
        source: `gold`, `gold NAME` of a further reference, or `system`.
        team, system, replicate, track: Of a run.
        said: The answers as places among those that are known of the item, the best first where they have scores; of
            a ranking the first ones. None where there is no response, or one that is no set of answers.
        returned, found: How many answers it gives, and how many of these the gold has.
        text: A response that is a text.
        numbers: One that is numbers, by their names; a single one has the empty name.
        score: By the primary metric.
        scores: By the aliases of all metrics.
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
    """One item: where it is, what it consists of, and what is said of it, the gold's first.

    Attributes:
        task, test_set, item: Where it is, and its name.
        metric: The alias of the primary metric.
        kind: What responses are.
        outputs: The gold, and every run.
        tokens: Its words, where they are known.
        known: The answers that somebody gives: the gold's, the most relevant first and those that are merely possible
            last, then others.
        place: Its number among the items of the test set, from 0.
        facets: Those that it is on, `attribute=value`.
    """

    task: str
    test_set: str
    item: str
    metric: str
    kind: Kind
    outputs: Sequence[SystemOutput]
    tokens: Sequence[str] = ()
    known: Sequence[Known] = ()
    place: int = 0
    facets: Sequence[str] = ()

    @property
    def text(self) -> str | None:
        """Its words as a line."""
        return " ".join(self.tokens) if self.tokens else None

    def correct(self, of: SystemOutput) -> list[Known]:
        """What somebody says and the gold has."""
        return [self.known[n] for n in of.said or () if self.known[n].in_gold]

    def wrong(self, of: SystemOutput) -> list[Known]:
        """What somebody says and the gold does not have."""
        return [self.known[n] for n in of.said or () if not self.known[n].in_gold]

    def missed(self, of: SystemOutput) -> list[Known]:
        """What the gold is sure of and somebody does not say."""
        said = set(of.said or ())
        return [one for n, one in enumerate(self.known) if one.in_gold and not one.possible and n not in said]


Given = Sequence[Sequence[Answer | None]]  # of every run its answers to all items of the gold
FIRST = 20  # documents of a ranking that are looked at
_ALL = 2**31 - 1

_GOLD = """
    SELECT item_id, answer_id, key, type FROM answer
    WHERE in_gold AND item_id IN (SELECT unnest(CAST(:items AS INTEGER[])))
    ORDER BY answer_id"""
_GIVEN = """
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
    """One run of a submission."""

    team: str
    system: str
    track: str | None
    replicate: int
    scoring_id: int


class _Given(NamedTuple):
    scoring_id: int
    replicate: int
    item_id: int
    answer_id: int
    key: str
    type: str
    place: int
    returned: int
    found: int


class Answered(NamedTuple):
    """The answers that are known of an item, and who gives which: the golds, and of every run what it says."""

    known: list[Known]
    golds: list[SystemOutput]
    said: list[dict[str, Any]]


def answered(connection: Connection, items: Mapping[int, Item], runs: Sequence[Run], *,
             ranking: bool) -> dict[int, Answered]:
    """Read who gives which answers to items, by the items' ids; of a `ranking` the first ones."""
    asked = {"items": list(items), "scorings": [run.scoring_id for run in runs], "ranking": ranking,
             "most": FIRST if ranking else _ALL}
    of_gold: dict[int, dict[int, tuple[str, str]]] = {item_id: {} for item_id in items}
    for item_id, answer_id, key, type_ in connection.execute(text(_GOLD), asked):
        of_gold[item_id][answer_id] = (key, type_)
    given: dict[int, list[_Given]] = defaultdict(list)
    for row in map(_Given._make, connection.execute(text(_GIVEN), asked)):
        given[row.item_id].append(row)
    return {item_id: _answered(item, of_gold[item_id], given[item_id], runs) for item_id, item in items.items()}


def _answered(item: Item, of_gold: Mapping[int, tuple[str, str]], given: Iterable[_Given],
              runs: Sequence[Run]) -> Answered:
    """What is known of one item: the gold's answers, sure ones and the most relevant first, then others."""
    possible = {f"{source + 1}-{target + 1}" for source, target in item.gold.possible} if isinstance(
        item.gold, Links) else set()
    judged: Mapping[str, int] = item.gold if isinstance(item.gold, dict) else {}
    sure_first = sorted(of_gold, key=lambda answer_id: (of_gold[answer_id][0] in possible,
                                                        -judged.get(of_gold[answer_id][0], 0)))
    known = [Known(key, type_, in_gold=True, possible=key in possible, relevance=judged.get(key))
             for key, type_ in map(of_gold.__getitem__, sure_first)]
    number = {answer_id: n for n, answer_id in enumerate(sure_first)}
    by_run: dict[tuple[int, int], list[_Given]] = defaultdict(list)
    for row in given:
        if row.answer_id not in number:
            number[row.answer_id] = len(known)
            known.append(Known(row.key, row.type, relevance=judged.get(row.key)))
        by_run[row.scoring_id, row.replicate].append(row)
    gold = SystemOutput("gold", said=range(len(of_gold)), returned=len(of_gold), found=len(of_gold))
    said = []
    for run in runs:
        theirs = sorted(by_run[run.scoring_id, run.replicate], key=lambda row: row.place)
        said.append({"said": tuple(number[row.answer_id] for row in theirs),
                     "returned": theirs[0].returned if theirs else 0, "found": theirs[0].found if theirs else 0})
    return Answered(known, [gold], said)


def given_values(connection: Connection, parsed: ParseCache, runs: Sequence[Run]) -> Given:
    """What every run says of all items of the gold."""
    found = {scoring_id: parsed.load_joined(catalog.get(connection, ScoringRow, scoring_id=scoring_id))
             for scoring_id in dict.fromkeys(run.scoring_id for run in runs)}
    return [found[run.scoring_id][run.replicate] for run in runs]


def texts(item: Item, answers: Sequence[Answer | None]) -> Answered:
    """The texts of an item: its references by their names, and those of all runs."""
    golds = [SystemOutput("gold" if name == "gold" else f"gold {name}", text=reference)
             for name, reference in item.gold.items()]
    return Answered([], golds, [{"text": None if answer is None else str(answer.value)} for answer in answers])


def numbers(item: Item, answers: Sequence[Answer | None]) -> Answered:
    """The numbers of an item: what the gold has, if it has any, and those of all runs."""
    return Answered([], [SystemOutput("gold", numbers=_numbers(item.gold))], [
        {"numbers": None if answer is None else _numbers(answer.value)} for answer in answers])


def _numbers(value: Any) -> Mapping[str, float] | None:
    """Numbers by their names; log-probabilities are (sum, number of tokens)."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return {"log-probability": value[0], "tokens": value[1]}
    return None if value is None else {"": value}


Rows = list[dict[str, Any]]


def disagreed(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """The items (of one test set) on which submissions disagree most.

    Where items have answers, that is how many of them two runs do not share; else the deviation of the items' scores by
    the primary metric.

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


def hard(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items with the worst mean score of their own, by the primary metric.

    Raises:
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    metric = catalog.primary_metric(connection, task.task_id)
    direction = "ASC" if metric.better == "higher" else "DESC"
    return select_rows(connection, f"""
        SELECT task, test_set, item, metric, mean, sd, worst, best, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric ORDER BY mean {direction}, item_id LIMIT :limit""",  # noqa: S608
        task=task.slug, metric=metric.alias, limit=limit)


def suspect(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items on which all contradict the gold, those on which most agree against it first.

    Raises:
        MismatchError: The items have no answers that could contradict a gold, or the gold is withheld.
    """
    require_items(connection, task)
    if not has_answers(connection, task):
        raise MismatchError(f"the items of {task.slug} are texts, whose gold no answer can contradict; "
                            f"`registry items {task.slug} hard` lists those that nobody comes near")
    return select_rows(connection, """
        SELECT task, test_set, item, missed, spurious, instead, support, runs FROM suspect_item
        WHERE task = :task ORDER BY support DESC, item_id LIMIT :limit""", task=task.slug, limit=limit)


def require_items(connection: Connection, task: TaskRow) -> None:
    """Raise an error if a public file has no items of a task.

    Raises:
        MismatchError: The gold is withheld.
    """
    for test_set in catalog.test_sets(connection, task.task_id):
        catalog.item_ids(connection, test_set.gold_revision_id)


def has_answers(connection: Connection, task: TaskRow) -> bool:
    """Whether the task's items have answers that can be told apart; free text has none."""
    return bool(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.is_declared"""), {"task": task.task_id}).scalar_one())


_KINDS: Mapping[str, Kind] = {
    "label": "label", "answer": "answer", "span": "span", "tree": "tree", "alignment": "alignment",
    "ranking": "ranking", "segment": "text"}


def item_views(connection: Connection, task: TaskRow, key: str) -> list[ItemView]:
    """The answers of all to the item `key`, in every test set of the task that has it.

    Raises:
        UnknownNameError: None has it.
        MismatchError: The gold is withheld, or texts are not in this public file.
    """
    require_items(connection, task)
    found, parsed = list[ItemView](), ParseCache(connection)
    for test_set in catalog.test_sets(connection, task.task_id):
        keys = catalog.item_keys(connection, test_set.gold_revision_id)
        if key in keys:
            found += _views(connection, parsed, task, test_set, [keys.index(key)])
    if not found:
        known = [k for test_set in catalog.test_sets(connection, task.task_id)
                 for k in catalog.item_keys(connection, test_set.gold_revision_id)]
        raise UnknownNameError("item", key, known)
    return found


def load_disputed_items(connection: Connection, task: TaskRow, limit: int) -> list[ItemView]:
    """The items of every test set on which submissions disagree most, the worst first, with all answers to them."""
    found, parsed = list[ItemView](), ParseCache(connection)
    for test_set in catalog.test_sets(connection, task.task_id):
        at = {key: n for n, key in enumerate(catalog.item_keys(connection, test_set.gold_revision_id))}
        chosen = [at[row["item"]] for row in disagreed(connection, task, limit, test_set.name)
                  if row.get("mean_differing") or row.get("sd")]
        if chosen:
            found += _views(connection, parsed, task, test_set, chosen)
    return found


def _views(connection: Connection, parsed: ParseCache, task: TaskRow, test_set: TestSetRow,
           places: Sequence[int]) -> Iterator[ItemView]:
    """The items at some places of a test set's gold, in their order."""
    first, _ = catalog.item_ids(connection, test_set.gold_revision_id)
    items = parsed.items(test_set.gold_revision_id)
    chosen = {first + at: items[at] for at in places}
    kind, runs = _kind(connection, test_set), _runs(connection, test_set)
    metric = catalog.primary_metric(connection, task.task_id)
    aliases = [of.alias for of in catalog.task_metrics(connection, task.task_id)]
    scores = {tuple(row[:4]): row.score for row in connection.execute(text("""
        SELECT item_id, scoring_id, replicate, metric, score FROM item_score
        WHERE task = :task AND test_set = :test_set AND list_contains(:items, item_id)"""),
        {"task": task.slug, "test_set": test_set.name, "items": list(chosen)})}
    facets = _facets(connection, task, test_set)
    said = _said(connection, parsed, kind, chosen, runs, first)
    for item_id, item in chosen.items():
        known, golds, by_run = said[item_id]
        outputs = [*golds]
        for run, of_run in zip(runs, by_run, strict=True):
            scored = {alias: scores.get((item_id, run.scoring_id, run.replicate, alias)) for alias in aliases}
            outputs.append(SystemOutput("system", run.team, run.system, run.replicate, track=run.track,
                                        score=scored[metric.alias], scores=scored, **of_run))
        yield ItemView(task.slug, test_set.name, item.key, metric.alias, kind, outputs, _tokens(item), known,
                       item_id - first, facets.get(item_id, ()))


def _kind(connection: Connection, test_set: TestSetRow) -> Kind:
    """What the responses of a test set are."""
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    reader: Reader = parse("reader", READERS, revision.reader)
    return _KINDS.get(reader.gives, "number")


def _runs(connection: Connection, test_set: TestSetRow) -> list[Run]:
    """The runs of all submissions that take part."""
    return [Run._make(row) for row in connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.track, source.replicate, ranked.scoring_id
        FROM ranked_submission AS ranked JOIN submission_source AS source USING (submission_id)
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.team, ranked.system, source.replicate"""), {"test_set": test_set.test_set_id})]


def _said(connection: Connection, parsed: ParseCache, kind: Kind, items: Mapping[int, Item], runs: Sequence[Run],
          first: int) -> Mapping[int, Answered]:
    """What is said of the items, by their ids, of which `first` is that of the gold's first item."""
    if kind not in ("text", "number"):
        return answered(connection, items, runs, ranking=kind == "ranking")
    answers, given = texts if kind == "text" else numbers, given_values(connection, parsed, runs)
    return {item_id: answers(item, [of_run[item_id - first] for of_run in given]) for item_id, item in items.items()}


def _tokens(item: Item) -> Sequence[str]:
    """The words of an item, where they are known."""
    if isinstance(item.gold, Tagged):
        return item.gold.tokens
    return [word.form for word in item.gold.words] if isinstance(item.gold, Sentence) else ()


def _facets(connection: Connection, task: TaskRow, test_set: TestSetRow) -> dict[int, list[str]]:
    """The facets of a test set that each item is on."""
    (declared,) = (of for of in decode_manifest(task.manifest).test_set if of.name == test_set.name)
    found: dict[int, list[str]] = {}
    for name in declared.facets:
        for item_id, value in catalog.item_attribute(connection, test_set.gold_revision_id, name).items():
            found.setdefault(item_id, []).append(f"{name}={value}")
    return found
