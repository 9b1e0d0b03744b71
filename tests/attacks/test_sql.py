"""SQL that prints the secrets of a private registry prints none of them from the file that is published of it."""

from collections import Counter

import pytest

from registry.publication.publish import publish
from registry.store.database import Database
from tests.attacks.hidden import build
from tests.attacks.sql_readers import Reader, secrets_of
from tests.attacks.sql_texts import Text, leaks, texts

pytestmark = pytest.mark.slow  # all of them, so that they run one after the other and share their registry
PER_FAMILY = 25


@pytest.fixture(scope="module")
def registry_file(tmp_path_factory):
    return build(tmp_path_factory.mktemp("hidden"))


@pytest.fixture(scope="module")
def private(registry_file):
    with Reader(registry_file) as reader:
        yield reader


@pytest.fixture(scope="module")
def public(registry_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("public") / "registry.duckdb"
    publish(Database(registry_file), path, sources=True)
    with Reader(path) as reader:
        yield reader


def test_texts_of_each_family_print_secrets(private):
    chosen = texts(PER_FAMILY)
    found = Counter(leak.text.family for leak in leaks({"csv": private.csv}, chosen, secrets_of(private)))
    assert len(chosen) >= 200
    assert found.keys() == {text.family for text in chosen}
    assert found.total() >= 80


@pytest.mark.parametrize("way", ["csv", "table", "parquet", "count", "http"])
def test_every_way_of_asking_prints_secrets(private, way):
    text = Text("control", "SELECT max(name) FROM team HAVING error(string_agg(name, ' ')) IS NULL")
    assert len(leaks({way: private.ways[way]}, [text], secrets_of(private))) == 1


def test_no_text_prints_a_secret_of_the_public_file(public, private):
    chosen = texts(PER_FAMILY)
    assert leaks(public.ways, chosen, secrets_of(private)) == []


@pytest.mark.thorough
def test_no_text_prints_a_secret_in_any_way(public, private):
    assert leaks(public.ways, texts(), secrets_of(private), every_way=True) == []


def test_no_secret_is_in_the_bytes_of_the_public_file(public, private):
    """Texts of a column may be stored as they are."""
    found = secrets_of(private).found(public.path.read_bytes().decode("latin-1"))
    assert not {secret for secret in found if secret.isalpha()}
