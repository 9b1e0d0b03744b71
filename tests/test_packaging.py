"""The distribution: what the wheel has and needs, and which version and addresses the repository names."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from registry.version import __version__
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PUBLIC = ("pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/competitions.md")


def test_the_wheel_works_from_any_directory(tmp_path):
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT,
                   check=True, capture_output=True)  # as pip does it, which takes as long once more
    (wheel,) = tmp_path.glob(f"evalregistry-{__version__}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "registry/migrations/versions/0001_initial.py" in names
    assert "registry/store/views/10_ranked_submission.sql" in names
    assert "registry/store/macros/10_scoring_named.sql" in names
    assert "registry/store/comments.toml" in names
    drawn = ("templates/page.html", "styles/base.css", "bundles/page.js", "bundles/site.js")
    assert {f"registry/reports/page/{name}" for name in drawn} <= set(names)
    assert {"registry/rendering/numbers.json", "registry/references.bib"} <= {*names}
    assert not [n for n in names if "/scripts/" in n], "bundles have them"
    assert "registry/py.typed" in names
    assert f"evalregistry-{__version__}.data/data/share/man/man1/registry.1" in names
    assert not [n for n in names if "__pycache__" in n or n.startswith("tests")]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", "import registry, sys; print(registry.__file__); "
                           "from registry.cli import main; sys.argv = ['registry', 'init']; main()"],
                          cwd=elsewhere, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert "registry.duckdb: created" in done.stderr


def test_metrics_and_importers_are_extras():
    needed = {re.split(r"[<>=;\[ ]", line)[0] for line in PROJECT["dependencies"]}
    assert needed == {"alembic", "duckdb", "duckdb-sqlalchemy", "filelock", "jinja2", "numpy", "packaging", "pydantic",
                      "rich", "scipy", "sqlalchemy", "threadpoolctl", "typer"}


def test_the_citation_names_this_version():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (__version__, PROJECT["license"])


def test_addresses_have_one_placeholder():
    """Whoever publishes the project replaces OWNER, and nothing else."""
    for name in PUBLIC:
        owners = re.findall(r"github\.com/([\w.-]+)/evalregistry", (ROOT / name).read_text("utf-8"))
        assert set(owners) <= {"OWNER"}, name
    assert len(PROJECT["urls"]) >= 4
