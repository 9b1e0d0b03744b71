"""Importer of votes between two systems, such as those of an arena or of a judge that compares outputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from registry.errors import InputError, counted
from registry.importers.base import Importer, Sources, make_title
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import split_model
from registry.readers import Document
from registry.readers.parsing.delimited import Separator, TextFormat, read_cells
from registry.readers.parsing.fast_tables import MAGIC, read_parquet_head
from registry.readers.tables import TableSyntax
from registry.readers.votes import PROMPT, VOTER
from registry.readers.votes import Votes as VotesReader

# Usual names of columns, without case, blanks and underscores; those of LMArena and MT-Bench come first.
COLUMN_NAMES = {
    "system_a": ("modela", "systema", "model1", "system1", "generator1", "playera", "home", "left", "a"),
    "system_b": ("modelb", "systemb", "model2", "system2", "generator2", "playerb", "away", "right", "b"),
    "outcome": ("winner", "outcome", "preference", "vote", "result", "choice", "verdict"),
    PROMPT: ("questionid", "promptid", "prompt", "itemid", "item", "segment", "segmentid", "question", "instruction"),
    VOTER: ("voter", "judge", "annotator", "annotatorid", "user", "userid", "rater", "worker", "workerid"),
}
_SEPARATORS: tuple[tuple[str, Separator], ...] = (("\t", "tab"), (",", "comma"), (";", "semicolon"))


class Votes(Importer):
    """Votes between two systems: a row per vote, with both systems and the outcome.

    This importer makes one test set from delimited text with a header, JSON, JSON Lines or Parquet, such as the files
    of LMArena and the human votes of MT-Bench. Columns are found by their usual names.

    Attributes:
        system_a: Column with the name of the first system.
        system_b: Column with the name of the second system.
        outcome: Column with the outcome: `a`, `b`, `tie`, `both bad`, points of the first system, or the better system.
        prompt: Column with the prompt of a vote.
        voter: Column with the person or model who votes.
        weight: Column with the weight of a vote, such as an inverse sampling probability.
        attributes: Columns that are attributes of votes, such as the language.
        both_bad: Treatment of votes that find both outputs bad: count them as a `tie`, or `drop` them.
        ties: Treatment of ties: half a win for each system (`half`), or a parameter for ties (`davidson`).
        order: True to estimate an advantage of the first system.
        scale: Scale of the strengths: `logit` or `elo`.
    """

    name: ClassVar[str] = "votes"

    system_a: str | None = None
    system_b: str | None = None
    outcome: str | None = None
    prompt: str | None = None
    voter: str | None = None
    weight: str | None = None
    attributes: tuple[str, ...] = ()
    both_bad: Literal["tie", "drop"] = "tie"
    ties: Literal["half", "davidson"] = "half"
    order: bool = False
    scale: Literal["logit", "elo"] = "logit"

    def read(self, path: Path) -> TaskFolder:
        """Convert a table of votes into a task with one submission per system."""
        if path.is_dir():
            raise InputError("no votes in this folder; name one file of votes", path=path)
        loader = Sources(path)
        document = loader.load(path)
        layout, columns = _read_layout(document)
        options = self._choose_columns(columns, document)
        options = {**layout, **{name: column for name, column in options.items() if column is not None},
                   **({"attributes": list(self.attributes)} if self.attributes else {}),
                   **({"both_bad": self.both_bad} if self.both_bad != "tie" else {})}
        table = VotesReader.build(options).read_votes(document)
        if len(table.systems) < 2:
            raise document.error(f"the votes are about {counted(len(table.systems), 'system')}; expected two or more")
        file = f"votes{path.suffix.lower()}" if path.suffix else "votes"
        metric = {name: value for name, value in (("ties", self.ties), ("order", self.order), ("scale", self.scale))
                  if value not in ("half", False, "logit")}
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [{"name": "test", "gold": file, "format": "votes", "options": options}],
            "metric": [{"id": "strength", "name": "BradleyTerry", **({"options": metric} if metric else {})}],
            "significance": {"test": "wald"},
            "submit": [{"file": file, **split_model(name), "options": {"system": name}} for name in table.systems],
        }, {file: document.content}, loader.digests, copies={file: document.path})

    def _choose_columns(self, columns: Sequence[str], document: Document) -> dict[str, str | None]:
        """Return the column of each role; optional columns may be None.

        Raises:
            InputError: A column is missing.
        """
        by_word = {"".join(name.casefold().split()).replace("_", ""): name for name in reversed(columns)}
        found: dict[str, str | None] = {}
        for role, usual in COLUMN_NAMES.items():
            requested = getattr(self, role)
            if requested is not None and requested not in columns:
                raise document.error(f"the file has no column {requested!r}; it has {', '.join(columns)}")
            found[role] = requested or next((by_word[word] for word in usual if word in by_word), None)
        found["weight"] = self.weight
        if missing := [role for role in ("system_a", "system_b", "outcome") if found[role] is None]:
            raise InputError(f"no votes in this file: no column is known as {' or '.join(missing)}; it has "
                             f"{', '.join(columns[:12])}; name the column with --option {missing[0]}=COLUMN",
                             path=document.path)
        return found


def _read_layout(document: Document) -> tuple[dict[str, Any], Sequence[str]]:
    """Return the options that describe a table, and the names of its columns.

    Raises:
        InputError: The file is no table.
    """
    if document.content.startswith(MAGIC):
        return {"syntax": "parquet"}, read_parquet_head(document)[0]
    text = document.text().lstrip()
    if text[:1] in ("{", "["):
        syntax: TableSyntax = "jsonl" if text[0] == "{" else "json"
        try:
            entry = json.loads(text.partition("\n")[0]) if syntax == "jsonl" else json.loads(text)[0]
        except (ValueError, LookupError):
            entry = None
        if not isinstance(entry, dict):
            raise InputError("no votes in this file: expected JSON objects, one for each vote", path=document.path)
        return {"syntax": syntax}, list(entry)
    first_line = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=lambda pair: first_line.count(pair[0]))[1]
    _, header = next(iter(read_cells(document, TextFormat(separator))), (1, []))
    return {"separator": separator}, header
