"""Bootstraps that no resample reaches, from the test to the board: no p-value, no win, and a reason everywhere."""

import pytest

from tests.evaluation.tables import manifest

GAINS = {"near": (0.3, 0.5, 0.4, 0.3, 0.5, 0.4, 0.3, 0.5), "far": (0.9, 0, 0.9, 0, 0.9, 0.2, 0.9, 0.9)}
REASON = "no resample is as extreme as the observed difference, so the bootstrap cannot test it; use --test permutation"


@pytest.fixture
def few(tmp_path):
    """Eight scored items: best is above near by 0.3 to 0.5 in each, and above far by up to 0.9."""
    def write(significance=""):
        path = manifest(tmp_path / "t", metric=['name = "Mean"'], significance=f'test = "bootstrap"\n{significance}',
                        test_set='gold = "gold"\nformat = "scores"\noptions = { separator = "comma" }')
        for system, gains in {"gold": [0] * 8, "best": [0] * 8, **GAINS}.items():
            (path.parent / (system + (".csv" if system != "gold" else ""))).write_text(
                "item,score\n" + "".join(f"i{n},{1 - gain:.1f}\n" for n, gain in enumerate(gains)))
        return path
    return write


def pairs(registry):
    return {(row["system_a"], row["system_b"]): row for row in registry("pairs", "--format", "json").json}


@pytest.mark.parametrize("significance", ["", 'correction = "min-p"\nresamples = 500', "resolve = 200000",
                                          'correction = "max-t"\nresamples = 500', 'interval = "percentile"',
                                          'interval = "bca"\nresamples = 500'])
def test_a_difference_that_no_resample_reaches_is_undefined_and_no_win(registry, scored, few, significance):
    scored(few(significance))
    row = pairs(registry)["best", "near"]
    assert (row["p_value"], row["log10_p"], row["p_adjusted"], row["ci_low"], row["ci_high"]) == (None,) * 5
    assert (row["significant"], row["resolved"], [one["text"] for one in row["messages"]]) == (False, True, [REASON])
    shown = {of["system"]: of for of in registry("board", "--format", "json").json}
    assert set(shown["best"]["letters"]) & set(shown["near"]["letters"])
    assert f"1 p-value is undefined and counted as not significant: {REASON}." in registry(
        "board", "--format", "md").stdout


def test_it_counts_in_the_family_as_one_that_rejects_nothing(registry, scored, few):
    scored(few())
    known = pairs(registry)
    least = min(p for row in known.values() if (p := row["p_value"]) is not None)
    assert [row["p_adjusted"] for row in known.values() if row["p_value"] == least] == [pytest.approx(3 * least)]
