"""What the tests share: a command runner, a builder of small tasks, and the real data."""

import fcntl
import gc
import io
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits
from typer import testing

from registry.cli import GC_THRESHOLDS, app
from registry.query import process
from registry.query.sql import write_result
from registry.store import files
from registry.store.database import Database
from registry.store.embargoes import find_left_out, note_hidden
from tests.label_tasks import LabelTask
from tests.needs import need, summary

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "registry"
# how long an example takes says how busy the machine is, not whether the program is right
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("suite"), max_examples=200)
settings.load_profile("suite")

# typer builds all commands anew whenever one is invoked, which takes longer than most of them do
testing._get_command = cache(testing._get_command)

REAL_DATA = Path(os.environ.get("REGISTRY_REAL_DATA", ROOT.parent / "shared" / "data"))


class Examples:
    """A plugin that passes over modules without examples in docstrings, which need not be imported to look for some."""

    @staticmethod
    def pytest_ignore_collect(collection_path):
        if collection_path.suffix == ".py" and PACKAGE in collection_path.parents:
            return b">>>" not in collection_path.read_bytes() or None
        return None


def pytest_configure(config):
    """Matrix products have one thread: several wait for each other while the suite's other processes compute."""
    gc.set_threshold(10**7, *GC_THRESHOLDS[1:])  # hypothesis keeps many objects: they would be looked through in vain
    config.pluginmanager.register(Examples())  # here it would not be asked of files outside of this folder
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for what is loaded later, and in other processes
    threadpool_limits(1, "blas")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Every other process begins with the last folder: what one has compiled in a new checkout, others need not."""
    report = yield
    if isinstance(collector, pytest.Directory) and os.environ.get("PYTEST_XDIST_WORKER", "0")[-1] in "13579":
        report.result.reverse()
    return report


def pytest_collection_modifyitems(items):
    """What takes long comes first, so that no worker is left with it at the end; all processes have the same order."""
    items.sort(key=lambda item: (item.get_closest_marker("slow") is None, item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """No tests have examples in docstrings: looking for them imports all that is run by hand."""
    return [of for of in (yield) if type(of) is pytest.Module]


def pytest_collection_finish():
    """What is imported by now stays: no search for garbage, of which statsmodels has one in each call, looks at it."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    """Say in one line what was skipped, and what to install for it."""
    if skipped := terminalreporter.stats.get("skipped"):
        terminalreporter.write_line(summary(report.longrepr[2] for report in skipped))


@pytest.fixture(autouse=True)
def _elsewhere(request, tmp_path, monkeypatch):
    """Run every test in a folder of its own, with none of the user's settings; as in the product what is marked so."""
    monkeypatch.chdir(tmp_path)
    for name in [n for n in os.environ if n.startswith("REGISTRY_")]:
        monkeypatch.delenv(name)
    for marker, real in IN_THE_PRODUCT.items():
        if request.node.get_closest_marker(marker) is not None:
            monkeypatch.setattr(*real)


@pytest.fixture(scope="session")
def empty_registry(scored_registries):
    """The bytes of a new registry."""
    path = scored_registries / "empty.duckdb"
    with alone(scored_registries / "empty.lock"):
        if not path.exists():
            Database(path).create()
    return path.read_bytes()


@pytest.fixture(scope="session", autouse=True)
def _databases_have_one_thread():
    """One is enough for a few rows, and more have to be started for each database that is opened."""
    with pytest.MonkeyPatch.context() as patch:
        for config in (files.CONFIG, files.CONFINED_CONFIG):
            patch.setitem(config, "threads", 1)
        yield


def answer_here(question, timeout, write_bytes):
    """Answer a question in this process, without its limits."""
    written = io.StringIO()
    try:
        with Database(question.path).querying(output=question.output) as connection:
            told = write_result(connection, question, written)
            return [*find_left_out(connection).sentences, *note_hidden(connection), *told]
    finally:
        write_bytes(written.getvalue().encode())


IN_THE_PRODUCT = {"new_schema": (Database, "create", Database.create), "query_process": (process, "ask", process.ask)}


@pytest.fixture(scope="session", autouse=True)
def _without_what_takes_long(empty_registry):
    """New registries are copies, and queries are answered in this process.

    Making the schema takes longer than most tests, and starting a process a second; tests of these are marked.
    """
    def create(database):
        """Copy a new registry."""
        database.require_free()
        database.path.write_bytes(empty_registry)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "create", create)
        patch.setattr(process, "ask", answer_here)
        yield


@pytest.fixture
def real_data():
    """The folder of a real shared task; skips where it is absent."""
    def folder(name):
        need("real data", there=(REAL_DATA / name).is_dir())
        return REAL_DATA / name

    return folder


@dataclass
class Outcome:
    """What a command did."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


@pytest.fixture
def registry():
    """Run `registry ARGUMENTS`; a traceback in the command is one in the test, and an exit status not 0 too."""
    def run(*arguments, exit_code=0):
        result = testing.CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
        assert exit_code in (None, result.exit_code), result.output
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def scored_registries(tmp_path_factory):
    """A folder that all processes of a test run share, of registries by what was run on which files."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "scored"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def alone(path):
    """Hold a lock on the file at `path`, for which all other processes of the test run wait."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def scored(registry, tmp_path, scored_registries):
    """Bring a task into a new registry, once a test run for each content of its files; gives what is told, as JSON.

    `task` is a manifest's path, or is written; `then` is a command on the registry that belongs to it.
    """
    def bring(task, *options, db="registry.duckdb", command="run", then=()):
        assert not Path(db).exists()
        manifest = task if isinstance(task, Path) else task.write()
        root = Path(options[options.index("--root") + 1]) if "--root" in options else manifest.parent
        files = [path for path in sorted(root.rglob("*")) if path.suffix != ".pyc" and path.is_file()]
        read = [(str(path.relative_to(root)), sha256(path.read_bytes()).digest()) for path in files]
        given = [manifest.read_bytes(), *read, *options, command, then]
        kept = scored_registries / sha256(repr(given).encode()).hexdigest()
        with alone(kept.with_suffix(".lock")):  # another process that brings in the same is waited for
            if not (outcome := kept.with_suffix(".json")).exists():
                made = ("--db", tmp_path / "unnamed")
                done = registry(command, manifest, *options, *made, *(("--format", "json") if command == "run" else ()))
                if then:
                    registry(*then, *made)
                (tmp_path / "unnamed").replace(kept)
                outcome.write_text(json.dumps(asdict(done)))
        shutil.copyfile(kept, db)
        return Outcome(**json.loads(outcome.read_text()))

    return bring


@pytest.fixture
def once(tmp_path, scored_registries):
    """Let a function fill a test's folder, once a test run: tests that ask for the same again get copies of it."""
    def filled(make, *arguments):
        named = repr((make.__module__, make.__qualname__, *arguments))
        kept = scored_registries / sha256(named.encode()).hexdigest()
        with alone(kept.with_suffix(".lock")):
            if kept.exists():
                shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
            else:
                make(*arguments)
                shutil.copytree(tmp_path, kept)

    return filled


@pytest.fixture
def task(tmp_path):
    """A task of 6 items in 3 documents and 3 systems: a gets 5 right, b and its copy c get 3."""
    gold = {f"i{n}": "yes" if n % 2 else "no" for n in range(6)}
    wrong = {"yes": "no", "no": "yes"}
    a = {k: v if k != "i5" else wrong[v] for k, v in gold.items()}
    b = {k: v if k in ("i0", "i1", "i5") else wrong[v] for k, v in gold.items()}
    return LabelTask(tmp_path / "task", gold, {"a": a, "b": b, "c": dict(b)},
                     {k: f"d{n // 2}" for n, k in enumerate(gold)})
