"""Families of several boards: corrected together, by stored p-values, and said so under every board."""


import numpy as np
import pytest

from registry.significance.multiple import adjust, adjust_boards
from tests.evaluation.comparing.compared import pairs, raw

F1 = '[[metric]]\nid = "f1"\nname = "BalancedAccuracy"\n'


@pytest.fixture
def two(many, scored):
    """Nine systems by two metrics, of which the first is the primary one."""
    many.systems = {name: answers for name, answers in many.systems.items() if name in ("s0", "s3", "s6", "s8")}
    many.extra, many.significance["unit"] = F1, "item"
    scored(many)
    return many


def by_board(rows):
    """The pairs of each board by its metric, in the order of the systems' names."""
    return {metric: sorted((row for row in rows if row["metric"] == metric),
                           key=lambda row: sorted((row["submission_a"], row["submission_b"])))
            for metric in ("acc", "f1")}


def p_values(rows, key="p_value"):
    return [np.array([row[key] for row in of], dtype=float) for of in by_board(rows).values()]


def test_boards_of_a_task_are_one_family(two, registry):
    alone, before = pairs(), raw()
    board = registry("board", "--format", "table").stdout
    assert "of this board alone, not for the 2 boards of the task together." in board
    told = registry("compare", "--family", "task", "--metric", "f1")  # all of a family is compared
    assert "comparisons: 2 made; pairs: 0 tested, 12 already stored" in told.stderr
    assert raw() == before
    found = pairs()
    assert np.concatenate(p_values(found, "p_adjusted")) == pytest.approx(
        adjust(np.concatenate(p_values(alone)), "holm"), rel=1e-12)
    assert {row["family_size"] for row in found} == {12}
    assert all("|corr:holm/12/2b|" in row["signature"] for row in found)
    shown = registry("show", found[0]["signature"], "--format", "json").json
    asked = next(section["asked for"] for section in shown if "asked for" in section)
    assert {"setting": "family", "value": "2 boards (test, acc; test, f1)"} in asked
    board = " ".join(registry("board", "--format", "table").stdout.split())
    assert board.count("P-values are corrected together for the 12 pairs of 2 boards (test, acc; test, f1).") == 2
    assert "nothing changed" in registry("compare", "--family", "task").stderr
    assert "family was board, and now is task." in " ".join(registry("diff", "--format", "table").stdout.split())


def test_gatekeeping_goes_from_the_primary_metric_to_the_other(two, registry):
    alone = p_values(pairs())
    registry("compare", "--family", "task", "--correction", "gatekeeping")
    chains = [np.arange(6)] * 2
    expected = adjust_boards(alone, chains, "gatekeeping")
    found = p_values(pairs(), "p_adjusted")
    assert np.concatenate(found) == pytest.approx(np.concatenate(expected), rel=1e-12)
    primary, other = found
    assert (other >= primary).all()  # a pair is tested by the other metric once it differs by the primary one
    assert (other > primary).any()
    assert "no faults" in registry("verify").stderr


def test_metrics_share_the_draws_of_the_same_items(two, registry):
    """Of all 6 x 2 pairs together: never below the board's own, and below Holm's, as the two metrics are alike."""
    options = ("--resamples", 2000, "--correction", "max-t")
    registry("compare", *options)
    alone = np.concatenate(p_values(pairs(), "p_adjusted"))
    registry("compare", *options, "--family", "task")
    together = pairs()
    found = np.concatenate(p_values(together, "p_adjusted"))
    assert (found >= alone - 1e-12).all()
    holm = adjust(np.concatenate(p_values(together)), "holm")
    unclear = (holm > 0.01) & (holm < 1)  # where draws are many enough to tell
    assert unclear.any()
    assert (found < holm)[unclear].all()


def test_a_board_says_what_of_its_family_is_not_compared_yet(two, registry):
    two.significance = {"seed": 1, "family": ["acc", "test, open, acc"]}
    board = " ".join(registry("run", two.write(), "--format", "table").stdout.split())
    assert "together for the 6 pairs of 1 board (test, acc), and separately for 1 other board." in board
    assert "The family of this board is incomplete: test, open, acc is not compared yet." in board
    two.significance, two.extra = {"seed": 1, "family": "task", "alpha": 0.1}, ""
    registry("run", two.write())
    two.extra = F1
    registry("apply", two.write())
    registry("score")
    warned = "small/test: other boards of this family have changed since the last comparison, or are not compared yet"
    assert warned in registry("board").stderr


@pytest.mark.parametrize(("family", "told"), [
    (["f2"], "contains 'f2', which is neither a metric nor a board such as 'test, acc'; known: acc, f1"),
    (["dev, acc"], "contains 'dev, acc', which is neither a metric nor a board"),
    ("metric", "is 'metric'; expected 'board', 'task', or a list of metrics and boards"),
    ([], "is []; expected 'board', 'task', or a list of metrics and boards"),
])
def test_a_family_names_metrics_and_boards(two, registry, family, told):
    two.significance = {"seed": 1, "family": family}
    assert f"significance.family: {told}" in registry("check", two.write(), exit_code=3).stderr


def test_boards_of_other_systems_share_a_family(two, registry):
    """Draws are shared within a track, which takes of alpha what it has of the pairs; a purge leaves what verifies."""
    two.significance, two.extra = {"seed": 1, "family": "task", "correction": "max-t", "resamples": 500}, "".join(
        f'[[submit]]\nfile = "{name}.tsv"\nsystem = "{name}"\nteam = "zed"\ntrack = "open"\n' for name in ("z1", "z2"))
    two.write()
    for name, source in (("z1", "s0"), ("z2", "s8")):
        (two.folder / f"{name}.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in two.systems[source].items()))
    registry("run", two.manifest)
    found = {row["track"]: row for row in pairs() if {row["system_a"], row["system_b"]} in (
        {"s0", "s8"}, {"z1", "z2"})}
    (opened, closed), total = (found["open"], found[None]), 7
    assert opened["family_size"] == closed["family_size"] == total
    assert opened["p_adjusted"] == pytest.approx(total / 501)  # no draw of one pair is as extreme
    assert closed["p_adjusted"] == pytest.approx(total / 6 / 501)  # nor of six, of which each draw has the largest
    told = registry("compare", "--resamples", 100)
    too_few = ("no difference can be significant, because the smallest possible p-value with 100 resamples is too "
               "large; set resamples to 139 or more")  # 1 / 140 is a seventh of 0.05
    assert f"warning: small/test, open, acc: {too_few}" in told.stderr
    assert told.stderr.count("p-value with 100 resamples") == 1  # six sevenths need 23
    assert " ".join(registry("board", "--format", "table").stdout.split()).count(f"N{too_few[1:]}") == 1
    registry("purge", "small", "zed", "--reason", "asked by mail")
    assert "no faults" in registry("verify").stderr
