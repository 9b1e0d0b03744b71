"""The distribution: what it installs, and what people find in the repository."""

import re
import sys
import tomllib

import pytest

import registry
from registry.errors import RegistryError
from registry.version import __version__
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PUBLIC = ("pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/competitions.md")


def test_metrics_and_importers_are_extras():
    needed = {re.split(r"[<>=;\[ ]", line)[0] for line in PROJECT["dependencies"]}
    assert needed == {"alembic", "duckdb", "duckdb-sqlalchemy", "filelock", "jinja2", "numpy", "packaging", "pydantic",
                      "rich", "scipy", "sqlalchemy", "threadpoolctl", "typer"}


def test_a_missing_package_of_a_metric_is_one_message_that_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(RegistryError) as raised:
        registry.evaluate(["a b c d"] * 4, {"x": ["a b c d"] * 4}, metric="BLEU(tokenize=char)")
    assert "BLEU needs sacrebleu: pip install 'evalregistry[mt]'" in str(raised.value)


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
