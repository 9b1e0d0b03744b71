"""Conversion of Python values to a task: values are aligned, written as files, and declared in a manifest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from registry.direct.columns import (
    Column,
    align,
    check_complete,
    is_missing,
    merge_items,
    read_column,
    read_systems,
    select_columns,
)
from registry.direct.form import Form, Items
from registry.direct.forms import Numbers, Sets, Texts
from registry.direct.kinds import find_forms, require_references_by_item, require_sets, to_plain
from registry.errors import InputError, UnknownNameError, suggest
from registry.manifest import Significance, update_significance
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import split_model, split_models
from registry.metric_names import (
    AmbiguousMetricError,
    UnknownMetricError,
    common_metric,
    get_default_metric,
    make_metric_table,
)
from registry.metrics import BLEU, Mean, Metric
from registry.metrics.texts import choose_tokenizer
from registry.missing import MissingPolicy
from registry.plugins import find_package

TASK = "evaluation"
GOLD = "the gold"
SEED = 1  # the default, as of `registry quick`: the same call gives the same numbers


@dataclass(frozen=True)
class EvaluationRequest:
    """Arguments of the function `registry.evaluate`.

    Attributes:
        gold: One value per item; None if the values of the systems are scores of items.
        systems: The values of each system by name, or a data frame with one column per system.
        metric: The name of the metric; None for the default metric of the values.
        clusters: The cluster of each item; None if items are independent.
        missing: The policy for items without an answer, such as `reject`.
        average: True to average the scores of several test sets.
        settings: Settings of the significance tests, as in the manifest's table `[significance]`.
    """

    gold: Any
    systems: Any
    metric: str | None = None
    clusters: Any = None
    missing: str = "reject"
    average: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TemporaryTask:
    """Task made from Python values, before its files are written.

    Attributes:
        folder: The manifest and the data files.
        names: The user's name of each system, by its name `team/system` in the task; other systems have their name in
            the task.
    """

    folder: TaskFolder
    names: Mapping[str, str] = field(default_factory=dict)


def make_task(request: EvaluationRequest) -> TemporaryTask:
    """Make a task with data files from the arguments of `registry.evaluate`.

    Raises:
        InputError: Values are invalid or do not match each other. The message names the system or the gold, and the
            item.
    """
    policy = check_policy(request.missing)
    options, settings = request.settings.get("options"), {**request.settings}
    settings.pop("options", None)
    frame, (gold, clusters) = select_columns(request.systems, (request.gold, request.clusters))
    given = read_systems(frame)
    owners = {(system, run): f"system {system!r}" if run is None else f"system {system!r}, run {run!r}"
             for system, run in given}
    columns = {name: read_column(values, owners[name]) for name, values in given.items()}
    items = merge_items(list(columns.values())) if gold is None else _read_gold(gold)
    clusters_of_items = None if clusters is None else _read_clusters(clusters, items)
    form, metric = _choose_form(Items(_name_items(items), items.values, clusters_of_items,
                                      has_keys=items.keys is not None), request)
    if isinstance(form, Texts):
        with _name_owner(GOLD):
            require_references_by_item(items.values, [column.values for column in columns.values()])
    if isinstance(form, Sets):
        answers = [list(map(to_plain, align(column, items, owners[name]))) for name, column in columns.items()]
        with _name_owner(GOLD):
            require_sets(form.items.golds, form.items.names, answers)
    with _name_owner(GOLD):
        table, files = form.test_set()
        form.check_gold(metric)
    if policy is MissingPolicy.WORST and isinstance(metric, Mean) and metric.worst is None and {
            value for column in columns.values() for value in column.values if not is_missing(value)} <= {0, 1}:
        metric = replace(metric, worst=float(metric.better == "lower"))
    copies, paths = dict.fromkeys(files, GOLD), name_files(columns, form.ending)
    for name, column in columns.items():
        with _name_owner(owners[name]):
            values = [None if form.is_blank(value, gold) else to_plain(value)
                      for value, gold in zip(align(column, items, owners[name]), items.values, strict=True)]
            check_complete(values, items, owners[name], policy)
            if None in values and policy is MissingPolicy.WORST and not metric.has_worst:
                alternative = (f", or metric={metric.name_with_worst()!r} with the worst possible score"
                               if isinstance(metric, Mean) else "")
                raise InputError(f"{owners[name]} has missing values, and {metric.name} has no worst value that could "
                                 f"count instead; set missing='drop'{alternative}")
            files[paths[name]] = form.write(values)
        copies[paths[name]] = owners[name]
    declared = make_metric_table(metric, request.metric or "")
    package = find_package(metric.name)
    names = name_systems(columns)
    folder = TaskFolder({
        "task": {"plugins": [package]} if package else {},
        "test_set": [table], "submission": {"missing": request.missing, **({"options": options} if options else {})},
        "metric": [declared | {"options": form.metric_options() | declared.get("options", {})}],
        "significance": check_settings(settings, names, clustered=clusters_of_items is not None),
        "submit": list(list_submissions(paths)),
    }, files, {}, copies=copies, is_import=False)
    return TemporaryTask(folder, names)


def _read_gold(gold: Any) -> Column:
    column = read_column(gold, GOLD)
    values = [None if is_missing(value) else to_plain(value) for value in column.values]
    if not values:
        raise InputError(f"{GOLD} has no item; pass one or more values")
    if None in values:
        raise InputError("the value is missing; add it, or remove the item", path=GOLD,
                         item=str(column.item_keys[values.index(None)]))
    return Column(values, column.keys)


def _read_clusters(given: Any, items: Column) -> list[str]:
    values = align(read_column(given, "clusters"), items, "clusters")
    check_complete(values, items, "clusters", MissingPolicy.REJECT)
    return list(map(str, values))


def _name_items(items: Column) -> list[str]:
    """Convert the keys of the items to names.

    Raises:
        InputError: Two keys are the same text, or a key is empty, begins or ends with a blank, or has invisible
            characters.
    """
    names = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in items.item_keys]
    keys: dict[str, Any] = {}
    for name, key in zip(names, items.item_keys, strict=True):
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"{GOLD}: the item name {name!r} is blank, begins or ends with a blank, or has an "
                             "invisible character; rename the item")
        if keys.setdefault(name, key) is not key:
            raise InputError(f"{GOLD}: the item keys {keys[name]!r} and {key!r} both become the name {name!r}; rename "
                             "one")
    return names


def _choose_form(items: Items, request: EvaluationRequest) -> tuple[Form, Metric]:
    """Choose the data type of the values, such as labels or texts, and the metric.

    If the user names a metric, the data type is one that this metric can score. Otherwise the gold decides on the data
    type, which has a default metric.

    Raises:
        InputError: The metric cannot score the values, or the data type is ambiguous.
    """
    if request.gold is None:
        return Numbers(items), common_metric(request.metric or "mean", Numbers.takes)
    kinds = find_forms(items.golds)
    if request.metric is None:
        kind = _choose_form_by_values(kinds, items.golds)
        metric = get_default_metric(kind.takes)
        assert metric is not None
        return kind(items), metric
    refused = []
    for kind in kinds:
        try:
            metric = common_metric(request.metric, kind.takes)
        except AmbiguousMetricError:
            raise
        except UnknownMetricError:
            raise UnknownMetricError(request.metric) from None
        except InputError as error:
            refused.append(error)
            continue
        if kind is Numbers and "gold" not in metric.needs():
            raise InputError(f"{metric!r} averages scores and does not use a gold; pass None as the gold, or a metric "
                             "of numbers such as MAE, RMSE or Pearson")
        if isinstance(metric, BLEU) and "tokenize" not in request.metric:
            golds = [text for gold in items.golds for text in ([gold] if isinstance(gold, str) else gold)]
            if (tokenizer := choose_tokenizer(text for text in golds if isinstance(text, str))) is not None:
                metric = replace(metric, tokenize=tokenizer)
        return kind(items), metric
    raise refused[0] if len(refused) == 1 else InputError("; or ".join(error.message for error in refused))


def _choose_form_by_values(kinds: Sequence[type[Form]], golds: Sequence[Any]) -> type[Form]:
    """Choose the data type of the gold if the user names no metric.

    Args:
        kinds: The possible data types, the most likely one first.
        golds: The gold value of each item.

    Raises:
        InputError: Several data types are plausible, so the user must name a metric.
    """
    if kinds[0] is Numbers:
        raise InputError(f"{GOLD} has numbers, and several metrics can compare them; set metric= to 'MAE', 'RMSE', "
                         "'Pearson' or 'Spearman'")
    texts = [gold for gold in golds if isinstance(gold, str)]
    if 2 * sum(" " in gold for gold in texts) > len(golds) and 2 * len(set(texts)) > len(golds):
        raise InputError(f"{GOLD} can be labels or texts; set a metric, such as metric='accuracy' or metric='BLEU'")
    return kinds[0]


def check_policy(missing: str) -> MissingPolicy:
    """Return the policy for missing answers with a name; raise an InputError for an unknown name."""
    if missing not in list(MissingPolicy):
        raise InputError(f"missing={missing!r}; {suggest(missing, map(str, MissingPolicy))}")
    return MissingPolicy(missing)


def check_settings(given: Mapping[str, Any], names: Mapping[str, str] | None, *, clustered: bool) -> dict[str, Any]:
    """Check the user's settings of significance tests, and complete them.

    The default seed is added. The name of the `candidate` (the system that is compared with all others) is replaced by
    its name in the task.

    Args:
        given: The settings.
        names: The user's name of each system, by its name in the task; None if the names are equal.
        clustered: True if the items have clusters.

    Raises:
        InputError: A setting is unknown or invalid, requires clusters, or names an unknown candidate.
    """
    unknown = [name for name in given if name not in Significance.model_fields]
    if unknown:
        raise InputError(f"unknown setting {unknown[0]!r}; {suggest(unknown[0], Significance.model_fields)}")
    chosen = {"seed": SEED, **{name: value for name, value in given.items() if value is not None}}
    if chosen.get("unit") == "cluster" and not clustered:
        raise InputError("unit='cluster' needs the cluster of each item; pass clusters=")
    if "candidate" in chosen and names is not None:
        task_names = {name: system for system, name in names.items()}
        if chosen["candidate"] not in task_names:
            raise UnknownNameError("candidate", str(chosen["candidate"]), task_names)
        chosen["candidate"] = task_names[chosen["candidate"]]
    update_significance(Significance(), chosen)
    return chosen


@contextmanager
def _name_owner(owner: str) -> Iterator[None]:
    """Name the values, such as `the gold`, in errors raised in a `with` block."""
    try:
        yield
    except InputError as error:
        if error.item is None:
            raise
        raise InputError(error.message, path=owner, item=error.item) from None
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object[error.start:error.start + 1]!r} is half of a character (a lone surrogate); "
                         "remove it", path=owner) from None


Name = tuple[str, str | None]  # a system, and its run if it has several


def name_files(names: Iterable[Name], ending: str) -> dict[Name, str]:
    """Choose a file name for each system, such as `systems/1-bert.jsonl`.

    If a system has several runs, each run has a file in the system's folder, such as `systems/1-bert/2.jsonl`.

    Args:
        names: The systems as tuples (name, run); the run is None if there is only one.
        ending: The end of the file names.
    """
    numbers: dict[str, int] = {}
    runs: Counter[str] = Counter()
    files = {}
    for system, run in names:
        slug = re.sub(r"[^A-Za-z0-9._-]+", "_", system).strip("._-")[:100]
        stem = "-".join(filter(None, (str(numbers.setdefault(system, len(numbers) + 1)), slug)))
        runs[system] += 1
        files[system, run] = f"systems/{stem}{ending}" if run is None else f"systems/{stem}/{runs[system]}{ending}"
    return files


def list_submissions(files: Mapping[Name, str]) -> Iterator[dict[str, Any]]:
    """Yield one `[[submit]]` table of the manifest for each system.

    If a system has several runs, the table has a pattern such as `systems/1-bert/{run}.jsonl` for their files.

    Args:
        files: The file of each (system, run).
    """
    patterns = set()
    for (system, run), file in files.items():
        pattern = file if run is None else re.sub(r"/\d+(?=[^/]*$)", "/{run}", file)
        if pattern not in patterns:
            patterns.add(pattern)
            yield {"file": pattern, **split_model(system)}


def name_systems(names: Iterable[Name]) -> dict[str, str]:
    """Convert the user's names of systems to names `team/system`.

    Example: `a/b` becomes team `a`, system `b`; `c` becomes `c/c`.

    Args:
        names: The systems as tuples (name, run).

    Returns:
        The user's name of each system, by its name `team/system`.

    Raises:
        InputError: Two different names would be the same name in the task.
    """
    return {f"{model.get('team', model['system'])}/{model['system']}": name
            for name, model in split_models(name for name, _ in names).items()}
