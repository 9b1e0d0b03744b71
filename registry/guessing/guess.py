"""What a guess is: a reader for the gold and one for each system's file, and what it rests on.

A guess is none unless its readers read every file and all answers go with the gold. Where several do and lead to other
boards, the one that is surest is taken if it stands alone; else the user is asked the one question that decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from shlex import quote
from typing import Any, Literal

from registry.errors import InputError
from registry.metric_names import common_metric
from registry.metrics import Metric
from registry.readers import Document, Reader

_MOST = 12  # answers that a question shows
SURE, LIKELY, OPEN = 2, 1, 0  # it follows from the files; it is what such files mostly are; another is as likely


@dataclass(frozen=True)
class Given:
    """A system's file, or its column of a file that holds all systems."""

    name: str
    document: Document


@dataclass(frozen=True)
class System:
    """How one system's file is read; `tokens` is the policy for text that is not quite the gold's."""

    name: str
    document: Document
    reader: Reader
    tokens: str = "reject"


@dataclass(frozen=True)
class Guess:
    """How all files are read.

    Attributes:
        gold: The gold's file.
        reader: The gold's reader.
        systems: The systems, in the order in which they were given.
        why: What the guess rests on, in a few words each.
        sure: How sure it is: `SURE`, `LIKELY` or `OPEN`.
        means: What the values are taken for, where questions have to say it.
        metric: The metric that goes with the values, where their kind alone does not say it.
        cluster: The attribute whose values are units.
        answer: The options of the command by which a user says that this is meant, where they follow from nothing else.
        repeated: Whether all systems repeat the gold in what is read, and have another column of such values.
        is_rival: Whether other columns may be meant, of the gold or of the systems.
    """

    gold: Document
    reader: Reader
    systems: tuple[System, ...]
    why: tuple[str, ...]
    sure: int = SURE
    means: str = ""
    metric: Metric | None = None
    cluster: str | None = None
    answer: str = ""
    repeated: bool = False
    is_rival: bool = False

    @property
    def has_gold_file(self) -> bool:
        """True if one file is the gold and no system's."""
        return all(system.document.path != self.gold.path for system in self.systems)


@dataclass(frozen=True)
class Asked:
    """What the user has said instead of leaving it to be guessed.

    Attributes:
        kind: A reader or importer by name.
        options: Its options, as a manifest would write them.
        metric: The metric, as people call it.
        missing: The policy for items without an answer.
        runs: Files that differ by the number of a seed or run are runs of one system, `fixed` or `random`.
        gold: The gold's file, if its name does not say so.
    """

    kind: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    missing: str = "reject"
    runs: Literal["fixed", "random"] | None = None
    gold: str | None = None

    def allows(self, format_: str, gives: str) -> bool:
        """Whether files may be of this format, whose values are of the kind `gives`."""
        return self.kind in (None, format_) and (self.metric is None or self.metric_of(gives) is not None)

    def metric_of(self, gives: str) -> Metric | None:
        """The metric of such values that the user has named; None where there is none."""
        try:
            return None if self.metric is None else common_metric(self.metric, gives)
        except InputError:
            return None

    def names(self, option: str, columns: Sequence[str], name: str) -> bool:
        """Whether a column may be what an option names: it is that one, or none of the file's columns is."""
        named = self.options.get(option)
        return named is None or named == name or [name] == named or named not in columns


class QuestionError(InputError):
    """Several readings fit all files and lead to different boards; `excerpt` shows the option that answers each."""

    def __init__(self, question: str, answers: Mapping[str, str], path: str = "") -> None:
        super().__init__(question, path=path or None)
        shown = list(answers.items())[:_MOST]
        width = max(len(option) for option, _ in shown)
        lines = [f"  {option:<{width}}  {means}".rstrip() for option, means in shown]
        self.excerpt = "\n".join(lines + [f"  and {len(answers) - len(shown)} more"] * (len(answers) > len(shown)))


def gold_option(gold: Document) -> str:
    """Return the option of the command that names a file as the gold."""
    return f"--gold {quote(gold.path)}"


def reworded(error: InputError, message: str) -> InputError:
    """The error with another message."""
    return InputError(message, path=error.path, line=error.line, item=error.item, category=error.category)


def options_of(reader: Reader, beside: Reader | None = None) -> dict[str, Any]:
    """The options of a reader as a manifest writes them: those that are no defaults, or differ from another reader's.

    >>> from registry.readers import Labels
    >>> options_of(Labels(separator="comma", header=True)), options_of(Labels(), Labels(header=True))
    ({'separator': 'comma', 'header': True}, {'header': False})
    >>> options_of(Labels(rename=(("not", "NOT"),)))
    {'rename': {'not': 'NOT'}}
    """
    same = beside if type(beside) is type(reader) else None
    found: dict[str, Any] = {}
    for option in fields(reader):
        value = getattr(reader, option.name)
        usual = getattr(same, option.name) if same is not None else option.default
        if value is None:  # which TOML does not know
            if usual is not None and option.name == "comment":
                found[option.name] = ""
        elif value != usual:
            is_table = any(isinstance(of, tuple) and of and isinstance(of[0], tuple) for of in (value, usual))
            found[option.name] = dict(value) if is_table else list(value) if isinstance(value, tuple) else value
    return found
