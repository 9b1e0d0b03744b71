"""Metrics by the names that people write, such as "F1".

A canonical name, such as `LabelF(beta=2)`, names one metric. A common name can name a different metric for each kind of
values: "F1" of labels is another metric than "F1" of spans. Letter case, blanks, hyphens and underscores do not matter
in common names.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from registry.errors import InputError, UnknownNameError
from registry.manifest.naming import make_metric_id
from registry.metrics import METRICS, Metric
from registry.plugins import find_package
from registry.values import build, get_name, parse, to_toml

# Kind of values -> metric -> names. The default metric of a kind is first, and so is the usual name of a metric. A name
# of several metrics of a kind is ambiguous. 1 in F1 and 10 in P@10 stand for any number.
_NAMES: dict[str, dict[str, str]] = {
    "label": {
        "Accuracy": "accuracy, acc, exact match, EM",
        "LabelF": "macro-F1, F1-macro, F1", "LabelF(average=micro)": "micro-F1, F1-micro, F1",
        "LabelF(average=weighted)": "weighted-F1, F1-weighted, F1",
        "LabelP": "macro-precision, precision-macro, precision, P",
        "LabelP(average=micro)": "micro-precision, precision-micro, precision, P",
        "LabelP(average=weighted)": "weighted-precision, precision-weighted, precision, P",
        "LabelR": "macro-recall, recall-macro, recall, R",
        "LabelR(average=micro)": "micro-recall, recall-micro, recall, R",
        "LabelR(average=weighted)": "weighted-recall, recall-weighted, recall, R",
        "BalancedAccuracy": "balanced accuracy, bacc, UAR", "MCC": "MCC, Matthews, Matthews correlation, phi",
        "Kappa": "kappa, Cohen's kappa, Cohen kappa"},
    "span": {
        "SpanF": "F1, micro-F1, F1-micro, span-F1, entity-F1, exact-F1, strict-F1",
        "SpanP": "precision, micro-precision, P", "SpanR": "recall, micro-recall, R",
        "SpanPartialF": "partial-F1", "SpanPartialP": "partial-precision", "SpanPartialR": "partial-recall",
        "SpanOverlapF": "overlap-F1", "SpanOverlapP": "overlap-precision", "SpanOverlapR": "overlap-recall"},
    "answer": {
        "SetF": "F1, micro-F1, F1-micro", "SetP": "precision, micro-precision, P", "SetR": "recall, micro-recall, R"},
    "segment": {
        "BLEU": "BLEU, sacreBLEU, BLEU-4, corpus BLEU", "chrF": "chrF, chrF2", "chrF(word_order=2)": "chrF++, chrFpp",
        "TER": "TER, translation edit rate", "METEOR": "METEOR", "ROUGE": "ROUGE-1", "ROUGE(variant=2)": "ROUGE-2",
        "ROUGE(variant=L)": "ROUGE-L", "WER": "WER", "CER": "CER"},
    "score": {
        "Mean": "mean, average, avg, score", "MAE": "MAE", "RMSE": "RMSE", "Pearson": "Pearson, Pearson correlation, r",
        "Spearman": "Spearman, Spearman correlation, rho", "Kendall": "Kendall, Kendall's tau, Kendall tau, tau"},
    "ranking": {
        "AP": "MAP, average precision, mean average precision", "nDCG": "nDCG",
        "RR": "MRR, reciprocal rank, mean reciprocal rank, recip rank", "Rprec": "R-precision", "bpref": "bpref",
        "ERR": "ERR", "nDCG(cutoff=10)": "nDCG@10, nDCG cut 10", "P(cutoff=10)": "P@10, precision@10",
        "R(cutoff=10)": "recall@10, R@10", "RR(cutoff=10)": "MRR@10, RR@10",
        "AP(cutoff=10)": "MAP@10, AP@10, MAP cut 10", "Success(cutoff=10)": "success@10, hits@10, hit@10",
        "ERR(cutoff=10)": "ERR@10"},
    "tree": {"LAS": "LAS, labeled attachment score, labelled attachment score",
             "UAS": "UAS, unlabeled attachment score, unlabelled attachment score"},
    "alignment": {"AER": "AER", "AlignmentP": "precision, P", "AlignmentR": "recall, R"},
    "logprob": {"Perplexity": "perplexity, PPL", "BitsPerCharacter": "bits per character, BPC"},
    "judged": {"JudgedMean": "mean, average"},
    "vote": {"BradleyTerry": "Bradley-Terry, strength", "WinRate": "win rate"},
    "rating": {"AdjustedMean": "adjusted mean, mean rating"},
}
# A number in a name, its value in the names above, and the option that it sets.
_NUMBERS = ((re.compile(r"(?<=f)\d+(?:\.\d+)?"), "1", "beta"), (re.compile(r"\d+$"), "10", "cutoff"))


class AmbiguousMetricError(InputError):
    """A name that several metrics of the same kind of values have, such as F1 of labels."""


class UnknownMetricError(UnknownNameError):
    """A name that no metric has, with the three most similar names."""

    def __init__(self, name: str, takes: str = "", known: Mapping[str, type[Metric]] = METRICS) -> None:
        names = {_fold(known_name): known_name for known_name in list_common_names(takes, known)}
        self.kind, self.name = "metric", name
        self.known = tuple(names[folded] for folded in difflib.get_close_matches(_fold(name), names, n=3, cutoff=0))
        kind = f" of {takes}s" if takes else ""
        InputError.__init__(self, f"unknown metric{kind} {name!r}; the most similar names are {', '.join(self.known)}; "
                                  "`registry list metrics` lists all metrics")


def common_metric(name: str, takes: str, known: Mapping[str, type[Metric]] = METRICS) -> Metric:
    """Return the metric that a user means by a name, such as `macro-F1`.

    Names may have parameters: `F2` and `F0.5`, `nDCG@10` and `P@5`, or `F1 of LABEL, ...` for some of the labels.

    >>> common_metric("macro-F1", "label"), common_metric("f1", "span"), common_metric("F0.5 of yes", "label")
    (LabelF, SpanF(type=none, beta=1), LabelF(labels=yes, beta=0.5))

    Args:
        name: The common name, or the canonical name.
        takes: The kind of answers that the metric must compare: `label`, `span`, `segment`, `score`, ...
        known: The classes of metrics by canonical name.

    Raises:
        AmbiguousMetricError: Several metrics of this kind have the name.
        UnknownMetricError: No metric has the name.
        InputError: The metric compares another kind of answers, or an option is invalid.
    """
    plain = get_name(name)
    canonical = known[plain] if plain in known else None  # noqa: SIM401  (`get` does not look into packages)
    if canonical is not None and canonical.takes == takes:
        return parse("metric", known, name)
    if len(metrics := _find_metrics(name, takes)) == 1:
        return metrics[0]
    if metrics:
        names = ", ".join(f"'{average}-{name.strip()}'" for average in ("macro", "micro", "weighted"))
        raise AmbiguousMetricError(f"{name!r} of labels is ambiguous; write {names}, or for a single class "
                                   f"'{_split_labels(name)[0]} of LABEL'")
    if kinds := list_kinds(name) or ([canonical.takes] if canonical is not None else []):
        raise InputError(f"{name} compares {' or '.join(f'{kind}s' for kind in kinds)}, but the values are {takes}s; "
                         f"metrics of {takes}s: {', '.join(list_common_names(takes, known))}")
    raise UnknownMetricError(name, takes, known)


def build_metric(name: str, options: Mapping[str, Any], takes: str, known: Mapping[str, type[Metric]]) -> Metric:
    """Build the metric that a table of a manifest declares.

    Args:
        name: The common name, or the name of a class.
        options: Options in addition to those that a common name sets.
        takes: The kind of values that the metric compares.
        known: The classes of metrics by name.

    Raises:
        InputError: `common_metric` lists the reasons; or the name and the options set the same option.
    """
    if name in known and (known[name].takes == takes or not _find_metrics(name, takes)):
        return build("metric", known, name, options)
    metric = common_metric(name, takes, known)
    named = {f.name: to_toml(value) for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    if average := next((word for word in ("macro", "micro", "weighted") if word in _fold(name)), ""):
        named["average"] = average
    if both := sorted(named.keys() & options):
        raise InputError(f"the name {name!r} already sets the option {both[0]!r}; remove the option, or write name = "
                         f"\"{metric.name}\"")
    return build("metric", known, metric.name, named | dict(options))


def list_kinds(name: str) -> list[str]:
    """Return the kinds of values for which a common name means a metric; empty if the name is unknown."""
    return [kind for kind in _NAMES if _find_metrics(name, kind)]


def list_common_names(takes: str = "", known: Mapping[str, type[Metric]] = METRICS) -> list[str]:
    """Return the usual names of the metrics of one kind of values, or without `takes` of all metrics."""
    tables = [_NAMES.get(takes, {})] if takes else list(_NAMES.values())
    names = {get_name(text) for table in tables for text in table}
    return [text.partition(",")[0] for table in tables for text in table.values()] + [
        name for name, metric in known.items() if name not in names and takes in ("", metric.takes)]


def match_alias(name: str, declared: Mapping[str, str]) -> str:
    """Return the id of the metric of a task that a user means by a name, such as `macro F1`.

    Args:
        name: The id of a metric in the task, or a common name.
        declared: The canonical names of the task's metrics, by id.

    Raises:
        AmbiguousMetricError: Several metrics of the task have the name.
        UnknownNameError: No metric of the task has the name.
    """
    matches = [alias for alias in declared if alias == name] or [
        alias for alias in declared if _fold(alias) == _fold(name)] or [
        alias for alias, canonical in declared.items() if _can_mean(name, canonical)]
    if len(matches) > 1:
        raise AmbiguousMetricError(f"the metric {name!r} is ambiguous; write {' or '.join(sorted(matches))}")
    if not matches:
        raise UnknownNameError("metric", name, sorted(declared))
    return matches[0]


def _can_mean(name: str, canonical: str) -> bool:
    if find_package(canonical):  # the package may not be installed
        return False
    metric = parse("metric", METRICS, canonical)
    return metric.original in _find_metrics(name, metric.takes)


def get_default_metric(takes: str) -> Metric | None:
    """Return the default metric for a kind of answers, such as accuracy for labels.

    The result is None if the kind has no default.

    Args:
        takes: The kind of answers: `label`, `span`, `segment`, `score`, ...
    """
    return next((parse("metric", METRICS, text) for text in _NAMES.get(takes, ())), None)


def make_metric_table(metric: Metric, called: str = "") -> dict[str, Any]:
    """Make the table with which a task's manifest declares a metric.

    >>> make_metric_table(common_metric("macro-F2", "label"), "F2 (macro)")
    {'id': 'F2-macro', 'name': 'LabelF', 'options': {'beta': 2.0}}

    Options with their default values are left out. The name of a plugin's metric is written without the package,
    because the manifest lists the package.

    Args:
        metric: The metric.
        called: The user's name of the metric, from which its id is made. An expression such as `LabelF(beta=2)` and an
            empty name leave the name of the class as the id.
    """
    options = {f.name: to_toml(value) for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    name = metric.name.partition("@")[0]
    id_ = "" if get_name(called) in METRICS else make_metric_id(called)
    return {"id": id_ or name, "name": name, **({"options": options} if options else {})}


def make_metric_tables(metrics: Mapping[str, Metric]) -> list[dict[str, Any]]:
    """Make the tables of several metrics, with different ids.

    >>> names = ["SpanF(type=PER)", "SpanF(type=LOC)"]
    >>> [table["id"] for table in make_metric_tables({name: common_metric(name, "span") for name in names})]
    ['F1-of-PER', 'F1-of-LOC']

    Args:
        metrics: Different metrics, by the user's names of them.
    """
    tables = [make_metric_table(metric, name) for name, metric in metrics.items()]
    for ids in ([table["id"] for table in tables], [make_metric_id(metric.title) for metric in metrics.values()]):
        if "" not in ids and len(set(ids)) == len(ids):
            break
    else:
        ids = list(map(make_metric_id, metrics))
    return [{**table, "id": id_} for table, id_ in zip(tables, ids, strict=True)]


def make_column_table(metric: Metric, decimals: int) -> dict[str, Any]:
    """Make the table with which a task's manifest declares a metric of a column of scores.

    >>> make_column_table(METRICS["Mean"](column="cost per item", better="lower"), 6)
    {'id': 'cost-per-item', 'name': 'Mean', 'options': {'better': 'lower', 'column': 'cost per item'}, 'title': \
'cost per item', 'decimals': 6}

    Args:
        metric: The metric, whose option `column` names the column. Its id is made from this name.
        decimals: Number of decimals of scores.
    """
    table, column = make_metric_table(metric), metric.column or ""
    return {**table, "id": make_metric_id(column) or table["id"],
            "options": {"better": metric.better, **table.get("options", {})}, "title": column,
            **({"decimals": decimals} if decimals != metric.decimals else {})}


def _find_metrics(name: str, takes: str) -> list[Metric]:
    """Return all metrics with a common name for one kind of values."""
    words, labels = _split_labels(name)
    metrics = _look_up(words, takes)
    if not labels:
        return metrics
    types = [label.strip() for label in labels.split(",")]
    option, value = ("labels", types) if takes == "label" else ("type", labels.strip())
    metrics = [_replace(metric, option, value) for metric in metrics if hasattr(metric, option)]
    return metrics[:1] if len(types) == 1 else metrics  # averages over a single class are equal


def _split_labels(name: str) -> tuple[str, str]:
    """Split a name such as `F1 of A, B` into the name of the metric and the labels."""
    words, *labels = re.split(r"\s+of\s+", name.strip(), maxsplit=1)
    return words, "".join(labels)


def _look_up(words: str, takes: str) -> list[Metric]:
    """Return all metrics of one kind with a name; its numbers, as in `F2`, can differ from those in the table."""
    plain = re.sub(r"(macro|micro|weighted)(?:averaged?|avg)", r"\1", _fold(words))
    plain = re.sub(r"(?<![a-z])f$|(?<=macro)f$|(?<=micro)f$|(?<=weighted)f$|f(?:score|measure)", "f1", plain)
    table = {text: [*map(_fold, names.split(","))] for text, names in _NAMES.get(takes, {}).items()}
    if metrics := [parse("metric", METRICS, text) for text, names in table.items() if plain in names]:
        return metrics
    for pattern, example, option in _NUMBERS:
        if (match := pattern.search(plain)) is not None:
            general = plain[:match.start()] + example + plain[match.end():]
            number = float(match[0]) if option == "beta" else int(match[0])
            metrics = [parse("metric", METRICS, text) for text, names in table.items() if general in names]
            if metrics and all(hasattr(metric, option) for metric in metrics):
                return [_replace(metric, option, number) for metric in metrics]
    return [metric.build({}) for metric in METRICS.values() if metric.takes == takes and _is_complete(metric)
            and plain in (_fold(metric.name), _fold(metric.build({}).title))]


def _replace(metric: Metric, option: str, value: Any) -> Metric:
    options = {f.name: to_toml(getattr(metric, f.name)) for f in fields(metric)}
    return build("metric", METRICS, metric.name, options | {option: value})


def _is_complete(metric: type[Metric]) -> bool:
    return all(f.default is not MISSING for f in fields(metric))


def _fold(name: str) -> str:
    """Return a name without letter case and marks; only `+` and decimal points distinguish names.

    >>> _fold("Macro-averaged F1"), _fold("nDCG@10"), _fold("chrF++"), _fold("F0.5")
    ('macroaveragedf1', 'ndcg10', 'chrf++', 'f0.5')
    """
    return re.sub(r"(?!\+|(?<=\d)\.(?=\d))[\W_]", "", unicodedata.normalize("NFKC", name).casefold())


_LONGEST_LABEL = 15  # characters; ids can be longer


def metric_label(name: str, metric_name: str, declared: str | None = None) -> str:
    """Return the heading of a metric's column of scores on a leaderboard.

    The heading is the title that the task declares, or else the metric's id. An id that only repeats the name of the
    metric, such as LabelF, is replaced by the usual title, such as macro-F1. Long titles, and the words of an
    abbreviation such as WER, do not replace the id.

    Args:
        name: The id of the metric in the task.
        metric_name: The canonical name of the metric.
        declared: The title that the task declares.
    """
    usual = metric_title(metric_name)
    plain = usual.partition(" (")[0]
    is_short = len(plain) <= max(len(name), _LONGEST_LABEL) and not (name.isupper() and " " in plain)
    return declared or (plain if is_short and is_redundant_id(name, metric_name, usual) else name)


def metric_title(metric_name: str) -> str:
    """Return the usual title of a metric: `SpanF(type=none, beta=1)` -> `F1`.

    A metric of a plugin may not be installed; its title is its name.
    """
    return metric_name if find_package(metric_name) else parse("metric", METRICS, metric_name).title


def metric_decimals(metric_name: str) -> int:
    """Return how many decimals of a metric's scores are shown by default.

    >>> metric_decimals("SpanF(type=none, beta=1)"), metric_decimals("chrF(char_order=6, word_order=0, beta=2)")
    (4, 2)

    Metrics of plugins, which may not be installed, have the general default.
    """
    if find_package(metric_name):
        return Metric.decimals
    metric: Metric = parse("metric", METRICS, metric_name)
    return metric.original.decimals


def worst_score(metric_name: str) -> float | None:
    """Return the worst possible score of a metric; None if scores have no limit.

    >>> worst_score("Accuracy"), worst_score("WER")
    (0.0, None)

    The limits of a plugin's metric are unknown, because the plugin may not be installed.
    """
    if find_package(metric_name):
        return None
    metric: Metric = parse("metric", METRICS, metric_name)
    worst = metric.score_range[metric.better == "lower"]
    return worst if math.isfinite(worst) else None


def is_redundant_id(name: str, metric_name: str, usual: str) -> bool:
    """Return True if the id of a metric in a task only repeats its name or title.

    Args:
        name: The id.
        metric_name: The canonical name of the metric.
        usual: The usual title of the metric.
    """
    return name == metric_name.partition("(")[0] or _fold(name) == _fold(usual.partition(" (")[0])
