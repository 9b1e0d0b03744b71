"""Bulk inserts: exact and complete."""

import math
from datetime import datetime

import numpy as np
import pytest
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Double, Integer, MetaData, String, Table, select

from registry.store import models, statistics
from registry.store import rows as module
from registry.store.database import Database
from registry.store.rows import Coded, insert_bulk, insert_many, text_column


@pytest.fixture(params=["values", "arrays"])
def connection(tmp_path, monkeypatch, request):
    """Of a new registry; few rows go into it as the values of a statement, or as many rows do."""
    if request.param == "arrays":
        monkeypatch.setattr(module, "_MAX_VALUES", 0)
    database = Database(tmp_path / "r.duckdb")
    database.create()
    with database.writing() as connection:
        yield connection


def items(n, keys):
    return {"item_id": np.arange(n), "gold_revision_id": 1, "position": np.arange(n), "key": keys}


@pytest.mark.parametrize("keys", [["a", "'; DROP TABLE item; --", "é\u4e2d"], ["short", "x" * 1000, ""]])
def test_texts_come_back_as_they_were(connection, keys):
    insert_bulk(connection, models.item, items(3, text_column(keys)))
    assert list(connection.execute(select(models.item.c.key)).scalars()) == keys


def test_many_rows_of_which_few_have_a_value(connection):
    """DuckDB samples columns of Python objects, and asks for pandas where it only meets None."""
    odd = Table("odd", MetaData(), Column("odd_id", Integer, primary_key=True, autoincrement=False),
                Column("digest", String), Column("seed", BigInteger), Column("kind", String), Column("p_low", Double))
    odd.create(connection)
    rows = [{"digest": str(n), "seed": None, "kind": None, "p_low": None} for n in range(3000)]
    rows[1234] |= {"seed": 2**62 + 1, "kind": "dual"}
    insert_many(connection, odd, rows)
    found = connection.execute(select(odd).where(
        odd.c.seed.is_not(None) | odd.c.kind.is_not(None) | odd.c.p_low.is_not(None))).all()
    assert [tuple(one) for one in found] == [(1235, "1234", 2**62 + 1, "dual", None)]
    assert len(connection.execute(select(odd.c.digest).distinct()).all()) == 3000


def test_missing_columns_and_uneven_lengths_are_refused(connection):
    with pytest.raises(ValueError, match="table item has other columns than"):
        insert_bulk(connection, models.item, {"item_id": np.arange(2)})
    with pytest.raises(ValueError, match="differ in length"):
        insert_bulk(connection, models.item, items(2, text_column(["a"])))


def test_none_and_nan_become_null_and_large_seeds_stay_exact(connection):
    table = Table("odd", MetaData(), Column("odd_id", Integer, primary_key=True, autoincrement=False),
                  Column("p", Double), Column("seed", BigInteger), Column("kind", String))
    table.create(connection)
    insert_many(connection, table, [{"p": np.nan, "seed": 2**62 + 1, "kind": None},
                                    {"p": 0.1, "seed": None, "kind": "dual"}])
    assert [tuple(row) for row in connection.execute(select(table).order_by("odd_id"))] == [
        (1, None, 2**62 + 1, None), (2, 0.1, None, "dual")]


def test_times_flags_and_numbers_that_are_the_same_in_all_rows(connection):
    table = Table("odd", MetaData(), Column("odd_id", Integer, primary_key=True, autoincrement=False),
                  Column("at", DateTime), Column("ended", DateTime), Column("late", Boolean), Column("weight", Double))
    table.create(connection)
    at = [datetime(2027, 1, 2, 3, 4, 5, 678901), datetime(1999, 12, 31)]
    insert_many(connection, table, [{"at": at[0], "ended": None, "late": True, "weight": 0.1},
                                    {"at": at[1], "ended": at[0], "late": None, "weight": -0.0}])
    insert_bulk(connection, table, {
        "odd_id": np.array([7, 8], dtype=np.uint8), "at": np.array(at, dtype="datetime64[us]"),
        "ended": np.ma.MaskedArray(np.array(at, dtype="datetime64[us]"), [False, True]), "late": False,
        "weight": np.array([np.inf, 0.1], dtype=np.float32)})
    assert [tuple(row) for row in connection.execute(select(table).order_by("odd_id"))] == [
        (1, at[0], None, True, 0.1), (2, at[1], at[0], None, -0.0),
        (7, at[0], at[0], False, math.inf), (8, at[1], None, False, float(np.float32(0.1)))]


def test_few_texts_of_many_rows_and_columns_of_structured_arrays(connection):
    """DuckDB misreads an array whose values do not lie side by side."""
    table = Table("odd", MetaData(), Column("n", Integer), Column("note", String))
    table.create(connection)
    rows = np.zeros(4, dtype=[("code", np.uint8), ("n", np.int32)])
    rows["n"], rows["code"] = [5, 6, 7, 8], [1, 0, 1, 2]
    insert_bulk(connection, table, {"n": rows["n"], "note": Coded(rows["code"], ("", "it's [so]", "?"))})
    assert [tuple(row) for row in connection.execute(select(table))] == [
        (5, "it's [so]"), (6, ""), (7, "it's [so]"), (8, "?")]


@pytest.mark.parametrize("family", ["ratio", "prf"])
def test_statistics_scatter_by_item_and_system(connection, family):
    """Scorings 7 and 3 lack some items; they come back in the order asked for, holes marked."""
    rng = np.random.default_rng(1)
    k = len(models.statistics[family].columns) - 4
    kept = {7: np.array([10, 12, 13]), 3: np.array([11, 12])}
    sent = {s: rng.integers(0, 9, (len(ids), k)).astype(float) for s, ids in kept.items()}
    for scoring, ids in kept.items():
        statistics.insert_statistics(connection, family, [statistics.Block(scoring, 2, ids, sent[scoring])])
    other_metric = statistics.Block(7, 99, kept[7], sent[7] + 1)
    statistics.insert_statistics(connection, family, [other_metric, statistics.Block(5, 2, kept[7], sent[7])])
    loaded, present = statistics.load_statistics(connection, family, 2, [7, 3], 10, 4)
    assert present.tolist() == [[True, False], [False, True], [True, True], [True, False]]
    np.testing.assert_array_equal(loaded[0][[0, 2, 3], 0], sent[7])
    np.testing.assert_array_equal(loaded[1][[1, 2], 0], sent[3])


def test_item_ids_of_blocks_never_jump(connection):
    """So that DuckDB packs them into two bits, where the largest jump would need fourteen."""
    ids, sent = np.arange(10, 14), np.arange(8.0).reshape(4, 2)
    statistics.insert_statistics(connection, "ratio", [statistics.Block(n, 2, ids, sent + n) for n in range(3)])
    rows = connection.exec_driver_sql("SELECT item_id, numerator FROM statistics_ratio_whole ORDER BY rowid").all()
    assert [item for item, _ in rows] == [10, 11, 12, 13, 13, 12, 11, 10, 10, 11, 12, 13]
    assert [value for _, value in rows] == [0, 2, 4, 6, 7, 5, 3, 1, 2, 4, 6, 8]


def test_statistics_scatter_by_run(connection):
    ids, sent = np.arange(10, 14), np.random.default_rng(1).integers(0, 9, (3, 4, 2)).astype(float)
    statistics.insert_statistics(connection, "ratio", [
        statistics.Block(scoring, 2, ids, sent[n], replicate)
        for n, (scoring, replicate) in enumerate([(7, 1), (3, 0), (7, 0)])])
    (of_7, of_3), present = statistics.load_statistics(connection, "ratio", 2, [7, 3], 10, 4)
    np.testing.assert_array_equal(of_7, np.stack([sent[2], sent[0]], axis=1))
    np.testing.assert_array_equal(of_3, sent[1][:, None])
    assert present.shape == (4, 3)
    assert present.all()
