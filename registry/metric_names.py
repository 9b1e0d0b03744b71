"""Metrics by their common names, such as "F1".

A canonical name, such as `LabelF(beta=2)`, names one metric. A common name can name a different metric for each kind of
values: "F1" of labels is another metric than "F1" of spans. Letter case, blanks, hyphens and underscores do not matter
in common names.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any

from registry.errors import InputError, UnknownNameError
from registry.metrics import METRICS, Metric
from registry.plugins import find_package
from registry.values import build, get_name, parse, to_toml

_NAMES: dict[str, dict[str, str]] = {  # kind of values -> metric -> common names; the default metric of a kind is first
    "label": {
        "Accuracy": "acc", "LabelF": "macrof1 f1macro f1 f1score fscore f", "LabelF(average=micro)": "microf1 f1micro",
        "LabelP": "precision macroprecision precisionmacro p", "LabelP(average=micro)": "microprecision precisionmicro",
        "LabelR": "recall macrorecall recallmacro r", "LabelR(average=micro)": "microrecall recallmicro",
        "BalancedAccuracy": "balancedacc uar", "MCC": "matthews matthewscorrcoef", "Kappa": "cohenskappa cohenkappa"},
    "span": {
        "SpanF": "f1 f1score fscore f microf1 f1micro spanf1 entityf1 exactf1 strictf1", "SpanP": "precision p",
        "SpanR": "recall r", "SpanOverlapF": "overlapf1", "SpanOverlapP": "overlapprecision",
        "SpanOverlapR": "overlaprecall", "SpanPartialF": "partialf1", "SpanPartialP": "partialprecision",
        "SpanPartialR": "partialrecall"},
    "answer": {"SetF": "f1 f1score fscore f microf1 f1micro", "SetP": "precision p", "SetR": "recall r"},
    "segment": {
        "BLEU": "sacrebleu", "chrF": "chrf2", "chrF(word_order=2)": "chrf++ chrfpp", "TER": "translationeditrate",
        "METEOR": "", "ROUGE": "rouge1", "ROUGE(variant=2)": "rouge2", "ROUGE(variant=L)": "rougel",
        "WER": "worderrorrate", "CER": "charactererrorrate"},
    "score": {
        "Mean": "average avg meanscore score", "MAE": "meanabsoluteerror", "RMSE": "rootmeansquarederror",
        "Pearson": "pearsonr r", "Spearman": "spearmanr rho", "Kendall": "kendalltau tau"},
    "ranking": {
        "AP": "map averageprecision meanaverageprecision", "nDCG": "", "RR": "mrr reciprocalrank meanreciprocalrank",
        "Rprec": "rprecision", "bpref": "", "ERR": ""},
    "tree": {"LAS": "labeledattachmentscore", "UAS": "unlabeledattachmentscore"},
    "alignment": {"AER": "alignmenterrorrate", "AlignmentP": "precision p", "AlignmentR": "recall r"},
    "logprob": {"Perplexity": "ppl", "BitsPerCharacter": "bpc"},
    "judged": {"JudgedMean": "mean average"},
}
_F_BETA = {"label": "LabelF", "span": "SpanF", "answer": "SetF"}
_AT_RANK = {"p": "P", "precision": "P", "r": "R", "recall": "R", "success": "Success", "hits": "Success",
            "ndcg": "nDCG", "ap": "AP", "map": "AP", "err": "ERR"}


def common_metric(name: str, takes: str) -> Metric:
    """Return the metric that a user means by a common name, such as `macro-F1`.

    Names may have parameters: `F2` and `F0.5`, `nDCG@10` and `P@5`, or `F1 of LABEL, ...` for some of the labels.

    >>> common_metric("macro-F1", "label"), common_metric("f1", "span"), common_metric("F0.5 of yes", "label")
    (LabelF, SpanF(type=none, beta=1), LabelF(labels=yes, beta=0.5))

    Args:
        name: The common name, or the canonical name.
        takes: The kind of answers that the metric must compare: `label`, `span`, `segment`, `score`, ...

    Raises:
        InputError: There is no such metric, or it compares another kind of answers.
    """
    plain = get_name(name)
    canonical = METRICS[plain] if plain in METRICS else None  # noqa: SIM401  (`get` does not look into packages)
    if canonical is not None and canonical.takes == takes:
        return parse("metric", METRICS, name)
    if (metric := _find_common_metric(name, takes)) is not None:
        return metric
    known = sorted([cls.name for cls in METRICS.values() if cls.takes == takes] + ["F1"] * (takes in _F_BETA))
    kinds = [kind for kind in _NAMES if _find_common_metric(name, kind) is not None] or (
        [canonical.takes] if canonical is not None else [])
    if kinds:
        raise InputError(f"{name} compares {' or '.join(f'{kind}s' for kind in kinds)}, but the values are {takes}s; "
                         f"metrics of {takes}s: {', '.join(known)}")
    raise UnknownNameError(f"metric of {takes}s", name, known)


def get_default_metric(takes: str) -> Metric | None:
    """Return the default metric for a kind of answers, such as accuracy for labels.

    The result is None if the kind has no default.

    Args:
        takes: The kind of answers: `label`, `span`, `segment`, `score`, ...
    """
    return next((parse("metric", METRICS, text) for text in _NAMES.get(takes, ())), None)


def make_metric_table(metric: Metric, called: str = "") -> dict[str, Any]:
    """Make the table with which a task's manifest declares a metric.

    >>> make_metric_table(common_metric("F2", "label"), "F2 (macro)")
    {'id': 'F2-macro', 'name': 'LabelF', 'options': {'beta': 2.0}}

    Options with their default values are left out. The name of a plugin's metric is written without the package,
    because the manifest lists the package.

    Args:
        metric: The metric.
        called: The user's name of the metric, from which its id is made; default: the name of its class.
    """
    options = {f.name: to_toml(value) for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    name = metric.name.partition("@")[0]
    id_ = re.sub(r"[^A-Za-z0-9._]+", "-", called.replace("++", "pp").replace("@", "_")).strip("-._") or name
    return {"id": id_, "name": name, **({"options": options} if options else {})}


def _find_common_metric(name: str, takes: str) -> Metric | None:
    """Return the metric with a common name for one kind of answers, or None."""
    plain = _folded(name)
    for text, names in _NAMES.get(takes, {}).items():
        if plain in (_folded(text), *names.split()):
            return parse("metric", METRICS, text)
    if takes in _F_BETA and (match := re.fullmatch(r"f(\d+(?:\.\d+)?)", plain)):
        return build("metric", METRICS, _F_BETA[takes], {"beta": float(match[1])})
    if takes == "ranking" and (match := re.fullmatch(r"(\w+)@(\d+)", plain)) and match[1] in _AT_RANK:
        return build("metric", METRICS, _AT_RANK[match[1]], {"cutoff": int(match[2])})
    if takes == "label" and (match := re.fullmatch(r"(.+?)\s+of\s+(.+)", name.strip())):
        labels = [label.strip() for label in match[2].split(",")]
        metric = _find_common_metric(match[1], takes)
        if metric is not None and "labels" in (options := {f.name for f in fields(metric)}):
            return build("metric", METRICS, metric.name, {
                name: to_toml(getattr(metric, name)) for name in options} | {"labels": labels})
    return next((build("metric", METRICS, metric.name, {}) for metric in METRICS.values()
                 if metric.takes == takes and _folded(metric.name) == plain and _is_complete(metric)), None)


def _is_complete(metric: type[Metric]) -> bool:
    return all(f.default is not MISSING for f in fields(metric))


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())


def metric_label(name: str, metric_name: str, declared: str | None = None) -> str:
    """Return the heading of a metric's column of scores on a leaderboard.

    The heading is the title that the task declares, or else the metric's id. An id that only repeats the name of the
    metric, such as SpanF, is replaced by the usual title, such as F1, unless this is longer.

    Args:
        name: The id of the metric in the task.
        metric_name: The canonical name of the metric.
        declared: The title that the task declares.
    """
    usual = metric_title(metric_name)
    plain = usual.partition(" (")[0]
    return declared or (plain if len(plain) <= len(name) and is_redundant_id(name, metric_name, usual) else name)


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


def is_redundant_id(name: str, metric_name: str, usual: str) -> bool:
    """Return True if the id of a metric in a task only repeats its name or title.

    Args:
        name: The id.
        metric_name: The canonical name of the metric.
        usual: The usual title of the metric.
    """
    return name == metric_name.partition("(")[0] or _folded(name) == _folded(usual.partition(" (")[0])
