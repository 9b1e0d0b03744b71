"""Baseball games as votes: strengths by the model of Bradley and Terry, from a file of games to the board."""

import csv

import pytest

PUBLISHED = {"Boston": 1.1077, "Cleveland": 0.6839, "Detroit": 1.4364, "Milwaukee": 1.5814, "New York": 1.2476,
             "Toronto": 1.2945}
AT_HOME = {"Boston": 1.1438, "Cleveland": 0.7047, "Detroit": 1.4754, "Milwaukee": 1.6196, "New York": 1.2813,
           "Toronto": 1.3271}


@pytest.fixture
def games(real_data, tmp_path):
    """A row per game."""
    with (real_data("preferences") / "baseball.csv").open() as file, (tmp_path / "games.csv").open("w") as games:
        games.write("home,away,winner\n")
        for row in csv.DictReader(file):
            for side in ("home", "away"):
                games.write(f"{row['home']},{row['away']},{row[side]}\n" * int(row[f"{side}_wins"]))
    return "games.csv"


@pytest.mark.parametrize(("order", "published"), [("false", PUBLISHED), ("true", AT_HOME)])
def test_strengths_are_those_of_agresti(registry, games, order, published):
    rows = registry("quick", games, "--option", f"order={order}", "--format", "json").json
    strengths = {row["system"]: row["score"] for row in rows}
    assert sum(strengths.values()) == pytest.approx(0, abs=1e-9)
    assert {system: strength - strengths["Baltimore"] for system, strength in strengths.items()
            if system != "Baltimore"} == pytest.approx(published, abs=5e-5)
