"""A declarative, database-backed evaluation registry for shared tasks.

Gold annotations and system outputs become per-item sufficient statistics in DuckDB; significance tests run over those
statistics on demand; every result is stored with what it takes to reproduce it.

Public are `evaluate` with the board that it gives (`registry.direct.board`), `open` with the `Registry` and `Result`
that it leads to (`registry.api`), and the errors (`registry.errors`). All other modules are internal: the command line,
SQL and files are the ways to use what they do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.version import __version__

if TYPE_CHECKING:
    from registry.api import Registry
    from registry.direct.board import Board

__all__ = ["__version__", "evaluate", "open"]


def evaluate(gold: Any, systems: Any, metric: str | None = None, *, clusters: Any = None, missing: str = "reject",
             **settings: Any) -> Board:
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

    return evaluate_values(EvaluationRequest(gold, systems, metric, clusters, missing, settings))


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
