"""A task made of Python's own values: aligned, written as files that readers take, and declared as a manifest would."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from registry.direct.columns import Column, aligned, check_complete, chosen_of, column, is_missing, systems_of, united
from registry.direct.form import Form, Items
from registry.direct.forms import Numbers, Sets, Texts
from registry.direct.kinds import forms_of, plain, require_references_by_item, require_sets
from registry.errors import InputError, UnknownNameError, suggest
from registry.importers.base import split_model
from registry.manifest import Significance, update_significance
from registry.manifest.folder import TaskFolder
from registry.metric_names import common_metric, declared_metric, usual_metric
from registry.metrics import BLEU, Metric
from registry.metrics.texts import choose_tokenizer
from registry.missing import MissingPolicy
from registry.plugins import package_of

TASK = "evaluation"
GOLD = "the gold"
SEED = 1  # of random draws where none is given, as of `registry quick`: the same call gives the same numbers


@dataclass(frozen=True)
class Asked:
    """What `registry.evaluate` was given, as it was.

    Attributes:
        gold: One value for each item; None: the systems' values are scores.
        systems: The systems' values by name, or a frame.
        metric: What people call it; None: the usual one.
        clusters: The cluster of each item; None: items are independent.
        missing: What is done about items without an answer.
        settings: Of `[significance]`, as a manifest names them.
    """

    gold: Any
    systems: Any
    metric: str | None = None
    clusters: Any = None
    missing: str = "reject"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """The task that was made, and what the user calls its systems, by `team/system`."""

    folder: TaskFolder
    names: Mapping[str, str]


def made_of(asked: Asked) -> Made:
    """Make the task.

    Raises:
        InputError: What is given does not go together, or is no gold and answers; says whose value of which item.
    """
    if asked.missing not in list(MissingPolicy):
        raise InputError(f"missing={asked.missing!r}; {suggest(asked.missing, map(str, MissingPolicy))}")
    frame, (gold, clusters) = chosen_of(asked.systems, (asked.gold, asked.clusters))
    given = systems_of(frame)
    whose = {(system, run): f"system {system!r}" if run is None else f"system {system!r}, run {run!r}"
             for system, run in given}
    columns = {name: column(values, whose[name]) for name, values in given.items()}
    items = united(list(columns.values())) if gold is None else _gold(gold)
    of_items = None if clusters is None else _clusters(clusters, items)
    form, metric = _form(Items(_names(items), items.values, of_items, keyed=items.keys is not None), asked)
    if isinstance(form, Texts):
        with _told_of(GOLD):
            require_references_by_item(items.values, [of.values for of in columns.values()])
    if isinstance(form, Sets):
        answers = [list(map(plain, aligned(of, items, whose[name]))) for name, of in columns.items()]
        with _told_of(GOLD):
            require_sets(form.items.golds, form.items.names, answers)
    with _told_of(GOLD):
        table, files = form.test_set()
        form.check_gold(metric)
    copies, paths = dict.fromkeys(files, GOLD), files_of(columns, form.ending)
    for name, of in columns.items():
        with _told_of(whose[name]):
            values = [None if form.is_blank(value, gold) else plain(value)
                      for value, gold in zip(aligned(of, items, whose[name]), items.values, strict=True)]
            check_complete(values, items, whose[name], asked.missing)
            if None in values and asked.missing == "worst" and not metric.has_worst:
                also = ", or metric='Mean(worst=0)'" if metric.name == "Mean" else ""
                raise InputError(f"{whose[name]} lacks values, and {metric.name} has no worst one to count instead; "
                                 f"take missing='drop'{also}")
            files[paths[name]] = form.written(values)
        copies[paths[name]] = whose[name]
    declared = declared_metric(metric, asked.metric or "")
    package = package_of(metric.name)
    names = called(columns)
    folder = TaskFolder({
        "task": {"plugins": [package]} if package else {},
        "test_set": [table], "submission": {"missing": asked.missing},
        "metric": [declared | {"options": form.metric_options() | declared.get("options", {})}],
        "significance": _settings(asked.settings, names, clustered=of_items is not None),
        "submit": list(entries_of(paths)),
    }, files, {}, copies=copies)
    return Made(folder, names)


def _gold(gold: Any) -> Column:
    found = column(gold, GOLD)
    values = [None if is_missing(value) else plain(value) for value in found.values]
    if not values:
        raise InputError(f"{GOLD} has no item")
    if None in values:
        raise InputError("there is no value", path=GOLD, item=str(found.named[values.index(None)]))
    return Column(values, found.keys)


def _clusters(given: Any, items: Column) -> list[str]:
    values = aligned(column(given, "clusters"), items, "clusters")
    check_complete(values, items, "clusters", "reject")
    return list(map(str, values))


def _names(items: Column) -> list[str]:
    """What the items are called; two that are written alike are refused."""
    names = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in items.named]
    taken: dict[str, Any] = {}
    for name, key in zip(names, items.named, strict=True):
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"{GOLD}: the item {name!r} is blank, begins or ends with a blank, or has an invisible "
                             "character; give it another key")
        if taken.setdefault(name, key) is not key:
            raise InputError(f"{GOLD}: the items {taken[name]!r} and {key!r} are written alike; give one another key")
    return names


def _form(items: Items, asked: Asked) -> tuple[Form, Metric]:
    """The form of gold and answers, and the metric: each may leave open what the other decides."""
    if asked.gold is None:
        return Numbers(items), common_metric(asked.metric or "mean", Numbers.takes)
    kinds = forms_of(items.golds)
    if asked.metric is None:
        kind = _only(kinds, items.golds)
        metric = usual_metric(kind.takes)
        assert metric is not None
        return kind(items), metric
    refused = []
    for kind in kinds:
        try:
            metric = common_metric(asked.metric, kind.takes)
        except InputError as error:
            refused.append(error)
            continue
        if kind is Numbers and "gold" not in metric.needs():
            raise InputError(f"{metric!r} is of scores that items have already: give no gold (None), or a metric "
                             "of numbers such as MAE, RMSE or Pearson")
        if isinstance(metric, BLEU) and "tokenize" not in asked.metric:
            golds = [text for gold in items.golds for text in ([gold] if isinstance(gold, str) else gold)]
            if (tokenizer := choose_tokenizer(text for text in golds if isinstance(text, str))) is not None:
                metric = replace(metric, tokenize=tokenizer)
        return kind(items), metric
    raise refused[0] if len(refused) == 1 else InputError("; or ".join(error.message for error in refused))


def _only(kinds: Sequence[type[Form]], golds: Sequence[Any]) -> type[Form]:
    """The form where no metric decides; refuses what is likely to be meant otherwise."""
    if kinds[0] is Numbers:
        raise InputError(f"{GOLD} has numbers, which several metrics compare: name one, metric='MAE', 'RMSE', "
                         "'Pearson' or 'Spearman'")
    texts = [gold for gold in golds if isinstance(gold, str)]
    if 2 * sum(" " in gold for gold in texts) > len(golds) and 2 * len(set(texts)) > len(golds):
        raise InputError(f"{GOLD} may have labels or texts: name a metric, such as metric='accuracy' or metric='BLEU'")
    return kinds[0]


def _settings(given: Mapping[str, Any], names: Mapping[str, str], *, clustered: bool) -> dict[str, Any]:
    """Settings of significance, checked.

    The candidate is written as the task calls it; `names` are what the user calls each system.
    """
    unknown = [name for name in given if name not in Significance.model_fields]
    if unknown:
        raise InputError(f"unknown setting {unknown[0]!r}; {suggest(unknown[0], Significance.model_fields)}")
    chosen = {"seed": SEED, **{name: value for name, value in given.items() if value is not None}}
    if chosen.get("unit") == "cluster" and not clustered:
        raise InputError("unit='cluster' needs clusters=, the cluster of each item")
    if "candidate" in chosen:
        task_names = {name: system for system, name in names.items()}
        if chosen["candidate"] not in task_names:
            raise UnknownNameError("candidate", str(chosen["candidate"]), task_names)
        chosen["candidate"] = task_names[chosen["candidate"]]
    update_significance(Significance(), chosen)
    return chosen


@contextmanager
def _told_of(whose: str) -> Iterator[None]:
    """Say whose value it is that is wrong."""
    try:
        yield
    except InputError as error:
        if error.item is None:
            raise
        raise InputError(error.message, path=whose, item=error.item) from None
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object[error.start:error.start + 1]!r} is no character (a lone surrogate)",
                         path=whose) from None


Name = tuple[str, str | None]  # a system, and its run where it has several


def files_of(names: Iterable[Name], ending: str) -> dict[Name, str]:
    """The file of every run of every system: called after the system, in a folder of its own where it has runs."""
    numbers: dict[str, int] = {}
    runs: Counter[str] = Counter()
    found = {}
    for system, run in names:
        slug = re.sub(r"[^A-Za-z0-9._-]+", "_", system).strip("._-")[:100]
        stem = "-".join(filter(None, (str(numbers.setdefault(system, len(numbers) + 1)), slug)))
        runs[system] += 1
        found[system, run] = f"systems/{stem}{ending}" if run is None else f"systems/{stem}/{runs[system]}{ending}"
    return found


def entries_of(files: Mapping[Name, str]) -> Iterator[dict[str, Any]]:
    """The `[[submit]]` entries of a manifest: one for each system, by a pattern where it has runs."""
    told = set()
    for (system, run), file in files.items():
        pattern = file if run is None else re.sub(r"/\d+(?=[^/]*$)", "/{run}", file)
        if pattern not in told:
            told.add(pattern)
            yield {"file": pattern, **split_model(system)}


def called(names: Iterable[Name]) -> dict[str, str]:
    """What the user calls each system, by `team/system`.

    Raises:
        InputError: Two would be called alike.
    """
    found: dict[str, str] = {}
    for name, _ in names:
        of = split_model(name)
        other = found.setdefault(f"{of.get('team', of['system'])}/{of['system']}", name)
        if other != name:
            raise InputError(f"systems {other!r} and {name!r} are called too much alike; rename one")
    return found
