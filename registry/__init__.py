"""A declarative, database-backed evaluation registry for shared tasks.

Gold annotations and system outputs become per-item sufficient statistics in DuckDB; significance tests run over those
statistics on demand; every result is stored with what it takes to reproduce it.

Public are `evaluate` with the board that it gives (`registry.direct.board`), `open` with the `Registry` and `Result`
that it leads to (`registry.api`), and the errors (`registry.errors`). All other modules are internal: the command line,
SQL and files are the ways to use what they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from registry.version import __version__

if TYPE_CHECKING:
    from registry.api import Registry
    from registry.direct.agreement import Agreement
    from registry.direct.board import Board

__all__ = ["__version__", "compute_agreement", "evaluate", "open"]


def evaluate(gold: Any, systems: Any, metric: str | None = None, *, clusters: Any = None, missing: str = "reject",
             average: bool = False, **settings: Any) -> Board:
    """Score systems against the gold and test all pairs of systems; store nothing.

    >>> board = evaluate(["yes", "no"] * 8, {"good": ["yes", "no"] * 8, "bad": ["yes"] * 16}, metric="accuracy")
    >>> board.scores, board.best, board.pairs["good", "bad"].p_value
    ({'good': 1.0, 'bad': 0.5}, ('good',), 0.0078125)

    Answers are matched to the gold by key (dicts, Series of pandas) or else by position. Files are read like by the
    command `registry quick`.

    Args:
        gold: The path of a file, or one value for each item, as list, array, dict or Series: labels, numbers, texts or
            lists of references, lists of spans (start, end, type) or of tags (B-PER, I-PER, O), sets of answers, or
            dicts of documents with their relevance. None: the systems' values or files are already scores of the items.
        systems: The answers of each system, in the same form, by name of the system; or a data frame with a column for
            each system. Runs of a system have names (system, run). If the gold is a file: the path of a folder, a
            pattern such as `systems/{system}.tsv`, a list of paths, or paths by name of the system.
        metric: `macro-F1`, `accuracy`, `MCC`, `BLEU`, `MAE`, `mean`, ..., or a name from `registry list metrics`. None:
            accuracy of labels, F1 of spans and sets, BLEU of texts, the mean of scores.
        clusters: The cluster of each item, such as its document. Clusters are permuted or resampled as a whole.
        missing: Policy for items without an answer (None, nan): `reject` the system, count the items as the `worst`,
            `drop` them for all systems, or leave them out only for the system's `own` score.
        average: Average the scores of several test sets, with equal weights, and test the averages. Items then have
            names (test set, item), such as the two levels of a pandas index; or the files are of several test sets.
        settings: Settings of `[significance]`, as in a manifest: `test`, `alpha`, `correction`, `resamples`,
            `alternative` (`"greater"` with `candidate`, the system that others are compared with one-sided), `seed`
            (default 1), `confidence`, `unit`, `runs`, ... For files also the options of `registry quick`: `item`,
            `label`, `score`, `text`, `in_order`, `format` (`--as`), ... `options` are options of the reader, such as
            `{"fold_case": True}`.

    Raises:
        InputError: A value or a setting is invalid; the message names the system and the item.
    """
    from registry.direct.evaluate import evaluate_values
    from registry.direct.task import EvaluationRequest

    return evaluate_values(EvaluationRequest(gold, systems, metric, clusters, missing, average, settings))


def compute_agreement(data: Any, *, item: str | Sequence[str] = (), annotator: str | None = None,
                      value: str | None = None, annotators: str | Sequence[str] = (),
                      level: Literal["nominal", "ordinal", "interval", "ratio"] | None = None,
                      order: str | Sequence[str] = (), missing: str | Sequence[str] = (), cluster: str | None = None,
                      by: Literal["annotator", "pair", "category"] | None = None, resamples: int | None = None,
                      confidence: float | None = None, seed: int | None = None) -> Agreement:
    """Measure the agreement of annotators; store nothing.

    >>> agreement = compute_agreement({"ann": ["a", "a", "b", "b"] * 15, "bob": ["a", "b", "b", "b"] * 15},
    ...                               annotators=["ann", "bob"])
    >>> round(agreement.alpha, 3), agreement.rows[1]["coefficient"], agreement.rows[1]["value"]
    (0.471, 'percent agreement', 0.75)

    Args:
        data: The path of a file, a data frame, or a dictionary of columns. A long table has a row for each item and
            annotator; a wide one has a row for each item, and a column for each annotator. None and nan are missing.
        item: The columns that identify an item. Default: found by their names; in a wide table each row is an item.
        annotator: The column of annotators in a long table. Default: found by its name.
        value: The column of values in a long table. Default: found by its name.
        annotators: The columns of annotators in a wide table, as a list or separated by commas.
        level: The level of measurement. Default: nominal; numbers with three or more values need it.
        order: Categories that are no numbers in ascending order, as a list or separated by commas, for the level
            ordinal.
        missing: Values that mean that there is no rating.
        cluster: The column of groups of items, such as documents, that are resampled as a whole.
        by: Also compute alpha without each `annotator`, of each `pair` of annotators, or of each `category` against
            the rest.
        resamples: Number of bootstrap resamples (default 10,000).
        confidence: Confidence level of intervals (default 0.95).
        seed: Seed of the random numbers (default 1).

    Raises:
        InputError: The data or a setting is invalid, or there is nothing to agree on.
    """
    from registry.direct.agreement import compute_agreement_of_values
    from registry.direct.ratings import RatingOptions

    items, marks = ((names,) if isinstance(names, str) else tuple(names) for names in (item, missing))
    names, categories = (tuple(texts.split(",") if isinstance(texts, str) else texts) for texts in (annotators, order))
    options = RatingOptions(items, annotator, value, names, level, categories, marks, cluster)
    settings = {"resamples": resamples, "confidence": confidence, "seed": seed}
    return compute_agreement_of_values(data, options, by, settings)


def open(path: str | Path, *, at: str | None = None, public: bool = False) -> Registry:  # noqa: A001  (its name)
    """Open the registry at `path` for reading.

    Args:
        path: Path of the registry file.
        at: Show the registry as it was in the past: at the end of a date (UTC), at a time with a time zone, or when the
            comparison with this signature (or the id at its end) was made. Data that is unknown for this time causes a
            warning.
        public: Whether to read only public data: pseudonyms in anonymous tasks, no hidden scores, no withheld gold.

    Raises:
        InputError: There is no registry, or there was none at this time, or `at` is not a valid time.
        UnknownNameError: No comparison has the signature.
        SchemaError: Another version of the program made the registry.
        LockedError: Another process writes to the registry.
    """
    from registry.api import Registry

    return Registry(path, at=at, public=public)
