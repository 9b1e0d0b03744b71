"""docs/architecture.md lists the packages and functions that exist."""

import importlib
import re

import pytest

from tests.conftest import ROOT
from tests.test_layers import LAYERS

PAGE = (ROOT / "docs" / "architecture.md").read_text()
STEPS = re.findall(r"`((?:[a-z_]+\.)+[A-Za-z_.]+)`", PAGE.partition("## From the file")[2].partition("\n## ")[0])


def test_every_package_is_listed():
    table = PAGE.partition("## Packages")[2].partition("## Sums of statistics")[0]
    packages = {name.removesuffix(".py").rstrip("/") for row in re.findall(r"^\| (.*?) \|", table, re.M)
             for name in re.findall(r"`(.*?)`", row)}
    assert packages == {name for names in LAYERS for name in names.split()}


def test_packages_of_significance_are_listed():
    packages = {path.parent.name for path in (ROOT / "registry" / "significance").glob("*/__init__.py")}
    paragraph = PAGE.partition("`significance/` has packages")[2].partition("## ")[0]
    assert packages == set(re.findall(r"`(\w+)/`", paragraph))


@pytest.mark.parametrize("name", STEPS)
def test_every_step_exists(name):
    parts = name.split(".")
    package = ROOT / "registry"
    module = next(n for n in range(len(parts), 0, -1) if (package / "/".join(parts[:n])).with_suffix(".py").exists())
    found = importlib.import_module(".".join(("registry", *parts[:module])))
    for part in parts[module:]:
        found = getattr(found, part)
    assert callable(found)


def test_named_files_exist():
    for path in re.findall(r"`((?:registry|tests)/[\w/.]+|\w+/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).exists() or (ROOT / "registry" / path).exists(), path
