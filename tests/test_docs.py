"""The documentation names every key and option that there is."""

import dataclasses
import re
from typing import get_args

import pytest

from registry.cli.check import KEYS
from registry.errors import Category
from registry.importers import IMPORTERS
from registry.manifest import spec
from registry.metrics import METRICS
from registry.readers import READERS
from registry.readers.base import NamedReader
from registry.significance import CORRECTIONS, OVERALL_TESTS
from tests.advice_page import advice_page
from tests.conftest import ROOT
from tests.generated_docs import (
    ADVICE_PAGE,
    COLUMNS_PAGE,
    FORMATS_PAGE,
    MESSAGES_PAGE,
    PAGE,
    SCHEMA_PAGE,
    SCHEMAS,
    columns_page,
    formats_page,
    json_schemas,
    listing_page,
    messages_page,
    schema_page,
)

SIGNIFICANCE = (ROOT / "docs" / "significance.md").read_text()
MANIFEST = (ROOT / "docs" / "manifest.md").read_text()
TABLES = [spec.Task, spec.TestSet, spec.Submission, spec.MetricSpec, spec.Significance, spec.Submit, spec.Board]


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.__name__)
def test_every_key_of_the_manifest_is_documented(table):
    named = set(re.findall(r"^\| (`.*?) \|", MANIFEST, re.MULTILINE))
    keys = {key for cell in named for key in re.findall(r"`(\w+)`", cell)}
    assert set(table.model_fields) <= keys


@pytest.mark.parametrize("reader", READERS.values(), ids=lambda r: r.name)
def test_every_option_of_a_reader_is_documented(reader):
    titles = [f"Reader `{reader.name}`", "Files of any format"]
    titles += ["Labels and types that the gold does not know"] if issubclass(reader, NamedReader) else []
    own, *of_all = (MANIFEST.partition(f"## {title}")[2].partition("\n## ")[0] for title in titles)
    section = own + "".join(of_all)
    assert own
    assert {f.name for f in dataclasses.fields(reader)} <= set(re.findall(r"`(\w+)`", section))


def test_the_keys_and_categories_of_problems_are_documented():
    page = (ROOT / "docs" / "check.md").read_text()
    named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert named == {*KEYS, *get_args(Category)}


@pytest.mark.parametrize("importer", IMPORTERS.values(), ids=lambda i: i.name)
def test_every_option_of_an_importer_is_documented(importer):
    page = (ROOT / "docs" / "importing.md").read_text()
    section = page.partition(f"## Importer `{importer.name}`")[2].partition("\n## ")[0]
    assert {f.name for f in dataclasses.fields(importer)} <= set(re.findall(r"`(\w+)`", section))


def test_the_page_of_advice_is_what_is_advised():
    assert ADVICE_PAGE.read_text() == advice_page(), "run `make docs`"


def test_the_page_of_tests_is_what_the_program_knows():
    assert PAGE.read_text() == listing_page(), "run `make docs`"


def test_the_page_of_metrics_and_readers_is_what_the_program_knows():
    assert FORMATS_PAGE.read_text() == formats_page(), "run `make docs`"


def test_every_metric_says_where_it_is_from():
    assert [name for name, metric in METRICS.items() if not metric.citation] == []


def test_the_page_of_the_database_is_what_a_new_registry_holds():
    assert SCHEMA_PAGE.read_text() == schema_page(), "run `make docs`"


def test_the_page_of_columns_is_what_forms_show():
    assert COLUMNS_PAGE.read_text() == columns_page(), "run `make docs`"


def test_the_page_of_messages_is_complete():
    assert MESSAGES_PAGE.read_text() == messages_page(), "run `make docs`"


def test_the_json_schemas_are_what_the_program_writes():
    assert {path.name: path.read_text() for path in SCHEMAS.glob("*.json")} == json_schemas(), "run `make docs`"


@pytest.mark.parametrize("name", [*CORRECTIONS, *OVERALL_TESTS])
def test_every_correction_and_test_of_all_systems_is_explained(name):
    assert f"`{name}`" in SIGNIFICANCE + MANIFEST or name in SIGNIFICANCE
