"""`registry board --wide`: metrics, test sets and facets side by side, and macro-averages over test sets."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest

from tests.label_tasks import second_test_set

SECOND = second_test_set("gold.tsv", 'file = "dev.tsv"\nsystem = "a"')


@pytest.fixture
def two_sets(registry, task, once):
    """200 items; `a` gets 160 of them right, and as `dev` is the same set once more, what is given for it there."""
    task.gold = {f"i{n:03}": "yes" if n % 2 else "no" for n in range(200)}
    wrong = {"yes": "no", "no": "yes"}
    task.systems = {name: {k: v if n % 10 < right else wrong[v] for n, (k, v) in enumerate(task.gold.items())}
                    for name, right in (("a", 8), ("b", 5))}
    task.documents = {}

    def ran(on_dev, more):
        task.extra = SECOND + more
        manifest = task.write()
        for name in ("dev.tsv", "late.tsv"):
            shutil.copy(task.folder / "systems" / f"{on_dev}.tsv", task.folder / name)
        manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
        registry("run", manifest)

    def run(on_dev, more=""):
        once(ran, on_dev, more)
        return registry("board", "--wide", "--format", "json").json

    return run


def test_a_macro_average_is_the_mean_over_the_test_sets(two_sets):
    a, b = two_sets("b")
    assert (a["system"], a["test acc"], a["dev acc"]) == ("a", 0.8, 0.5)
    assert a["macro acc"] == pytest.approx(0.65, abs=1e-15)
    assert (b["system"], b["dev acc"], b["macro acc"], b["macro acc ci_low"]) == ("b", None, None, None)


def test_its_interval_is_of_independent_draws_from_each(two_sets):
    """Also where both sets are alike: that of one mean has variance pq / n, and of the mean of two half of it."""
    a, _ = two_sets("a")
    width = a["macro acc ci_high"] - a["macro acc ci_low"]
    assert width == pytest.approx(2 * 1.96 * math.sqrt(0.8 * 0.2 / 200 / 2), rel=0.06)
    assert a["macro acc ci_low"] < 0.8 < a["macro acc ci_high"]


def test_it_rests_on_the_seed_alone(two_sets, registry):
    first = two_sets("a")
    assert registry("board", "--wide", "--format", "json").json == first


@pytest.mark.parametrize("kind", ["scores", "pairs", "gains", "groups"])
def test_figures_of_averages_show_the_same_averages_as_the_board(two_sets, registry, monkeypatch, kind):
    """Both systems are on both test sets; `b` has the outputs of `a` on `dev`."""
    drawn = []
    monkeypatch.setattr("registry.cli.plot.draw", lambda board, *_: drawn.append(board))
    rows = two_sets("a", "[[submit]]\nfile = 'late.tsv'\nsystem = 'b'\ntest_set = 'dev'\n")
    registry("plot", "small", kind, "--wide", "-o", f"{kind}.svg")
    (board,) = drawn
    shown = {of.system: (of.score, of.ci_low, of.ci_high, of.rank, of.rank_low, of.rank_high) for of in board.standings}
    keys = ("", " ci_low", " ci_high", " rank", " rank_low", " rank_high")
    assert shown == {row["system"]: tuple(row[f"macro acc{key}"] for key in keys) for row in rows}
    (pair,) = registry("pairs", "--wide", "--format", "json").json
    assert {key: board.decisions[0].row[key] for key in ("difference", "p_value", "p_adjusted", "significant")} == {
        key: pair[key] for key in ("difference", "p_value", "p_adjusted", "significant")}


def test_a_page_begins_with_the_average_over_test_sets(two_sets, registry, tmp_path):
    """On `test`, 160 of 200 answers of `a` are correct and 100 of `b`; on `dev` 160 of both."""
    two_sets("a", "[[submit]]\nfile = 'late.tsv'\nsystem = 'b'\ntest_set = 'dev'\n")
    registry("page", "small", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    rows = re.findall(r"<tr><th scope=\"row\"><a href=\"([^\"]*)\"><bdi>(.*?)</bdi></a></th><td><bdi>(.*?)</bdi></td>"
                      r"<td class=\"right\">(.*?)</td>.*?<td>([^<]*)</td></tr>", page)
    assert rows[0] == ("#show=wide", "acc, average of 2 test sets", "a", "0.8000", "the other system")
    (wide,) = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])["wide"]
    assert wide["result"].startswith(
        "By acc, average of 2 test sets, a is significantly better than b: difference 0.1500, ")


def test_the_overview_of_a_page_is_ordered_by_metric_with_averages_first(registry, tmp_path):
    for model, step in (("a", 5), ("b", 2)):
        (tmp_path / "out" / model).mkdir(parents=True)
        for name in ("arc", "gsm"):
            (tmp_path / "out" / model / f"{name}.tsv").write_text("id\tcorrect\tcost\n" + "".join(
                f"{n}\t{int(n % step > 0)}\t{n % 7 + step}\n" for n in range(60)))
    registry("quick", "out/{model}/{benchmark}.tsv", "--score", "correct:higher", "--score", "cost:lower", "--keep",
             "kept")
    registry("page", "kept", "-o", "page.html")
    titles = re.findall(r"<th scope=\"row\"><a href=\"[^\"]*\"><bdi>(.*?)</bdi></a></th>",
                        (tmp_path / "page.html").read_text())
    assert titles == [
        "correct, average of 2 test sets", "correct, test set arc", "correct, test set gsm",
        "cost, average of 2 test sets (lower is better)", "cost, test set arc (lower is better)",
        "cost, test set gsm (lower is better)"]


def test_averages_are_drawn_and_their_options_are_checked(two_sets, registry):
    two_sets("a", "[[submit]]\nfile = 'late.tsv'\nsystem = 'b'\ntest_set = 'dev'\n")
    registry("plot", "small", "scores", "--wide", "-o", "f.svg")
    svg = Path("f.svg").read_text()
    assert "average of 2 test sets" in svg
    for kind, options in (("ranks", ()), ("scores", ("--test-set", "dev")), ("gains", ("--by", "kind"))):
        refused = registry("plot", "small", kind, "--wide", "-o", "f.svg", *options, exit_code=3).stderr
        assert "--wide draws averages over test sets" in refused


def test_a_task_with_one_test_set_has_no_average_to_draw(registry, scored, task):
    scored(task)
    assert "only one test set" in registry("plot", "small", "scores", "--wide", "-o", "f.svg", exit_code=4).stderr


def test_late_and_missing_systems_are_marked(two_sets, registry):
    two_sets("a", "[[submit]]\nfile = 'late.tsv'\nsystem = 'c'\nlate = true\ntest_set = 'dev'\n")
    shown = registry("board", "--wide", "--format", "table").stdout
    assert "c*" in shown
    assert "* came late." in shown
    (row,) = [line.split() for line in shown.splitlines() if line.startswith(" b ")]
    assert row[1:] == ["-", "0.5000", "(2)", "-"]  # neither average nor dev


def test_facets_are_columns_and_agree_with_their_boards(registry, scored, task):
    task.test_set = {"facets": ["document"]}
    scored(task)
    boards = registry("board", "--format", "json").json
    rows = registry("board", "--wide", "--format", "json").json
    assert [row["system"] for row in rows] == ["a", "b", "c"]
    names = {of["facet"]: " ".join(filter(None, (of["facet"], "acc"))) for of in boards}
    assert names.keys() == {None, "document=d0", "document=d1", "document=d2"}
    for of in boards:
        (row,) = [row for row in rows if row["system"] == of["system"]]
        for key in ("rank", "rank_low", "rank_high", "cluster", "ci_low", "ci_high"):
            assert row[f"{names[of['facet']]} {key}"] == of[key]
        assert row[names[of["facet"]]] == of["score"]


def test_every_family_is_stated(registry, scored, task):
    task.test_set = {"facets": ["document"]}
    scored(task)
    shown = registry("board", "--wide", "--format", "table").stdout
    assert "P-values are corrected within each column, and not for the number of columns:" in shown
    assert "\nacc: Holm's correction over 3 pairs, permutation; acc|task:small@1|set:test|" in shown
    assert "\ndocument=d1 acc: Holm's correction over 3 pairs" in shown


@pytest.mark.parametrize(("family", "correction", "sentence"), [
    ("task", "holm", "The p-values of all columns are corrected together"),
    (["f1", "f1-yes"], "holm",
     "The p-values of f1, f1-yes are corrected together; each other column is corrected by itself"),
    ("board", "holm", "P-values are corrected within each column, and not for the number of columns"),
    ("task", "none", "P-values are not corrected, neither within a column nor for the number of columns")])
def test_columns_of_one_family_are_corrected_together(registry, scored, task, family, correction, sentence):
    task.extra = ("[[metric]]\nid = 'f1'\nname = 'LabelF'\n"
                  "[[metric]]\nid = 'f1-yes'\nname = 'LabelF'\noptions = { labels = ['yes'] }")
    task.significance = {"family": family, "correction": correction}
    scored(task)
    assert f"{sentence}:" in registry("board", "--wide", "--format", "table").stdout
    assert f"{sentence}." in registry("board", "--wide", "--format", "latex").stdout


def test_a_track_is_a_board(registry, scored, task):
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\ntrack = 'open'"
    scored(task)
    shown = registry("board", "--wide", "--format", "table").stdout
    assert "small, track open" in shown
    assert [row["track"] for row in registry("board", "--wide", "--format", "json").json] == [None, None, "open"]


def test_the_primary_metric_comes_first_and_orders_the_rows(registry, scored, task):
    """Always yes is right on 5 of 6, but recalls no `no`; the other one recalls it, and 3 of 5."""
    task.gold = {f"i{n}": "yes" if n else "no" for n in range(6)}
    task.systems = {"always": dict.fromkeys(task.gold, "yes"),
                    "other": {k: "no" if k in ("i0", "i1", "i2") else "yes" for k in task.gold}}
    task.extra = "[[metric]]\nid = 'balanced'\nname = 'BalancedAccuracy'\nprimary = true"
    scored(task)
    rows = registry("board", "--wide", "--format", "json").json
    assert [key for key in rows[0] if key in ("acc", "balanced")] == ["balanced", "acc"]
    assert [(row["system"], row["balanced"], row["acc"]) for row in rows] == [
        ("other", pytest.approx(4 / 5), pytest.approx(4 / 6)), ("always", pytest.approx(1 / 2), pytest.approx(5 / 6))]
    assert "Rows are in the order of balanced." in registry("board", "--wide", "--format", "table").stdout


def test_teams_are_shown_where_they_are_not_the_systems(registry, scored, task):
    scored(task)
    assert "team" not in registry("board", "--wide", "--format", "table").stdout
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\nteam = 'Oak'"
    registry("run", task.write())
    assert "team" in registry("board", "--wide", "--format", "table").stdout


def test_wide_boards_are_printed_in_latex(registry, scored, task):
    scored(task)
    assert r"\toprule" in registry("board", "--wide", "--format", "latex").stdout
    assert "the ranks that clusters leave open" in registry(
        "board", "--wide", "--ranks", "cluster", "--format", "table").stdout.replace("\n", " ")
