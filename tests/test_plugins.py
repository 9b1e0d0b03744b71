"""Packages with readers, metrics, importers, tests and studies: the template in docs/plugin/, built and used."""

import contextlib
import importlib
import json
import math
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

from registry import plugins
from registry.direct.task import EvaluationRequest, make_task
from registry.errors import InputError
from registry.evaluation.scorers import describe_scorer
from registry.importers import IMPORTERS
from registry.metrics import METRICS, Metric
from registry.plugins import versions
from registry.provenance import Signature, environment
from registry.readers import READERS
from registry.values import parse
from tests.conftest import ROOT

TEMPLATE = ROOT / "docs" / "plugin"
TASK = """manifest = 1
task = { id = "t", plugins = ["evalregistry-toy"] }
test_set = [{ name = "test", gold = "gold.txt", format = "properties" }]
metric = [{ name = "Within" }, { id = "exact", name = "Within", options = { width = 0 } }]
significance.seed = 1
submit = [{ file = "{system}.out" }]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What pip would install: the wheel, unpacked."""
    folder = tmp_path_factory.mktemp("plugin")
    with contextlib.chdir(TEMPLATE):
        wheel = build_wheel(str(folder))
    zipfile.ZipFile(folder / wheel).extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def installed(built, monkeypatch):
    """The package where Python finds it; gone and forgotten after the test."""
    monkeypatch.syspath_prepend(built)
    monkeypatch.delitem(sys.modules, "registry.cli.study", raising=False)  # lists studies of packages when imported
    yield built
    sys.modules.pop("evalregistry_toy", None)
    plugins.loaded.clear()


def write(task=TASK):
    for name, rows in (("gold.txt", "abcd"), ("x.out", "abdd"), ("y.out", "bbbb")):
        Path(name).write_text("".join(f"i{n} = {ord(value) - ord('a')}\n" for n, value in enumerate(rows)))
    Path("task.toml").write_text(task)


@contextlib.contextmanager
def version(site, number):
    """Another version of the same code."""
    (metadata,) = site.glob("*.dist-info/METADATA")
    before = metadata.read_text()
    metadata.write_text(before.replace("Version: 0.1.0", f"Version: {number}"))
    yield
    metadata.write_text(before)


def test_a_task_that_names_the_package_is_evaluated_by_it(registry, installed):
    """Golds 0 to 3: x is off by one once, y by 1, 0, 1 and 2. Where it comes from is in all that is kept."""
    write()
    listed = {row["id"]: row["from"] for row in registry("list", "metrics", "--format", "json").json}
    assert (listed["Within@evalregistry-toy"], listed["Accuracy"]) == ("evalregistry-toy 0.1.0", "evalregistry")
    assert "evalregistry_toy" not in sys.modules, "what is listed is not loaded"
    rows = registry("run", "task.toml", "--format", "json").json
    assert {(row["metric"], row["system"]): row["score"] for row in rows} == {
        ("Within", "x"): 1, ("Within", "y"): 3 / 4, ("exact", "x"): 3 / 4, ("exact", "y"): 1 / 4}
    assert {row["metric_name"] for row in rows} == {f"Within@evalregistry-toy(width={width})" for width in (0, 1)}
    assert Signature.parse(rows[0]["signature"]).plugins == (("evalregistry-toy", "0.1.0"),)
    with version(installed, "0.2.0"):  # which gives the same scores, and is another program
        assert "evalregistry-toy was 0.1.0, and is 0.2.0" in registry("board", "t", "--format", "table").stdout
        registry("verify")
    (reader,) = registry("query", "SELECT DISTINCT reader FROM gold_revision", "--format", "json").json
    assert reader["reader"].startswith("properties@evalregistry-toy(")
    assert environment()["evalregistry-toy"] == "0.1.0"
    by = describe_scorer(parse("metric", METRICS, rows[0]["metric_name"]))
    assert by["evalregistry-toy"] == "0.1.0"
    assert by["revision"] == "1"
    tables = make_task(EvaluationRequest([0, 1], {"x": [0, 1]}, "Within@evalregistry-toy(width=0)")).folder.tables
    assert (tables["task"], tables["metric"][0]["name"]) == ({"plugins": ["evalregistry-toy"]}, "Within")
    sys.path.remove(str(installed))
    gone = registry("board", "t", "--format", "table")
    assert "Within@evalregistry-toy(width=1)" in gone.stdout, "who looks at a board need not have the package"
    assert "evalregistry-toy was 0.1.0, and is none" in gone.stderr
    assert "pip install evalregistry-toy" in registry("run", "task.toml", exit_code=3).stderr


def test_its_importer_is_named_by_its_full_name(registry, installed):
    Path("v.json").write_text(json.dumps({"gold": {"a": 1, "b": 2}, "systems": {"../x": {"a": 1, "b": 2}}}))
    refused = registry("import", "votes@evalregistry-toy", "v.json", exit_code=3).stderr
    assert "invisible characters from the name" in refused
    Path("v.json").write_text(json.dumps({"gold": {"a": 1, "b": 2}, "systems": {"x": {"a": 3, "b": 2}}}))
    registry("import", "votes@evalregistry-toy", "v.json")
    assert registry("query", "SELECT score FROM submission_score", "--format", "json").json == [{"score": 0.5}]
    for wrong in ("votes", "vote@evalregistry-toy", "votes@nowhere"):
        assert "Traceback" not in registry("import", wrong, "v.json", exit_code=3).stderr


def test_its_test_is_named_by_its_full_name(registry, installed):
    """x is right and y wrong in two of four units: the mean difference is 1/2, its deviation sqrt(1/3)."""
    write(TASK.replace('{ name = "Within" }, ', "").replace("seed = 1", "test = 'z@evalregistry-toy'"))
    listed = {row["id"]: row["from"] for row in registry("list", "tests", "--format", "json").json}
    assert (listed["z@evalregistry-toy"], listed["wilcoxon"]) == ("evalregistry-toy 0.1.0", "evalregistry")
    assert "evalregistry_toy" not in sys.modules, "what is listed is not loaded"
    (board,) = {row["signature"] for row in registry("run", "task.toml", "--format", "json").json}
    assert Signature.parse(board).plugins == (("evalregistry-toy", "0.1.0"),)
    (pair,) = registry("pairs", "--format", "json").json
    assert pair["test"] == "z@evalregistry-toy"
    assert pair["p_value"] == pytest.approx(math.erfc(1 / 2 / math.sqrt(1 / 3 / 4) / math.sqrt(2)), rel=1e-12)
    registry("verify")
    assert "offers no test 'y'" in registry("compare", "t", "--test", "y@evalregistry-toy", exit_code=3).stderr


def test_its_study_is_a_command_by_its_full_name(registry, installed):
    write()
    registry("run", "task.toml")
    assert "behind@evalregistry-toy" in registry("study", "--help").stdout
    assert "distance of every system" in registry("study", "behind@evalregistry-toy", "--help").stdout
    rows = registry("study", "behind@evalregistry-toy", "t", "--least", "0.1", "--format", "json").json
    assert [(row["system"], row["behind"]) for row in rows] == [("y", 1 / 4)]
    registry("verify")
    (stored,) = registry("query", "SELECT study FROM study", "--format", "json").json
    assert stored == {"study": "behind@evalregistry-toy(least=0.1)"}


@pytest.mark.parametrize(("task", "told"), [
    (TASK.replace(', plugins = ["evalregistry-toy"]', ""), "unknown reader 'properties'"),
    (TASK.replace("evalregistry-toy", "evalregistry-toys"), "'evalregistry-toys' is not installed"),
    (TASK.replace("evalregistry-toy", "numpy"), "numpy offers neither readers nor metrics"),
    (TASK.replace("toy\"", "toy\", \"evalregistry-toy\""), "has the same name as the reader of evalregistry-toy"),
    (TASK.replace("Within", "Wihtin"), "the most similar names are Within, "),
    (TASK.replace('"evalregistry-toy"', '"../x"'), "not a valid name; use only letters")])
def test_what_is_not_named_not_there_or_named_twice_is_refused(registry, installed, task, told):
    write(task)
    assert told in registry("run", "task.toml", exit_code=3).stderr
    assert not Path("registry.duckdb").exists()


@pytest.mark.parametrize(("value", "told"), [
    ("evalregistry_toy:Properties", "is not a Metric that the package defines"),
    ("registry.metrics:Accuracy", "is not a Metric that the package defines"),
    ("evalregistry_toy:nothing", "cannot be loaded: AttributeError"),
    ("json:loads", "is not a Metric that the package defines"),
    ("nowhere:Within", "cannot be loaded: ModuleNotFoundError"),
    ("unfinished:Within", "does not define score, statistics")])
def test_what_is_no_metric_is_refused(installed, tmp_path, monkeypatch, value, told):
    (tmp_path / "unfinished.py").write_text(
        "from registry.metrics.base import AdditiveMetric\n\n\nclass Within(AdditiveMetric):\n    width: int = 1\n")
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[evalregistry.metrics]\nWithin = {value}\nAccuracy = {value}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=rf"metric 'Within' of other 1.0 .*{told}"):
        parse("metric", METRICS, "Within@other(width=2)")
    with pytest.raises(InputError, match="'Accuracy' of other has the same name as the metric of this program"):
        METRICS.with_plugins(["other"])


def test_nothing_of_a_package_that_is_gone_is_taken_for_ours():
    for known in (READERS, METRICS, IMPORTERS):
        with pytest.raises(InputError, match="'evalregistry-toy' is not installed: pip install evalregistry-toy"):
            known["Within@evalregistry-toy"]
        assert all("@" not in name for name in known)
    assert versions(["Within@evalregistry-toy(width=1)", "Accuracy"]) == {"evalregistry-toy": "none"}


def test_a_package_that_takes_pandas_can_be_loaded_by_the_command_line(monkeypatch):
    """Which keeps pandas from DuckDB, as that imports it and needs it not."""
    pytest.importorskip("pandas", reason="pandas")

    class Entry:
        value = "toy:Within"

        @staticmethod
        def load():
            importlib.import_module("pandas")
            raise ValueError("loaded so far")

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"cannot be loaded: ValueError.'loaded so far'"):
        plugins._load("metric", Metric, plugins.PluginEntry("Within", "toy", "1", Entry))
