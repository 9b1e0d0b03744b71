"""The SQL texts are attacks: sent to a private registry, they print its secrets in every output.

A database that was published from it must print none of them: `leaks(Reader(path).ways, texts(), secrets) == []`.
"""

from collections import Counter

import pytest

from tests.attacks.hidden import build
from tests.attacks.sql_readers import Reader, secrets_of
from tests.attacks.sql_texts import Text, leaks, texts

pytestmark = pytest.mark.slow  # all of them, so that they run one after the other and share their registry
PER_FAMILY = 25


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    with Reader(build(tmp_path_factory.mktemp("hidden"))) as reader:
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
