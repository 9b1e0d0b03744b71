"""Verification of a release or a public file.

First, the files of a release are compared with their checksums. Then the release is loaded into a temporary registry,
where all scores and comparisons are computed again with the same code. The new numbers must be equal to the released
numbers in every bit. Decisions and ranks must follow from the stored p-values.
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
from registry.boards.snapshot import TaskBoards, load_snapshot
from registry.errors import InputError, RegistryError
from registry.evaluation.comparing.settings import Request
from registry.evaluation.matrices import Steps
from registry.evaluation.scoring.label_codes import load_labels
from registry.evaluation.scoring.measure import CountedItems, SubmissionScore, score_label_runs, score_runs
from registry.evaluation.verifying.derived import RESULT_TABLES, add_families, compare_results, derive_results
from registry.evaluation.verifying.faults import Fault, set_aside
from registry.evaluation.verifying.log import find_purged_comparisons
from registry.evaluation.verifying.stored import verify_references
from registry.evaluation.verifying.verify import VerificationResult
from registry.identity import canonical_json
from registry.manifest import decode_manifest
from registry.metrics import METRICS, ConfusionMetric
from registry.publication.publish import WITHOUT
from registry.releases import descriptions, writing
from registry.releases.descriptions import Contents
from registry.releases.tables import SUBMITTED
from registry.releases.writing import (
    FORMAT,
    PROGRAM,
    list_files,
    loading_release,
    read_text,
    render_boards,
    render_documents,
    verify_submitted,
)
from registry.significance import CORRECTIONS, Execution, rank
from registry.significance.multiple import adjust_boards, number_chains
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.files import Reach
from registry.store.log import Journal
from registry.store.statistics import fetch_columns, load_statistics
from registry.values import parse

Columns = Mapping[str, NDArray[Any]]

_RANKS = {"rank": "rank", "rank_low": "low", "rank_high": "high", "cluster": "cluster"}  # column: field of `Ranking`


def verify_decisions(connection: Connection, excluded: Collection[int] = ()) -> Iterator[Fault]:
    """Verify adjusted p-values, significance and ranks: recompute and compare them.

    These numbers are computed from the stored p-values and scores of each leaderboard.

    Args:
        connection: Connection to a public file.
        excluded: Ids of comparisons that are not verified.

    Yields:
        A fault for each difference.
    """
    families: dict[str, list[tuple[Any, Columns]]] = {}
    for board in connection.exec_driver_sql("""
            SELECT comparison_id, split_part(signature, '|', -1) AS id, alpha, correction, request, better,
                concat_ws(', ', test_set.name, track.name, facet) AS items,
                concat_ws(', ', test_set.name, track.name, facet, alias) AS board
            FROM comparison JOIN metric USING (metric_id) JOIN test_set USING (test_set_id)
            LEFT JOIN track ON track.track_id = comparison.track_id ORDER BY comparison_id"""):
        if board.comparison_id in excluded:
            continue
        pairs = _fetch_columns(connection, """
            SELECT submission_a, submission_b, is_significant, p_adjusted, p_value,
                if(is_swapped, -difference, difference) AS difference, if(is_swapped, -favours, favours) AS favours,
                (alternative = 'two-sided' OR ((alternative = 'greater') <> is_swapped) = (
                    if(is_swapped, -difference, difference) > 0)) AS agrees
            FROM comparison_pair JOIN pair_result USING (pair_result_id)
            JOIN pair_request USING (pair_request_id)""", board.comparison_id)
        family = json.loads(board.request).get("family", str(board.comparison_id))
        families.setdefault(canonical_json(family), []).append((board, pairs))
    for boards in families.values():
        yield from _verify_family(boards)
        for board, pairs in boards:
            standings = _fetch_columns(connection, "SELECT * FROM standing", board.comparison_id)
            yield from _verify_standings(board, pairs, standings)


def _fetch_columns(connection: Connection, select: str, comparison_id: int) -> Columns:
    """Load a table of one comparison, and return its columns by name.

    NULL becomes nan in a column of numbers, and `-` in a column of texts.
    """
    query = text(f"{select} WHERE comparison_id = {comparison_id} ORDER BY position")
    columns = fetch_columns(connection, query)
    return {name: np.ma.filled(column.astype(np.float64), np.nan) if column.dtype.kind in "fiub" else
            np.ma.filled(column, "-") for name, column in columns.items()}


def _verify_family(boards: Sequence[tuple[Any, Columns]]) -> Iterator[Fault]:
    """Verify which differences are significant on leaderboards corrected together.

    Adjusted p-values are recomputed from p-values, and significance from the stored adjusted p-values.

    Args:
        boards: For each leaderboard: its comparison, and the results of its pairs by column.
    """
    order = json.loads(boards[0][0].request).get("family", {}).get("boards", [boards[0][0].board])
    boards = sorted((entry for entry in boards if len(entry[1]["p_value"])), key=lambda entry: order.index(
        entry[0].board))
    if boards and CORRECTIONS[boards[0][0].correction].function is not None:
        chains = number_chains([(board.items, np.stack([pairs["submission_a"], pairs["submission_b"]]).astype(np.int64))
                            for board, pairs in boards])
        adjusted = adjust_boards([pairs["p_value"] for _, pairs in boards], chains, boards[0][0].correction)
        for (board, pairs), p_adjusted in zip(boards, adjusted, strict=True):
            yield from _compare_column("pair", board.id, "p_adjusted", pairs["p_adjusted"], p_adjusted)
    for board, pairs in boards:
        significant = (pairs["p_adjusted"] <= board.alpha) & (pairs["favours"] * pairs["difference"] > 0) & (
            pairs["agrees"] == 1)
        yield from _compare_column("pair", board.id, "is_significant", pairs["is_significant"],
                                   significant.astype(np.float64))


def _verify_standings(board: Any, pairs: Columns, standings: Columns) -> Iterator[Fault]:
    """Recompute wins, losses and ranks on a leaderboard; yield differences.

    Args:
        board: Comparison of the leaderboard.
        pairs: Results of the pairs, by column.
        standings: Rows of the leaderboard, by column.
    """
    rows = {submission: n for n, submission in enumerate(standings["submission_id"])}
    if unknown := (set(pairs["submission_a"]) | set(pairs["submission_b"])) - rows.keys():
        yield Fault("surplus", "pair", board.id, f"pairs of {len(unknown)} systems that are not on the board")
        return
    wins = np.zeros((len(rows),) * 2, dtype=bool)
    for a, b, is_significant, difference in zip(*(pairs[key] for key in (
            "submission_a", "submission_b", "is_significant", "difference")), strict=True):
        if is_significant:
            wins[(rows[a], rows[b]) if difference > 0 else (rows[b], rows[a])] = True
    request = Request.from_json(board.request)
    ranked = np.flatnonzero([request.is_ranked(kind, late=bool(late)) for kind, late in zip(
        standings["kind"], standings["late"], strict=True)])
    ranking = rank(standings["score"][ranked], wins[np.ix_(ranked, ranked)], lower_is_better=board.better == "lower")
    derived = {column: np.full(len(rows), np.nan) for column in _RANKS}
    for column, field in _RANKS.items():
        derived[column][ranked] = getattr(ranking, field)
    derived |= {"wins": wins.sum(axis=1).astype(np.float64), "losses": wins.sum(axis=0).astype(np.float64)}
    for column, values in derived.items():
        yield from _compare_column("standing", board.id, column, standings[column], values)


def _compare_column(kind: str, name: str, column: str, stored: NDArray[Any], derived: NDArray[Any]) -> Iterator[Fault]:
    different = np.flatnonzero(~((stored == derived) | (np.isnan(stored) & np.isnan(derived))))
    if len(different):
        n = int(different[0])
        count = f"; {len(different)} rows differ" if len(different) > 1 else ""
        yield Fault("altered", kind, name,
                    f"{column} of row {n} is {stored[n]}, but the recomputed value is {derived[n]}{count}")


_SCORES = """
    SELECT score.*, test_set.task_id, metric.name AS metric, metric.family, revision.gold_revision_id,
        concat(test_set.name, '/', team.name, '/', system.name, '@', submission.version, ' by ', alias) AS name
    FROM score JOIN metric USING (metric_id) JOIN scoring USING (scoring_id) JOIN submission USING (submission_id)
    JOIN system USING (system_id) JOIN team USING (team_id) JOIN gold_revision AS revision USING (gold_revision_id)
    JOIN test_set ON test_set.test_set_id = submission.test_set_id
    JOIN (SELECT metric_id, min(alias) AS alias FROM task_metric GROUP BY metric_id) USING (metric_id)
    ORDER BY metric_id, scoring_id"""


def verify_scores(connection: Connection, with_gold: Collection[int]) -> Iterator[Fault]:
    """Recompute every score, and yield the differences from the stored scores.

    Scores are computed from the statistics of items, or from totals if the gold is withheld.

    Args:
        connection: Connection to a public file.
        with_gold: Ids of the tasks whose gold is public. In the other tasks, a score is not verified if no totals exist
            for its kind of statistics.
    """
    totals: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for row in connection.exec_driver_sql("FROM statistic_total ORDER BY replicate, position"):
        totals[row.scoring_id, row.metric_id].append(row)
    for stored in connection.exec_driver_sql(_SCORES).all():
        try:
            if stored.task_id in with_gold:
                yield from _verify_by_items(connection, stored)
            elif stored.family not in WITHOUT:
                yield from _verify_by_totals(connection, stored, totals[stored.scoring_id, stored.metric_id])
        except Exception as error:
            yield Fault("damaged", "score", stored.name, f"cannot be recomputed: {type(error).__name__}: {error}")


def _verify_by_totals(connection: Connection, stored: Any, totals: Sequence[Any]) -> Iterator[Fault]:
    if not totals:
        yield Fault("missing", "totals", stored.name, "the totals of its score are missing")
        return
    width = 1 + max(row.position for row in totals)
    per_one = tuple(row.per_one for row in totals[:width])
    runs = np.array([row.total for row in totals], dtype=np.float64).reshape(-1, 1, width) / per_one
    metric = parse("metric", METRICS, stored.metric)
    yield from _compare_scores(connection, stored, score_runs(metric, list(runs), Steps(per_one)))


def _verify_by_items(connection: Connection, stored: Any) -> Iterator[Fault]:
    revision = stored.gold_revision_id
    metric = parse("metric", METRICS, stored.metric)
    first, n_items = catalog.item_ids(connection, revision)
    (statistics,), present = load_statistics(connection, stored.family, stored.metric_id, [stored.scoring_id],
                                             first, n_items)
    is_kept: Flags = np.any(present, axis=1)
    kept_items = CountedItems.select(is_kept, first, catalog.item_keys(connection, revision))
    runs: list[Floats] = [statistics[is_kept, n] for n in range(statistics.shape[1])]
    if isinstance(metric, ConfusionMetric):
        labels = load_labels(connection, revision)
        measured, contents = score_label_runs(metric, labels, runs), [labels.decode(run) for run in runs]
    else:
        measured, contents = score_runs(metric, runs), runs
    if (digest := kept_items.digest_statistics(contents)) != stored.digest:
        yield Fault("altered", "statistics", stored.name,
                    f"their digest is {digest}, but the score has {stored.digest}")
    for column, derived in (("n_items", len(kept_items.ids)), ("step", measured.step)):
        if derived != getattr(stored, column):
            yield Fault("altered", "score", stored.name,
                        f"{column} is {getattr(stored, column)}, but the recomputed value is {derived}")
    yield from _compare_scores(connection, stored, measured)


def _compare_scores(connection: Connection, stored: Any, measured: SubmissionScore) -> Iterator[Fault]:
    """Compare recomputed scores of a submission, and of its runs, with stored scores."""
    runs = [row.value for row in connection.exec_driver_sql(
        "SELECT value FROM replicate_score WHERE scoring_id = ? AND metric_id = ? ORDER BY replicate",
        (stored.scoring_id, stored.metric_id))]
    if not _are_equal([stored.value], [measured.value]):
        yield Fault("altered", "score", stored.name, f"is {stored.value}, but the recomputed value is {measured.value}")
    if len(runs) != len(measured.run_values) or not _are_equal(runs, measured.run_values):
        yield Fault("altered", "score", stored.name, "the recomputed scores of its runs differ")


def _are_equal(stored: Any, derived: Any) -> bool:
    return bool(np.array_equal(np.array(stored, dtype=np.float64), derived, equal_nan=True))


_WITHHELD = ("p-values were not recomputed, because the gold and the items' statistics are withheld; adjusted "
             "p-values, decisions and ranks were recomputed from the stored p-values")
_COMPUTABLE = """
    SELECT comparison_id FROM comparison JOIN test_set USING (test_set_id)
    WHERE task_id = ? AND comparison_id NOT IN (
        SELECT comparison_id FROM comparison_pair JOIN pair_result USING (pair_result_id)
        JOIN tested_statistics ON tested_statistics_id = statistics_a
        WHERE starts_with(tested_statistics.digest, 'withheld'))
    ORDER BY ALL"""
_PURGED = "boards with a purged team were not recomputed"
_TOTALS = ("scores were recomputed from stored totals; scores without totals, such as correlations, were not "
           "recomputed")
_STEP_DOWN = "adjusted p-values by max-t and min-p were not recomputed, because they need resamples"
_OTHER_PROGRAM = ("README, page and descriptions were compared only with their checksums, because this program, "
                  f"{PROGRAM}, writes other ones")


def is_release(folder: Path) -> bool:
    """Return True if a folder has a file `release.json` or `SHA256SUMS`."""
    return folder.is_dir() and any((folder / name).exists() for name in ("release.json", writing.CHECKSUMS))


def verify_release(folder: Path, execution: Execution) -> VerificationResult:
    """Check that nothing in a release was altered, and recompute its numbers.

    Args:
        folder: Folder of the release.
        execution: Workers and memory of the computations.

    Raises:
        InputError: The folder is not a release.
    """
    verified = VerificationResult()
    verified.counts["file"] += len(list_files(folder))
    verified.faults += writing.verify_checksums(folder)
    try:
        release = _read_release_file(folder / "release.json")
    except InputError as error:
        if not (folder / writing.CHECKSUMS).is_file():
            raise
        verified.faults.append(Fault("damaged", "release", folder.name, str(error)))
        return verified
    faulty_files = {fault.name for fault in verified.faults}
    with _collect_error(verified, folder.name, "loaded"), loading_release(folder, release) as database:
        with database.writing(dry_run=True, reach=Reach(folders=[folder])) as connection:
            with _collect_error(verified, SUBMITTED):
                verified.faults += verify_submitted(connection, folder)
            verify_public(connection, execution, verified)
        with database.reading(reach=Reach(folders=[folder])) as connection:
            (task,) = load_snapshot(connection, pairs=PAGE_PAIRS).tasks
            for key, value in (("task", task.task), ("version", task.version)):
                if release.get(key) != value:
                    verified.faults.append(Fault("altered", "release", "release.json", (
                        f"{key} is {release.get(key)!r}, but {value!r} in the manifest")))
            verified.faults += _verify_boards(folder, task)
            if release.get("program") == PROGRAM:
                with _collect_error(verified, "README.md, page.html and descriptions"):
                    contents = Contents.read(connection, folder, task, has_gold=release["gold"])
                    verified.faults += _verify_documents(contents, faulty_files)
            else:
                verified.notes.append(_OTHER_PROGRAM)
    return verified


@contextmanager
def _collect_error(verified: VerificationResult, name: str, action: str = "verified") -> Iterator[None]:
    """Record an error in a `with` block as a fault, and continue the verification.

    Args:
        verified: Result that gets the fault.
        name: Name of the part of the release that the block verifies.
        action: Participle for the message, as in "cannot be verified".
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, RegistryError):
            reason = str(error)
        elif isinstance(error, MemoryError):
            reason = "there is not enough memory"
        else:
            subject = "tables" if isinstance(error, DBAPIError) else "values"
            reason = f"its {subject} are invalid or contradict each other"
        verified.faults.append(Fault("damaged", "release", name, f"cannot be {action}: {reason}"))


def _explain_unreadable(error: Exception) -> str:
    return "its brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)


def verify_public(connection: Connection, execution: Execution, verified: VerificationResult) -> None:
    """Recompute the numbers in a public file, or in a registry made from a release.

    Files and log are not verified: some files are absent, and the log is redacted.

    Args:
        connection: Connection in a transaction that is rolled back afterwards.
        execution: Workers and memory of the computations.
        verified: Result that gets the faults and notes.
    """
    tasks = [TaskRow.from_values(row) for row in connection.execute(select(*TaskRow.columns()))]
    with _collect_error(verified, ", ".join(task.slug for task in tasks)):
        verified.faults += [fault for fault in verify_references(connection) if fault.of != "source"]
        for table in ("comparison", "score"):
            verified.counts[table] += int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())  # noqa: S608
        purged = add_families(connection, find_purged_comparisons(connection))
        verified.faults += verify_decisions(connection, purged)
        with_gold = [task for task in tasks if decode_manifest(task.manifest).release.gold]
        verified.faults += verify_scores(connection, {task.task_id for task in with_gold})
        computable = {task.task_id: [row[0] for row in connection.exec_driver_sql(_COMPUTABLE, (task.task_id,))
                                     if row[0] not in purged] for task in with_gold}
        if purged:
            verified.notes.append(_PURGED)
        set_aside(connection, RESULT_TABLES)
        for task in with_gold:
            verified.faults += derive_results(connection, Journal("verify", {}), task, computable[task.task_id],
                                              execution)
        for task in with_gold:
            verified.faults += compare_results(connection, computable[task.task_id],
                                               is_reordered=task.anonymous_until is not None)
        if len(with_gold) < len(tasks):
            verified.notes += [_WITHHELD, _TOTALS]
            if connection.exec_driver_sql("""
                    SELECT 1 FROM stored_comparison JOIN test_set USING (test_set_id)
                    WHERE correction IN ('max-t', 'min-p') AND NOT list_contains(?, task_id)""",
                                          ([task.task_id for task in with_gold],)).first():
                verified.notes.append(_STEP_DOWN)


def _read_release_file(path: Path) -> dict[str, Any]:
    try:
        release = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read, so this folder is not a release: {_explain_unreadable(error)}",
                         path=path) from None
    if not isinstance(release, dict) or not isinstance(release.get("gold"), bool):
        raise InputError("the key 'gold' is missing or is not true or false", path=path)
    if release.get("format") != FORMAT:
        raise InputError(f"format {release.get('format')!r} is unknown: this program reads format {FORMAT}; install "
                         f"{release.get('program')!r}, which wrote the release", path=path)
    return release


def _verify_boards(folder: Path, task: TaskBoards) -> Iterator[Fault]:
    """Compare a release's leaderboard files with leaderboards made from its tables.

    The rows are compared value by value.
    """
    derived_files = dict(render_boards(task))
    for name, parse_rows in (("boards/boards.json", json.loads), ("boards/boards.tsv", _parse_tsv)):
        try:
            stored, derived = parse_rows(read_text(folder / name)), parse_rows(derived_files[name])
        except (OSError, ValueError, RecursionError) as error:
            yield Fault("damaged", "board", name, f"cannot be read: {_explain_unreadable(error)}")
            continue
        if difference := _find_difference(stored, derived):
            yield Fault("altered", "board", name, difference)
    signatures = folder / "boards/signatures.txt"
    if not signatures.is_file() or signatures.read_bytes() != derived_files["boards/signatures.txt"].encode():
        yield Fault("altered", "board", "boards/signatures.txt", "its signatures do not follow from the tables")


def _find_difference(stored: Any, derived: Sequence[Mapping[str, Any]]) -> str | None:
    """Describe the first difference between the rows of a file and recomputed rows.

    The result is None if the rows are equal.

    Args:
        stored: Content of the file.
        derived: Recomputed rows.
    """
    if not isinstance(stored, list) or not all(isinstance(row, dict) for row in stored):
        return "it is not a list of rows"
    if len(stored) != len(derived):
        return f"it has {len(stored)} rows, but {len(derived)} follow from the tables"
    for n, (stored_row, derived_row) in enumerate(zip(stored, derived, strict=True)):
        for key in (*derived_row, *(stored_row.keys() - derived_row.keys())):
            if key not in stored_row:
                return f"row {n} lacks {key}"
            if key not in derived_row or stored_row[key] != derived_row[key]:
                return f"{key or 'a value without a column'} of row {n} does not follow from the tables"
    return None


def _parse_tsv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def _verify_documents(contents: Contents, known: Collection[str]) -> Iterator[Fault]:
    """Make the README, page, licences and descriptions again; yield differences.

    Args:
        contents: Contents of the release.
        known: Names of files in which a fault was already found. If there are such files, the descriptions with digests
            of files are not compared, because they differ for the same reason.
    """
    derived_files = list(render_documents(contents))
    if not known:
        contents = contents.with_files([path for path in list_files(contents.folder) if path != descriptions.RO_CRATE])
        derived_files += [(descriptions.CROISSANT, descriptions.render_croissant(contents)),
                          (descriptions.RO_CRATE, descriptions.render_ro_crate(contents))]
    for name, content in derived_files:
        if name in known:
            continue
        path = contents.folder / name
        if not path.is_file():
            yield Fault("missing", "file", name, "every release of this task has it")
        elif path.read_bytes() != content.encode():
            yield Fault("altered", "description", name, "does not follow from the tables and the manifest")
