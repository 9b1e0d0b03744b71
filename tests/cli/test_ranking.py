"""`registry ranking`: small rankings by hand, its forms, its figures, and what it refuses."""

import json

import pytest

CANDIDATES = """id,good,part,a,b,c
1,1,p,9,1,5
2,1,p,8,2,5
3,0,p,7,9,5
4,0,q,6,8,5
5,1,q,5,7,
6,0,q,4,6,
"""
MANIFEST = """
manifest = 1
[task]
id = "cand"
[[test_set]]
name = "test"
gold = "c.csv"
format = "candidates"
options = { separator = "comma", item = "id", gold = "good", attributes = "part" }
[[metric]]
name = "SetP"
options = { best = 2, ties = "include" }
[significance]
seed = 1
"""


@pytest.fixture
def ranking(tmp_path, registry, scored):
    (tmp_path / "c.csv").write_text(CANDIDATES)
    (tmp_path / "task.toml").write_text(MANIFEST + "".join(
        f'[[submit]]\nfile = "c.csv"\nsystem = "{name}"\noptions = {{ score = "{name}" }}\n' for name in "abc"))
    scored(tmp_path / "task.toml")

    def run(*arguments, **expected):
        return registry("ranking", "cand", *arguments, **expected)

    return run


def test_the_board_of_two_best(ranking, registry):
    """Of the two best: a has 2 right, b none; c has four tied in first place, of which 2 are right."""
    board = registry("board", "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {"a": 1, "c": 0.5, "b": 0}


def test_curves(ranking):
    """Three of six are right. Lists of a: 1 2 3 4; of b: 3 4 5 6."""
    rows = ranking("--show", "curves", "--grid", "2,4", "--system", "a", "--system", "b", "--format", "json").json
    assert [(r["system"], r["n"], r["accepted"], r["right"], r["precision"], r["recall"], r["baseline"])
            for r in rows] == [
        ("a", 2, 2, 2, 1, 2 / 3, 0.5), ("a", 4, 4, 2, 0.5, 2 / 3, 0.5),
        ("b", 2, 2, 0, 0, 0, 0.5), ("b", 4, 4, 1, 0.25, 1 / 3, 0.5)]
    assert rows[0]["ci_low"] == pytest.approx(0.025**0.5)  # p^2 = 0.025
    assert rows[0]["ci_high"] == 1
    assert rows[0]["submission"] == "a/a@1"


def test_an_evaluation_is_kept_with_its_signature(ranking, registry):
    first = ranking("--grid", "2:6:2", "--format", "json")
    assert "already stored" in (again := ranking("--grid", "2,4,6", "--format", "json")).stderr
    assert again.json == first.json
    (kept,) = registry("query", "SELECT study, subject, signature FROM study", "--format", "json").json
    assert (kept["study"], kept["subject"]) == ("ranking(grid=[2, 4, 6])", "cand/test")
    assert "|precision|task:cand@1|set:test|n:6|systems:3|" in kept["signature"]


def test_regions_and_tests(ranking):
    """At n = 2: D1 = {1, 2}, both right, D2 = {3, 4}, none: Fisher p = 2 / C(4, 2). At n = 4: {1, 2} and {5, 6}."""
    rows = ranking("--show", "tests", "--grid", "2:4:2", "--system", "a", "--system", "b", "--format", "json").json
    assert [(r["n"], r["only_a"], r["right_a"], r["only_b"], r["right_b"]) for r in rows] == [
        (2, 2, 2, 2, 0), (4, 2, 2, 2, 1)]
    assert [r["p_value"] for r in rows] == [pytest.approx(1 / 3), 1]
    assert not any(r["significant"] for r in rows)
    (pair,) = ranking("--alpha", "0.4", "--grid", "2:4:2", "--system", "a", "--system", "b", "--format", "json").json
    assert (pair["differs_up_to"], pair["significant_at"], pair["favours"]) == (2, "2", "a")


def test_lists_of_different_size_are_warned_of(ranking):
    told = ranking("--grid", "2:6:1", "--ties", "random").stderr
    assert ("warning: cand/test: a comparison by precision alone is not fair, because the systems accept different "
            "numbers of candidates at 2 of 5 cut-offs (Evert 2004); for example, at n = 6, a accepts 6 candidates and "
            "c accepts 4; use --show curves to compare recall, too") in told
    told = ranking("--grid", "2:6:1", "--ties", "exclude").stderr  # c has four in first place and no others
    assert "at 4 of 5 cut-offs (Evert 2004); for example, at n = 3, a accepts 3 candidates and c accepts 0" in told


def test_variation_over_the_parts(ranking):
    """Threshold for one per part: a accepts 1 and 2, both of p and right; part q has none."""
    rows = ranking("--show", "variation", "--repetition", "part", "--accept", "1", "--format", "json").json
    a = rows[0]
    assert (a["system"], a["threshold"], a["repetitions"], a["accepted"], a["precision"]) == ("a", 8, 1, 2, 1)
    assert (a["p_variance"], a["outside"]) == (None, 0)


@pytest.mark.parametrize(("what", "format_"), [
    *(("pairs", form) for form in ("table", "md", "tsv", "csv", "json")), ("tests", "table"), ("curves", "table")])
def test_every_form(ranking, format_, what):
    assert "a" in ranking("--show", what, "--grid", "2:6:2", "--format", format_).stdout


@pytest.mark.parametrize(("arguments", "exit_code", "message"), [
    (["--grid", "0:5:1"], 3, "--grid '0:5:1' is neither FIRST:LAST:STEP"),
    (["--grid", "5:1:1"], 3, "is neither"),
    (["--grid", "2,2"], 3, "is neither"),
    (["--grid", "1:2:0"], 3, "is neither"),
    (["--grid", "1:20000:1"], 3, "more than 10000 sizes"),
    (["--grid", "1:999999999:1"], 3, "more than 10000 sizes"),
    (["--grid", "7:9:1"], 3, "cand/test has only 6 candidates; set smaller sizes by --grid"),
    (["--system", "d"], 3, "unknown system of cand/test 'd'"),
    (["--system", "a", "--system", "a"], 3, "cand/test/a/a@1 is named twice; name it once"),
    (["--figure", "recall"], 3, "--figure requires --plot FILE"),
    (["--test-set", "dev"], 3, "unknown test set of cand 'dev'"),
    (["--repetition", "part"], 3, "--show variation needs --repetition ATTRIBUTE"),
    (["--show", "variation", "--repetition", "page"], 3, "no attribute 'page'"),
    (["--grid", "2", "--plot", "f.gif"], 3, "the file name of a figure must end in .svg, .pdf, .png or .pgf"),
    (["--grid", "2", "--plot", "f.png", "--figure", "significance"], 3, "shows two systems, but 3 are selected"),
    (["--grid", "2", "--plot", "no/f.png"], 1, "cannot write the figure: No such file or directory"),
])
def test_what_is_refused(ranking, arguments, exit_code, message):
    assert message in ranking(*arguments, exit_code=exit_code).stderr


def test_one_system_makes_no_pair(ranking):
    told = ranking("--system", "a", "--grid", "2", "--format", "json")
    assert (told.json, "there is only one system, so nothing can be compared; use --show curves for its n-best list"
            in told.stderr) == ([], True)
    assert "no pair" not in ranking("--system", "a", "--grid", "2", "--show", "curves").stderr


@pytest.mark.parametrize("figure", ["precision", "recall", "intervals", "significance"])
def test_figures_are_drawn_with_the_same_bytes_each_time(ranking, tmp_path, figure):
    chosen = ("--grid", "1:6:1", "--system", "a", "--system", "b", "--figure", figure, "--alpha", "0.5")
    drawn = []
    for name in ("one.svg", "two.svg"):
        assert f"drawn: {name}" in ranking(*chosen, "--plot", name).stderr
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0].startswith(b"<?xml")
    if figure == "recall":
        ranking(*chosen, "--plot", "f.png")
        assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_names_in_figures_are_no_formulas(tmp_path, registry):
    (tmp_path / "c.csv").write_text(CANDIDATES)
    (tmp_path / "task.toml").write_text(MANIFEST + "".join(
        f'[[submit]]\nfile = "c.csv"\nsystem = "{name}"\noptions = {{ score = "{column}" }}\n'
        for name, column in (("_$x^$", "a"), ("\\\\frac$", "b"))))
    registry("run", tmp_path / "task.toml")
    registry("ranking", "cand", "--grid", "1:6:1", "--plot", "f.svg")


def write(tmp_path, name, entries):
    (tmp_path / name).write_text("".join(json.dumps({"item": key, "answers": value}) + "\n"
                                         for key, value in entries.items()))


@pytest.fixture
def sets(tmp_path, registry):
    def run(gold, **systems):
        write(tmp_path, "gold.jsonl", gold)
        for name, entries in systems.items():
            write(tmp_path, f"{name}.jsonl", entries)
        (tmp_path / "task.toml").write_text(
            'manifest = 1\n[task]\nid = "sets"\n[[test_set]]\nname = "test"\ngold = "gold.jsonl"\n'
            'format = "responses"\n[[metric]]\nname = "SetF"\n[significance]\nseed = 1\n'
            + "".join(f'[[submit]]\nfile = "{name}.jsonl"\nsystem = "{name}"\n' for name in systems))
        registry("run", tmp_path / "task.toml")

    return run


def ranked(*keys):
    return [{"key": key, "score": n} for n, key in enumerate(keys)]


def test_candidates_that_share_items_are_warned_of(sets, registry):
    sets({"s": ["x"], "t": ["y"]}, a={"s": ranked("x", "z"), "t": []}, b={"s": ranked("z"), "t": ranked("y")})
    told = registry("ranking", "sets", "--grid", "1:2:1").stderr
    assert ("warning: sets/test: p-values of Fisher's test are approximate, because several candidates share an item"
            in told)


def test_one_answer_of_every_system_to_every_item_is_refused(sets, registry):
    sets({"s": ["x"], "t": ["y"]}, a={"s": ranked("x"), "t": ranked("x")}, b={"s": ranked("y"), "t": ranked("y")})
    told = registry("ranking", "sets", exit_code=3).stderr
    assert "every system gives one answer to every item of sets/test" in told
    assert "use `registry compare --test mcnemar`" in told


def test_answers_without_scores_are_refused(sets, registry):
    sets({"s": ["x"]}, a={"s": ["x"]})
    assert "answers of sets/test/a/a@1 have no score, so there is no ranking" in registry(
        "ranking", "sets", exit_code=3).stderr
