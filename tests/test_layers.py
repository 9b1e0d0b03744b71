"""Packages import from lower layers only, and nothing imports itself through others."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "registry"
LAYERS = [  # of packages, and of modules beside them; each imports from earlier layers only
    "arrays column_names errors identity platforms references submission_fields treebank version",
    "families messages plugins",
    "files items provenance rendering values",
    "columns judged missing parallel",
    "manifest metrics readers significance store",
    "metric_names", "evaluation importers query", "publication", "api quick studies", "boards", "pipeline",
    "reports", "competitions releases", "direct serve", "cli"]
HEAVY = ("numpy", "scipy", "duckdb", "sqlalchemy", "alembic", "jinja2", "pydantic", "sacrebleu")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in one, at any depth; to walk through expressions too takes five times as long."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def imports(path: Path) -> list[str]:
    """The modules that one imports, wherever it does."""
    found = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                within = f"{node.module}.{alias.name}"
                found.append(within if within in MODULES else str(node.module))
    return found


def name_of(path: Path) -> str:
    return ".".join(("registry", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports_within() -> dict[str, list[str]]:
    """The modules of the package that each of them imports."""
    return {module: [name for name in imports(path) if name != module and name in MODULES]
            for module, path in MODULES.items()}


def package_of(module: str) -> str | None:
    """The package, or the module beside the packages, that a module belongs to; None for `registry` itself."""
    return module.split(".")[1] if "." in module else None


def test_imports_point_to_earlier_layers():
    layers = {name: n for n, names in enumerate(LAYERS) for name in names.split()}
    assert {package_of(module) for module in MODULES} - {None, "__main__"} == layers.keys(), "each has a layer"
    for module, imported in imports_within().items():
        for name in imported:
            importing, imported_from = package_of(module), package_of(name)
            if importing != imported_from and importing in layers and imported_from in layers:
                assert layers[imported_from] < layers[importing], f"{module} imports {name}"


def test_reports_have_data_and_no_connection():
    """What they show is read by `leaderboards` and `studies`, all of it at once."""
    for module, path in MODULES.items():
        if module.startswith("registry.reports"):
            banned = "sqlalchemy", "duckdb", "registry.store"
            assert not [name for name in imports(path) if name.startswith(banned)], module
            assert not {node.attr for node in ast.walk(ast.parse(path.read_text()))
                        if isinstance(node, ast.Attribute)} & {"execute", "exec_driver_sql"}, module


def test_no_module_imports_its_own_package():
    """What a package's `__init__` offers is made of its modules."""
    for module, imported in imports_within().items():
        for name in imported:
            assert not module.startswith(f"{name}.") or name == module, f"{module} imports {name}"


def test_no_module_imports_itself_through_others():
    left = {module: set(names) for module, names in imports_within().items()}
    while left:  # take away whatever imports nothing that is left
        free = [module for module, names in left.items() if not names & left.keys()]
        assert free, f"a circle among {sorted(left)}"
        for module in free:
            del left[module]


def test_help_imports_nothing_heavy():
    """So that it comes at once; how fast is a benchmark (command_line)."""
    code = "import atexit, sys, registry.cli; atexit.register(lambda: print(*sys.modules)); registry.cli.main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    *told, modules = done.stdout.splitlines()
    assert any("leaderboard" in line for line in told)
    imported = {module.partition(".")[0] for module in modules.split()}
    assert "typer" in imported
    assert not imported & set(HEAVY)


def test_a_command_imports_no_pandas_and_ends_at_once(scored, task):
    """DuckDB would wherever it is given a parameter and pandas is installed, and Python always: a fifth of its time."""
    pytest.importorskip("pandas", reason="pandas")
    scored(task)
    code = ("import atexit, gc, sys, registry.cli; atexit.register(lambda: print('pandas.core' in sys.modules, "
            "gc.get_freeze_count() > 0)); registry.cli.main()")
    done = subprocess.run([sys.executable, "-c", code, "board", "small"], capture_output=True, text=True, check=True)
    *board, at_the_end = done.stdout.splitlines()
    assert len(board) > 1
    assert at_the_end == "False True"


def test_boards_are_shown_without_what_computes_them():
    """So that a board comes at once: neither what reads files nor what checks, scores and compares is imported."""
    code = "import sys, registry.boards.snapshot, registry.reports.boards; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    computing = ("registry.readers", "registry.studies", "registry.evaluation.ingest", "registry.evaluation.scoring",
                 "registry.evaluation.checking", "registry.evaluation.resolve", "scipy")
    assert not [module for module in done.stdout.split() if module.startswith(computing)]
