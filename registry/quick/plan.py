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
from registry.evaluation.ingest.remarks import Remark
from registry.items import Answer, Item, index_by_key
from registry.metric_names import common_metric, list_kinds
from registry.metrics import Mean, Metric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.values import to_toml

Kind = Literal["label", "score", "segment"]
OPTION: dict[str, str] = {"label": "--label", "score": "--score", "segment": "--text"}
_MOST_OPTIONS, _MOST_FILES = 12, 5  # shown in a message
_MEAN = r"""Mean(?:\((?:"(?:[^"\\]|\\.)*"|[^()"])*\))?"""  # with options, whose texts may have brackets
_WORST = re.compile(rf"set (?:its option worst|it) to the worst possible score: ({_MEAN})")
_WORST_OPTIONS = re.compile(rf"\(with (the option worst of {_MEAN}(?: and the option worst of {_MEAN})*)\)")
_SETTING = re.compile(  # a setting of a manifest in the text of an error
    r"(?:set (?:the submission's options? )?)?"
    r"""\b([a-z_]+) = ("\w+"|true|false|\{.*?\}(?=[,;]|$))""")
_TEST_SETTING = re.compile(  # a key of [significance] in the text of an error, such as `runs = "fixed"`
    r"""(?:set )?\b(alpha|correction|resamples|runs|seed|test) = ("?[\w.-]+"?(?: or "[\w-]+")*)(?: \(--[^)]*\))?""")


@dataclass(frozen=True)
class Request:
    """Options of `registry quick` and `registry new`, as the user gave them.

    Attributes:
        kind: The name of a reader or importer; None: recognise the format.
        options: Options of the reader or importer.
        metrics: The names of the metrics; empty: the default.
        missing: The policy for items without an answer.
        runs: `fixed` or `random` if files such as a.seed1 and a.seed2 are runs of one system.
        gold: The gold file; or the gold's column, if one table has all systems.
        item: The columns that identify an item.
        in_order: True if files have no names of items, but the same order of items.
        label, score, text: The column of values; with several columns, the gold's and the systems'. A system's file
            uses the first of the systems' columns that it has.
        system: The columns of systems in a table of all systems, or patterns such as `run_*`.
        by: The column whose values become test sets.
        pool: Columns that look like test sets, but do not divide the leaderboard.
        sets: The separator of labels, if values are sets of labels.
        attribute: Columns of the gold, or of scores, that the task keeps as attributes of items.
    """

    kind: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
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
    attribute: tuple[str, ...] = ()

    def allows(self, format_: str, gives: str) -> bool:
        """Return True if a reader is compatible with the user's options.

        Args:
            format_: The name of the reader.
            gives: The kind of values that it reads, such as `label`.
        """
        return self.kind in (None, format_) and self.may_compare(gives)

    def may_compare(self, gives: str) -> bool:
        """Return True if each named metric can mean a metric of a kind of values such as `label`."""
        return all(_find_metric(name, gives) is not None or gives in list_kinds(name) for name in self.metrics)

    def find_metrics(self, gives: str) -> list[Metric | None]:
        """Return the metrics that the user named, for one kind of values such as `label`.

        An entry is None if the metric does not apply to these values.
        """
        return [_find_metric(name, gives) for name in self.metrics]

    @property
    def value(self) -> tuple[Kind, tuple[str, ...]] | None:
        """Kind of values and their columns, from the options --label, --score and --text.

        The value is None without these options.
        """
        columns: dict[Kind, tuple[str, ...]] = {"label": self.label, "score": self.score, "segment": self.text}
        given = [(kind, names) for kind, names in columns.items() if names]
        if len(given) > 1:
            raise InputError("--label, --score and --text cannot be combined; keep one of them")
        return given[0] if given else None

    def list_answer_columns(self, gold: str) -> list[str]:
        """Return the columns of answers that the user names (--label, --score, --text).

        Args:
            gold: The gold's column of values. If the only named column is another one, it is the systems'.
        """
        names = self.value[1] if self.value is not None else ()
        return [*names[1:]] or [name for name in names if name != gold]


def _find_metric(name: str, gives: str) -> Metric | None:
    try:
        return common_metric(name, gives)
    except InputError:
        return None


@dataclass(frozen=True)
class Part(Document):
    """File with only some rows of a user's file, such as the rows of one system.

    Attributes:
        whole: The file from which the rows were copied.
    """

    whole: Document | None = None

    @property
    def original(self) -> Document:
        """The user's file that contains the rows."""
        assert self.whole is not None
        return self.whole.original if isinstance(self.whole, Part) else self.whole


@dataclass(frozen=True)
class SystemFile:
    """Name of a system, and the file with its answers."""

    name: str
    document: Document


@dataclass(frozen=True)
class System:
    """System with its file and the reader of this file.

    `tokens` is the policy for text that differs from the text of the gold: `reject` or `warn`.
    """

    name: str
    document: Document
    reader: Reader
    tokens: str = "reject"


@dataclass(frozen=True)
class Plan:
    """Decisions about how to read the files of a test set.

    Attributes:
        gold: The file that lists the items.
        reader: The reader of this file.
        systems: The systems with their files and readers, in the order of the command line.
        roles: The command-line options that would have the same effect, such as `--item id`.
        metric: The metric; None for the default metric of the values.
        column_metrics: A metric for each column of scores that is named; empty if there is one metric.
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
    column_metrics: tuple[Mean, ...] = ()


class QuestionError(InputError):
    """Error that asks the user about the purpose of a file or column.

    Attributes:
        excerpt: The options that answer the question, with their meaning, one per line.
        options: The same options alone.
    """

    def __init__(self, question: str, answers: Mapping[str, str], path: str = "") -> None:
        super().__init__(question, path=path or None)
        shown = list(answers.items())[:_MOST_OPTIONS]
        width = min(max(map(len, answers), default=0), 48)
        lines = [f"  {option:<{width}}  {means}".rstrip() for option, means in shown]
        self.excerpt = "\n".join(lines + [f"  and {len(answers) - len(shown)} more"] * (len(answers) > len(shown)))
        self.options = tuple(answers)


class Questions:
    """Questions to the user that are collected and asked in one message."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.answers: dict[str, str] = {}
        self.places: list[tuple[str, str] | None] = []

    def add(self, question: str, answers: Mapping[str, str], place: tuple[str, str] | None = None) -> None:
        """Add a question.

        Args:
            question: The question.
            answers: The command-line options that answer it, with their meaning.
            place: The file that the question is about, and its columns; None for the gold or the only table.
        """
        self.questions.append(question)
        self.answers |= answers
        self.places.append(place)

    def raise_if_any(self, path: str, columns: str) -> None:
        """Raise one error with all collected questions; do nothing if there are none.

        Args:
            path: The gold or the only table.
            columns: A list of its columns, for the message.

        Raises:
            QuestionError: There is a question.
        """
        if self.questions:
            which = "this option" if len(self.answers) == 1 else (
                "one of these options" if len(self.questions) == 1 else "one option for each question")
            shown = self.questions
            if len(shown) == 1 and self.places[0] is not None:
                path, columns = self.places[0]
            else:
                shown = [question if place is None else f"{place[0]} ({place[1]}): {question}"
                         for question, place in zip(shown, self.places, strict=True)]
            ends = [*["; "] * (len(shown) - 1), ". "]
            text = "".join(question + (" " if question.endswith("?") else end)
                           for question, end in zip(shown, ends, strict=True))
            raise QuestionError(f"{text}Columns: {columns}. Add {which}:", self.answers, path)


def option(name: str, value: str) -> str:
    """Format a command-line option with its value, quoted for a shell."""
    return f"{name} {quote(value)}"


def reader_option(name: str, value: Any) -> str:
    r"""Format the command-line option that sets an option of a reader.

    >>> reader_option("header", False), reader_option("item", ["a", "b"])
    ('--option header=false', '--option \'item=["a", "b"]\'')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return option("--option", f"{name}={text}")


def get_options(reader: Reader, base: Reader | None = None) -> dict[str, Any]:
    """Return the options of a reader for a manifest, without default values.

    If `base` is a reader of the same class, options are left out if `base` has the same value.

    >>> from registry.readers import Labels
    >>> get_options(Labels(separator="comma", header=True)), get_options(Labels(), Labels(header=True))
    ({'separator': 'comma', 'header': True}, {'header': False})
    >>> get_options(Labels(rename=(("not", "NOT"),)))
    {'rename': {'not': 'NOT'}}
    """
    same = base if type(base) is type(reader) else None
    options: dict[str, Any] = {}
    for setting in fields(reader):
        name = setting.name
        value, usual = getattr(reader, name), setting.default if same is None else getattr(same, name)
        if value is not None and value != usual:
            options[name] = to_toml(value) if value else {} if name == "rename" else to_toml(value)
        elif value is None and usual is not None and name == "comment":
            options[name] = ""  # TOML has no null
    return options


def with_options(reader: Reader, options: Mapping[str, Any]) -> Reader:
    """Return a copy of a reader with new options; unknown options are ignored."""
    names = {setting.name for setting in fields(reader)}
    return type(reader).build({**get_options(reader), **{
        name: value for name, value in options.items() if name in names}})


class Trial:
    """Reads files with different readers to find out which reader fits.

    Results and errors are cached, so each reader reads a file once.
    """

    def __init__(self, missing: str) -> None:
        self._missing = MissingPolicy(missing)
        self._golds: dict[tuple[str, Reader], list[Item] | InputError] = {}
        self._answers: dict[tuple[Any, ...], Sequence[Answer | None] | InputError] = {}
        self._remarks: dict[tuple[Any, ...], list[Remark]] = {}

    def items(self, gold: Document, reader: Reader) -> list[Item] | InputError:
        """Read the items of a gold file; return an error instead of raising it."""
        key = (gold.path, reader)
        if key not in self._golds:
            try:
                items = reader.read_gold({"gold": gold})
                self._golds[key] = list(index_by_key(items, gold.path, reader.repeated, gold.report).values())
            except InputError as error:
                self._golds[key] = error
        return self._golds[key]

    def answers(self, plan: Plan, items: Sequence[Item], system: System) -> Sequence[Answer | None] | InputError:
        """Read a system's answers to the items; return an error instead of raising it.

        Answers that do not match the items are an error.
        """
        key = self._make_key(plan, system)
        if key not in self._answers:
            try:
                answers = system.reader.read_answers(system.document)
                metrics = plan.column_metrics or ((plan.metric,) if plan.metric else ())
                if self._missing is not MissingPolicy.REJECT:
                    metrics = ()
                policies = Policies(self._missing, system.tokens, metrics)
                fitted = fit_file(items, answers, system.reader, policies, system.document)
                assert fitted is not None
                self._answers[key] = fitted.joined
                self._remarks[key] = fitted.remarks
            except InputError as error:
                self._answers[key] = error
        return self._answers[key]

    @staticmethod
    def _make_key(plan: Plan, system: System) -> tuple[Any, ...]:
        return plan.gold.path, plan.reader, system.document.path, system.reader, system.tokens

    def list_warnings(self, plan: Plan) -> list[str]:
        """Return warnings about valid files that probably get meaningless scores, after `check`."""
        return [str(remark.error(system.document.path)) for system in plan.systems
                for remark in self._remarks[self._make_key(plan, system)]]

    def find_fitting(self, plan: Plan, items: Sequence[Item], systems: Iterable[System]) -> System:
        """Find the reader with which a system's answers match the items.

        Args:
            plan: The reader of the gold.
            items: The items of the gold.
            systems: The same file with different readers.

        Returns:
            The first entry of `systems` whose answers match, or else the first of all.
        """
        tried = list(systems)
        return next((system for system in tried
                     if not isinstance(self.answers(plan, items, system), InputError)), tried[0])

    def find_errors(self, plan: Plan) -> dict[str, InputError]:
        """Return the errors of systems with invalid files, by the name of the system.

        The result is empty if the gold is invalid.
        """
        items = self.items(plan.gold, plan.reader)
        if isinstance(items, InputError):
            return {}
        results = [(system, self.answers(plan, items, system)) for system in plan.systems]
        return {system.name: reword(result, suggest_options(result.message), system.document)
                for system, result in results if isinstance(result, InputError)}

    def check(self, plan: Plan) -> tuple[list[Item], list[Sequence[Answer | None]]]:
        """Read all files of a test set; return the items and each system's answers.

        Args:
            plan: The files with their readers.

        Raises:
            InputError: Files cannot be read or do not match the gold. The error names up to five files.
        """
        items = self.items(plan.gold, plan.reader)
        addition = f" (read as {plan.reader.name})"
        if isinstance(items, InputError):
            raise reword(items, f"{suggest_options(items.message)}{addition}", plan.gold)
        results = [(system, self.answers(plan, items, system)) for system in plan.systems]
        errors = [(system, result) for system, result in results if isinstance(result, InputError)]
        if errors:
            shown = [reword(error, (f"column {system.name!r}: " if system.document.path == plan.gold.path else "")
                              + suggest_options(error.message) + ("" if n else addition), system.document)
                     for n, (system, error) in enumerate(errors[:_MOST_FILES])]
            if len(errors) > _MOST_FILES:
                shown.append(InputError(f"{counted(len(errors) - _MOST_FILES, 'more file is', 'more files are')} "
                                        "not read"))
            raise combine_errors(shown)
        return items, [result for _, result in results if not isinstance(result, InputError)]


def reword(error: InputError, message: str, document: Document | None = None) -> InputError:
    """Return a copy of an error with another message.

    If the error is about a temporary file with only some rows of the user's file, the copy has no line number: the
    number would be wrong in the user's file.
    """
    line = None if isinstance(document, Part) else error.line
    return InputError(message, path=error.path, line=line, item=error.item, category=error.category)


def name_test_options(message: str) -> str:
    """Replace keys of `[significance]` in a message, such as `runs = "fixed"`, by options of the command line."""
    def name_option(match: re.Match[str]) -> str:
        values = match[2].replace('"', "").split(" or ")
        return "use " * match[0].startswith("set ") + " or ".join(f"--{match[1]} {value}" for value in values)

    return _TEST_SETTING.sub(name_option, message)


def suggest_options(message: str) -> str:
    """Replace settings of a manifest in a message by options of the command line.

    >>> suggest_options('or set missing = "worst" in the manifest'), suggest_options("set check_order = false")
    ('or add --missing worst', 'add --option check_order=false')
    >>> suggest_options('or set missing = "worst" or missing = "drop" in the manifest')
    'or add --missing worst or --missing drop'
    >>> suggest_options("set item = [] to number the rows")
    'add --in-order to number the rows'
    >>> suggest_options('set runs = "fixed"'), suggest_options("set alpha = 0.1 (--alpha 0.1)")
    ('use --runs fixed', 'use --alpha 0.1')
    >>> suggest_options("or set its option worst to the worst possible score: Mean(better=lower, worst=NUMBER)")
    "or add --metric 'Mean(better=lower, worst=NUMBER)' with the worst possible score"
    """
    def replace_setting(match: re.Match[str]) -> str:
        name, value = match.groups()
        said = f"--missing {value.strip(chr(34))}" if name == "missing" else option("--option", f"{name}={value}")
        return f"add {said}" if match[0][:len(name)] != name else said

    if match := re.search(r"is '([^']*)'; expected a finite number", message):
        message = message.replace("what option 'unscored' names", (
            f"{reader_option('unscored', [match[1]])} --missing drop if it has no score"))
    message = message.replace("set item = []", "add --in-order")
    message = _SETTING.sub(replace_setting, name_test_options(message)).replace(" in the manifest", "")
    message = _WORST.sub(lambda match: f"add {option('--metric', match[1])} with the worst possible score", message)
    return _WORST_OPTIONS.sub(_name_metrics_with_worst, message)


def _name_metrics_with_worst(match: re.Match[str]) -> str:
    """Write `(with the option worst of Mean)` as options `--metric`; quick needs them unless scores are 0 and 1."""
    metrics = [common_metric(name, "score") for name in re.findall(f"the option worst of ({_MEAN})", match[1])]
    options = [option("--metric", metric.name_with_worst()) for metric in metrics if isinstance(metric, Mean)]
    return f"(with {' '.join(options)} if scores are not only 0 and 1)"
