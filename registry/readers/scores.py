"""Numbers per item that another program computed: scores, statistics, judgments, log-probabilities.

`Mtme` reads scores in the files of mt-metrics-eval: human scores are the gold, metrics' scores are submissions.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from registry.columns import AnswerColumns, Rows, StatisticColumns
from registry.errors import InputError, counted
from registry.families import LARGEST_OTHER
from registry.items import Answer, Item
from registry.readers.base import Reader
from registry.readers.parsing.delimited import FEW_CELLS, split_cells
from registry.readers.parsing.document import Document, describe_invisible
from registry.readers.segments import read_attributes
from registry.readers.tables import Row, TableReader, is_unscored, list_numbers, shorten, to_number


class Scores(TableReader):
    """One number per item, in a table of one system or of many.

    The gold lists the items and, where a metric compares with it, the right number. The scores of a system stand in a
    column of a file of its own, or of the gold's.

    Attributes:
        score: The column that holds a system's scores.
        gold: The column of the gold that holds the right numbers.
    """

    name: ClassVar[str] = "scores"
    gives: ClassVar[str] = "score"
    absent: ClassVar[str] = "there is no score of it"
    gives_columns: ClassVar[bool] = True

    score: str = "score"
    gold: str | None = None

    def offers(self) -> tuple[str, ...]:
        return () if self.gold is None else ("gold",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with gold numbers if the option `gold` names their column."""
        columns = () if self.gold is None else (self.gold,)
        return _make_items(self, documents["gold"], columns, lambda right: right[0] if right else None)

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        if (table := self.read_at_once(document)) is not None and self.score in table.numbers:
            return AnswerColumns(table.rows, table.numbers[self.score])
        found = [(row, score) for row, score in self.parse_rows(
            document, (self.score,), lambda row: self.parse_number(row.cells[0], self.score, row))
            if score is not None]
        return AnswerColumns(_read_rows(found), np.array([score for _, score in found], dtype=np.float64))


class Statistics(TableReader):
    """Several numbers per item, which add up over items: counts, lengths, costs.

    Attributes:
        statistics: The columns of a submission that hold them; a formula calls them by these names.
        gold: Columns of the gold that hold further ones, which are the same for all systems.
    """

    name: ClassVar[str] = "statistics"
    gives: ClassVar[str] = "statistic"
    absent: ClassVar[str] = "there are no statistics of it"
    gives_columns: ClassVar[bool] = True

    statistics: tuple[str, ...] = field(kw_only=True)
    gold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.offers())) < len(names):
            raise InputError(f"options 'statistics' and 'gold' of statistics name a column twice: {', '.join(names)}")

    def offers(self) -> tuple[str, ...]:
        return (*self.statistics, *self.gold)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        return _make_items(self, documents["gold"], self.gold, lambda right: dict(zip(self.gold, right, strict=True)))

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's numbers by name; an item has all of them or none."""
        if (table := self.read_at_once(document)) is not None and table.numbers.keys() >= set(self.statistics):
            values = np.stack([table.numbers[name] for name in self.statistics], axis=1)
            absent = np.isnan(values)
            if (absent.any(axis=1) == absent.all(axis=1)).all():
                return StatisticColumns(table.rows, values, names=self.statistics)

        def numbers(row: Row) -> dict[str, float]:
            found = {name: self.parse_number(cell, name, row)
                     for name, cell in zip(self.statistics, row.cells, strict=True)}
            there = {name: number for name, number in found.items() if number is not None}
            if there and len(there) < len(found):
                raise row.error(f"{next(name for name in found if name not in there)!r} is not there, while others are")
            return there

        found = [(row, there) for row, there in self.parse_rows(document, self.statistics, numbers) if there]
        values = np.array([[there[name] for name in self.statistics] for _, there in found], dtype=np.float64)
        return StatisticColumns(_read_rows(found), values.reshape(-1, len(self.statistics)), names=self.statistics)

    def content(self, value: Any) -> Any:
        return list_numbers(value)


def _make_items(reader: Scores | Statistics, document: Document, columns: Sequence[str],
                gold: Callable[[Sequence[float]], Any]) -> list[Item]:
    """Make items with gold values made of these columns; reads the table at once if it can."""
    table = reader.read_at_once(document)
    if table is not None and not any(np.isnan(table.numbers.get(name, math.nan)).any() for name in columns):
        numbers = [table.numbers[name].tolist() for name in columns]
        rows: Iterable[Sequence[float]] = zip(*numbers, strict=True) if columns else itertools.repeat(())
        if (items := table.make_items(reader.attributes, map(gold, rows))) is not None:
            return items
    return [Item(row.key, right, row.attributes, row.line) for row, right in reader.parse_rows(
        document, columns, lambda row: gold([reader.require_number(cell, name, row) for name, cell in zip(
            columns, row.cells, strict=True)]), reader.attributes)]


def _read_rows(found: Sequence[tuple[Row, Any]]) -> Rows:
    return Rows(tuple(row.key for row, _ in found), [row.line for row, _ in found])


LEAST_PROBABILITY = 1e-3  # below it, sums of what items stand for would not be exact


class Judged(TableReader):
    """A judge's score of every item, and people's score of some, in two columns of a system's file.

    What people did not look at must be so by chance: the mean of the others is corrected by what they say of these. The
    gold lists the items, and where some had a better chance than others the probability of each.

    Attributes:
        drawn: How the items that people looked at were drawn: at `random`, all alike, or each with its `probability`.
        judge: The column that holds the judge's scores.
        human: The column that holds people's, empty where they did not look.
        probability: The column of the gold that holds the probabilities, above 0 and at most 1.
    """

    name: ClassVar[str] = "judged"
    gives: ClassVar[str] = "judged"
    absent: ClassVar[str] = "there is no score of it"

    drawn: Literal["random", "probability"] = field(kw_only=True)
    judge: str = "judge"
    human: str = "human"
    probability: str = "probability"

    def offers(self) -> tuple[str, ...]:
        return ()

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items with their sampling probabilities, or None if all are equal."""
        wanted = (self.probability,) if self.drawn == "probability" else ()

        def probability(row: Row) -> float | None:
            if not wanted:
                return None
            found = self.require_number(row.cells[0], self.probability, row)
            if not LEAST_PROBABILITY <= found <= 1:
                raise row.error(f"{self.probability!r} is {found:g}; expected a probability from {LEAST_PROBABILITY:g} "
                                "to 1: leave out items that nobody could have looked at")
            return found

        return [Item(row.key, found, row.attributes, row.line)
                for row, found in self.parse_rows(documents["gold"], wanted, probability, self.attributes)]

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        def scores(row: Row) -> dict[str, float]:
            judge, human = (self.parse_number(cell, column, row)
                            for cell, column in zip(row.cells, (self.judge, self.human), strict=True))
            if judge is None and human is not None:
                raise row.error(f"{self.judge!r} is not there, while {self.human!r} is: the judge has to score every "
                                "item")
            return {name: score for name, score in (("judge", judge), ("human", human)) if score is not None}

        return [Answer(row.key, found, row.line)
                for row, found in self.parse_rows(document, (self.judge, self.human), scores) if found]

    def content(self, value: Any) -> Any:
        return list_numbers(value) if isinstance(value, Mapping) else value


_NATS: dict[str | int, float] = {"e": 1.0, 2: math.log(2), 10: math.log(10)}


class LogProbabilities(TableReader):
    """The log-probabilities of all tokens of an item in one cell: a list, or in delimited text numbers and blanks.

    What is kept of an item is their sum, in nats, and how many they are.

    Attributes:
        base: Of the logarithms: `"e"`, `2` or `10`; it is declared and never guessed.
        logprobs: The column that holds them.
        text: The column of the gold that holds the item's text; its characters (Unicode code points) are counted.
    """

    name = "logprobs"
    gives = "logprob"
    absent = "there are no log-probabilities of it"

    base: Literal["e", 2, 10] = field(kw_only=True)
    logprobs: str = "logprobs"
    text: str | None = None

    def offers(self) -> tuple[str, ...]:
        return () if self.text is None else ("text",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with numbers of characters if the option `text` names a column."""
        column = self.text

        def characters(row: Row) -> int | None:
            if column is None:
                return None
            (text,) = row.cells
            if not (isinstance(text, str) and text):
                raise row.error(f"{column!r} is not a text")
            return len(text)

        return [Item(row.key, n, row.attributes, row.line) for row, n in self.parse_rows(
            documents["gold"], () if column is None else (column,), characters, self.attributes)]

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read (sum, number) of every item's log-probabilities."""
        return [Answer(row.key, (_NATS[self.base] * math.fsum(values), len(values)), row.line)
                for row, values in self.parse_rows(document, (self.logprobs,), self._parse_values)
                if values is not None]

    def _parse_values(self, row: Row) -> list[float] | None:
        (cell,) = row.cells
        if is_unscored(cell, self.unscored):
            return None
        given = cell.split() if self.syntax == "delimited" else cell
        if not isinstance(given, list) or not given:
            raise row.error(f"{self.logprobs!r} is no list of log-probabilities, one for each token")
        values = [to_number(one, text=self.syntax == "delimited") for one in given]
        for n, (one, value) in enumerate(zip(given, values, strict=True), 1):
            if not -LARGEST_OTHER < value <= 0:
                raise row.error(f"the log-probability of token {n} is {shorten(one)}; expected a number of at most 0, "
                                "above -2^42 (leave out tokens that the model gives none)")
        return values


_NO_SCORE = "None"
_OWN = {"seg": ("system", "segment"), "doc": ("system", "position"), "domain": ("domain", "system"), "sys": ("system",)}


class Score(NamedTuple):
    """One line: where it stands, what it scores, by the names of `_OWN`, and the score, if there is one."""

    line: int
    of: tuple[str, ...]
    value: float | None


class Mtme(Reader):
    """One score per line, `SYSTEM SCORE`: those of a system's segments stand together, in the order of the test set.

    What is evaluated here are metrics, so that items are what they score: translations of segments by systems, each
    called `SYSTEM SEGMENT` (counted from 1). Those that nobody judged (`None`) are no items, and what a metric says of
    them is passed over.

    Attributes:
        level: What a score is of: a segment (`seg`), a document (`doc`), a `domain` (`DOMAIN SYSTEM SCORE`) or a whole
            system (`sys`).
        exclude: Systems that are passed over, such as references that were judged as if they were systems'.
        length: How many segments or documents every system has, where that is to be checked in all files.
        attributes: The names of the tab-separated columns in the test set's `attributes` file, one line per segment.

    Source: https://github.com/google-research/mt-metrics-eval (README, "File organization and naming convention").
    """

    name = "mtme"
    gives = "score"
    absent = "there is no score of it"
    takes_more_files = True

    level: Literal["seg", "doc", "domain", "sys"] = "seg"
    exclude: tuple[str, ...] = ()
    length: int | None = None
    attributes: tuple[str, ...] = ("domain", "document")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.attributes + _OWN["seg"])) < len(names):
            raise InputError(f"option 'attributes' of mtme names a column twice, 'system' or 'segment': "
                             f"{', '.join(self.attributes)}")
        if self.length is not None and (self.length < 1 or self.level not in ("seg", "doc")):
            raise InputError('option \'length\' of mtme is how many scores each system has at level "seg" or "doc"')

    @property
    def ignores_others(self) -> bool:
        return True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document = documents["gold"]
        if other := documents.keys() - {"gold", "attributes"}:
            raise documents[min(other)].error("scores have neither references nor a source; leave both out")
        scores = list(self._read_scores(document))
        if all(score.value is None for score in scores):
            document.report_empty("score")
        of_segments: dict[str, dict[str, str]] = {}
        if "attributes" in documents:
            if self.level != "seg":
                raise documents["attributes"].error(
                    f'attributes are those of segments, and scores those of level "{self.level}"; leave attributes out')
            n = self.length or max((int(score.of[1]) for score in scores), default=0)
            of_segments = {str(number): attributes for number, attributes in enumerate(
                read_attributes(documents["attributes"], self.attributes, n), 1)}
        return [Item(" ".join(score.of), score.value, dict(zip(_OWN[self.level], score.of, strict=True))
                     | of_segments.get(score.of[-1], {}), score.line) for score in scores if score.value is not None]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(" ".join(score.of), score.value, score.line)
                for score in self._read_scores(document) if score.value is not None]

    def _read_scores(self, document: Document) -> Iterator[Score]:
        """Yield every line with counted segments or documents; all systems must have equally many."""
        numbered = self.level in ("seg", "doc")
        counts: Counter[str] = Counter()
        last, system = {}, ""
        for line, names, value in self._read_lines(document):
            if numbered:
                if names[-1] != system and names[-1] in counts:
                    document.refuse(f"the scores of system {names[-1]!r} do not stand together; mend the order of the "
                                    "lines", line)
                (system,) = names
                counts[system] += 1
                last[system] = line
                names = (system, str(counts[system]))
            yield Score(line, names, value)
        expected = self.length or (Counter(counts.values()).most_common(1)[0][0] if counts else 0)
        for system, n in counts.items():
            if n != expected:
                where = "as option 'length' says" if self.length else "as others have"
                document.refuse(f"{counted(n, 'score')} of system {system!r}, and not {expected}, {where}: which ones "
                                "are lacking or too many cannot be told", last[system])

    def _read_lines(self, document: Document) -> Iterator[tuple[int, tuple[str, ...], float | None]]:
        of = ("DOMAIN", "SYSTEM") if self.level == "domain" else ("SYSTEM",)
        none = True
        for number, line in document.lines():
            cells = split_cells(line, "whitespace", FEW_CELLS)
            if not cells:
                continue
            none = False
            *names, score = cells
            value = None if score == _NO_SCORE else to_number(score, text=True)
            wrong = ""
            if len(names) != len(of):
                wrong = f"{counted(len(cells), 'column')} where {len(of) + 1} are expected ({' '.join(of)} SCORE)"
            elif value is not None and not math.isfinite(value):
                wrong = f"the score is {score[:40]!r}; expected a finite number, or None where there is none"
            elif not line.replace("\t", "").isprintable():
                wrong = describe_invisible(line.replace("\t", ""))
            if wrong:
                document.refuse(wrong, number)
            elif names[-1] not in self.exclude:
                yield number, tuple(names), value
        if none:
            document.report_empty("score")
