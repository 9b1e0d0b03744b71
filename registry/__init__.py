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
    """Score systems against a gold, test all pairs of them, and give the board; nothing is kept.

    >>> board = evaluate(["yes", "no"] * 8, {"good": ["yes", "no"] * 8, "bad": ["yes"] * 16}, metric="accuracy")
    >>> board.scores, board.best, board.pairs["good", "bad"].p_value
    ({'good': 1.0, 'bad': 0.5}, ('good',), 0.0078125)

    Values are aligned by key where they have any (dicts, Series of pandas), else by position, and are then as many.

    Args:
        gold: One value for each item, as list, array, dict or Series: labels, numbers, texts or lists of references,
            lists of spans (start, end, type) or of tags (B-PER, I-PER, O), sets of answers, or dicts of documents with
            their relevance. None: the systems' values are scores that the items have already.
        systems: By name the same of each system; or a frame with a column for each. Runs of a system have names
            (system, run).
        metric: `F1`, `accuracy`, `MCC`, `BLEU`, `MAE`, `mean`, ..., or a canonical name as `registry list metrics` has
            it; None: accuracy of labels, F1 of spans and sets, BLEU of texts, the mean of scores.
        clusters: The cluster of each item, such as its document: these are then swapped or resampled as wholes.
        missing: What is done about items to which a system has no answer (None, nan): `reject` it, count them as the
            `worst`, `drop` them for all systems, or for its `own` score alone.
        settings: Of `[significance]`, as in a manifest: `test`, `alpha`, `correction`, `resamples`,
            `alternative` (`"greater"` with `candidate`, the system that others are compared with one-sided),
            `seed` (1 unless given), `confidence`, `unit`, `runs`, ...

    Raises:
        InputError: The data or a setting is wrong; says whose value of which item.
    """
    from registry.direct.evaluate import evaluate_values
    from registry.direct.task import EvaluationRequest

    return evaluate_values(EvaluationRequest(gold, systems, metric, clusters, missing, settings))


def open(path: str | Path, *, at: str | None = None, public: bool = False) -> Registry:  # noqa: A001  (its name)
    """Open the registry at `path` for reading.

    Args:
        path: Its file.
        at: As it stood at the end of a date (UTC), at a time with its zone, or when the command had ended that made the
            comparison with this signature, or the id at its end; what is not known of then is a warning.
        public: Whether to read only what is public: pseudonyms in anonymous tasks, no scores in blind phases, no gold
            that is withheld.

    Raises:
        InputError: There is no registry, or there was none then, or `at` is no moment.
        UnknownNameError: No comparison has the signature.
        SchemaError: It is of another version than this program.
        LockedError: Another process writes to it.
    """
    from registry.api import Registry

    return Registry(path, at=at, public=public)
