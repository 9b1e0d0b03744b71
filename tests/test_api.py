"""`registry.open`: the views and macros from Python, as rows, arrays and data frames."""

import inspect
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

import registry as package
from registry import api, errors
from registry.direct import board
from registry.errors import InputError, LockedError, QueryError, RegistryError, UnknownNameError

PUBLIC = {  # changes are a matter of the version number
    package.evaluate: "(gold: 'Any', systems: 'Any', metric: 'str | None' = None, *, clusters: 'Any' = None, "
                      "missing: 'str' = 'reject', average: 'bool' = False, **settings: 'Any') -> 'Board'",
    package.compute_agreement: (
        "(data: 'Any', *, item: 'str | Sequence[str]' = (), annotator: 'str | None' = None, "
        "value: 'str | None' = None, annotators: 'str | Sequence[str]' = (), "
        "level: \"Literal['nominal', 'ordinal', 'interval', 'ratio'] | None\" = None, "
        "order: 'str | Sequence[str]' = (), missing: 'str | Sequence[str]' = (), cluster: 'str | None' = None, "
        "by: \"Literal['annotator', 'pair', 'category'] | None\" = None, resamples: 'int | None' = None, "
        "confidence: 'float | None' = None, seed: 'int | None' = None) -> 'Agreement'"),
    board.Board.plot: "(self, kind: 'Kind' = 'scores', path: 'str | Path | None' = None, "
                      "**look: 'Unpack[Sizes]') -> 'Picture'",
    board.Board.to_pandas: "(self) -> 'pandas.DataFrame'", board.Board.to_polars: "(self) -> 'polars.DataFrame'",
    board.Board.gate: "(self, base: 'str', candidate: 'str', *, margin: 'float | None' = None, "
                      "superior: 'bool' = False, reference: 'str | None' = None, "
                      "expected: 'float' = 0.0, attempts: 'int' = 1) -> 'GateResult'",
    board.Board.methods: "(self) -> 'Methods'",
    board.Board.to_task: "(self, folder: 'str | Path', task: 'str | None' = None) -> 'Path'",
    board.Pair.swap: "(self) -> 'Pair'",
    package.open: "(path: 'str | Path', *, at: 'str | None' = None, public: 'bool' = False) -> 'Registry'",
    api.Registry: "(path: 'str | Path', *, at: 'str | None' = None, public: 'bool' = False) -> 'None'",
    api.Registry.contingencies: "(self, task: 'str', test_set: 'str | None' = None) -> 'PairContingencies'",
    api.Registry.difference_region: "(self, a: 'str', b: 'str') -> 'Result'",
    api.Registry.leaderboard: "(self, task: 'str | None' = None, **where: 'Any') -> 'Result'",
    api.Registry.pairs: "(self, task: 'str | None' = None, **where: 'Any') -> 'Result'",
    api.Registry.query: "(self, sql: 'str', /, **parameters: 'Any') -> 'Result'",
    api.Registry.tasks: "(self) -> 'Tasks'",
    api.Registry.scores: "(self, task: 'str | None' = None, **where: 'Any') -> 'Result'",
    api.Result.__iter__: "(self) -> 'Iterator[Row]'",
    api.Result.arrow: "(self) -> 'pyarrow.Table'",
    api.Result.numpy: "(self) -> 'dict[str, NDArray[Any]]'",
    api.Result.pandas: "(self) -> 'pandas.DataFrame'",
    api.Result.polars: "(self) -> 'polars.DataFrame'",
}
ERRORS = ["HiddenError", "InputError", "LimitError", "LockedError", "ManifestError", "MismatchError", "NoRegistryError",
          "QueryError", "RegistryError", "SchemaError", "StoreError", "UnknownNameError"]


def test_the_public_names_and_their_signatures():
    assert package.__all__ == ["__version__", "compute_agreement", "evaluate", "open"]
    assert api.__all__ == ["Registry", "Result", "Task", "Tasks"]
    assert {thing: str(inspect.signature(thing)) for thing in PUBLIC} == PUBLIC
    methods = {getattr(of, name) for of in (api.Registry, api.Result, board.Board, board.Pair, board.Pairs)
               for name, member in vars(of).items() if not name.startswith("_") and inspect.isfunction(member)}
    assert methods == {thing for thing in PUBLIC if "." in thing.__qualname__} - {
        api.Result.__iter__, board.Board.to_pandas, board.Board.to_polars}
    assert [name for name, of in vars(board.Board).items() if isinstance(of, property) and name[0] != "_"] == [
        "systems", "scores", "best", "warnings", "pairs", "items", "result", "signature"]
    assert [field.name for field in fields(api.Task)] == ["id", "title", "version", "test_sets", "metrics"]
    assert [field.name for field in fields(board.Pair)] == [
        "a", "b", "difference", "interval", "p_value", "log10_p", "p_adjusted", "significant", "method"]
    assert sorted(name for name, of in vars(errors).items() if isinstance(of, type) and issubclass(of, RegistryError)
                  ) == ERRORS


def test_the_parts_of_what_is_given(reg):
    assert [name for name in vars(reg.scores()) if not name.startswith("_")] == ["columns"]
    found = reg.contingencies("small")
    assert [field.name for field in fields(found)] == ["runs", "tables"]
    assert [name for name in dir(found.tables) if not name.startswith("_")] == [
        "both_correct", "both_incorrect", "correlation", "n", "only_a_correct", "only_b_correct"]


@pytest.fixture
def reg(task, scored, tmp_path):
    scored(task, db=tmp_path / "r.duckdb")
    with package.open(tmp_path / "r.duckdb") as opened:
        yield opened


def test_scores_of_the_task_that_is_told_by_hand(reg):
    """Of 6 items a has 5 right, b and c have 3."""
    found = reg.scores("small", metric="acc").numpy()
    assert found["submission"].tolist() == [f"small/test/{s}/{s}@1" for s in "abc"]
    np.testing.assert_array_equal(found["score"], [5 / 6, 3 / 6, 3 / 6])
    assert found["n_items"].tolist() == [6, 6, 6]


def test_views_are_those_of_sql(reg):
    assert [*reg.leaderboard()] == [*reg.query("SELECT * FROM leaderboard")]
    assert [*reg.pairs("small")] == [*reg.query("SELECT * FROM pairwise")]
    (only,) = reg.pairs(system_a="b", system_b="c")
    pairs = reg.pairs(system_a="b", system_b="c")
    assert dict(zip(pairs.columns, only, strict=True))["p_value"] == 1
    assert len([*reg.leaderboard(track=None)]) == 3
    assert [*reg.leaderboard(system="nobody")] == []


def test_names_that_are_not_there_are_told(reg):
    for call, says in ((lambda: reg.scores("smal"), "did you mean 'small'"),
                       (lambda: reg.pairs(metric="acuracy"), "unknown metric"),
                       (lambda: reg.leaderboard(sistem="a"), "unknown column of leaderboard 'sistem'; did you mean")):
        with pytest.raises(UnknownNameError, match=says):
            call()


def test_the_regions_of_two_submissions(reg):
    """Items 2, 3 and 4 only a has right, item 5 only b; each has another label where the other is right."""
    found = reg.difference_region("small/test/a/a", "small/test/b/b@1")
    rows = {(row[found.columns.index("region")], row[found.columns.index("item")], row[found.columns.index("correct")])
            for row in found}
    assert rows == {*(("D1", f"i{n}", True) for n in (2, 3, 4)), ("D1", "i5", False),
                    *(("D2", f"i{n}", False) for n in (2, 3, 4)), ("D2", "i5", True)}
    with pytest.raises(QueryError, match="unknown submission small/test/a/x"):
        list(reg.difference_region("small/test/a/x", "small/test/b/b"))


def test_contingencies_of_all_pairs_at_once(reg):
    """The same two; as many as the view counts, for every pair."""
    found = reg.contingencies("small")
    assert found.runs == [(f"small/test/{s}/{s}@1", 0) for s in "abc"]
    assert (found.tables.both_correct[0, 1], found.tables.only_a_correct[0, 1], found.tables.only_b_correct[0, 1],
            found.tables.both_incorrect[0, 1]) == (2, 3, 1, 0)
    for a, b, only_a in reg.query("SELECT system_a, system_b, only_a_correct FROM pair_contingency"):
        assert found.tables.only_a_correct["abc".index(a), "abc".index(b)] == only_a
    with pytest.raises(UnknownNameError, match="unknown test set of small 'dev'; known: test"):
        reg.contingencies("small", "dev")


def test_queries_bind_their_parameters(reg):
    found = reg.query("SELECT $sql AS sql, $n + 1 AS n", sql="'; DROP TABLE task", n=2)
    assert (found.columns, [*found]) == (["sql", "n"], [("'; DROP TABLE task", 3)])


@pytest.mark.parametrize("sql", ["DROP TABLE task", "SELECT 1; SELECT 2", "FROM read_text('/etc/passwd')", "SELEC 1"])
def test_only_questions_are_answered_and_an_error_spoils_nothing(reg, sql):
    with pytest.raises(QueryError):
        reg.query(sql)
    assert [*reg.query("SELECT 1")] == [(1,)]


def test_arrays(reg):
    found = reg.query("""SELECT * FROM (VALUES (1, 0.5::DOUBLE, 'x', 7, true), (2, NULL, 'y', NULL, false))
        AS t(n, x, s, maybe, yes) ORDER BY n""").numpy()
    assert [found[name].dtype.kind for name in ("n", "x", "s", "yes")] == ["i", "f", "O", "b"]
    np.testing.assert_array_equal(found["x"], [0.5, np.nan])
    assert not np.ma.isMaskedArray(found["x"])
    assert found["maybe"].mask.tolist() == [False, True]


def test_a_result_can_be_used_again(reg):
    result = reg.query("SELECT range AS n FROM range(5000)")
    assert len([*result]) == len([*result]) == len(result.numpy()["n"]) == 5000
    first, second = reg.query("SELECT 1"), reg.query("SELECT 2")
    assert ([*first], [*second]) == ([(1,)], [(2,)])


def test_rows_come_as_they_are_asked_for(reg):
    rows = iter(reg.query("FROM range(1000000000000)"))
    assert [next(rows), next(rows)] == [(0,), (1,)]


def test_a_result_is_shown_by_its_first_rows_with_names_that_are_inert(reg):
    found = reg.query("SELECT range AS n, range / 3 AS third, '<b>&' || chr(27) || range AS s FROM range(1000)")
    assert len(found) == 1000
    shown, page = repr(found), found._repr_html_()
    assert shown.count("<b>") == page.count("<tr>") - 1 == 20
    assert {"0.333333", "20 of 1,000 rows"} <= {word for word in ("0.333333", "20 of 1,000 rows") if word in shown}
    assert "&lt;b&gt;&amp;" in page
    assert not {"<b>", "\x1b"} & {word for word in ("<b>", "\x1b") if word in page} | ({"\x1b"} & set(shown))
    assert "1 row" in repr(reg.query("SELECT 1 AS n, 2 AS n"))
    assert reg.query("SELECT 1 AS n, 2 AS n").columns == ["n", "n_1"] == [*reg.query("SELECT 1 AS n, 2 AS n").numpy()]
    assert len(reg.query("EXPLAIN SELECT 1")) == len([*reg.query("EXPLAIN SELECT 1")])


def test_tasks_say_what_they_are_made_of(reg):
    (task,) = reg.tasks()
    assert task == reg.tasks()["small"]
    (test_set,) = task.test_sets
    assert (task.id, test_set.name, test_set.items, test_set.submissions) == ("small", "test", 6, 3)
    (metric,) = task.metrics
    assert (metric.id, metric.name, metric.better, metric.is_primary) == ("acc", "Accuracy", "higher", True)
    assert "small" in repr(reg.tasks())
    assert "<td" in reg.tasks()._repr_html_()
    with pytest.raises(UnknownNameError, match="did you mean 'small'"):
        reg.tasks()["smal"]


@pytest.mark.parametrize(("form", "package_name"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")])
def test_frames(reg, form, package_name):
    for name in {package_name, "pyarrow" if form == "polars" else package_name}:
        pytest.importorskip(name, reason=name)
    frame = getattr(reg.query("SELECT range AS n, 'x' || range AS s FROM range(3)"), form)()
    assert frame.shape == (3, 2)
    columns = frame.to_pydict() if form == "arrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns == {"n": [0, 1, 2], "s": ["x0", "x1", "x2"]}


@pytest.mark.parametrize(("form", "needs"), [
    ("pandas", "pandas"), ("polars", "polars and pyarrow"), ("arrow", "pyarrow")])
def test_a_package_that_is_not_installed_is_named(reg, form, needs, monkeypatch):
    monkeypatch.setattr(api.registry, "find_spec", lambda name: None)
    result = reg.query("SELECT 1 AS n")
    with pytest.raises(RegistryError, match=rf"this needs {needs}: pip install 'evalregistry\[frames\]'"):
        getattr(result, form)()
    assert [*result] == [(1,)]


def test_it_can_be_open_twice(reg, tmp_path):
    """As where a cell of a notebook runs again; neither lets anything else through."""
    with package.open(tmp_path / "r.duckdb") as again:
        assert [*again.leaderboard("small")] == [*reg.leaderboard("small")]
        with pytest.raises(QueryError):
            again.query("FROM read_csv('/etc/passwd')")
    assert [*reg.query("SELECT 1")] == [(1,)]


def test_parameters_can_be_of_numpy(reg):
    assert [*reg.query("SELECT $n + 1, $x, $items", n=np.int64(1), x=np.float32(0.5), items=np.arange(2))] == [
        (2, 0.5, [0, 1])]


@pytest.mark.slow
def test_others_write_between_questions_and_wait_while_several_are_one(task, scored, tmp_path):
    """A submission of another process comes while the registry is open; only `with` keeps it out."""
    db = tmp_path / "r.duckdb"
    scored(task, db=db)
    (tmp_path / "d.tsv").write_text("".join(f"i{n}\tyes\n" for n in range(6)))
    submit = [sys.executable, "-m", "registry", "submit", "small", str(tmp_path / "d.tsv"), "--system", "d", "--db", db]
    hold = [sys.executable, "-c", "import duckdb, sys; duckdb.connect(sys.argv[1])", db]
    reg = package.open(db)
    asked = "SELECT name FROM ranked_submission"
    found, rows = reg.query(asked), iter(reg.query("FROM range(5000)"))
    assert (len(found), next(rows)) == (3, (0,))
    with reg:
        unfinished = iter(reg.query("FROM range(5000)"))
        next(unfinished)
        assert "lock" in subprocess.run(hold, capture_output=True, text=True, check=False).stderr
        assert len(list(found)) == 3
    subprocess.run(submit, check=True, capture_output=True)
    assert (len(reg.query(asked)), len(found.numpy()["name"]), len([*found]), len(found), len([*rows])) == (
        4, 4, 4, 4, 4999)


def test_what_is_no_registry_is_told(tmp_path):
    with pytest.raises(InputError, match="no registry here"):
        package.open(tmp_path / "none.duckdb")


def test_a_registry_that_is_written_to_names_the_writer(task, registry, tmp_path, monkeypatch):
    monkeypatch.setattr("registry.store.database.RETRY_SECONDS", 0.2)
    registry("init", "--db", tmp_path / "r.duckdb")
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "r.duckdb")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(LockedError, match=f"process {holder.pid}"):
        package.open(tmp_path / "r.duckdb")
    holder.communicate(b"\n")


def test_importing_it_costs_nothing():
    code = "import sys, registry; print([m for m in ('numpy', 'duckdb', 'sqlalchemy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
