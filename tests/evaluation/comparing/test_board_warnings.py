"""A board's warning needs more evidence than the message of a pair, the more systems there are."""

import re

import numpy as np

from tests.evaluation.tables import manifest

SKEWED = "skewed-differences"


def write_task(folder):
    """Write lognormal scores of 50 items by ten exchangeable systems, and nearly constant ones by another system."""
    rng = np.random.default_rng(5)
    scores = {f"s{n}.csv": column.round(1) for n, column in enumerate(np.exp(rng.standard_normal((10, 50))))}
    for name, column in {**scores, "unlike": rng.normal(1.6, 0.1, 50).round(1), "gold": np.zeros(50)}.items():
        (folder / name).write_text("item,score\n" + "".join(f"i{n},{x}\n" for n, x in enumerate(column)))
    return manifest(folder, metric=['name = "Mean"'], significance='test = "t"',
                    test_set='gold = "gold"\nformat = "scores"\noptions = { separator = "comma" }')


def codes(registry):
    return {(row["system_a"], row["system_b"]): [message["code"] for message in row["messages"]]
            for row in registry("pairs", "--format", "json").json}


def board_codes(registry):
    return {message["code"] for message in registry("board", "--format", "json").json[0]["warnings"]}


def test_a_system_that_is_unlike_the_others_adds_the_warning_and_changes_no_pair(registry, tmp_path):
    path = write_task(tmp_path)
    run = registry("run", path, "--format", "md")
    before = codes(registry)
    assert 0 < sum(SKEWED in of_pair for of_pair in before.values()) < 10
    assert "None of 45 differences is significant" in run.stdout
    assert "differences are too skewed" not in run.stdout + run.stderr
    assert SKEWED not in board_codes(registry)

    (tmp_path / "unlike").rename(tmp_path / "unlike.csv")
    run = registry("run", path, "--format", "md")
    after = codes(registry)
    noted = sum(SKEWED in of_pair for of_pair in after.values())
    assert {pair: after[pair] for pair in before} == before
    assert f"in {noted} of 55 pairs, the p-value may be too small" in run.stderr
    assert re.search(rf"In {noted} of 55 pairs \(.*?\), the p-value may be too small", run.stdout)
    assert SKEWED in board_codes(registry)
    registry("verify")
