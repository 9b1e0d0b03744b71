"""Leaderboards as Python objects that can be printed, shown in notebooks, drawn, and converted to data frames."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from registry.boards.leaderboard import SHARED_KEYS, Leaderboard
from registry.direct.advice import name_arguments
from registry.direct.task import TASK, TemporaryTask
from registry.errors import InputError, RegistryError, UnknownNameError, counted, suggest
from registry.messages import Messages
from registry.parallel.execution import Execution
from registry.pipeline import TaskPlace, evaluate_task
from registry.rendering.render import TableDisplay
from registry.rendering.table import Table
from registry.reports.boards import make_board_table, make_pair_table
from registry.reports.figures.kinds import KINDS, Kind, draw, make_look
from registry.reports.methods import Methods, describe_methods
from registry.store.database import Database
from registry.store.log import Journal

if TYPE_CHECKING:
    import pandas
    import polars

    from registry.studies.run import StudyResult
_CONFLICT = "this file already exists with other content; remove it, or name another folder"


class Sizes(TypedDict, total=False):
    """Layout options of a figure, the same as those of the command `registry plot`."""

    width: str
    height: str
    font_size: float
    limits: tuple[float, float]
    label: str
    palette: Literal["okabe-ito", "grey"]
    dpi: int


@dataclass(frozen=True)
class Pair:
    """Comparison of two systems, A and B.

    Attributes:
        a, b: The names of the systems.
        difference: How much A is better: the score of A minus the score of B or, if lower scores are better, B minus A;
            None if a score is undefined.
        interval: The ends of the confidence interval of the difference, without a correction for the number of pairs;
            None if the test has no interval.
        p_value: The raw p-value.
        log10_p: The decimal logarithm of the p-value, which is finite even if the p-value is too small for a float.
        p_adjusted: The p-value after the correction for the number of pairs.
        significant: True if the systems differ significantly.
        method: The method that computed the p-value, such as `exact` or `monte-carlo`.
    """

    a: str
    b: str
    difference: float | None
    interval: tuple[float | None, float | None] | None
    p_value: float | None
    log10_p: float | None
    p_adjusted: float | None
    significant: bool
    method: str

    def swap(self) -> Pair:
        """Return the same comparison with A and B swapped.

        The difference and its interval change their sign.
        """
        low, high = (None if end is None else -end for end in reversed(self.interval or (None, None)))
        return replace(self, a=self.b, b=self.a, interval=self.interval and (low, high),
                       difference=None if self.difference is None else 0.0 - self.difference)


class _FrameSource(TableDisplay):
    """Base class of tables that can be converted to a data frame."""

    def to_pandas(self) -> pandas.DataFrame:
        """Convert the table to a data frame of pandas with all columns.

        Raises:
            RegistryError: pandas is not installed.
        """
        _require("pandas")
        import pandas

        return pandas.DataFrame(self._columns)

    def to_polars(self) -> polars.DataFrame:
        """Convert the table to a data frame of polars with all columns.

        Raises:
            RegistryError: polars is not installed.
        """
        _require("polars")
        import polars

        return polars.DataFrame(self._columns, strict=False)

    @property
    def _columns(self) -> dict[str, list[Any]]:
        table = self._table
        keys = [key for key in _FIRST_COLUMNS if key in table.keys]
        keys += [key for key in table.keys if key not in (*_FIRST_COLUMNS, *_LAST_COLUMNS)]
        keys += [key for key in _LAST_COLUMNS if key in table.keys]
        return {key: [list(row[key]) if isinstance(row[key], tuple) else row[key] for row in table.rows]
                for key in keys}


# Columns of data frames of boards and pairs: the results first, the values that all rows share last.
_FIRST_COLUMNS = ("system", "system_a", "system_b", "score", "difference", "ci_low", "ci_high", "p_value", "p_adjusted",
                  "significant", "rank")
_LAST_COLUMNS = ("test", "alternative", "correction", "family_size", "unit", "n_units", "seed", *SHARED_KEYS,
                 "warnings")


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise RegistryError(f"data frames need the package {package}; run pip install 'evalregistry[frames]'")


class Items(_FrameSource):
    """Scores of all systems on single items: one row per item, system and run."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _table(self) -> Table:
        keys = ("test_set", "item", "system", "run", "score")
        return Table(self._rows, keys=keys if self._rows and "test_set" in self._rows[0] else keys[1:])


class Pairs(_FrameSource, Sequence[Pair]):
    """Sequence of the comparisons of all system pairs on a leaderboard.

    `pairs["a", "b"]` is the comparison of systems a and b. Pairs of the best systems come first.
    """

    def __init__(self, board: Leaderboard, names: Sequence[str]) -> None:
        self._board, self._names = board, names

    @property
    def _table(self) -> Table:
        return make_pair_table(self._board)

    def __len__(self) -> int:
        return len(self._board.decisions)

    @overload
    def __getitem__(self, which: int | tuple[str, str]) -> Pair: ...
    @overload
    def __getitem__(self, which: slice) -> list[Pair]: ...
    def __getitem__(self, which: int | slice | tuple[str, str]) -> Pair | list[Pair]:
        if not isinstance(which, tuple):
            return list(self)[which]
        for name in which:
            if name not in self._names:
                raise UnknownNameError("system", name, self._names)
        for pair in self:
            if {pair.a, pair.b} == {*which}:
                return pair if pair.a == which[0] else pair.swap()
        raise InputError(f"a system cannot be compared with itself ({which[0]!r}); name two different systems")

    def __iter__(self) -> Iterator[Pair]:
        names = self._names
        for decision in self._board.decisions:
            low, high = decision.row["ci_low"], decision.row["ci_high"]
            yield Pair(names[decision.a], names[decision.b], _number(decision.difference),
                       None if low is None and high is None else (_number(low), _number(high)),
                       _number(decision.p_value), _number(decision.row["log10_p"]), _number(decision.p_adjusted),
                       bool(decision.significant), str(decision.row["method"]))


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


@dataclass(frozen=True)
class Picture:
    """Figure in SVG format that notebooks display."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


class GateResult(_FrameSource):
    """Verdict of a gate: may a candidate replace a base system?

    `print(result)` prints the same table as the command `registry gate`.

    Attributes:
        verdict: `pass`, `fail` or `undecided`.
        criteria: One dict for each criterion, with its difference, p-value and verdict.
        sentences: The verdict in words.
    """

    def __init__(self, result: StudyResult) -> None:
        self.criteria: list[dict[str, Any]] = result.finding.tables["criteria"]
        self.verdict: Literal["pass", "fail", "undecided"] = result.finding.tables["gate"][0]["verdict"]
        self.sentences = tuple(result.finding.reading)
        self._result = result

    @property
    def _table(self) -> Table:
        from registry.reports.studies import study_table

        return study_table(self._result)


class Board(_FrameSource):
    """Leaderboard of one metric, with scores and significance tests of all pairs.

    With `average=True`, scores are averages over test sets.

    `len(board)` is the number of systems. `print(board)` prints the same table as the command `registry board`.

    Attributes:
        messages: Messages about the data and the tests, as sentences that begin with `warning: ` or `info: `.
    """

    def __init__(self, board: Leaderboard, task: TemporaryTask, messages: Sequence[str], *,
                 is_average: bool = False) -> None:
        self.messages = tuple(messages)
        self._board, self._task, self._is_average = board, task, is_average

    @property
    def _table(self) -> Table:
        table = make_board_table(self._board)
        captions, notes = (tuple(map(name_arguments, lines)) for lines in (table.captions, table.notes))
        more = (f"`messages` has {counted(len(self.messages), 'message')}.",) if self.messages else ()
        return replace(table, captions=(*captions, *more), notes=notes)

    def __len__(self) -> int:
        return len(self._board.standings)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, best first."""
        return tuple(self._task.names.get(standing.submission.rpartition("@")[0], standing.display_name)
                     for standing in self._board.standings)

    @property
    def scores(self) -> dict[str, float | None]:
        """Score of each system by name, best first; None if a score is undefined."""
        return {name: standing.score for name, standing in zip(self.systems, self._board.standings, strict=True)}

    @property
    def best(self) -> tuple[str, ...]:
        """Names of the systems that no other system beats significantly, best first."""
        standings = zip(self.systems, self._board.standings, strict=True)
        return tuple(name for name, standing in standings if standing.rank_low == 1)

    @property
    def warnings(self) -> Messages:
        """Messages about the leaderboard.

        Each message has `code`, `severity` and `parameters`; `str(message)` is its text.
        """
        return self._board.warnings

    @property
    def pairs(self) -> Pairs:
        """Comparisons of all pairs of systems."""
        return Pairs(self._board, self.systems)

    @property
    def items(self) -> Items:
        """Scores of all systems on single items, in the order of the items.

        The program evaluates the task again, because the board stores no items.
        """
        names = {standing.submission.rpartition("@")[0]: name
                 for standing, name in zip(self._board.standings, self.systems, strict=True)}
        with self._open_registry() as database, database.reading() as connection:
            rows = connection.exec_driver_sql(
                "SELECT test_set, item, team, system, replicate, score FROM item_score "
                "ORDER BY item_id, scoring_id, replicate")
            return Items([{**({"test_set": row.test_set} if self._is_average else {}), "item": row.item,
                           "system": names[f"{row.team}/{row.system}"], "run": row.replicate,
                           "score": row.score} for row in rows])

    @property
    def result(self) -> str:
        """The result in one sentence, which readers of the table see first, and sentences for a paper.

        For two systems, it has the difference, its confidence interval and the p-value, then the number of items on
        which they differ, and the smallest difference that the test set detects with 80 % power.
        """
        return " ".join(filter(None, (self._board.result, *self._board.details)))

    @property
    def signature(self) -> str:
        """One line for papers that identifies gold, metric, test and settings."""
        return self._board.signature

    def methods(self) -> Methods:
        """Return a paragraph for a paper that describes how the leaderboard was computed.

        The paragraph ends with its references.
        """
        if self._is_average:
            return Methods(self._board.title, " ".join(map(str, self._board.details)))
        return describe_methods(self._board)

    def gate(self, base: str, candidate: str, *, margin: float | None = None, superior: bool = False,
             reference: str | None = None, expected: float = 0.0, attempts: int = 1) -> GateResult:
        """Test whether a candidate may replace a base system, like the command `registry gate`.

        >>> import registry
        >>> board = registry.evaluate(["yes"] * 60, {"old": ["yes"] * 60, "new": ["yes"] * 60}, "accuracy")
        >>> board.gate("old", "new", margin=0.1).verdict
        'pass'

        Args:
            base: The system to replace.
            candidate: The new system.
            margin: The largest loss of score that is accepted.
            superior: True to pass only if the candidate is significantly better.
            reference: Another system that the candidate must not be worse than either, by the same margin.
            expected: The true difference for which an undecided result says how many units suffice.
            attempts: Number of candidates that are tried; alpha is divided by it.

        Raises:
            UnknownNameError: The board has no system of this name.
            InputError: An argument is invalid, or the data cannot be tested.
        """
        from registry.studies.gate import Gate
        from registry.studies.gate_history import run_gate
        from registry.studies.run import Archive
        from registry.studies.study import Choice

        for name in filter(None, (base, candidate, reference)):
            if name not in self.systems:
                raise UnknownNameError("system", name, self.systems)
        try:
            study = Gate(base=base, candidate=candidate, margin=margin, superior=superior, reference=reference or "",
                         expected=expected, average=self._is_average, attempts=attempts)
            with self._open_registry() as database:
                result, _ = run_gate(Archive(database, Journal("study", {}), dry_run=True), study, Choice(TASK))
        except InputError as error:
            raise InputError(re.sub("--(?=[a-z])", "", error.message)) from None  # options are arguments
        return GateResult(result)

    def to_task(self, folder: str | Path, task: str | None = None) -> Path:
        """Save the evaluated data as a task: a folder with a manifest and data files.

        The command `registry run` can then store the task in a registry.

        Args:
            folder: The folder to write; it is created if necessary.
            task: The id of the task. Default: the name of the folder.

        Returns:
            The path of the manifest.

        Raises:
            InputError: A file exists with other content, the folder cannot be written, or the id is invalid.
        """
        from registry.manifest import load_manifest

        place = Path(folder)
        with self._task.folder.write(place, task or place.resolve().name, conflict=_CONFLICT) as manifest:
            load_manifest(manifest)
        return manifest

    def plot(self, kind: Kind = "scores", path: str | Path | None = None, **look: Unpack[Sizes]) -> Picture:
        """Draw a figure of the leaderboard, like the command `registry plot`.

        Args:
            kind: `scores` with intervals, the decisions of all `pairs`, 1 - p against the differences of pairs
                (`gains`), `groups` of systems that do not differ significantly, or the frequency of `ranks` in
                resamples.
            path: A file to write, which ends in .svg, .pdf, .png or .pgf; None: the figure is only returned.
            look: `width` and `height` are texts such as `"7.7cm"` or `"acl"` (a column of a paper), `font_size` is in
                points, `limits` and `label` belong to the axis of scores or gains, `palette` is `"okabe-ito"` or
                `"grey"`, and `dpi` is the resolution of PNG files.

        Raises:
            InputError: An argument is invalid, or matplotlib (the extra `plot`) is not installed.
        """
        if kind not in KINDS:
            raise InputError(f"unknown figure {kind!r}; {suggest(str(kind), KINDS)}")
        figure_look = make_look(kind, **look)
        board = self._load_board_for(kind)
        with tempfile.TemporaryDirectory() as folder:
            shown = Path(folder) / "figure.svg"
            for to in (shown, *([] if path is None else [Path(path)])):
                draw(board, kind, to, figure_look, ("team", {}))
            return Picture(shown.read_text("utf-8"))

    def _load_board_for(self, kind: Kind) -> Leaderboard:
        """Return the leaderboard with the data that a kind of figure requires.

        The figure `ranks` requires the ranks of the systems in resamples, which are computed here.
        """
        if kind != "ranks":
            return self._board
        if self._is_average:
            raise InputError("the figure ranks does not support averages; choose scores, pairs, gains or groups")
        from registry.boards.choose import add_resampled_ranks
        from registry.store import catalog

        with self._open_registry() as database, database.reading() as connection:
            (row,) = catalog.tasks(connection, TASK)
            return add_resampled_ranks(connection, row, self._board)

    @contextmanager
    def _open_registry(self) -> Iterator[Database]:
        """Evaluate the values again in a temporary registry, and yield it."""
        with tempfile.TemporaryDirectory(prefix="registry-", ignore_cleanup_errors=True) as folder:
            place = TaskPlace(Path(folder) / "task", Database(Path(folder) / "registry.duckdb"))
            evaluate_task(self._task.folder, TASK, Journal("evaluate", {}), Execution(), lambda _: None, place)
            yield place.database
