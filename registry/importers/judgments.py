"""Importers of people's judgments: votes between two systems, as in an arena, and ratings of single outputs."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from registry.column_names import ROLES, normalize
from registry.errors import InputError, counted, listed
from registry.importers.base import Importer, Sources, make_title, parse_json_text, read_objects
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import split_model
from registry.readers import READERS, Document
from registry.readers.judgments import JudgmentReader
from registry.readers.parsing.delimited import Separator, TextFormat, read_cells
from registry.readers.parsing.fast_tables import MAGIC, read_parquet_head

_SEPARATORS: tuple[tuple[str, Separator], ...] = (("\t", "tab"), (",", "comma"), (";", "semicolon"))
_ITEMS = ("questionid", "promptid", "itemid", "segmentid", "segid", "prompt", "item", "segment", "question", "sid",
          "instruction")


def _split_games(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the two votes of MT-Bench's judge, which sees the outputs in both orders."""
    judge = entry.get("judge", "judge")
    shared = {"question_id": entry.get("question_id"), "turn": entry.get("turn", 1),
              "judge": judge if isinstance(judge, str) else " ".join(map(str, judge))}
    for first, second, winner in (("model_1", "model_2", "g1_winner"), ("model_2", "model_1", "g2_winner")):
        if entry[winner] != "error":
            outcome = {first: "a", second: "b"}.get(entry[winner], entry[winner])
            yield {**shared, "system_a": entry[first], "system_b": entry[second], "outcome": outcome}


def _split_preference(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a preference of AlpacaEval: 1 for the first output, 2 for the second one, 0 or 1.5 for a tie.

    Numbers in between are 1 plus the probability of the second output.
    """
    preference = entry["preference"]
    if preference is not None:
        yield {"prompt": entry.get("instruction"), "annotator": str(entry.get("annotator", "judge")),
               "system_a": entry["generator_1"], "system_b": entry["generator_2"],
               "outcome": 0.5 if preference == 0 else 2 - preference}


_LAYOUTS: dict[tuple[str, ...], Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]] = {
    ("model_1", "model_2", "g1_winner", "g2_winner"): _split_games,
    ("generator_1", "generator_2", "preference"): _split_preference,
}


def _fold(name: str) -> str:
    return normalize(name).replace("_", "")


class JudgmentImporter(Importer):
    """Base class of importers of a table of judgments, which becomes one test set.

    A table is delimited text with a header, JSON, JSON Lines or Parquet. An option of the same name as a role names the
    column of this role; otherwise columns are found by their usual names.

    Attributes:
        usual: Usual names of the column of each role, without case, blanks and underscores.
        required: Roles without which a table has no judgments.
        attributes: Columns that are attributes of judgments, such as the language.
    """

    usual: ClassVar[Mapping[str, Sequence[str]]]
    required: ClassVar[tuple[str, ...]]

    attributes: tuple[str, ...] = ()

    @abstractmethod
    def describe_metric(self) -> dict[str, Any]:
        """Return the `[[metric]]` table of the manifest."""

    def describe_reader(self) -> dict[str, Any]:
        """Return options of the reader that are neither columns nor the layout of the file."""
        return {}

    def convert(self, document: Document) -> Document:
        """Return a file with one judgment per row; most files already have this form."""
        return document

    def read(self, path: Path) -> TaskFolder:
        """Convert a table of judgments into a task with one submission per system."""
        if path.is_dir():
            raise InputError(f"no {self.name} in this folder; name one file of {self.name}", path=path)
        loader = Sources(path)
        document = self.convert(loader.load(path))
        layout, columns = read_layout(document, self.name)
        options = {**layout, **self._choose_columns(columns, document), **self.describe_reader(),
                   **({"attributes": list(self.attributes)} if self.attributes else {})}
        reader = READERS[self.name].build(options)
        assert isinstance(reader, JudgmentReader)
        systems: Sequence[str] = reader.read_judgments(document).systems
        if len(systems) < 2:
            raise document.error(f"the {self.name} are about {counted(len(systems), 'system')}; expected two or more")
        is_copy = document.digest in loader.digests.values()
        file = f"{self.name}{path.suffix.lower()}" if is_copy else f"{self.name}.jsonl"
        return TaskFolder({
            "task": {"title": make_title(path)},
            "test_set": [{"name": "test", "gold": file, "format": self.name, "options": options}],
            "metric": [self.describe_metric()],
            "significance": {"test": "wald"},
            "submit": [{"file": file, **split_model(name), "options": {"system": name}} for name in systems],
        }, {file: document.content}, loader.digests, copies={file: document.path} if is_copy else {})

    def _choose_columns(self, columns: Sequence[str], document: Document) -> dict[str, str]:
        """Return the column of each role that the table has.

        Raises:
            InputError: A required column is missing.
        """
        by_word = {_fold(name): name for name in reversed(columns)}
        found = {}
        for role, usual in self.usual.items():
            requested = getattr(self, role)
            if requested is not None and requested not in columns:
                raise document.error(f"the file has no column {requested!r}; it has {', '.join(columns)}")
            if column := requested or next((by_word[word] for word in map(_fold, usual) if word in by_word), None):
                found[role] = column
        if missing := [role for role in self.required if role not in found]:
            raise InputError(f"no {self.name} in this file: no column is known as {' or '.join(missing)}; it has "
                             f"{', '.join(columns[:12])}; name the column with --option {missing[0]}=COLUMN",
                             path=document.path)
        return found


class Votes(JudgmentImporter):
    """Votes between two systems: a row per vote, with both systems and the outcome.

    Examples are the files of LMArena, MT-Bench and AlpacaEval. The table is delimited text with a header, JSON, JSON
    Lines or Parquet, and columns are found by their usual names.

    Attributes:
        system_a: Column with the name of the first system.
        system_b: Column with the name of the second system.
        outcome: Column with the outcome: `a`, `b`, `tie`, `both bad`, points of the first system, or the better system.
        prompt: Column with the prompt of a vote.
        voter: Column with the person or model who votes.
        weight: Column with the weight of a vote, such as an inverse sampling probability.
        both_bad: Treatment of votes that find both outputs bad: count them as a `tie`, or `drop` them.
        ties: Treatment of ties: half a win for each system (`half`), or a parameter for ties (`davidson`).
        order: True to estimate an advantage of the first system.
        scale: Scale of the strengths: `logit` or `elo`.
    """

    name: ClassVar[str] = "votes"
    usual: ClassVar[Mapping[str, Sequence[str]]] = {
        "system_a": ("modela", "systema", "model1", "system1", "generator1", "playera", "home", "left", "a"),
        "system_b": ("modelb", "systemb", "model2", "system2", "generator2", "playerb", "away", "right", "b"),
        "outcome": ("winner", "outcome", "preference", "vote", "result", "choice", "verdict"),
        "prompt": _ITEMS, "voter": ROLES["annotator"], "weight": (),
    }
    required: ClassVar[tuple[str, ...]] = ("system_a", "system_b", "outcome")

    system_a: str | None = None
    system_b: str | None = None
    outcome: str | None = None
    prompt: str | None = None
    voter: str | None = None
    weight: str | None = None
    both_bad: Literal["tie", "drop"] = "tie"
    ties: Literal["half", "davidson"] = "half"
    order: bool = False
    scale: Literal["logit", "elo"] = "logit"

    def convert(self, document: Document) -> Document:
        """Return one vote per row: two for the two orders of MT-Bench's judge, one for a preference of AlpacaEval."""
        layout, columns = read_layout(document, self.name)
        if layout.get("syntax") not in ("json", "jsonl"):
            return document
        split = next((split for keys, split in _LAYOUTS.items() if set(keys) <= set(columns)), None)
        if split is None:
            return document
        text = document.text()
        entries = parse_json_text(text, document.path) if layout["syntax"] == "json" else [
            entry for entry, _ in read_objects(document)]
        votes = [vote for entry in entries for vote in split(entry)]
        content = "".join(json.dumps(vote, ensure_ascii=False) + "\n" for vote in votes).encode()
        return Document(document.path, content)

    def describe_reader(self) -> dict[str, Any]:
        return {} if self.both_bad == "tie" else {"both_bad": self.both_bad}

    def describe_metric(self) -> dict[str, Any]:
        options = {name: value for name, value in (("ties", self.ties), ("order", self.order), ("scale", self.scale))
                   if value not in ("half", False, "logit")}
        return {"id": "strength", "name": "BradleyTerry", **({"options": options} if options else {})}


class Ratings(JudgmentImporter):
    """Ratings of outputs: a row per rating, with the system, the item and the score.

    Examples are direct assessment (DA), ESA, and the scores of annotators who each saw some of the outputs. The table
    is delimited text with a header, JSON, JSON Lines or Parquet, and columns are found by their usual names.

    Attributes:
        systems: Column with the name of the system.
        score: Column with the rating; higher is better.
        rated: Column with the item whose output was rated.
        document: Column with the document of the item.
        annotator: Column with the person who rates.
        weight: Column with the weight of a rating, such as the number of ratings of which it is the mean.
        adjusts_for: Effects that are removed: those of `item and annotator`, of one of them, or `nothing`.
        standardize: True to replace ratings by z-scores of each annotator.
    """

    name: ClassVar[str] = "ratings"
    usual: ClassVar[Mapping[str, Sequence[str]]] = {
        "systems": ("system", "model", "systemid", "sys", "team", "generator"),
        "score": ("score", "rating", "rawscr", "rawscore", "overall", "value", "grade"),
        "rated": _ITEMS, "document": ROLES["document"], "annotator": ROLES["annotator"], "weight": (),
    }
    required: ClassVar[tuple[str, ...]] = ("systems", "score", "rated")

    systems: str | None = None
    score: str | None = None
    rated: str | None = None
    document: str | None = None
    annotator: str | None = None
    weight: str | None = None
    adjusts_for: Literal["item and annotator", "item", "annotator", "nothing"] = "item and annotator"
    standardize: bool = False

    def describe_metric(self) -> dict[str, Any]:
        options = {name: value for name, value in (
            ("adjusts_for", self.adjusts_for), ("standardize", self.standardize))
            if value not in ("item and annotator", False)}
        return {"id": "rating", "name": "AdjustedMean", **({"options": options} if options else {})}


def read_layout(document: Document, kind: str) -> tuple[dict[str, Any], Sequence[str]]:
    """Return the options that describe a table, and the names of its columns.

    Args:
        document: The file.
        kind: `votes` or `ratings`, for errors.

    Raises:
        InputError: The file is no table.
    """
    if document.content.startswith(MAGIC):
        return {"syntax": "parquet"}, read_parquet_head(document)[0]
    text = document.text().lstrip()
    if text[:1] in ("{", "["):
        syntax = "jsonl" if text[0] == "{" else "json"
        try:
            entry = json.loads(text.partition("\n")[0]) if syntax == "jsonl" else json.loads(text)[0]
        except (ValueError, LookupError):
            entry = None
        if not isinstance(entry, dict):
            raise InputError(f"no {kind} in this file: expected JSON objects, one for each row",
                             path=document.path)
        return {"syntax": syntax}, list(entry)
    first_line = text.partition("\n")[0]
    mark, separator = max(_SEPARATORS, key=lambda pair: first_line.count(pair[0]))
    if mark not in first_line:
        separator = "whitespace"
    _, header = next(iter(read_cells(document, TextFormat(separator))), (1, []))
    return {"separator": separator}, header


def list_found_columns(folder: TaskFolder) -> dict[str, str]:
    """Return the columns of an imported table of judgments by their roles; empty for other imported tasks."""
    (test_set, *_) = folder.tables["test_set"]
    importers: dict[str, type[JudgmentImporter]] = {"votes": Votes, "ratings": Ratings}
    importer = importers.get(test_set["format"])
    return {} if importer is None else {role: test_set["options"][role] for role in importer.usual
                                        if role in test_set["options"]}


def list_unused_columns(folder: TaskFolder) -> list[str]:
    """Return a message about columns of a table of judgments that have no role; empty if there are none.

    A column of persons or documents that was not recognised would make dependent judgments look independent.
    """
    found = list_found_columns(folder)
    if not found:
        return []
    (test_set, *_) = folder.tables["test_set"]
    options = test_set["options"]
    _, columns = read_layout(Document(test_set["gold"], folder.files[test_set["gold"]]), test_set["format"])
    unused = [name for name in columns if name not in (*found.values(), *options.get("attributes", ()))]
    return [f"columns that were not used: {listed(unused, 12)}; if one of them names persons, items or documents, name "
            "it with --option"] if unused else []
