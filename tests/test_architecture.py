"""The picture of the house in docs/architecture.md is the house."""

import importlib
import re

import pytest

from tests.conftest import ROOT
from tests.test_layers import LAYERS

PAGE = (ROOT / "docs" / "architecture.md").read_text()
WAY = re.findall(r"`((?:[a-z_]+\.)+[A-Za-z_.]+)`", PAGE.partition("## An item's way")[2].partition("\n## ")[0])


def test_every_room_is_in_the_picture():
    table = PAGE.partition("## Rooms")[2].partition("## The one idea")[0]
    rooms = {name.removesuffix(".py").rstrip("/") for row in re.findall(r"^\| (.*?) \|", table, re.M)
             for name in re.findall(r"`(.*?)`", row)}
    assert rooms == {name for names in LAYERS for name in names.split()}


def test_the_rooms_of_significance_are_in_the_picture():
    rooms = {path.parent.name for path in (ROOT / "registry" / "significance").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"`(\w+)/`", PAGE.partition("`significance/` has rooms")[2].partition("## ")[0]))


@pytest.mark.parametrize("name", WAY)
def test_every_step_of_an_item_s_way_is_there(name):
    parts = name.split(".")
    package = ROOT / "registry"
    module = next(n for n in range(len(parts), 0, -1) if (package / "/".join(parts[:n])).with_suffix(".py").exists())
    found = importlib.import_module(".".join(("registry", *parts[:module])))
    for part in parts[module:]:
        found = getattr(found, part)
    assert callable(found)


def test_files_that_are_named_are_there():
    for path in re.findall(r"`((?:registry|tests)/[\w/.]+|\w+/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).exists() or (ROOT / "registry" / path).exists(), path
