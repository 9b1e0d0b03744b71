"""The unit of a comparison: declared clusters by default, single items or responses only if that is written out."""

import math
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import registry as package
from tests.conftest import ROOT
from tests.evaluation.comparing.compared import pairs, raw
from tests.label_tasks import LabelTask, second_test_set

FOOTNOTE = 'because items of the same document are tested as if they were independent (unit = "item")'


def exact_p(sums):
    """The two-sided p-value of whole sums of which every one keeps or changes its sign, in fractions."""
    known = {0: Fraction(1)}
    for move in sums:
        new = Counter()
        for total, p in known.items():
            new[total + move] += p / 2
            new[total - move] += p / 2
        known = new
    return float(sum(p for total, p in known.items() if abs(total) >= abs(sum(sums))))


def gains(task, a, b):
    """What every item adds to the number that `a` gets right more often than `b`."""
    return {k: (task.systems[a][k] == v) - (task.systems[b][k] == v) for k, v in task.gold.items()}


def by_document(task, a, b):
    sums = Counter()
    for item, gain in gains(task, a, b).items():
        sums[task.documents[item]] += gain
    return list(sums.values())


def design_effects_of(task):
    """The variance of each pair's difference by document, over that by item."""
    found = []
    for a, b in combinations(sorted(task.systems), 2):
        gain = gains(task, a, b)
        mean = sum(gain.values()) / len(gain)
        documents = Counter()
        for item, value in gain.items():
            documents[task.documents[item]] += value - mean
        variances = [len(x) / (len(x) - 1) * np.square(x).sum() for x in (
            list(documents.values()), [value - mean for value in gain.values()])]
        found.append(variances[0] / variances[1])
    return found


def write_two_test_sets(task):
    """Write a task of which test set `test` declares documents and `dev` none; gives the manifest."""
    task.extra = second_test_set("gold.dev.tsv", 'file = "systems/{system}.tsv"')
    task.test_set["name"] = "test"
    manifest = task.write()
    (task.folder / "gold.dev.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    submit = '[[submit]]\nfile = "systems/{system}.tsv"\n'
    manifest.write_text(manifest.read_text().replace(submit, f'{submit}test_set = "test"\n', 1))
    return manifest


def test_declared_clusters_are_the_unit(many, registry, scored):
    scored(many)
    rows = pairs()
    assert {(row["unit"], row["n_units"], row["method"]) for row in rows} == {("cluster", 20, "exact")}
    assert "|n:80/20c|" in rows[0]["signature"]
    for row in rows:
        sums = by_document(many, row["system_a"], row["system_b"])
        assert row["p_value"] == pytest.approx(exact_p(sums), rel=1e-12)
    assert FOOTNOTE not in " ".join(registry("board", "--format", "table").stdout.split())


def test_it_is_the_same_comparison_as_with_the_unit_written_out(many, registry, scored, tmp_path):
    scored(many)
    before = (tmp_path / "registry.duckdb").read_bytes()
    assert "nothing changed" in registry("compare").stderr
    assert "nothing changed" in registry("compare", "--unit", "cluster").stderr
    assert (tmp_path / "registry.duckdb").read_bytes() == before
    assert "no faults" in registry("verify").stderr


def test_items_are_tested_only_if_that_is_written_out(many, registry):
    """Then the program says by what factor clusters vary more, before the work and, in short, under the board."""
    many.significance["unit"] = "item"
    lines = registry("run", many.write()).stderr.splitlines()
    before = next(n for n, line in enumerate(lines) if "tested as if they were independent" in line)
    assert before < next(n for n, line in enumerate(lines) if line.startswith("comparisons: "))
    assert "use unit = \"cluster\" (--unit cluster) to test 20 clusters" in lines[before]
    factors = design_effects_of(many)
    assert (f"the variance of a difference is {np.median(factors):.2g} times as large by document (median of 36 pairs, "
            f"at most {max(factors):.2g})") in lines[before]
    for row in pairs():
        sums = list(gains(many, row["system_a"], row["system_b"]).values())
        assert (row["unit"], row["n_units"]) == ("item", 80)
        assert row["p_value"] == pytest.approx(exact_p(sums), rel=1e-12)
    assert FOOTNOTE in " ".join(registry("board", "--format", "table").stdout.split())
    assert "no faults" in registry("verify").stderr
    assert "tested as if" not in registry("run", many.manifest).stderr  # nothing is compared


def test_every_test_set_has_its_own_unit(many, registry):
    """One declares documents; the other has none, and its items are the units."""
    manifest = write_two_test_sets(many)
    told = registry("run", manifest).stderr
    rows = pairs()
    for name, unit, n, moves in (("test", "cluster", 20, by_document),
                                 ("dev", "item", 80, lambda *of: list(gains(*of).values()))):
        some = [row for row in rows if row["test_set"] == name]
        assert {(row["unit"], row["n_units"]) for row in some} == {(unit, n)}
        for row in some:
            sums = moves(many, row["system_a"], row["system_b"])
            assert row["p_value"] == pytest.approx(exact_p(sums), rel=1e-12)
    assert "as if they were independent" not in told + registry("board", "--format", "table").stdout
    before = raw()
    assert "tested" not in registry("run", manifest).stderr
    assert raw() == before
    assert "no faults" in registry("verify").stderr
    (unit,) = {row["unit"] for row in registry("study", "macro-average", "small", "--show", "pairs", "--format",
                                               "json").json}
    assert unit == "cluster and item"


def test_a_family_of_test_sets_with_other_units_is_verified(many, registry):
    """One p-value is by document, the other by item, and both are corrected together."""
    many.significance["family"] = "task"
    manifest = write_two_test_sets(many)
    registry("run", manifest)
    assert {(row["test_set"], row["unit"], row["family_size"]) for row in pairs()} == {
        ("test", "cluster", 72), ("dev", "item", 72)}
    assert "no faults" in registry("verify").stderr


@pytest.mark.parametrize(("test", "unit"), [("mcnemar", "item"), ("response-permutation", "response")])
def test_tests_of_less_than_clusters_are_refused(many, registry, test, unit):
    """By the manifest before anything is read, and by `compare`; a unit that is written out is enough for both."""
    if unit == "response":
        source = ROOT / "sample_data" / "entities" / "task.toml"
        text = re.sub(r"^(unit|test) = .*\n", "", source.read_text(), flags=re.MULTILINE)
    else:
        source = many.write()
        text = source.read_text()
    refused = (f"declares clusters (document), but {test} tests single {unit}s; "
               f'set test = "permutation" or "bootstrap", or set unit = "{unit}" (--unit {unit})')
    manifest, declared = Path("own.toml"), f'[significance]\ntest = "{test}"\n'
    manifest.write_text(text)
    registry("run", manifest, "--root", source.parent)
    assert refused in registry("compare", "--test", test, exit_code=3).stderr
    registry("compare", "--test", test, "--unit", unit)
    assert {(row["test"], row["unit"]) for row in pairs()} == {(test, unit)}
    shown = " ".join(registry("board", "--format", "table").stdout.split())
    assert f'because {unit}s of the same document are tested as if they were independent (unit = "{unit}")' in shown
    for written, exit_code in (("", 3), (f'unit = "{unit}"\n', 0)):
        manifest.write_text(text.replace("[significance]\n", declared + written))
        told = registry("apply", manifest, "--root", source.parent, "--db", "new.duckdb", exit_code=exit_code).stderr
        assert (refused in told) == ("significance.test" in told) == (exit_code != 0)


def test_fisher_is_refused_with_its_own_unit(many, registry, scored):
    scored(many)
    refused = registry("compare", "--test", "fisher", exit_code=3).stderr
    assert 'fisher tests single responses; set test = "permutation" or "bootstrap", or set unit = "response"' in refused


@pytest.mark.parametrize(("documents", "needed"), [(2, True), (3, True), (4, True), (5, True), (6, False)])
def test_below_six_clusters_the_plan_warns_that_nothing_can_be_significant(task, registry, documents, needed):
    """The smallest two-sided p-value of five clusters is 2 / 2^5 = 0.0625, and that of six 2 / 2^6 = 0.03125."""
    task.gold = {f"i{n}": "x" for n in range(30)}
    task.documents = {k: f"d{n % documents}" for n, k in enumerate(task.gold)}
    task.systems = {"a": dict(task.gold), "b": dict.fromkeys(task.gold, "y")}
    task.submission["options"] = {"columns": ["item", "label"], "unknown": "accept"}
    lines = registry("run", task.write()).stderr.splitlines()
    sentence = (f"smallest possible p-value with {documents} clusters is {2.0 ** (1 - documents):g}; at least 6 "
                "clusters are needed")
    said = [n for n, line in enumerate(lines) if sentence in line]
    assert len(said) == needed
    assert all(n < lines.index(next(line for line in lines if line.startswith("comparisons: "))) for n in said)
    assert (sentence in " ".join(registry("board", "--format", "table").stdout.split())) == needed
    (row,) = pairs()
    assert (row["p_value"], row["significant"]) == (2.0 ** (1 - documents), not needed)


def test_evaluate_takes_clusters_for_units(many):
    for given, unit, p in (({}, "cluster", by_document), ({"unit": "item"}, "item",
                                                          lambda *of: list(gains(*of).values()))):
        board = package.evaluate(many.gold, many.systems, "accuracy", clusters=many.documents, **given)
        assert ("/20c|" in board.signature) == (unit == "cluster")
        assert ("as if they were independent" in str(board.messages)) == (unit == "item")
        for pair in board.pairs:
            assert pair.p_value == pytest.approx(exact_p(p(many, pair.a, pair.b)), rel=1e-12)


def test_quick_takes_documents_for_units(registry):
    """40 documents, which comments name."""
    sample = ROOT / "sample_data" / "entities"
    systems = sorted((sample / "submissions").glob("*.conll"))[:2]
    board = registry("quick", "--gold", sample / "gold.conll", *systems, "--format", "json").json
    assert ["/40c|" in row["signature"] for row in board] == [True] * 2


def test_studies_take_clusters_for_units(many, registry, scored):
    scored(many)

    def rows(*command):
        return registry(*command, "--format", "json").json

    for command in (("effects",), ("best",), ("study", "power", "small"), ("effects", "--margin", "0.1")):
        declared, by_item, by_cluster = (
            rows(*command, *unit) for unit in ((), ("--unit", "item"), ("--unit", "cluster")))
        assert declared == by_cluster, command
        assert declared != by_item, command


def test_advice_is_on_clusters(many, registry, scored):
    scored(many)
    said = " ".join(registry("study", "advise", "small", "--format", "table").stdout.split())
    assert "here of 20 clusters" in said
    assert "as if they were independent" not in said
    said = " ".join(registry("study", "advise", "small", "--unit", "item", "--format", "table").stdout.split())
    assert "here of 80 items" in said
    assert "Items with the same document are tested as if they were independent, because unit = \"item\"" in said


@pytest.mark.slow
@pytest.mark.simulation
def test_by_default_no_more_than_five_percent_of_boards_reject(registry, tmp_path):
    """100 boards of 20 documents of 20 items, each of which suits one of two equally good systems by 0.2.

    Of items, the difference varies (1 + 19 x 0.04 / 0.44) = 2.7 times as much as if they were independent, and a test
    at 5 % rejects where |Z| > 1.96 / sqrt(2.7): some 24 %. What it computes of right and wrong is the binomial test.
    """
    rng = np.random.default_rng(52)
    items = [f"d{d}i{n}" for d in range(20) for n in range(20)]
    task = LabelTask(tmp_path / "task", dict.fromkeys(items, "x"), {}, {item: item.split("i")[0] for item in items},
                     extra='[[submit]]\nfile = "tracks/{track}.{team}.{system}.tsv"\n')
    manifest = task.write()
    (task.folder / "tracks").mkdir()
    discordant = []
    for board in range(100):
        given = []
        suits = rng.random(20) < 0.5
        for name, own in (("a", suits), ("b", ~suits)):
            correct = rng.random(400) < np.repeat(np.where(own, 0.8, 0.6), 20)
            given.append(correct)
            (task.folder / "tracks" / f"t{board}.{name}{board}.{name}.tsv").write_text("".join(
                f"{item}\t{'x' if right else 'y'}\n" for item, right in zip(items, correct, strict=True)))
        a, b = given
        discordant.append((int((a & ~b).sum()), int((b & ~a).sum())))
    registry("run", manifest)
    rows = pairs()
    assert ({row["unit"] for row in rows}, len(rows)) == ({"cluster"}, 100)
    assert sum(row["p_value"] <= 0.05 for row in rows) / 100 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)
    by_item = [stats.binomtest(only_a, only_a + only_b).pvalue for only_a, only_b in discordant]
    assert sum(p <= 0.05 for p in by_item) / 100 >= 0.15
