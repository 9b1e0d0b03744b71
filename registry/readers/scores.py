"""Readers of numbers per item that another program computed.

The numbers are scores, statistics, judgments or log-probabilities. `Mtme` reads the files of mt-metrics-eval, in which
human scores are the gold and scores of metrics are submissions.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from registry.columns import AnswerColumns, Rows, ScoreColumns, StatisticColumns
from registry.errors import InputError, counted
from registry.families import LARGEST_OTHER
from registry.items import Answer, Item
from registry.readers.base import Reader
from registry.readers.parsing.delimited import FEW_CELLS, split_cells
from registry.readers.parsing.document import Document, describe_invisible
from registry.readers.segments import read_attributes
from registry.readers.tables import Row, TableReader, is_unscored, list_numbers, shorten, to_number
from registry.values import TERSE


class Scores(TableReader):
    """One or several numbers per item, in a table of one or several systems.

    This file format is for systems with numbers for each item. A number is a score of the system on the item, or it is
    what the system predicts for the item. The gold lists the items. If numbers are predicted, it also has the correct
    numbers. The numbers of a system are columns of a separate file or of the gold file.

    Attributes:
        score: Column with the numbers of a system, for metrics without the option `column`.
        gold: Column of the gold with the correct numbers; None if there are none.
        other_scores: Further columns with scores, for metrics with the option `column`. A manifest only sets this
            option of the metrics; the columns then follow.
    """

    name: ClassVar[str] = "scores"
    gives: ClassVar[str] = "score"
    absent: ClassVar[str] = "it has no score"
    gives_columns: ClassVar[bool] = True

    score: str = "score"
    gold: str | None = None
    other_scores: tuple[str, ...] = field(default=(), kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._names:
            raise InputError("option 'score' of scores is empty; name the column with the scores")

    @property
    def _names(self) -> tuple[str, ...]:
        return (*([self.score] if self.score else []), *self.other_scores)

    @property
    def optional(self) -> tuple[str, ...]:
        return self._names if self.other_scores else ()

    def with_columns(self, names: Iterable[str]) -> Scores:
        new = [name for name in dict.fromkeys(names) if name not in self._names]
        return replace(self, other_scores=(*self.other_scores, *new)) if new else self

    def offers(self) -> tuple[str, ...]:
        return () if self.gold is None else ("gold",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, and their correct numbers if the option `gold` is set."""
        columns = () if self.gold is None else (self.gold,)
        return _make_items(self, documents["gold"], columns, lambda right: right[0] if right else None)

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        if self.other_scores:
            return self._parse_columns(document, self._names)
        if (table := self.read_fast(document)) is not None and self.score in table.numbers:
            return AnswerColumns(table.rows, table.numbers[self.score])
        scored_rows = [(row, score) for row, score in self.parse_rows(
            document, (self.score,), lambda row: self.parse_number(row.cells[0], self.score, row))
            if score is not None]
        return AnswerColumns(_read_rows(scored_rows), np.array([score for _, score in scored_rows], dtype=np.float64))

    def _parse_columns(self, document: Document, names: tuple[str, ...]) -> ScoreColumns:
        """Read several scores per item, of which some may be missing."""
        if (table := self.read_fast(document)) is not None and table.numbers.keys() >= set(names):
            return ScoreColumns(table.rows, np.stack([table.numbers[name] for name in names], axis=1), names=names)
        rows = [(row, numbers) for row, numbers in self.parse_rows(document, names, lambda row: [
            self.parse_number(cell, name, row) for name, cell in zip(names, row.cells, strict=True)])
            if any(number is not None for number in numbers)]
        values = np.array([numbers for _, numbers in rows], dtype=np.float64).reshape(-1, len(names))
        return ScoreColumns(_read_rows(rows), values, names=names)

    def content(self, value: Any) -> Any:
        return list_numbers(value) if isinstance(value, Mapping) else value


class Statistics(TableReader):
    """Several numbers per item whose sums over items matter: counts, lengths, costs.

    This file format is for tables. Metrics are computed from the sums, for example by a formula.

    Attributes:
        statistics: Columns of a submission; the formula uses their names.
        gold: Columns of the gold, with numbers that are the same for all systems, such as lengths of references.
    """

    name: ClassVar[str] = "statistics"
    gives: ClassVar[str] = "statistic"
    absent: ClassVar[str] = "it has no statistics"
    gives_columns: ClassVar[bool] = True

    statistics: tuple[str, ...] = field(kw_only=True)
    gold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.offers())) < len(names):
            raise InputError(f"options 'statistics' and 'gold' of statistics name a column twice ({', '.join(names)}); "
                             "remove one")

    def offers(self) -> tuple[str, ...]:
        return (*self.statistics, *self.gold)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        return _make_items(self, documents["gold"], self.gold, lambda right: dict(zip(self.gold, right, strict=True)))

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's numbers; an item must have a number in every column or in none."""
        if (table := self.read_fast(document)) is not None and table.numbers.keys() >= set(self.statistics):
            values = np.stack([table.numbers[name] for name in self.statistics], axis=1)
            absent = np.isnan(values)
            if (absent.any(axis=1) == absent.all(axis=1)).all():
                return StatisticColumns(table.rows, values, names=self.statistics)

        def numbers(row: Row) -> dict[str, float]:
            parsed = {name: self.parse_number(cell, name, row)
                      for name, cell in zip(self.statistics, row.cells, strict=True)}
            present = {name: number for name, number in parsed.items() if number is not None}
            if present and len(present) < len(parsed):
                missing = next(name for name in parsed if name not in present)
                raise row.error(f"{missing!r} is missing, but the item has other statistics; add the missing value")
            return present

        rows = [(row, present) for row, present in self.parse_rows(document, self.statistics, numbers) if present]
        values = np.array([[present[name] for name in self.statistics] for _, present in rows], dtype=np.float64)
        return StatisticColumns(_read_rows(rows), values.reshape(-1, len(self.statistics)), names=self.statistics)

    def content(self, value: Any) -> Any:
        return list_numbers(value)


def _make_items(reader: Scores | Statistics, document: Document, columns: Sequence[str],
                gold: Callable[[Sequence[float]], Any]) -> list[Item]:
    """Read items whose gold values are made from columns of numbers.

    Args:
        reader: The reader.
        document: The gold file.
        columns: Names of the columns with numbers.
        gold: Function that receives the numbers of a row, and returns the item's gold value.
    """
    table = reader.read_fast(document)
    if table is not None and not any(np.isnan(table.numbers.get(name, math.nan)).any() for name in columns):
        numbers = [table.numbers[name].tolist() for name in columns]
        rows: Iterable[Sequence[float]] = zip(*numbers, strict=True) if columns else itertools.repeat(())
        if (items := table.make_items(reader.attributes, map(gold, rows))) is not None:
            return items
    return [Item(row.key, right, row.attributes, row.line) for row, right in reader.parse_rows(
        document, columns, lambda row: gold([reader.require_number(cell, name, row) for name, cell in zip(
            columns, row.cells, strict=True)]), reader.attributes)]


def _read_rows(rows: Sequence[tuple[Row, Any]]) -> Rows:
    return Rows(tuple(row.key for row, _ in rows), [row.line for row, _ in rows])


LEAST_PROBABILITY = 1e-3  # with smaller ones, sums of inverse probabilities would not be exact


class Judged(TableReader):
    """Judge's score of every item and human score of some items, in two columns.

    This file format is for scores by an automatic judge, such as a language model. People score a random sample of the
    items; their scores correct the mean score of the judge. The gold lists the items. If some items are more likely to
    be in the sample than others, it also has these probabilities.

    Attributes:
        drawn: How the sample was drawn: at `random` (all items are equally likely), or each item with its
            `probability`.
        judge: Column with the scores of the judge.
        human: Column with the human scores; empty for other items.
        probability: Column of the gold with the probabilities to be in the sample, above 0 and at most 1.
    """

    name: ClassVar[str] = "judged"
    gives: ClassVar[str] = "judged"
    absent: ClassVar[str] = "it has no score"

    drawn: Literal["random", "probability"] = field(kw_only=True)
    judge: str = "judge"
    human: str = "human"
    probability: str = "probability"

    def offers(self) -> tuple[str, ...]:
        return ()

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with the probability that people score each item.

        The probability is None if it is the same for all items.
        """
        columns = (self.probability,) if self.drawn == "probability" else ()

        def probability(row: Row) -> float | None:
            if not columns:
                return None
            value = self.require_number(row.cells[0], self.probability, row)
            if not LEAST_PROBABILITY <= value <= 1:
                raise row.error(f"{self.probability!r} is {value:g}; expected a probability from {LEAST_PROBABILITY:g} "
                                "to 1; remove items with probability 0")
            return value

        return [Item(row.key, value, row.attributes, row.line)
                for row, value in self.parse_rows(documents["gold"], columns, probability, self.attributes)]

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        def scores(row: Row) -> dict[str, float]:
            judge, human = (self.parse_number(cell, column, row)
                            for cell, column in zip(row.cells, (self.judge, self.human), strict=True))
            if judge is None and human is not None:
                raise row.error(f"{self.judge!r} is missing, but the item has a value of {self.human!r}; add the "
                                "judge's score, which every item needs")
            return {name: score for name, score in (("judge", judge), ("human", human)) if score is not None}

        return [Answer(row.key, value, row.line)
                for row, value in self.parse_rows(document, (self.judge, self.human), scores) if value]

    def content(self, value: Any) -> Any:
        return list_numbers(value) if isinstance(value, Mapping) else value


_NATS: dict[str | int, float] = {"e": 1.0, 2: math.log(2), 10: math.log(10)}


class LogProbabilities(TableReader):
    """Log-probabilities of all tokens of an item, in one cell.

    This file format is for tables of the outputs of language models. In JSON the cell is a list; in delimited text the
    numbers are separated by blanks. An answer is the sum of the log-probabilities in nats, and the number of tokens.

    Attributes:
        base: Base of the logarithms: `"e"`, `2` or `10`. The base is declared and never guessed.
        logprobs: Column with the log-probabilities.
        text: Column of the gold with the text of the item, whose characters (Unicode code points) are counted.
    """

    name = "logprobs"
    gives = "logprob"
    absent = "it has no log-probabilities"

    base: Literal["e", 2, 10] = field(kw_only=True)
    logprobs: str = "logprobs"
    text: str | None = None

    def offers(self) -> tuple[str, ...]:
        return () if self.text is None else ("text",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items; the gold value is the number of characters in the text.

        The gold value is None if the option `text` is not set.
        """
        column = self.text

        def characters(row: Row) -> int | None:
            if column is None:
                return None
            (text,) = row.cells
            if not (isinstance(text, str) and text):
                raise row.error(f"{column!r} is not text; write text")
            return len(text)

        return [Item(row.key, n, row.attributes, row.line) for row, n in self.parse_rows(
            documents["gold"], () if column is None else (column,), characters, self.attributes)]

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read the sum of each item's log-probabilities (in nats), and their number."""
        return [Answer(row.key, (_NATS[self.base] * math.fsum(values), len(values)), row.line)
                for row, values in self.parse_rows(document, (self.logprobs,), self._parse_values)
                if values is not None]

    def _parse_values(self, row: Row) -> list[float] | None:
        (cell,) = row.cells
        if is_unscored(cell, self.unscored):
            return None
        cells = cell.split() if self.syntax == "delimited" else cell
        if not isinstance(cells, list) or not cells:
            raise row.error(f"{self.logprobs!r} is not a list; expected a list of log-probabilities, one for each "
                            "token")
        values = [to_number(number, text=self.syntax == "delimited") for number in cells]
        for n, (number, value) in enumerate(zip(cells, values, strict=True), 1):
            if not -LARGEST_OTHER < value <= 0:
                raise row.error(f"the log-probability of token {n} is {shorten(number)}; expected a number above -2^42 "
                                "and at most 0; leave out tokens without a log-probability")
        return values


_NO_SCORE = "None"
_KEYS = {
    "seg": ("system", "segment"), "doc": ("system", "position"), "domain": ("domain", "system"), "sys": ("system",),
}


class Score(NamedTuple):
    """Score on one line of a file of mt-metrics-eval.

    Attributes:
        line: Line number.
        names: Names that identify the scored unit, such as ("SYSTEM", "1") for segment 1 of a system.
        value: The score; None if the line has none.
    """

    line: int
    names: tuple[str, ...]
    value: float | None


class Mtme(Reader):
    """One score per line, `SYSTEM SCORE`, as in the files of mt-metrics-eval.

    This file format is for tasks that evaluate metrics of translation. The gold has human scores, and each submission
    has the scores of a metric. An item is the translation of a segment by a system, with the name `SYSTEM SEGMENT`. The
    segments of a system are consecutive lines, counted from 1. Translations without a human score (`None`) are ignored.
    Source: https://github.com/google-research/mt-metrics-eval (README, "File organization and naming convention").

    Attributes:
        level: Unit of a score: a segment (`seg`), a document (`doc`), a `domain` (`DOMAIN SYSTEM SCORE`) or a system
            (`sys`).
        exclude: Names of systems that are ignored, such as references that were judged like systems.
        length: Number of segments or documents per system, if all files must have this number.
        attributes: Names of the tab-separated columns in the test set's `attributes` file, which has one line per
            segment.
    """

    name = "mtme"
    gives = "score"
    absent = "it has no score"
    takes_more_files = True

    level: Literal["seg", "doc", "domain", "sys"] = "seg"
    exclude: tuple[str, ...] = ()
    length: int | None = None
    attributes: tuple[str, ...] = ("domain", "document")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.attributes + _KEYS["seg"])) < len(names):
            raise InputError(f"option 'attributes' of mtme is {', '.join(self.attributes)}; names must differ from "
                             "each other, from 'system' and from 'segment'")
        if self.length is not None and (self.length < 1 or self.level not in ("seg", "doc")):
            raise InputError("option 'length' of mtme is the number of scores of each system; set it only with level "
                             '"seg" or "doc", to 1 or more')

    @property
    def ignores_others(self) -> bool:
        return True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document = documents["gold"]
        if other := documents.keys() - {"gold", "attributes"}:
            raise documents[min(other)].error("tables of scores use neither references nor a source; remove both")
        scores = list(self._read_scores(document))
        if all(score.value is None for score in scores):
            document.report_empty("score")
        segments: dict[str, dict[str, str]] = {}
        if "attributes" in documents:
            if self.level != "seg":
                raise documents["attributes"].error(
                    f'attributes describe segments, but the scores have level "{self.level}"; remove the attributes')
            n = self.length or max((int(score.names[1]) for score in scores), default=0)
            segments = {str(number): attributes for number, attributes in enumerate(
                read_attributes(documents["attributes"], self.attributes, n), 1)}
        return [Item(" ".join(score.names), score.value, dict(zip(_KEYS[self.level], score.names, strict=True))
                     | segments.get(score.names[-1], {}), score.line) for score in scores if score.value is not None]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(" ".join(score.names), score.value, score.line)
                for score in self._read_scores(document) if score.value is not None]

    def _read_scores(self, document: Document) -> Iterator[Score]:
        """Yield the score on every line; number the segments of each system.

        All systems must have the same number of segments or documents.
        """
        numbered = self.level in ("seg", "doc")
        counts: Counter[str] = Counter()
        last, system = {}, ""
        for line, names, value in self._read_lines(document):
            if numbered:
                if names[-1] != system and names[-1] in counts:
                    document.refuse(f"the scores of system {names[-1]!r} are not in consecutive lines; sort the lines "
                                    "by system", line)
                (system,) = names
                counts[system] += 1
                last[system] = line
                names = (system, str(counts[system]))
            yield Score(line, names, value)
        expected = self.length or (Counter(counts.values()).most_common(1)[0][0] if counts else 0)
        for system, n in counts.items():
            if n != expected:
                reason = f"option 'length' is {expected}" if self.length else f"other systems have {expected}"
                document.refuse(f"system {system!r} has {counted(n, 'score')}, but {reason}; add the missing scores, "
                                "or remove the extra scores", last[system])

    def _read_lines(self, document: Document) -> Iterator[tuple[int, tuple[str, ...], float | None]]:
        expected = ("DOMAIN", "SYSTEM") if self.level == "domain" else ("SYSTEM",)
        is_empty = True
        for number, line in document.lines():
            cells = split_cells(line, "whitespace", FEW_CELLS)
            if not cells:
                continue
            is_empty = False
            *names, score = cells
            value = None if score == _NO_SCORE else to_number(score, text=True)
            fault = ""
            if len(names) != len(expected):
                fault = (f"the line has {counted(len(cells), 'column')}; expected {len(expected) + 1} "
                         f"({' '.join(expected)} SCORE)")
            elif value is not None and not math.isfinite(value):
                fault = f"the score is {score[:40]!r}; expected a finite number, or None"
            elif not line.replace("\t", "").isprintable():
                fault = f"the line has {describe_invisible(line.replace(chr(9), ''))}; remove it"
            if fault:
                document.refuse(fault, number)
            elif names[-1] not in self.exclude:
                yield number, tuple(names), value
        if is_empty:
            document.report_empty("score")
