"""A board's warning needs more evidence than the note of a pair, the more systems there are."""

import numpy as np

from tests.evaluation.tables import manifest

SKEWED = "too skewed for so few units"


def write_task(folder):
    """Write lognormal scores of 50 items by ten exchangeable systems, and nearly constant ones by another system."""
    rng = np.random.default_rng(5)
    scores = {f"s{n}.csv": column.round(1) for n, column in enumerate(np.exp(rng.standard_normal((10, 50))))}
    for name, column in {**scores, "unlike": rng.normal(1.6, 0.1, 50).round(1), "gold": np.zeros(50)}.items():
        (folder / name).write_text("item,score\n" + "".join(f"i{n},{x}\n" for n, x in enumerate(column)))
    return manifest(folder, metric=['name = "Mean"'], significance='test = "t"',
                    test_set='gold = "gold"\nformat = "scores"\noptions = { separator = "comma" }')


def notes(registry):
    return {(row["system_a"], row["system_b"]): row["note"] for row in registry("pairs", "--format", "json").json}


def test_a_system_that_is_unlike_the_others_adds_the_warning_and_changes_no_note(registry, tmp_path):
    path = write_task(tmp_path)
    run = registry("run", path, "--format", "md")
    before = notes(registry)
    assert 0 < sum(SKEWED in note for note in before.values()) < 10
    assert "None of 45 differences is significant" in run.stdout
    assert SKEWED not in run.stdout + run.stderr

    (tmp_path / "unlike").rename(tmp_path / "unlike.csv")
    run = registry("run", path, "--format", "md")
    after = notes(registry)
    noted = sum(SKEWED in note for note in after.values())
    assert {pair: after[pair] for pair in before} == before
    assert f"in {noted} of 55 pairs differences are {SKEWED}" in run.stderr
    assert f"In {noted} of 55 pairs differences are {SKEWED}" in run.stdout
    registry("verify")
