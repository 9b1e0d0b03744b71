"""SQL of readers prints no hidden name and no hidden score, in no output, message, note or plan."""

import re
from collections import Counter

import pytest

from tests.attacks.hidden import build
from tests.attacks.sql_readers import readers, secrets_of
from tests.attacks.sql_texts import NUMBERS, Text, leaks, texts

pytestmark = pytest.mark.slow  # all of them, so that they run one after the other and share their registry
PER_FAMILY = 25
PLANS = ("EXPLAIN ANALYZE {0}", "EXPLAIN (ANALYZE, FORMAT json) {0}", "EXPLAIN {0}", "{0}")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A reader and an organiser of the same registry."""
    path = build(tmp_path_factory.mktemp("hidden"))
    with readers(path, tmp_path_factory.mktemp("organiser") / path.name) as opened:
        yield opened


def test_no_text_prints_a_secret_though_an_organiser_sees_them(both):
    """An organiser's answers are the control: if they held no secrets, the texts would be no attacks."""
    reader, organiser = both
    chosen, secrets = texts(PER_FAMILY), secrets_of(organiser)
    assert len(chosen) >= 200
    assert leaks(reader.ways, chosen, secrets) == []
    control = Counter(leak.text.family for leak in leaks({"csv": organiser.csv}, chosen, secrets))
    assert control.keys() == {text.family for text in chosen}
    assert control.total() >= 80


@pytest.mark.parametrize("way", ["csv", "table", "parquet", "count", "http"])
def test_every_way_of_asking_prints_the_secrets_of_an_organiser(both, way):
    _, organiser = both
    text = Text("control", "SELECT max(name) FROM team HAVING error(string_agg(name, ' ')) IS NULL")
    assert len(leaks({way: organiser.ways[way]}, [text], secrets_of(organiser))) == 1


def test_no_table_or_view_holds_a_secret(both):
    reader, organiser = both
    _, *names = organiser.csv("SELECT name FROM (SHOW TABLES)").split()
    assert len(names) > 60
    assert leaks({"csv": reader.csv}, [Text("table", f"FROM {name}") for name in names], secrets_of(organiser)) == []


@pytest.mark.parametrize(("table", "column"), NUMBERS)
def test_no_plan_tells_whether_a_hidden_number_is_there(both, table, column):
    """A condition that selects a hidden row looks as one that selects no row; an organiser's plans differ."""
    reader, organiser = both
    secrets = secrets_of(organiser)
    _, *numbers = organiser.csv(f"SELECT {column} FROM {table} ORDER BY ALL").split()
    hidden = next(number for number in numbers if secrets.found(number))
    query = f"SELECT count(*) FROM {table} WHERE {column} = "

    def differ(ask):
        printed = [[re.sub(r"0?\.\d+(s|e-\d+)?", "", ask(plan.format(query + number))) for plan in PLANS]
                   for number in (hidden, "0.98765")]
        return printed[0] != printed[1]

    assert not differ(reader.csv)
    assert differ(organiser.csv)
