"""The recipes of CONTRIBUTING.md, followed word by word in a copy of the code."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from registry.readers import READERS
from tests.conftest import ROOT

STEP = re.compile(r"^`(?P<path>[^`\n]+)`(?:, [^\n]*)?:\n|^```(?P<kind>python|diff)\n(?P<code>.*?)^```$", re.M | re.S)
# what looks at every module, metric, reader and test
OF_ALL = ("tests/test_layers.py", "tests/test_values.py", "tests/significance/test_units.py",
          "tests/significance/test_conformance.py::test_equal_units_of_unequal_statistics_are_equal")


def steps():
    """The files that the recipes name with what they say of each: new content, or a change."""
    path = None
    for step in STEP.finditer((ROOT / "CONTRIBUTING.md").read_text()):
        if step["path"]:
            path = step["path"]
        else:
            yield path, step["kind"], step["code"]


def changed(path, text, diff):
    """The text of a file with a change made, whose lines must stand in it just once."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] != other) for other in "+-")
    assert text.count(before) == 1, (f"CONTRIBUTING.md changes lines that stand {text.count(before)} times in {path}; "
                                     f"quote those of now:\n{before}")
    return text.replace(before, after)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the code in which all recipes were followed."""
    root = tmp_path_factory.mktemp("recipes")
    for name in ("registry", "migrations", "tests"):  # with what Python has compiled, and not what it is about to
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copytree(ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("gallery", "studies"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for path, kind, code in steps():
        file = root / path
        assert file.exists() == (kind == "diff"), f"{path} is {'not there' if kind == 'diff' else 'there already'}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code if kind == "python" else changed(path, file.read_text(), code))
    return root


@pytest.mark.thorough
@pytest.mark.slow
def test_what_the_recipes_add_passes_the_tests_that_they_add(copy):
    tests = [path for path, kind, _ in steps() if path.startswith("tests/") and kind == "python"]
    assert len(tests) == 7
    of_boards = [f"--deselect=tests/test_layers.py::test_{told}" for told in (  # to these nothing is added
        "a_command_imports_no_pandas_and_ends_at_once", "boards_are_shown_without_what_computes_them")]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *OF_ALL, *of_boards],
                          cwd=copy, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_kinds_of_values_are_in_the_table():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == {reader.gives for reader in READERS.values()}


def test_the_program_lists_what_they_add(copy):
    added = {"metrics": "Within", "readers": "properties", "tests": "z"}
    listing = "from registry.cli import app\nfor thing in {}: app(['list', thing], standalone_mode=False)"
    done = subprocess.run([sys.executable, "-c", listing.format([*added])], cwd=copy, capture_output=True, text=True,
                          check=True)
    assert set(added.values()) <= {line.split("\t")[0] for line in done.stdout.splitlines()}


def test_what_they_add_is_written_in_the_house_style(copy):
    paths = sorted({path for path, _, _ in steps() if path.endswith(".py")})
    done = subprocess.run([sys.executable, "-m", "ruff", "check", *paths], cwd=copy, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout
