"""Verify a release or a public file: every number follows from the others.

Checksums come first. Then a release becomes a registry in a temporary file, where the code that made its scores and
comparisons makes them again; they must be the same to the last bit. Decisions and ranks follow from stored p-values.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from registry.arrays import Flags, Floats
from registry.boards.load import PAGE_PAIRS
from registry.boards.snapshot import TaskBoards, snapshot
from registry.errors import InputError, RegistryError
from registry.evaluation.comparing.settings import Request
from registry.evaluation.matrices import Steps
from registry.evaluation.scoring.label_codes import load_labels
from registry.evaluation.scoring.measure import CountedItems, SubmissionScore, score_label_runs, score_runs
from registry.evaluation.verifying.derived import RESULT_TABLES as OF_RESULTS
from registry.evaluation.verifying.derived import compare_results, derive_results, of_families
from registry.evaluation.verifying.faults import Fault, set_aside
from registry.evaluation.verifying.log import with_places_of_purged
from registry.evaluation.verifying.stored import verify_references
from registry.evaluation.verifying.verify import Verified
from registry.identity import canonical_json
from registry.manifest import stored_manifest
from registry.metrics import METRICS, ConfusionMetric
from registry.publication.publish import WITHOUT
from registry.releases import descriptions, writing
from registry.releases.descriptions import Contents
from registry.releases.tables import SUBMITTED
from registry.releases.writing import FORMAT, PROGRAM, as_registry, for_readers, rendered, verify_submitted
from registry.significance import CORRECTIONS, Execution, rank
from registry.significance.multiple import adjust_boards, number_chains
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.files import Reach
from registry.store.log import Journal
from registry.store.statistics import fetch_columns, load_statistics
from registry.values import parse

Columns = Mapping[str, NDArray[Any]]

_PLACES = {"rank": "rank", "rank_low": "low", "rank_high": "high", "cluster": "cluster"}  # as `Ranking` calls them


def verify_decisions(connection: Connection, left_out: Collection[int] = ()) -> Iterator[Fault]:
    """Hold the adjusted p-values, decisions and ranks of every board against its p-values and scores.

    Args:
        connection: To a public file.
        left_out: The ids of comparisons that are not verified.
    """
    families: dict[str, list[tuple[Any, Columns]]] = {}
    for board in connection.exec_driver_sql("""
            SELECT comparison_id, split_part(signature, '|', -1) AS id, alpha, correction, request, better,
                concat_ws(', ', test_set.name, track.name, facet) AS items,
                concat_ws(', ', test_set.name, track.name, facet, alias) AS board
            FROM comparison JOIN metric USING (metric_id) JOIN test_set USING (test_set_id)
            LEFT JOIN track ON track.track_id = comparison.track_id ORDER BY comparison_id"""):
        if board.comparison_id in left_out:
            continue
        pairs = _columns(connection, """
            SELECT submission_a, submission_b, is_significant, p_adjusted, p_value,
                if(is_swapped, -difference, difference) AS difference, if(is_swapped, -favours, favours) AS favours,
                (alternative = 'two-sided' OR ((alternative = 'greater') <> is_swapped) = (
                    if(is_swapped, -difference, difference) > 0)) AS agrees
            FROM comparison_pair JOIN pair_result USING (pair_result_id)
            JOIN pair_request USING (pair_request_id)""", board.comparison_id)
        family = json.loads(board.request).get("family", str(board.comparison_id))
        families.setdefault(canonical_json(family), []).append((board, pairs))
    for of_family in families.values():
        yield from _of_family(of_family)
        for board, pairs in of_family:
            standings = _columns(connection, "SELECT * FROM standing", board.comparison_id)
            yield from _of_standings(board, pairs, standings)


def _columns(connection: Connection, select: str, comparison_id: int) -> Columns:
    """Columns of a comparison, in order; NULL is nan, or in texts a dash."""
    query = text(f"{select} WHERE comparison_id = {comparison_id} ORDER BY position")
    found = fetch_columns(connection, query)
    return {name: np.ma.filled(column.astype(np.float64), np.nan) if column.dtype.kind in "fiub" else
            np.ma.filled(column, "-") for name, column in found.items()}


def _of_family(boards: Sequence[tuple[Any, Columns]]) -> Iterator[Fault]:
    """Hold the adjusted p-values of a family's boards against the others, and decisions against these."""
    order = json.loads(boards[0][0].request).get("family", {}).get("boards", [boards[0][0].board])
    boards = sorted((of for of in boards if len(of[1]["p_value"])), key=lambda of: order.index(of[0].board))
    if boards and CORRECTIONS[boards[0][0].correction].function is not None:
        chains = number_chains([(board.items, np.stack([pairs["submission_a"], pairs["submission_b"]]).astype(np.int64))
                            for board, pairs in boards])
        adjusted = adjust_boards([pairs["p_value"] for _, pairs in boards], chains, boards[0][0].correction)
        for (board, pairs), of_board in zip(boards, adjusted, strict=True):
            yield from _differing("pair", board.id, "p_adjusted", pairs["p_adjusted"], of_board)
    for board, pairs in boards:
        significant = (pairs["p_adjusted"] <= board.alpha) & (pairs["favours"] * pairs["difference"] > 0) & (
            pairs["agrees"] == 1)
        yield from _differing("pair", board.id, "is_significant", pairs["is_significant"],
                              significant.astype(np.float64))


def _of_standings(board: Any, pairs: Columns, standings: Columns) -> Iterator[Fault]:
    """Hold wins, losses and ranks against the decisions and the scores."""
    place = {submission: n for n, submission in enumerate(standings["submission_id"])}
    if unknown := (set(pairs["submission_a"]) | set(pairs["submission_b"])) - place.keys():
        yield Fault("surplus", "pair", board.id, f"pairs of {len(unknown)} systems that the board does not have")
        return
    wins = np.zeros((len(place),) * 2, dtype=bool)
    for a, b, won, difference in zip(*(pairs[key] for key in (
            "submission_a", "submission_b", "is_significant", "difference")), strict=True):
        if won:
            wins[(place[a], place[b]) if difference > 0 else (place[b], place[a])] = True
    request = Request.from_json(board.request)
    ranked = np.flatnonzero([request.is_ranked(kind, late=bool(late)) for kind, late in zip(
        standings["kind"], standings["late"], strict=True)])
    ranking = rank(standings["score"][ranked], wins[np.ix_(ranked, ranked)], lower_is_better=board.better == "lower")
    derived = {key: np.full(len(place), np.nan) for key in _PLACES}
    for key, of in _PLACES.items():
        derived[key][ranked] = getattr(ranking, of)
    derived |= {"wins": wins.sum(axis=1).astype(np.float64), "losses": wins.sum(axis=0).astype(np.float64)}
    for key, values in derived.items():
        yield from _differing("standing", board.id, key, standings[key], values)


def _differing(of: str, name: str, key: str, stored: NDArray[Any], derived: NDArray[Any]) -> Iterator[Fault]:
    wrong = np.flatnonzero(~((stored == derived) | (np.isnan(stored) & np.isnan(derived))))
    if len(wrong):
        n = int(wrong[0])
        yield Fault("altered", of, name, f"{key} of row {n} is {stored[n]}, and {derived[n]} when derived again"
                    + (f"; {len(wrong)} rows differ so" if len(wrong) > 1 else ""))


_SCORES = """
    SELECT score.*, test_set.task_id, metric.name AS metric, metric.family, revision.gold_revision_id,
        concat(test_set.name, '/', team.name, '/', system.name, '@', submission.version, ' by ', alias) AS name
    FROM score JOIN metric USING (metric_id) JOIN scoring USING (scoring_id) JOIN submission USING (submission_id)
    JOIN system USING (system_id) JOIN team USING (team_id) JOIN gold_revision AS revision USING (gold_revision_id)
    JOIN test_set ON test_set.test_set_id = submission.test_set_id
    JOIN (SELECT metric_id, min(alias) AS alias FROM task_metric GROUP BY metric_id) USING (metric_id)
    ORDER BY metric_id, scoring_id"""


def verify_scores(connection: Connection, with_gold: Collection[int]) -> Iterator[Fault]:
    """Compute every score again from the statistics of its items, or from totals where the gold is withheld.

    Args:
        connection: To a public file.
        with_gold: The tasks whose gold is not withheld. Of others, scores of families that do not add up are left out.
    """
    totals: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for row in connection.exec_driver_sql("FROM statistic_total ORDER BY replicate, position"):
        totals[row.scoring_id, row.metric_id].append(row)
    for stored in connection.exec_driver_sql(_SCORES).all():
        try:
            if stored.task_id in with_gold:
                yield from _of_items(connection, stored)
            elif stored.family not in WITHOUT:
                yield from _of_totals(connection, stored, totals[stored.scoring_id, stored.metric_id])
        except Exception as error:
            yield Fault("damaged", "score", stored.name, f"cannot be computed again: {type(error).__name__}: {error}")


def _of_totals(connection: Connection, stored: Any, rows: Sequence[Any]) -> Iterator[Fault]:
    if not rows:
        yield Fault("missing", "totals", stored.name, "there is nothing that its score follows from")
        return
    width = 1 + max(row.position for row in rows)
    per_one = tuple(row.per_one for row in rows[:width])
    runs = np.array([row.total for row in rows], dtype=np.float64).reshape(-1, 1, width) / per_one
    metric = parse("metric", METRICS, stored.metric)
    yield from _differences(connection, stored, score_runs(metric, list(runs), Steps(per_one)))


def _of_items(connection: Connection, stored: Any) -> Iterator[Fault]:
    revision = stored.gold_revision_id
    metric = parse("metric", METRICS, stored.metric)
    first, n_items = catalog.item_ids(connection, revision)
    (found,), present = load_statistics(connection, stored.family, stored.metric_id, [stored.scoring_id],
                                        first, n_items)
    is_kept: Flags = np.any(present, axis=1)
    kept = CountedItems.select(is_kept, first, catalog.item_keys(connection, revision))
    runs: list[Floats] = [found[is_kept, n] for n in range(found.shape[1])]
    if isinstance(metric, ConfusionMetric):
        labels = load_labels(connection, revision)
        measured, contents = score_label_runs(metric, labels, runs), [labels.decode(of_run) for of_run in runs]
    else:
        measured, contents = score_runs(metric, runs), runs
    if (digest := kept.digest_statistics(contents)) != stored.digest:
        yield Fault("altered", "statistics", stored.name, f"they give the digest {digest}, not {stored.digest}")
    if len(kept.ids) != stored.n_items:
        yield Fault("altered", "score", stored.name, f"n_items is {stored.n_items}, and {len(kept.ids)} items count")
    if measured.step != stored.step:
        yield Fault("altered", "score", stored.name, f"step is {stored.step}, and {measured.step} when derived again")
    yield from _differences(connection, stored, measured)


def _differences(connection: Connection, stored: Any, measured: SubmissionScore) -> Iterator[Fault]:
    """Hold a score and those of its runs against what they are when they are made again."""
    of_runs = [row.value for row in connection.exec_driver_sql(
        "SELECT value FROM replicate_score WHERE scoring_id = ? AND metric_id = ? ORDER BY replicate",
        (stored.scoring_id, stored.metric_id))]
    if not _same([stored.value], [measured.value]):
        yield Fault("altered", "score", stored.name, f"is {stored.value}, and {measured.value} when derived again")
    if len(of_runs) != len(measured.run_values) or not _same(of_runs, measured.run_values):
        yield Fault("altered", "score", stored.name, "the scores of its runs are others when derived again")


def _same(stored: Any, derived: Any) -> bool:
    return bool(np.array_equal(np.array(stored, dtype=np.float64), derived, equal_nan=True))


_WITHHELD = ("the gold is withheld, and with it the statistics of items: p-values were not computed again, only what "
             "follows from them")
_COMPUTABLE = """
    SELECT comparison_id FROM comparison JOIN test_set USING (test_set_id)
    WHERE task_id = ? AND comparison_id NOT IN (
        SELECT comparison_id FROM comparison_pair JOIN pair_result USING (pair_result_id)
        JOIN tested_statistics ON tested_statistics_id = statistics_a
        WHERE starts_with(tested_statistics.digest, 'withheld'))
    ORDER BY ALL"""
_PURGED = "boards on which a team stood that was purged were not computed again"
_TOTALS = "scores were made again from totals, where their statistics add up"
_STEP_DOWN = "adjusted p-values by max-t and min-p need the draws of all pairs, and were taken as they are"
_OTHER_PROGRAM = f"README, page and descriptions are held by checksums only: {PROGRAM} makes its own"


def is_release(folder: Path) -> bool:
    """Whether a folder has the files that every release has, or some of them."""
    return folder.is_dir() and any((folder / name).exists() for name in ("release.json", writing.CHECKSUMS))


def verify_release(folder: Path, execution: Execution) -> Verified:
    """Verify a release.

    Args:
        folder: Where it is.
        execution: Who computes.

    Raises:
        InputError: The folder holds no release.
    """
    verified = Verified()
    verified.count("file", len(writing.files_of(folder)))
    verified.faults += writing.verify_checksums(folder)
    try:
        told = _told(folder)
    except InputError as error:
        if not (folder / writing.CHECKSUMS).is_file():
            raise
        verified.faults.append(Fault("damaged", "release", folder.name, str(error)))
        return verified
    of_checksums = {fault.name for fault in verified.faults}
    with _going_on(verified, folder.name, "read as one"), as_registry(folder, told) as database:
        with database.writing(dry_run=True, reach=Reach(folders=[folder])) as connection:
            with _going_on(verified, SUBMITTED):
                verified.faults += verify_submitted(connection, folder)
            verify_public(connection, execution, verified)
        with database.reading(reach=Reach(folders=[folder])) as connection:
            (task,) = snapshot(connection, pairs=PAGE_PAIRS).tasks
            verified.faults += _verify_told(told, task)
            verified.faults += _verify_boards(folder, task)
            if told.get("program") == PROGRAM:
                with _going_on(verified, "README.md, page.html and descriptions"):
                    verified.faults += _verify_derived_files(connection, folder, told, task, of_checksums)
            else:
                verified.notes.append(_OTHER_PROGRAM)
    return verified


@contextmanager
def _going_on(verified: Verified, name: str, what: str = "verified") -> Iterator[None]:
    """What cannot be verified is a fault, and does not end what comes after it."""
    try:
        yield
    except Exception as error:
        verified.faults.append(Fault("damaged", "release", name, f"cannot be {what}: {_why(error)}"))


def _why(error: Exception) -> str:
    """What is wrong, in words of the registry."""
    if isinstance(error, RegistryError):
        return str(error)
    if isinstance(error, DBAPIError):
        return "its tables are not those of a release, or contradict each other"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return "its values are not those of a release, or contradict each other"


def _why_unread(error: Exception) -> str:
    return "its brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)


def _verify_told(told: dict[str, Any], task: TaskBoards) -> Iterator[Fault]:
    """Hold what `release.json` says of the task against the manifest."""
    for key, value in (("task", task.task), ("version", task.version)):
        if told.get(key) != value:
            yield Fault("altered", "release", "release.json", f"says that {key} is {told.get(key)!r}, and the manifest "
                        f"has {value!r}")


def verify_public(connection: Connection, execution: Execution, verified: Verified) -> None:
    """Verify a public file, or a registry that was made of a release: neither has all files, and the log is redacted.

    Args:
        connection: To it, in a transaction that is undone afterwards.
        execution: Who computes.
        verified: What is found is added to it.
    """
    tasks = [TaskRow.of(row) for row in connection.execute(select(*TaskRow.columns()))]
    with _going_on(verified, ", ".join(task.slug for task in tasks)):
        verified.faults += [fault for fault in verify_references(connection) if fault.of != "source"]
        for table in ("comparison", "score"):
            verified.count(table, int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()))  # noqa: S608
        purged = of_families(connection, with_places_of_purged(connection))
        verified.faults += verify_decisions(connection, purged)
        with_gold = [task for task in tasks if stored_manifest(task.manifest).release.gold]
        verified.faults += verify_scores(connection, {task.task_id for task in with_gold})
        chosen = {task.task_id: [row[0] for row in connection.exec_driver_sql(_COMPUTABLE, (task.task_id,))
                                 if row[0] not in purged] for task in with_gold}
        if purged:
            verified.notes.append(_PURGED)
        set_aside(connection, OF_RESULTS)
        for task in with_gold:
            verified.faults += derive_results(connection, Journal("verify", {}), task, chosen[task.task_id], execution)
        for task in with_gold:
            verified.faults += compare_results(connection, chosen[task.task_id],
                                               is_reordered=task.anonymous_until is not None)
        if len(with_gold) < len(tasks):
            verified.notes += [_WITHHELD, _TOTALS]
            if connection.exec_driver_sql("""
                    SELECT 1 FROM stored_comparison JOIN test_set USING (test_set_id)
                    WHERE correction IN ('max-t', 'min-p') AND NOT list_contains(?, task_id)""",
                                          ([task.task_id for task in with_gold],)).first():
                verified.notes.append(_STEP_DOWN)


def _told(folder: Path) -> dict[str, Any]:
    """What `release.json` says."""
    path = folder / "release.json"
    try:
        told = json.loads(writing.plain_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read, so this is no release: {_why_unread(error)}", path=path) from None
    if not isinstance(told, dict) or not isinstance(told.get("gold"), bool):
        raise InputError("does not say what the release holds", path=path)
    if told.get("format") != FORMAT:
        raise InputError(f"its form is {told.get('format')!r}, and this program knows {FORMAT}; install the program "
                         f"that wrote it, {told.get('program')!r}", path=path)
    return told


def _verify_boards(folder: Path, task: TaskBoards) -> Iterator[Fault]:
    """Hold the boards that people read against the tables, key by key."""
    made = dict(rendered(task))
    for name, read in (("boards/boards.json", json.loads), ("boards/boards.tsv", _rows)):
        try:
            stored, derived = read(writing.plain_text(folder / name)), read(made[name])
        except (OSError, ValueError, RecursionError) as error:
            yield Fault("damaged", "board", name, f"cannot be read: {_why_unread(error)}")
            continue
        if why := _difference(stored, derived):
            yield Fault("altered", "board", name, why)
    signatures = folder / "boards/signatures.txt"
    if not signatures.is_file() or signatures.read_bytes() != made["boards/signatures.txt"].encode():
        yield Fault("altered", "board", "boards/signatures.txt", "the signatures are not those of the tables")


def _difference(stored: Any, derived: Sequence[Mapping[str, Any]]) -> str | None:
    """What is other in the rows of a file than in those that the tables give; None where that is nothing."""
    if not isinstance(stored, list) or not all(isinstance(row, dict) for row in stored):
        return "it is no list of rows"
    if len(stored) != len(derived):
        return f"it has {len(stored)} rows, and the tables give {len(derived)}"
    for n, (of_file, of_tables) in enumerate(zip(stored, derived, strict=True)):
        for key in (*of_tables, *(of_file.keys() - of_tables.keys())):
            if key not in of_file:
                return f"row {n} is without {key}"
            if key not in of_tables or of_file[key] != of_tables[key]:
                return f"{key or 'a value without a column'} of row {n} is not that of the tables"
    return None


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def _verify_derived_files(connection: Connection, folder: Path, told: dict[str, Any], boards: TaskBoards,
                          known: Collection[str]) -> Iterator[Fault]:
    """Hold README, page, licences and descriptions against what the program that wrote them makes of the tables.

    Args:
        connection: To a registry that was made of the release.
        folder: Where the release is.
        told: What its `release.json` says.
        boards: Its boards.
        known: The names of files that are known to be wrong; while there are any, descriptions with digests are too.
    """
    contents = Contents.of(connection, folder, boards, gold=told["gold"])
    made = list(for_readers(contents))
    if not known:
        contents = contents.with_files([path for path in writing.files_of(folder) if path != descriptions.RO_CRATE])
        made += [(descriptions.CROISSANT, descriptions.croissant(contents)),
                 (descriptions.RO_CRATE, descriptions.ro_crate(contents))]
    for name, content in made:
        if name in known:
            continue
        if not (folder / name).is_file():
            yield Fault("missing", "file", name, "every release of this task has it")
        elif (folder / name).read_bytes() != content.encode():
            yield Fault("altered", "description", name, "is not what follows from the tables and the manifest")
