"""Metrics by the names that people give them, such as "F1", which is another metric of labels than of spans.

A canonical name (`LabelF(beta=2)`) means just that. A common name is one of a kind of values; letter case, blanks,
hyphens and underscores in it make no difference.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any

from registry.errors import InputError, UnknownNameError
from registry.metrics import METRICS, Metric
from registry.plugins import find_package
from registry.values import build, get_name, parse, to_toml

_NAMES: dict[str, dict[str, str]] = {  # by kind of values and metric, the usual one of the kind first
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
    """The metric that people call `name` where the values are of a kind: its canonical name is taken too.

    Beside the fixed names there are `F2` and `F0.5`, `nDCG@10` and `P@5`, and `F1 of LABEL, ...` of some labels.

    >>> common_metric("macro-F1", "label"), common_metric("f1", "span"), common_metric("F0.5 of yes", "label")
    (LabelF, SpanF(type=none, beta=1), LabelF(labels=yes, beta=0.5))

    Args:
        name: As somebody wrote it.
        takes: The kind of gold and answers, as the reader gives it: `label`, `span`, `segment`, `score`, ...

    Raises:
        InputError: There is no such metric, or it is one of other values.
    """
    plain = get_name(name)
    canonical = METRICS[plain] if plain in METRICS else None  # noqa: SIM401  (`get` does not look into packages)
    if canonical is not None and canonical.takes == takes:
        return parse("metric", METRICS, name)
    if (found := _of_kind(name, takes)) is not None:
        return found
    known = sorted([metric.name for metric in METRICS.values() if metric.takes == takes] + ["F1"] * (takes in _F_BETA))
    kinds = [kind for kind in _NAMES if _of_kind(name, kind) is not None] or (
        [canonical.takes] if canonical is not None else [])
    if kinds:
        raise InputError(f"{name} compares {' or '.join(f'{kind}s' for kind in kinds)}, and these are {takes}s; known: "
                         f"{', '.join(known)}")
    raise UnknownNameError(f"metric of {takes}s", name, known)


def usual_metric(takes: str) -> Metric | None:
    """The metric that is meant where none is named; None where a kind of values has no usual one."""
    return next((parse("metric", METRICS, text) for text in _NAMES.get(takes, ())), None)


def declared_metric(metric: Metric, called: str = "") -> dict[str, Any]:
    """A metric as a manifest declares it: its id (else its name), its name, and the options that are not the default.

    The name of one of a package is its plain one, for a manifest that names the package.

    >>> declared_metric(common_metric("F2", "label"), "F2 (macro)")
    {'id': 'F2-macro', 'name': 'LabelF', 'options': {'beta': 2.0}}
    """
    options = {f.name: to_toml(value) for f in fields(metric) if (value := getattr(metric, f.name)) != f.default}
    name = metric.name.partition("@")[0]
    id_ = re.sub(r"[^A-Za-z0-9._]+", "-", called.replace("++", "pp").replace("@", "_")).strip("-._") or name
    return {"id": id_, "name": name, **({"options": options} if options else {})}


def _of_kind(name: str, takes: str) -> Metric | None:
    """The metric of a kind of values that has a common name, or is called so but for letter case."""
    plain = _folded(name)
    for text, names in _NAMES.get(takes, {}).items():
        if plain in (_folded(text), *names.split()):
            return parse("metric", METRICS, text)
    if takes in _F_BETA and (found := re.fullmatch(r"f(\d+(?:\.\d+)?)", plain)):
        return build("metric", METRICS, _F_BETA[takes], {"beta": float(found[1])})
    if takes == "ranking" and (found := re.fullmatch(r"(\w+)@(\d+)", plain)) and found[1] in _AT_RANK:
        return build("metric", METRICS, _AT_RANK[found[1]], {"cutoff": int(found[2])})
    if takes == "label" and (found := re.fullmatch(r"(.+?)\s+of\s+(.+)", name.strip())):
        labels = [label.strip() for label in found[2].split(",")]
        metric = _of_kind(found[1], takes)
        if metric is not None and "labels" in (options := {f.name for f in fields(metric)}):
            return build("metric", METRICS, metric.name, {
                name: to_toml(getattr(metric, name)) for name in options} | {"labels": labels})
    return next((build("metric", METRICS, metric.name, {}) for metric in METRICS.values()
                 if metric.takes == takes and _folded(metric.name) == plain and _is_complete(metric)), None)


def _is_complete(metric: type[Metric]) -> bool:
    """Whether a metric needs no option."""
    return all(f.default is not MISSING for f in fields(metric))


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())


def metric_label(name: str, metric_name: str, declared: str | None = None) -> str:
    """What stands above scores: the title that the task has for the metric, else its id, or what that stands for.

    Of an id that is only the metric's name and its usual title the shorter one stands: F1 for SpanF, but LAS.
    """
    usual = metric_title(metric_name)
    plain = usual.partition(" (")[0]
    return declared or (plain if len(plain) <= len(name) and says_no_more(name, metric_name, usual) else name)


def metric_title(metric_name: str) -> str:
    """What people call a metric by its name; of a package's, which whoever looks at a board need not have, its name."""
    return metric_name if find_package(metric_name) else parse("metric", METRICS, metric_name).title


def metric_decimals(metric_name: str) -> int:
    """How many decimals of a metric's scores people see where the task does not say; of a package's as of most.

    >>> metric_decimals("SpanF(type=none, beta=1)"), metric_decimals("chrF(char_order=6, word_order=0, beta=2)")
    (4, 2)
    """
    if find_package(metric_name):
        return Metric.decimals
    metric: Metric = parse("metric", METRICS, metric_name)
    return metric.original.decimals


def says_no_more(name: str, metric_name: str, usual: str) -> bool:
    """Whether a metric's id tells no more than its usual title."""
    return name == metric_name.partition("(")[0] or _folded(name) == _folded(usual.partition(" (")[0])
