"""The user's options, the plan for reading all files, and questions about roles that are unclear.

A role is the purpose of a file or column: gold, system, item, label, and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from shlex import quote
from typing import Any, Literal

from registry.errors import InputError, combine_errors, counted
from registry.evaluation.ingest.fit import Policies, fit_file
from registry.items import Answer, Item, index_by_key
from registry.metric_names import common_metric
from registry.metrics import Metric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.values import to_toml

Kind = Literal["label", "score", "segment"]
OPTION: dict[str, str] = {"label": "--label", "score": "--score", "segment": "--text"}
_MOST_OPTIONS, _MOST_FILES = 12, 5  # shown in a message
_SETTING = re.compile(  # a setting of a manifest in the text of an error
    r"(?:let the manifest say |set (?:the submission's options? )?)?"
    r"""\b([a-z_]+) = ("\w+"|true|false|\{.*?\}(?=[,;]|$))""")


@dataclass(frozen=True)
class Asked:
    """The user's options.

    Attributes:
        kind: The name of a reader or importer; None to recognise the format.
        options: Options of the reader or importer, as in a manifest.
        metric: The common or canonical name of the metric; None for the default.
        missing: The policy for items without an answer.
        runs: `fixed` or `random` if files whose names differ only in the number of a run are runs of one system.
        gold: The gold file; or the gold's column, if one table has all systems.
        item: The columns that name an item.
        in_order: True if files have no names of items, and all files have the items in the same order.
        label, score, text: The column of values. With two columns, the gold's column and the systems' column.
        system: Columns of systems in one table of all systems, also as patterns such as `run_*`.
        by: The column whose values are test sets, each with its own leaderboard.
        pool: Columns that look like test sets, but whose rows belong to one leaderboard.
        sets: The separator of labels, if the values are sets of labels.
    """

    kind: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    missing: str = "reject"
    runs: Literal["fixed", "random"] | None = None
    gold: str | None = None
    item: tuple[str, ...] = ()
    in_order: bool = False
    label: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    by: str | None = None
    pool: tuple[str, ...] = ()
    sets: str | None = None

    def allows(self, format_: str, gives: str) -> bool:
        """Return True if the options allow a reader with this name, whose values are of the kind `gives`."""
        return self.kind in (None, format_) and (self.metric is None or self.metric_of(gives) is not None)

    def metric_of(self, gives: str) -> Metric | None:
        """Return the user's metric for values of the kind `gives`; None if it is not given or does not apply."""
        try:
            return None if self.metric is None else common_metric(self.metric, gives)
        except InputError:
            return None

    @property
    def value(self) -> tuple[Kind, tuple[str, ...]] | None:
        """The kind of values and their columns, from --label, --score or --text; None without these options."""
        columns: dict[Kind, tuple[str, ...]] = {"label": self.label, "score": self.score, "segment": self.text}
        given = [(kind, names) for kind, names in columns.items() if names]
        if len(given) > 1:
            raise InputError("--label, --score and --text exclude each other; give one of them")
        if given and len(given[0][1]) > 2:
            raise InputError(f"{OPTION[given[0][0]]} names at most two columns: the gold's and the systems'; --system "
                             "names the systems' columns of one table")
        return given[0] if given else None


@dataclass(frozen=True)
class Part(Document):
    """A file with some rows of the user's file `whole`."""

    whole: Document | None = None

    @property
    def original(self) -> Document:
        """The user's file that contains the rows of this part."""
        assert self.whole is not None
        return self.whole.original if isinstance(self.whole, Part) else self.whole


@dataclass(frozen=True)
class Given:
    """The name of a system, and the file that has its answers."""

    name: str
    document: Document


@dataclass(frozen=True)
class System:
    """A system with its file and reader; `tokens` is the policy for text that differs from the gold's text."""

    name: str
    document: Document
    reader: Reader
    tokens: str = "reject"


@dataclass(frozen=True)
class Plan:
    """The plan for reading all files of a test set.

    Attributes:
        gold: The file that lists the items.
        reader: The reader of the gold.
        systems: The systems, in the order of the command line.
        roles: Options that have the same effect as the plan, without `--gold`, `--metric` and `--option`.
        metric: The metric; None for the default metric of the values.
        cluster: The attribute whose values are the units of resampling; None if items are the units.
        notes: Notes for the user about automatic choices that may be wrong.
    """

    gold: Document
    reader: Reader
    systems: tuple[System, ...]
    roles: tuple[str, ...] = ()
    metric: Metric | None = None
    cluster: str | None = None
    notes: tuple[str, ...] = ()


class QuestionError(InputError):
    """A role that is unclear; the message shows the columns, and `excerpt` the options that answer the question."""

    def __init__(self, question: str, answers: Mapping[str, str], path: str = "") -> None:
        super().__init__(question, path=path or None)
        shown = list(answers.items())[:_MOST_OPTIONS]
        width = min(max(map(len, answers), default=0), 48)
        lines = [f"  {option:<{width}}  {means}".rstrip() for option, means in shown]
        self.excerpt = "\n".join(lines + [f"  and {len(answers) - len(shown)} more"] * (len(answers) > len(shown)))
        self.options = tuple(answers)


class OpenRoles:
    """Questions about roles that are unclear, which are asked in one message."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.answers: dict[str, str] = {}

    def add(self, question: str, answers: Mapping[str, str]) -> None:
        """Add a question, with options that answer it and their meaning."""
        self.questions.append(question)
        self.answers |= answers

    def raise_if_any(self, path: str, columns: str) -> None:
        """Ask all questions.

        Raises:
            QuestionError: There is a question.
        """
        if self.questions:
            which = "this option" if len(self.answers) == 1 else (
                "one of these options" if len(self.questions) == 1 else "an option for each")
            raise QuestionError(f"{'; '.join(self.questions)}. Columns: {columns}. Add {which}:", self.answers, path)


def option(name: str, value: str) -> str:
    """Format an option of the command line and its value, quoted for a shell."""
    return f"{name} {quote(value)}"


def reader_option(name: str, value: Any) -> str:
    r"""Format the option of the command line that sets a reader's option.

    >>> reader_option("header", False), reader_option("item", ["a", "b"])
    ('--option header=false', '--option \'item=["a", "b"]\'')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return option("--option", f"{name}={text}")


def options_of(reader: Reader, base: Reader | None = None) -> dict[str, Any]:
    """Return the options of a reader as in a manifest.

    Options with their default value are omitted. If `base` is a reader of the same class, options with the same value
    as in `base` are omitted instead.

    >>> from registry.readers import Labels
    >>> options_of(Labels(separator="comma", header=True)), options_of(Labels(), Labels(header=True))
    ({'separator': 'comma', 'header': True}, {'header': False})
    >>> options_of(Labels(rename=(("not", "NOT"),)))
    {'rename': {'not': 'NOT'}}
    """
    same = base if type(base) is type(reader) else None
    options: dict[str, Any] = {}
    for one in fields(reader):
        value, usual = getattr(reader, one.name), one.default if same is None else getattr(same, one.name)
        if value is not None and value != usual:
            options[one.name] = to_toml(value) if value else {} if one.name == "rename" else to_toml(value)
        elif value is None and usual is not None and one.name == "comment":
            options[one.name] = ""  # TOML has no null
    return options


def with_options(reader: Reader, options: Mapping[str, Any]) -> Reader:
    """Return a copy of the reader with new options; options that the reader does not have are ignored."""
    known = {one.name for one in fields(reader)}
    return type(reader).build({**options_of(reader), **{
        name: value for name, value in options.items() if name in known}})


class Trial:
    """Reads files as planned and joins answers with items; each file is read only once per reader."""

    def __init__(self, missing: str) -> None:
        self._missing = MissingPolicy(missing)
        self._golds: dict[tuple[str, Reader], list[Item] | InputError] = {}
        self._answers: dict[tuple[Any, ...], Sequence[Answer | None] | InputError] = {}

    def items(self, gold: Document, reader: Reader) -> list[Item] | InputError:
        """Return the gold's items, or the error if the gold cannot be read."""
        key = (gold.path, reader)
        if key not in self._golds:
            try:
                items = reader.read_gold({"gold": gold})
                self._golds[key] = list(index_by_key(items, gold.path, reader.repeated, gold.report).values())
            except InputError as error:
                self._golds[key] = error
        return self._golds[key]

    def answers(self, plan: Plan, items: Sequence[Item], system: System) -> Sequence[Answer | None] | InputError:
        """Return a system's answers to the items, or the error if they cannot be read or do not match the items."""
        key = (plan.gold.path, plan.reader, system.document.path, system.reader, system.tokens)
        if key not in self._answers:
            try:
                answers = system.reader.read_answers(system.document)
                metrics = (plan.metric,) if plan.metric and self._missing is MissingPolicy.REJECT else ()
                policies = Policies(self._missing, system.tokens, metrics)
                fitted = fit_file(items, answers, system.reader, policies, system.document)
                assert fitted is not None
                self._answers[key] = fitted.joined
            except InputError as error:
                self._answers[key] = error
        return self._answers[key]

    def fitting(self, plan: Plan, items: Sequence[Item], systems: Iterable[System]) -> System:
        """Return the first of `systems` whose answers match the items; if none matches, return the first one.

        The systems are the same file with different readers.
        """
        tried = list(systems)
        return next((system for system in tried
                     if not isinstance(self.answers(plan, items, system), InputError)), tried[0])

    def check(self, plan: Plan) -> tuple[list[Item], list[Sequence[Answer | None]]]:
        """Return the items and each system's answers.

        Raises:
            InputError: Files cannot be read or do not match the gold; there is one error for each of the first files.
        """
        items = self.items(plan.gold, plan.reader)
        addition = f" (read as {plan.reader.name})"
        if isinstance(items, InputError):
            raise reword(items, f"{as_options(items.message)}{addition}", plan.gold)
        results = [(system, self.answers(plan, items, system)) for system in plan.systems]
        errors = [(system, result) for system, result in results if isinstance(result, InputError)]
        if errors:
            shown = [reword(error, (f"column {system.name!r}: " if system.document.path == plan.gold.path else "")
                              + as_options(error.message) + ("" if n else addition), system.document)
                     for n, (system, error) in enumerate(errors[:_MOST_FILES])]
            if len(errors) > _MOST_FILES:
                shown.append(InputError(f"{counted(len(errors) - _MOST_FILES, 'more file is', 'more files are')} "
                                        "not read"))
            raise combine_errors(shown)
        return items, [result for _, result in results if not isinstance(result, InputError)]


def reword(error: InputError, message: str, document: Document | None = None) -> InputError:
    """Return the error with another message.

    If `document` is a part, the line is removed, because lines of the part and of the user's file have other numbers.
    """
    line = None if isinstance(document, Part) else error.line
    return InputError(message, path=error.path, line=line, item=error.item, category=error.category)


def as_options(message: str) -> str:
    """Replace the settings of a manifest in a message by options of the command line.

    >>> as_options('add it, or let the manifest say missing = "worst"'), as_options("set check_order = false")
    ('add it, or add --missing worst', 'add --option check_order=false')
    """
    def replace_setting(match: re.Match[str]) -> str:
        name, value = match.groups()
        said = f"--missing {value.strip(chr(34))}" if name == "missing" else option("--option", f"{name}={value}")
        return f"add {said}" if match[0][:len(name)] != name else said

    if match := re.search(r"is '([^']*)'; expected a finite number", message):
        message = message.replace("what option 'unscored' names", (
            f"{reader_option('unscored', [match[1]])} --missing drop if it has no score"))
    return _SETTING.sub(replace_setting, message)
