"""Imports point down only, and folders on one floor do not know each other."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "registry"
FLOORS = {
    "cli": 8, "reports": 7, "api": 7, "studies": 6, "evaluation": 5, "importers": 5, "readers": 4, "metrics": 4,
    "significance": 4, "store": 4, "manifest": 3, "items": 2, "treebank": 2, "families": 2, "provenance": 2,
    "processes": 2, "scratch": 2, "values": 1, "identity": 1, "errors": 1,
}
HEAVY = ("numpy", "scipy", "duckdb", "sqlalchemy", "alembic", "jinja2", "pydantic", "sacrebleu")


def room(module: str) -> str | None:
    """The folder or file at the top of the package that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "registry" else None


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += names if node.module == "registry" else [node.module]
    return found


def modules() -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or p.stem not in ("__init__", "__main__")]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for module in imports(path):
        there = room(module)
        if there not in (None, here, "__version__"):
            assert FLOORS[there] < FLOORS[here] or (FLOORS[there] == FLOORS[here] == 1 and here == "values"), (
                f"{here} (floor {FLOORS[here]}) imports {module} (floor {FLOORS[there]})")


def test_every_room_has_a_floor():
    rooms = {p.name.removesuffix(".py") for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert rooms - {"__init__", "__main__"} <= FLOORS.keys()


def test_help_imports_nothing_heavy():
    """So that it comes at once; how fast is a benchmark (command_line)."""
    code = "import atexit, sys, registry.cli; atexit.register(lambda: print(*sys.modules)); registry.cli.main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    *told, modules = done.stdout.splitlines()
    assert any("leaderboard" in line for line in told)
    imported = {module.partition(".")[0] for module in modules.split()}
    assert "typer" in imported
    assert not imported & set(HEAVY)
