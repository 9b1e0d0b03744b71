"""The view `item_text` with the texts of items and outputs.

Its rows are made when a query uses the view.

A registry stores the texts in compressed files, and SQL can read neither zlib nor the file formats. This module
therefore writes the rows to a temporary table with the name of the view. Only the connection of the query has this
table.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from registry.errors import counted, listed
from registry.items import Item, Tagged
from registry.query.check import ITEM_TEXT
from registry.readers import READERS, Document, Reader
from registry.store.rows import quote, register_arrays, text_column
from registry.treebank import Sentence
from registry.values import parse

_TEXT = "segment"  # kind of answer that readers of texts give
_WITH_WORDS = ("span", "tree")  # kinds of answers whose readers also read the words of items
_MAX_NAMES = 5  # names of tasks in one note

_TABLE = f"""
    CREATE OR REPLACE TEMP TABLE {ITEM_TEXT} (
        task VARCHAR, test_set VARCHAR, item VARCHAR, position INTEGER, source VARCHAR, gold VARCHAR,
        golds MAP(VARCHAR, VARCHAR), team VARCHAR, system VARCHAR, version VARCHAR, replicate SMALLINT, output VARCHAR,
        scoring_id INTEGER, item_id INTEGER)"""
_TEST_SETS = """
    SELECT task.slug, test_set.test_set_id, test_set.gold_revision_id, gold_revision.reader
    FROM test_set JOIN task USING (task_id)
    JOIN gold_revision ON gold_revision.gold_revision_id = test_set.gold_revision_id
    WHERE test_set.is_declared ORDER BY task.task_id, test_set.position"""
_RUNS = """
    SELECT ranked.name, ranked.scoring_id, of.replicate, submission.reader, of.source_digest
    FROM ranked_submission AS ranked JOIN submission USING (submission_id)
    JOIN submission_source AS of ON of.submission_id = ranked.submission_id
    WHERE ranked.test_set_id = ? AND ranked.scoring_id IS NOT NULL ORDER BY of.source_digest"""
# Inserts the rows of one run or of all runs. {golds} and {source} are SQL expressions, {outputs} is a table.
_ROWS = f"""
    INSERT INTO temp.{ITEM_TEXT}
    SELECT ranked.task, ranked.test_set, item.key, item.position, {{source}}, {{gold}}, {{golds}}, ranked.team,
        ranked.system, ranked.version, of.replicate, said.output, ranked.scoring_id, item.item_id
    FROM _words AS words JOIN item ON item.item_id = words.item_id
    JOIN ranked_submission AS ranked ON ranked.gold_revision_id = item.gold_revision_id
    JOIN submission_source AS of ON of.submission_id = ranked.submission_id
    LEFT JOIN {{outputs}} AS said ON said.item_id = words.item_id {{same_run}}
    WHERE ranked.scoring_id IS NOT NULL AND {{which}}"""  # noqa: S608


def unpack(driver: Any) -> list[str]:
    """Fill the view `item_text`, which contains the texts of items and outputs.

    SQL cannot read the compressed files with the texts. The rows are therefore written to a temporary table.

    Args:
        driver: DuckDB's own connection.

    Returns:
        Notes for the user about tasks and runs without rows, for example because a public file lacks their files.
    """
    driver.execute(_TABLE)
    files, without_texts, without_gold, n_absent = _Files(driver), dict[str, None](), dict[str, None](), 0
    for task, test_set_id, gold_revision_id, reader_value in driver.execute(_TEST_SETS).fetchall():
        reader: Reader = parse("reader", READERS, reader_value)
        items = _load_items(driver, files, gold_revision_id, reader_value) if (
            reader.gives in (_TEXT, *_WITH_WORDS)) else []
        if items is None:
            without_gold[task] = None
        elif reader.gives == _TEXT:
            n_absent += _add_texts(driver, files, test_set_id, items)
        elif any(_join_words(item) for _, item in items):
            _add_words(driver, test_set_id, items)
        else:
            without_texts[task] = None
    notes = []
    if without_texts:
        notes.append(f"the view {ITEM_TEXT} has no rows for {_name_tasks(without_texts)}, because no texts were "
                     "ingested; use the view item_output or item_score")
    if without_gold:
        notes.append(f"the view {ITEM_TEXT} has no rows for {_name_tasks(without_gold)}, because files of the gold "
                     "are not published")
    if n_absent:
        notes.append(f"the view {ITEM_TEXT} lacks {counted(n_absent, 'run')}, because the submitted files are not "
                     "published")
    return notes


def _name_tasks(tasks: Collection[str]) -> str:
    return f"task{'s' * (len(tasks) > 1)} {listed(list(map(repr, tasks)), _MAX_NAMES)}"


class _Files:
    """The gold and submitted files in the database, with a cache of one file.

    The cache helps because one file may contain the outputs of many systems.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._last: Document | None = None
        self._digest = ""

    def load(self, digest: str, path: str) -> Document | None:
        """Return the content of the stored file with this digest.

        Args:
            digest: Digest of the file.
            path: Path that error messages show.

        Returns:
            The content; None if the database does not contain the file.
        """
        if self._last is None or self._digest != digest:
            rows = self._driver.execute("SELECT content FROM source WHERE digest = ?", [digest]).fetchall()
            if not rows:
                return None
            self._last, self._digest = Document(path, zlib.decompress(rows[0][0])), digest
        return self._last


def _load_items(driver: Any, files: _Files, gold_revision_id: int, reader: str) -> list[tuple[int, Item]] | None:
    """Load the items of one version of the gold from its stored files.

    Returns:
        Pairs of an id and an item; None if a file of the gold is not in the database.
    """
    documents = dict[str, Document]()
    for role, digest in driver.execute(
            "SELECT role, source_digest FROM gold_source WHERE gold_revision_id = ? AND reader = ?",
            [gold_revision_id, reader]).fetchall():
        if (document := files.load(digest, role)) is None:
            return None
        documents[role] = document
    if not documents:
        return None
    gold_reader: Reader = parse("reader", READERS, reader)
    query = "SELECT key, item_id FROM item WHERE gold_revision_id = ?"
    ids = dict(driver.execute(query, [gold_revision_id]).fetchall())
    return [(ids[item.key], item) for item in gold_reader.read_gold(documents) if item.key in ids]


def _join_words(item: Item) -> str:
    if isinstance(item.gold, Tagged):
        return " ".join(item.gold.tokens)
    return " ".join(word.form for word in item.gold.words) if isinstance(item.gold, Sentence) else ""


def _add_texts(driver: Any, files: _Files, test_set_id: int, items: Sequence[tuple[int, Item]]) -> int:
    """Add rows to `item_text` with sources, references and outputs of all runs.

    Args:
        driver: DuckDB's own connection.
        files: The stored files.
        test_set_id: Id of the test set, whose outputs must be texts.
        items: Id and content of each item.

    Returns:
        Number of runs whose files are not in the database.
    """
    golds: Mapping[str, str] = items[0][1].gold if items else {}
    columns = {name: f"text {n}" for n, name in enumerate(golds)}  # names that cannot be confused with other columns
    arrays = {column: text_column([item.gold[name] for _, item in items]) for name, column in columns.items()}
    entries = [f"{quote(name)}: {_column(columns, name)}" for name in columns if name != "source"]
    parts = {"source": _column(columns, "source"), "gold": _column(columns, "gold"),
             "golds": f"map {{{', '.join(entries)}}}" if entries else "NULL", "outputs": "_said", "same_run": "",
             "which": "ranked.scoring_id = ? AND of.replicate = ?"}
    ids = {item.key: item_id for item_id, item in items}
    register_arrays(driver, "_words", {"item_id": np.array([*ids.values()], dtype=np.int32), **arrays})
    n_absent = 0
    for name, scoring_id, replicate, reader_value, digest in driver.execute(_RUNS, [test_set_id]).fetchall():
        if (document := files.load(digest, name)) is None:
            n_absent += 1
            continue
        reader: Reader = parse("reader", READERS, reader_value)
        answers = [answer for answer in reader.read_answers(document) if answer.key in ids]
        register_arrays(driver, "_said", {
            "item_id": np.array([ids[answer.key] for answer in answers], dtype=np.int32),
            "output": text_column([str(answer.value) for answer in answers])})
        driver.execute(_ROWS.format(**parts), [scoring_id, replicate])
        driver.unregister("_said")
    driver.unregister("_words")
    return n_absent


def _column(columns: Mapping[str, str], name: str) -> str:
    return f'words."{columns[name]}"' if name in columns else "NULL"


def _add_words(driver: Any, test_set_id: int, items: Sequence[tuple[int, Item]]) -> None:
    """Add rows to `item_text` with the words of sentences and all runs' answers.

    Args:
        driver: DuckDB's own connection.
        test_set_id: Id of the test set, whose items must be sentences.
        items: Id and content of each item.
    """
    register_arrays(driver, "_words", {"item_id": np.array([item_id for item_id, _ in items], dtype=np.int32),
                                       "text": text_column([_join_words(item) for _, item in items])})
    gold = """(SELECT string_agg(said, '; ' ORDER BY said, answer_id) FROM (
        SELECT if(type = '', key, type || ' ' || key) AS said, answer_id
        FROM answer WHERE answer.item_id = item.item_id AND in_gold))"""
    driver.execute(_ROWS.format(
        source='words."text"', gold=gold, golds="NULL", outputs="item_output",
        same_run="AND said.scoring_id = ranked.scoring_id AND said.replicate = of.replicate",
        which="ranked.test_set_id = ?"), [test_set_id])
    driver.unregister("_words")
