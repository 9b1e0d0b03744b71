"""`registry diff`: what changed between two states of leaderboards, and why."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def first(scored, task):
    """The small task after its first run; `registry diff` then holds later runs against it.

    By item, as Cochran's test does not take its documents as units, and p = 0.5 is that of two items.
    """
    task.significance["unit"] = "item"
    scored(task)


@pytest.fixture
def joined(registry, once, scored, task):
    """The small task before (old.duckdb and its pairs) and after d came, which is right everywhere."""
    def join():
        scored(task, db="old.duckdb")
        Path("pairs.json").write_text(registry("pairs", "--format", "json", "--db", "old.duckdb").stdout)
        shutil.copy("old.duckdb", "registry.duckdb")
        task.systems["d"] = dict(task.gold)
        registry("run", task.write())

    once(join)


def changed(registry, *arguments):
    (found,) = registry("diff", *arguments, "--format", "json").json
    return found


def whys(found):
    return {of["system"]: of["why"] for of in found["systems"]}


def test_one_board_has_no_other_state(registry, first):
    assert "no leaderboard has two states" in registry("diff", exit_code=4).stderr


def test_a_new_submission(registry, joined):
    """d wins nothing significantly, but the family is larger, and all others lose a place."""
    found = changed(registry)
    assert found["reasons"] == ["New: d/d.", "The family had 3 pairs, and now has 6."]
    assert whys(found) == {"d/d": "new", "a/a": "other systems", "b/b": "other systems", "c/c": "other systems"}
    assert [(of["before"]["rank"], of["after"]["rank"]) for of in found["systems"][1:]] == [(1, 2), (2, 3), (2, 3)]
    assert {of["why"] for of in found["pairs"]} <= {"family of 6"}
    shown = registry("diff").stdout
    assert "1 → 2" in shown
    assert "New: d/d." in shown


def test_a_new_version_of_a_submission(registry, task, first):
    (task.folder / "again.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    task.extra = "[[submit]]\nfile = 'again.tsv'\nsystem = 'b'\nversion = '2'"
    registry("run", task.write())
    found = changed(registry)
    assert found["reasons"] == ["In a new version: b/b."]
    assert whys(found) == {"b/b": "new version", "a/a": "other systems", "c/c": "other systems"}
    assert {tuple(of["systems"]): of["why"] for of in found["pairs"]}[("b/b", "a/a")] == "new version"


def test_a_revision_of_the_gold(registry, task, first):
    task.gold["i5"] = {"yes": "no", "no": "yes"}[task.gold["i5"]]  # now a is right of all, b and c of two
    task.version = "2"
    registry("run", task.write())
    found = changed(registry)
    assert found["reasons"] == ["The gold was revised (version 1, then 2)."]
    assert whys(found) == {"a/a": "gold", "b/b": "gold", "c/c": "gold"}
    (a, b, _) = found["systems"]
    assert (a["before"]["score"], a["after"]["score"]) == (5 / 6, 1)
    assert (b["before"]["score"], b["after"]["score"]) == (1 / 2, 1 / 3)


def test_other_settings(registry, task, first):
    registry("compare", "--alpha", "0.9", "--correction", "none")
    found = changed(registry)
    assert found["reasons"] == ["alpha was 0.05, and now is 0.9.", "correction was holm, and now is none."]
    assert {of["why"] for of in found["pairs"]} == {"alpha, correction"}
    assert [of["after"]["significant"] for of in found["pairs"]] == [True, True]  # p = 0.5 of a against b and c
    assert "no → yes" in registry("diff").stdout


BASELINES = "[[submit]]\nfile = 'systems/b.tsv'\nsystem = 'b'\nkind = 'baseline'\n[board]\nrank_baselines = "


def test_who_loses_a_rank_and_gets_it_back_as_a_baseline_or_late(registry, scored, task):
    """a is right of more than b, which is the baseline, and c, which is the second once b has no rank."""
    task.extra = BASELINES + "true"
    scored(task)
    task.extra = BASELINES + "false"
    registry("run", task.write())
    found = changed(registry)
    assert found["reasons"] == ["Ranked before, and now shown without a rank: b/b."]
    assert whys(found) == {"a/a": "ranked", "b/b": "ranked", "c/c": "ranked"}
    ranks = {of["system"]: (of["before"]["rank"], of["after"]["rank"]) for of in found["systems"]}
    assert (ranks["b/b"], ranks["c/c"]) == ((2, None), (2, 2))
    assert found["pairs"] == []
    task.extra = (f"{BASELINES}true\nrank_late = false\n"
                  "[[submit]]\nfile = 'systems/c.tsv'\nsystem = 'c'\nlate = true\n")
    registry("run", task.write())
    assert changed(registry)["reasons"] == [
        "Ranked before, and now shown without a rank: c/c. Shown without a rank before, and now ranked: b/b."]


def test_all_causes_that_suffice_are_named(registry, task, first):
    """The gold changes the raw p-values, and a new system makes the family larger."""
    task.gold["i5"] = {"yes": "no", "no": "yes"}[task.gold["i5"]]
    task.version, task.systems["d"] = "2", dict(task.gold)
    registry("run", task.write())
    found = changed(registry)
    whys_of_pairs = {tuple(sorted(of["systems"])): of["why"] for of in found["pairs"]}
    assert whys_of_pairs["a/a", "b/b"] == "gold, family of 6"
    assert whys(found)["b/b"] == "gold, other systems"


def test_first_line_names_changed_decisions_and_only_moved_systems_are_listed(registry, task, first):
    registry("compare", "--alpha", "0.9", "--correction", "none")
    shown = registry("diff").stdout
    assert shown.splitlines()[0].endswith(
        ": a is now significantly better than b; a is now significantly better than c")
    registry("compare", "--alpha", "0.05", "--correction", "none")
    assert "a is no longer significantly better than b" in registry("diff").stdout
    registry("compare", "--alpha", "0.04", "--correction", "none")
    first_line, *lines = registry("diff").stdout.splitlines()
    assert first_line.endswith(": no decision changed")
    assert not any(line.split()[:1] in (["a/a"], ["system"]) for line in lines)
    assert "|" not in registry("diff", "--format", "md").stdout.partition("before:")[0]


def test_scores_that_move_nobody_are_counted(registry, task, first):
    """The item is wrong in all systems now, so all scores change and no rank does."""
    task.gold = {key: "maybe" if key == "i0" else label for key, label in task.gold.items()}
    task.version = "2"
    registry("run", task.write())
    shown = registry("diff").stdout
    assert "Another score, but the same rank and range: " in shown


def test_a_new_version_of_the_task_alone(registry, task, first):
    task.version = "2"
    registry("run", task.write())
    assert changed(registry)["reasons"] == ["The task had version 1, and now has 2."]


def test_a_test_of_all_systems_at_once(registry, task, first):
    registry("compare", "--overall", "cochran")
    found = changed(registry)
    assert found["reasons"] == ["overall was none, and now is cochran."]
    assert (found["systems"], found["pairs"]) == ([], [])


def test_other_clusters(registry, task, first):
    registry("compare", "--unit", "cluster")
    task.documents = {key: f"d{n // 3}" for n, key in enumerate(task.gold)}
    before = registry("board", "--format", "json").json[0]["signature"]
    task.version = "2"
    registry("run", task.write())
    registry("compare", "--unit", "cluster")
    found = changed(registry, before.rpartition(":")[2])
    assert found["reasons"] == ["The gold was revised (version 1, then 2).", "The board had 3 clusters, and now has 2."]


def test_another_metric_under_the_same_name(registry, task, first):
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('"Accuracy"', '"LabelF"'))
    registry("run", manifest)
    found = changed(registry)
    assert found["reasons"] == ["The metric was Accuracy, and now is LabelF."]
    assert {of["why"] for of in found["systems"]} == {"metric"}
    assert {of["why"] for of in found["pairs"]} == {"metric"}


def test_all_that_changed_is_there_in_full_precision(registry, joined):
    first, after = json.loads(Path("pairs.json").read_text()), registry("pairs", "--format", "json").json

    def adjusted(rows):
        return {tuple(sorted((row["system_a"], row["system_b"]))): row["p_adjusted"] for row in rows}

    found = {tuple(name[0] for name in of["systems"]): of for of in changed(registry)["pairs"]}
    was, now = adjusted(first), adjusted(after)
    assert {pair for pair in was if was[pair] != now[pair]} == set(found)
    for pair, of in found.items():
        assert (of["before"]["p_adjusted"], of["after"]["p_adjusted"]) == (was[pair], now[pair])


def test_two_databases_and_states_by_their_ids(registry, joined):
    expected = changed(registry)
    assert changed(registry, "old.duckdb", "registry.duckdb") == expected
    assert changed(registry, "old.duckdb") == expected
    assert changed(registry, expected["before"].rpartition(":")[2]) == expected
    assert changed(registry, expected["before"], expected["after"]) == expected
    backwards = changed(registry, "registry.duckdb", "old.duckdb")
    assert backwards["reasons"] == ["Removed: d/d.", "The family had 6 pairs, and now has 3."]
    assert "Nothing changed." in registry("diff", "old.duckdb", "old.duckdb").stdout
    said = registry("diff", "0000", exit_code=3).stderr
    assert "unknown database file or state of a board '0000'" in said
    assert "--task small selects it" in registry("diff", "small", exit_code=3).stderr


def test_names_stay_inert(registry, task, first):
    task.systems["[red]x|*"] = dict(task.gold)
    registry("run", task.write())
    assert "[red]x|*/[red]x|*" in registry("diff").stdout
    assert r"\[red\]x\|\*" in registry("diff", "--format", "md").stdout


def test_a_board_that_only_one_database_has_is_told(registry, task, first):
    shutil.copy("registry.duckdb", "old.duckdb")
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\ntrack = 'open'"
    registry("run", task.write())
    assert "info: only registry.duckdb has small/test, open, acc" in registry("diff", "old.duckdb",
                                                                              "registry.duckdb").stderr


def test_the_better_system_of_a_pair_is_the_first(registry, task):
    """b is right everywhere and a in 4 of 12 items, before and after c comes, which makes the family larger."""
    task.gold, task.documents = {f"i{n:02}": "yes" for n in range(12)}, {}
    task.systems = {"a": {item: "yes" if item < "i04" else "no" for item in task.gold}, "b": dict(task.gold)}
    registry("run", task.write())
    task.systems["c"] = dict(task.gold)
    registry("run", task.write())
    (pair,) = changed(registry)["pairs"]
    assert pair["systems"] == ["b/b", "a/a"]
    assert [pair[state]["difference"] for state in ("before", "after")] == pytest.approx([8 / 12, 8 / 12])
