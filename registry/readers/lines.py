"""One segment per line: translations and other text, with one or several named references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from registry.errors import counted
from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.order import misplaced
from registry.readers.parsing.bounds import ONE_ROW
from registry.readers.parsing.document import Document


class Lines(SegmentReader):
    """One segment per line, known by its number from 1.

    The gold of a segment is its references by name: `gold`, and those of the manifest's `references`; with them stands
    its `source`, where the manifest names that file. A blank line is no reference, and no answer.

    Attributes:
        attributes: The names of the tab-separated columns in the test set's `attributes` file, such as domain and
            document; that file has one line per segment.
        check_order: Refuse files whose lines seem to be shuffled or shifted: where a segment's own reference (or
            source, where the references are not there) resembles it less often than those of other segments do.
    """

    name = "lines"
    lines_per_item = ONE_ROW
    absent = "its line is blank or not there"
    takes_more_files = True
    _distinct = ("attributes",)

    attributes: tuple[str, ...] = ("document",)
    check_order: bool = True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the references, which must have equally many lines, and the attributes."""
        references = {role.removeprefix("reference:"): document for role, document in documents.items()
                      if role != "attributes"}
        texts = {name: [line for _, line in document.lines()] for name, document in references.items()}
        n = len(texts["gold"])
        for name, lines in texts.items():
            if len(lines) != n:
                raise references[name].error(f"{counted(len(lines), 'line')} where the gold has {n}")
            if name == "source" and (blank := next((n for n, line in enumerate(lines, 1) if not line.strip()), None)):
                raise references[name].error("the source is blank", blank + self.skip, str(blank))
        attributes: list[dict[str, str]] = [{}] * n
        if "attributes" in documents:
            attributes = read_attributes(documents["attributes"], self.attributes, n)
        return [Item(str(at + 1), {name: lines[at] for name, lines in texts.items()}, attributes[at],
                     at + 1 + self.skip)
                for at in range(n)]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(str(number - self.skip), line, number) for number, line in document.lines() if line.strip()]

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        """Say where and why the file does not seem to go with the gold: its length, or the order of its lines."""
        if not answers:
            return 1, "no segment in this file: all lines are blank"
        last = int(answers[-1].key)
        if last > len(items):
            return answers[-1].line, (f"{counted(last, 'line')} where the gold has {len(items)}; a line was added, or "
                          "a line end stands within one")
        return misplaced(items, answers) if self.check_order else None


def read_attributes(document: Document, names: Sequence[str], n: int) -> list[dict[str, str]]:
    """Read the tab-separated attributes of `n` segments, one line each.

    Raises:
        InputError: A line has not as many columns as there are `names`, or the file not as many lines.
    """
    rows = []
    for number, line in document.lines():
        if (columns := line.count("\t") + 1) != len(names):
            raise document.error(f"{counted(columns, 'column')} where {counted(len(names), 'is', 'are')} expected "
                                 f"({', '.join(names)})", number)
        rows.append(dict(zip(names, line.split("\t"), strict=True)))
    if len(rows) != n:
        raise document.error(f"{counted(len(rows), 'line')} where the gold has {n}")
    return rows
