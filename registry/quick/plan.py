"""The user's options, the plan that says how all files are read, and the question about a role that is open."""

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
_MOST_OPTIONS, _MOST_FILES = 12, 5  # that a message shows
_SETTING = re.compile(  # of a manifest, as errors name it
    r"(?:let the manifest say |set (?:the submission's options? )?)?"
    r"""\b([a-z_]+) = ("\w+"|true|false|\{.*?\}(?=[,;]|$))""")


@dataclass(frozen=True)
class Asked:
    """The user's options.

    Attributes:
        kind: A reader or importer by name.
        options: Its options, as a manifest would write them.
        metric: The metric, as people call it.
        missing: The policy for items without an answer.
        runs: Files that differ by the number of a run are runs of one system, `fixed` or `random`.
        gold: The file of the gold; or its column, if one table has all systems.
        item: The columns that name an item.
        in_order: Files have no names of items and the same order.
        label, score, text: The column of the values; two are the gold's and the systems'.
        system: In one table of all systems, the systems' columns; patterns such as `run_*` too.
        by: The column whose values are test sets, each with a board.
        pool: Columns whose values could be test sets, and are not.
        sets: The mark between the labels of an item, which are a set.
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
        """Return whether files may have this format, with values of the kind `gives`."""
        return self.kind in (None, format_) and (self.metric is None or self.metric_of(gives) is not None)

    def metric_of(self, gives: str) -> Metric | None:
        """Return the user's metric of such values; None without one."""
        try:
            return None if self.metric is None else common_metric(self.metric, gives)
        except InputError:
            return None

    @property
    def value(self) -> tuple[Kind, tuple[str, ...]] | None:
        """The kind of values and the columns that the user names."""
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
    """A file that is made of some rows of a user's file, `whole`."""

    whole: Document | None = None

    @property
    def original(self) -> Document:
        """The user's file."""
        assert self.whole is not None
        return self.whole.original if isinstance(self.whole, Part) else self.whole


@dataclass(frozen=True)
class Given:
    """A file of a system, or its column of a file that holds all systems."""

    name: str
    document: Document


@dataclass(frozen=True)
class System:
    """How one system's file is read; `tokens` is the policy for text that differs from the gold's."""

    name: str
    document: Document
    reader: Reader
    tokens: str = "reject"


@dataclass(frozen=True)
class Plan:
    """How all files are read.

    Attributes:
        gold: The file that lists the items.
        reader: Its reader.
        systems: In the order in which they were given.
        roles: The equivalent options, without `--gold`, `--metric` and `--option`.
        metric: The metric, if the kind of values alone does not decide it.
        cluster: The attribute whose values are units of resampling.
        notes: Choices and doubts about the files, for the user.
    """

    gold: Document
    reader: Reader
    systems: tuple[System, ...]
    roles: tuple[str, ...] = ()
    metric: Metric | None = None
    cluster: str | None = None
    notes: tuple[str, ...] = ()


class QuestionError(InputError):
    """A role is open: the message shows the columns, `excerpt` the options to choose from."""

    def __init__(self, question: str, answers: Mapping[str, str], path: str = "") -> None:
        super().__init__(question, path=path or None)
        shown = list(answers.items())[:_MOST_OPTIONS]
        width = min(max(map(len, answers), default=0), 48)
        lines = [f"  {option:<{width}}  {means}".rstrip() for option, means in shown]
        self.excerpt = "\n".join(lines + [f"  and {len(answers) - len(shown)} more"] * (len(answers) > len(shown)))
        self.options = tuple(answers)


class OpenRoles:
    """The roles that are open, which one message asks for together."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.answers: dict[str, str] = {}

    def add(self, question: str, answers: Mapping[str, str]) -> None:
        """Add a role."""
        self.questions.append(question)
        self.answers |= answers

    def raise_if_any(self, path: str, columns: str) -> None:
        """Ask for all open roles.

        Raises:
            QuestionError: A role is open.
        """
        if self.questions:
            which = "this option" if len(self.answers) == 1 else (
                "one of these options" if len(self.questions) == 1 else "an option for each")
            raise QuestionError(f"{'; '.join(self.questions)}. Columns: {columns}. Add {which}:", self.answers, path)


def option(name: str, value: str) -> str:
    """Return an option of the command line with its value, which can be copied into a shell."""
    return f"{name} {quote(value)}"


def reader_option(name: str, value: Any) -> str:
    r"""Return the option of the command line that sets an option of a reader.

    >>> reader_option("header", False), reader_option("item", ["a", "b"])
    ('--option header=false', '--option \'item=["a", "b"]\'')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return option("--option", f"{name}={text}")


def options_of(reader: Reader, base: Reader | None = None) -> dict[str, Any]:
    """Return the options of a reader as a manifest writes them: without defaults, or without those that equal `base`'s.

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
    """Return the reader with some options; it ignores others."""
    known = {one.name for one in fields(reader)}
    return type(reader).build({**options_of(reader), **{
        name: value for name, value in options.items() if name in known}})


class Trial:
    """Reads files as plans say, each in each way once, and joins answers with items."""

    def __init__(self, missing: str) -> None:
        self._missing = MissingPolicy(missing)
        self._golds: dict[tuple[str, Reader], list[Item] | InputError] = {}
        self._answers: dict[tuple[Any, ...], Sequence[Answer | None] | InputError] = {}

    def items(self, gold: Document, reader: Reader) -> list[Item] | InputError:
        """Return the gold's items, or why it cannot be read."""
        key = (gold.path, reader)
        if key not in self._golds:
            try:
                items = reader.read_gold({"gold": gold})
                self._golds[key] = list(index_by_key(items, gold.path, reader.repeated, gold.report).values())
            except InputError as error:
                self._golds[key] = error
        return self._golds[key]

    def answers(self, plan: Plan, items: Sequence[Item], system: System) -> Sequence[Answer | None] | InputError:
        """Return a system's answers to the items, or why they do not go together."""
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
        """Return the first of some ways to read a system's file whose answers go with the items, else the first."""
        tried = list(systems)
        return next((system for system in tried
                     if not isinstance(self.answers(plan, items, system), InputError)), tried[0])

    def check(self, plan: Plan) -> tuple[list[Item], list[Sequence[Answer | None]]]:
        """Return the items and each system's answers.

        Raises:
            InputError: A file cannot be read or does not go with the gold; one error for each of the first files.
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
    """Return the error with another message; without its line if `document` is a part, which has other lines."""
    line = None if isinstance(document, Part) else error.line
    return InputError(message, path=error.path, line=line, item=error.item, category=error.category)


def as_options(message: str) -> str:
    """Replace settings of a manifest in an error's message by options of the command line.

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
