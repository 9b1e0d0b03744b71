"""The board of an evaluation as an object: printed as the terminal prints it, shown in a notebook, drawn, a frame."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from registry.boards.leaderboard import Leaderboard
from registry.direct.task import TASK, Made
from registry.errors import InputError, RegistryError, UnknownNameError, counted, suggest
from registry.messages import Messages
from registry.parallel.execution import Execution
from registry.pipeline import TaskPlace, evaluate_task
from registry.rendering.render import TableDisplay
from registry.rendering.table import Table
from registry.reports.boards import board_table, pair_table
from registry.reports.figures.kinds import KINDS, Kind, draw, look_for
from registry.store.database import Database
from registry.store.log import Journal

if TYPE_CHECKING:
    import pandas
    import polars

Package = Literal["pandas", "polars"]
_CONFLICT = "exists with other content; name another folder, or remove this file"


class Sizes(TypedDict, total=False):
    """How a figure is set, as the options of `registry plot` say it."""

    width: str
    height: str
    font_size: float
    limits: tuple[float, float]
    label: str
    palette: Literal["okabe-ito", "grey"]


@dataclass(frozen=True)
class Pair:
    """What is known of two systems.

    Attributes:
        a, b: The systems.
        difference: A's score less B's; None where either is undefined.
        interval: Of the difference, not corrected for the number of pairs; None where the test gives none.
        p_value: The raw p-value.
        p_adjusted: The p-value corrected over all pairs of the board.
        significant: Whether they differ significantly.
        method: How the p-value came about: `exact`, `monte-carlo`, ...
    """

    a: str
    b: str
    difference: float | None
    interval: tuple[float | None, float | None] | None
    p_value: float | None
    p_adjusted: float | None
    significant: bool
    method: str

    def turned(self) -> Pair:
        """The same, said of B and A."""
        low, high = (None if end is None else -end for end in reversed(self.interval or (None, None)))
        return replace(self, a=self.b, b=self.a, interval=self.interval and (low, high),
                       difference=None if self.difference is None else 0.0 - self.difference)


class _Framed(TableDisplay):
    """What is a table, for data frames too."""

    _package: Package | None

    def to_frame(self, package: Package | None = None) -> pandas.DataFrame | polars.DataFrame:
        """A data frame with all that is known of each row.

        Args:
            package: Of pandas or polars; None: that of what was given, else the one that is installed.

        Raises:
            RegistryError: It is not installed.
        """
        wanted = package or self._package or ("pandas" if find_spec("pandas") else "polars")
        if wanted not in ("pandas", "polars"):
            raise InputError(f"frames are of pandas or polars, not {wanted!r}")
        if find_spec(wanted) is None:
            raise RegistryError(f"this needs {wanted}: pip install 'evalregistry[frames]'")
        table = self._table
        columns = {key: [list(row[key]) if isinstance(row[key], tuple) else row[key] for row in table.rows]
                   for key in table.keys}
        if wanted == "pandas":
            import pandas

            return pandas.DataFrame(columns)
        import polars

        return polars.DataFrame(columns, strict=False)


class Pairs(_Framed, Sequence[Pair]):
    """The pairs of a board, those of the best systems first; `pairs["a", "b"]` is that of two systems."""

    def __init__(self, board: Leaderboard, names: Sequence[str], package: Package | None = None) -> None:
        self._board, self._names, self._package = board, names, package

    @property
    def _table(self) -> Table:
        return pair_table(self._board)

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
                return pair if pair.a == which[0] else pair.turned()
        raise InputError(f"{which[0]!r} is compared with other systems, not with itself")

    def __iter__(self) -> Iterator[Pair]:
        names = self._names
        for decision in self._board.decisions:
            low, high = decision.row["ci_low"], decision.row["ci_high"]
            yield Pair(names[decision.a], names[decision.b], _number(decision.difference),
                       None if low is None and high is None else (_number(low), _number(high)),
                       _number(decision.p_value), _number(decision.p_adjusted), bool(decision.significant),
                       str(decision.row["method"]))


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


@dataclass(frozen=True)
class Picture:
    """A figure, which a notebook shows and `save` writes."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


class Board(_Framed):
    """How systems stand by one metric, and what of it the data supports.

    `len` is the number of systems; `repr` is the table as `registry board` prints it.

    Attributes:
        messages: Messages about the data and the tests, in sentences that begin with `warning: ` or `note: `.
    """

    def __init__(self, board: Leaderboard, made: Made, messages: Sequence[str],
                 package: Package | None = None) -> None:
        self.messages = tuple(messages)
        self._board, self._made, self._package = board, made, package

    @property
    def _table(self) -> Table:
        table = board_table(self._board)
        if not self.messages:
            return table
        caption = f"`messages` has {counted(len(self.messages), 'message')}."
        return replace(table, captions=(*table.captions, caption))

    def __len__(self) -> int:
        return len(self._board.standings)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, best first."""
        return tuple(self._made.names[of.submission.rpartition("@")[0]] for of in self._board.standings)

    @property
    def scores(self) -> dict[str, float | None]:
        """The systems' scores, best first; None where undefined."""
        return {name: of.score for name, of in zip(self.systems, self._board.standings, strict=True)}

    @property
    def best(self) -> tuple[str, ...]:
        """The systems that may be the best: those that no other one beats significantly, best score first."""
        return tuple(name for name, of in zip(self.systems, self._board.standings, strict=True) if of.rank_low == 1)

    @property
    def warnings(self) -> Messages:
        """Messages about the board, each with `code`, `severity` and `parameters`; `str` gives the text."""
        return self._board.warnings

    @property
    def pairs(self) -> Pairs:
        """All pairs of systems, tested."""
        return Pairs(self._board, self.systems, self._package)

    @property
    def signature(self) -> str:
        """One line that says which test, correction and settings the board rests on."""
        return self._board.signature

    def to_task(self, folder: str | Path, task: str | None = None) -> Path:
        """Write the data as a task, a manifest with its files, which `registry run` brings into a registry.

        Args:
            folder: Where to; made if need be.
            task: The task's id; None: the folder's name.

        Returns:
            The manifest's path.

        Raises:
            InputError: A file is there with other content, the folder cannot be written, or the id is none.
        """
        from registry.manifest import load_manifest

        place = Path(folder)
        with self._made.folder.write(place, task or place.resolve().name, conflict=_CONFLICT) as manifest:
            load_manifest(manifest)
        return manifest

    def plot(self, kind: Kind = "scores", path: str | Path | None = None, **look: Unpack[Sizes]) -> Picture:
        """Draw it, as `registry plot` does; needs the extra `plot`.

        Args:
            kind: `scores` with intervals, a matrix of the `pairs`, the `gains` of pairs against confidence, who is not
                told apart (`alike`), or how often resamples give each of the `ranks`.
            path: Where to, a file that ends in .svg, .pdf, .png or .pgf; None: it is shown only.
            look: `width` and `height`, such as `"7.7cm"` or a kind of paper's column (`"acl"`, `"neurips"`),
                `font_size` in points, `limits` of the scale of scores or gains, the `label` below it, and the
                `palette`, `"okabe-ito"` or `"grey"`.

        Raises:
            InputError: There is no such kind or size, or matplotlib is not installed.
        """
        if kind not in KINDS:
            raise InputError(f"no figure is called {kind!r}; {suggest(str(kind), KINDS)}")
        how = look_for(kind, **look)
        board = self._drawn_of(kind)
        with tempfile.TemporaryDirectory() as folder:
            shown = Path(folder) / "figure.svg"
            for to in (shown, *([] if path is None else [Path(path)])):
                draw(board, kind, to, how, ("team", {}))
            return Picture(shown.read_text("utf-8"))

    def _drawn_of(self, kind: Kind) -> Leaderboard:
        """The leaderboard with what a figure shows beside it: places in resamples."""
        if kind != "ranks":
            return self._board
        from registry.boards.choose import add_resampled_ranks
        from registry.store import catalog

        with tempfile.TemporaryDirectory(prefix="registry-", ignore_cleanup_errors=True) as folder:
            place = TaskPlace(Path(folder) / "task", Database(Path(folder) / "registry.duckdb"))
            evaluate_task(self._made.folder, TASK, Journal("evaluate", {}), Execution(), lambda _: None, place)
            with place.database.reading() as connection:
                (row,) = catalog.tasks(connection, TASK)
                return add_resampled_ranks(connection, row, self._board)
