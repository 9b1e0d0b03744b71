"""Tables in long form, a row for each item and system: which columns hold what is asked, as boards differ by it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import combinations
from shlex import quote

from registry.errors import InputError
from registry.evaluation.ingest.remarks import COLUMN_NAMES
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.looks import Table
from registry.guessing.tables.keys import called
from registry.readers import Document

_SIZES = frozenset((  # of items, which no system has
    "chars", "count", "duration", "examples", "instances", "len", "length", "line", "n", "num", "samples", "size",
    "support", "tokens", "words", "year"))
_RUN = frozenset((
    "completion", "epoch", "fold", "iteration", "rep", "repeat", "repetition", "replicate", "run", "sample",
    "sample_id", "seed", "trial"))
_PARTS = frozenset(("benchmark", "dataset", "subset", "task", "test_set"))  # of items, by the name of a column
_MEASURES = frozenset(("measure", "measure_name", "metric", "metric_name"))  # of which each is a board
_SHOWN = 3  # columns of scores in a question
_SCORES = frozenset(("score", "scores", "result", "value"))  # where a column is called so, others are no scores
_HIGHER = frozenset((
    "acc", "accuracy", "ap", "auc", "bleu", "chrf", "comet", "correct", "em", "exact", "f", "f1", "map", "meteor",
    "mrr", "ndcg", "p", "pass", "precision", "r", "recall", "reward", "right", "rouge", "success", "win", "wins"))
_LOWER = frozenset((
    "aer", "cer", "cost", "distance", "err", "error", "errors", "latency", "loss", "mae", "mse", "nll", "perplexity",
    "ppl", "rmse", "ter", "time", "wer"))
_NAMED = frozenset((  # measures whose direction their names need not say
    "bertscore", "bleurt", "dice", "diff", "iou", "kappa", "mcc", "r1", "r2", "rank", "rl", "rouge1", "rouge2",
    "rougel", "sem", "std", "stdev", "top1", "top5", "winrate"))
_KINDS = frozenset(("average", "avg", "controlled", "exact", "k", "l", "length", "lsum", "macro", "match", "mean",
                    "micro", "rate", "score", "weighted"))  # the other words of a measure's name
_SHARED = 1.5  # rows of an item in long form, on average: fewer, and no two systems have it


APART = ("write a file for each system, or one table with a column for each, as pandas' "
         "pivot(index=ITEM, columns=SYSTEM, values=ANSWER) makes")


def long_form(document: Document, table: Table, system: int, asked: Asked) -> InputError:
    """Ask which columns of a table with a row for each item and system are what."""
    names, said = table.names, f"--as long --option {quote(f'system={table.names[system]}')}"
    what = f"a row for each item and system, by {called(table, system)}: a table in long form"
    items, run, others = _places(table, system)
    scores = [n for n in sorted(others) if n not in items and not is_size(names[n]) and names[n].strip() and len(
        table.column(n).values) > 1 and (
        table.column(n).is_mostly_numeric or {cell.casefold() for cell in table.column(n).values} == {"true", "false"})]
    scores = [n for n in scores if names[n].strip().casefold() in _SCORES] or scores
    said += "".join(f" --option {name}={value}" for name, value in table.form.items() if (name, value) in (
        ("separator", "tab"), ("separator", "semicolon"), ("separator", "whitespace"), ("syntax", "jsonl"),
        ("syntax", "json")))
    if not items or not scores:
        return InputError(f"{what}; say which columns have the items and the numbers: {said} --option item=COLUMN "
                          "--option score=COLUMN, and --option run=COLUMN where a system has several. If it has labels "
                          f"of systems, {APART}. If rows are scores of whole systems, no board can be made of them: it "
                          "needs those of all items", path=document.path)
    measure = next((n for n in items if len(items) > 1 and names[n].strip().casefold() in _MEASURES), None)
    items = tuple(n for n in items if n != measure)
    item = names[items[0]] if len(items) == 1 else json.dumps([names[n] for n in items], ensure_ascii=False)
    more = {"item": item, **{name: names[n] for name, n in (("run", run), ("test_set", measure)) if n is not None}}
    said += "".join(f" --option {quote(f'{name}={value}')}" for name, value in more.items())
    if measure is None and (of := next((n for n in others if (n not in items or len(items) > 1) and len(
            table.column(n).values) > 1 and names[n].strip().casefold() in _PARTS), None)) is not None:
        what += (f", with one board over all of {called(table, of)} (--option {quote(f'test_set={names[of]}')} makes "
                 "one of each)")
    left = [names[n] for n in scores[_SHOWN:]]
    beside = f" Of others, such as {', '.join(left[:_SHOWN])}, likewise;" if left else ""
    return QuestionError(f"{what}; which column has the scores, and which of them are better?{beside} say it:", {
        f"{said} --option {quote(f'score={names[n]}')} --option better={better}": "" for n in scores[:_SHOWN]
        for better in _betters(names[n]) if asked.options.get("better", better) == better}, document.path)


def system_column(table: Table) -> int | None:
    """The column of words that names systems, though it is not called so: with one or two others it names the rows."""
    words = [n for n, name in enumerate(table.names) if not table.column(n).is_mostly_numeric
             and name.strip().casefold() not in _MEASURES and 2 * len(table.column(n).values) <= len(table.rows)]
    return next((n for n in sorted(words, key=lambda n: len(table.column(n).values)) if _places(table, n)[0]), None)


def _places(table: Table, system: int) -> tuple[tuple[int, ...], int | None, list[int]]:
    """The columns that name items where one names systems; that of runs; all others, likely names of items first."""
    runs = [n for n, name in enumerate(table.names) if name.strip().casefold() in _RUN]
    others = sorted((n for n in range(len(table.names)) if n != system and n not in runs), key=lambda n: (
        table.names[n].strip().casefold() not in COLUMN_NAMES and not table.names[n].casefold().endswith("id"),
        table.column(n).is_mostly_numeric))
    return *_items(table, system, runs, others), others


def _betters(name: str) -> tuple[str, ...]:
    """Which scores may be the better ones of a column that is called so."""
    higher, lower = directions(name)
    return ("higher",) if higher and not lower else ("lower",) if lower and not higher else ("higher", "lower")


def directions(name: str) -> tuple[set[str], set[str]]:
    """The words of a name that say that higher scores are better, and those that say that lower ones are."""
    words = set(re.findall(r"[a-z]+[0-9]?", name.casefold()))
    return words & _HIGHER, words & _LOWER


def _items(table: Table, system: int, runs: Sequence[int], others: Sequence[int]) -> tuple[tuple[int, ...], int | None]:
    """The column that names the items of a table in long form, or two that do together; and that of runs."""

    def name_rows(columns: Sequence[int | None]) -> bool:
        return len(set(zip(*(table.column(n).cells for n in columns if n is not None), strict=True))) == len(table.rows)

    shared = [n for n in others if 1 < len(table.column(n).values) <= len(table.rows) / _SHARED and (
        table.column(n).is_whole or not table.column(n).is_numeric)]
    for run in (None, *runs):
        for items in (*((n,) for n in shared), *combinations(sorted(shared), 2)):
            if name_rows((*items, system, run)) and not name_rows((*items, run)):
                return items, run
    return (), None


def is_measure(name: str) -> bool:
    """Whether a column is called as a measure is and nothing else: `R1`, `macro_f1`, `win_rate`, `BERTScore`.

    >>> [name for name in ("Rouge-L", "F1 (macro)", "top1_err", "aspen_f1", "aspen", "BLEU") if is_measure(name)]
    ['Rouge-L', 'F1 (macro)', 'top1_err', 'BLEU']
    """
    words = set(re.findall(r"[a-z]+[0-9]?", name.casefold()))
    return bool(words & (_HIGHER | _LOWER | _NAMED)) and words <= _HIGHER | _LOWER | _NAMED | _KINDS


def is_size(name: str) -> bool:
    """Whether a column is called as one that counts something of items, such as `n_tokens`."""
    words = set(re.findall("[a-z]+", name.casefold())) - {"average", "avg", "mean"}
    return _SIZES.issuperset(words) if words else name.strip() == "#"
