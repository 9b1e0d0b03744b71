"""The study of facets on boards: differences by hand, one-sided tests by scipy, attributes and refusals."""

import csv

import numpy as np
import pytest
from scipy import stats

from registry.studies import facets

RNG = np.random.default_rng(12)
DOMAINS = ["news"] * 90 + ["blog"] * 80 + ["law"] * 70
ACCURACIES = np.where(np.array(DOMAINS)[:, None] == "news", (0.95, 0.5, 0.5), 0.7)
SCORES = (RNG.random((240, 3)) < ACCURACIES).astype(int)
SYSTEMS = ("birch", "aspen", "cedar")


@pytest.fixture
def board(registry, tmp_path):
    """Bring a table of scores into a registry; `columns` are further attributes of items."""
    def bring(scores=SCORES, domains=tuple(DOMAINS), **columns):
        columns = {"domain": domains, **columns}
        with (tmp_path / "scores.csv").open("w") as file:
            writer = csv.writer(file)
            writer.writerow(["item", *columns, *SYSTEMS])
            writer.writerows([f"i{n:03}", *values, *row]
                             for n, (row, *values) in enumerate(zip(scores.tolist(), *columns.values(), strict=True)))
        names = ", ".join(f'"{name}"' for name in columns)
        registry("import", "wide", tmp_path / "scores.csv", "--task", "t", "--option", "item=item", "--option",
                 f"attributes=[{names}]")

    return bring


def study(registry, *options):
    return registry("study", "facets", "t", *options, "--format", "json").json


def test_differences_are_those_of_the_items(board, registry):
    board()
    rows = study(registry, "--attribute", "domain")
    assert len(rows) == 9
    for row in rows:
        gains = SCORES[:, SYSTEMS.index(row["system_a"])] - SCORES[:, SYSTEMS.index(row["system_b"])]
        inside = np.array(DOMAINS) == row["value"]
        assert (row["units"], row["in_facet"], row["in_rest"]) == (
            inside.sum(), pytest.approx(gains[inside].mean()), pytest.approx(gains[~inside].mean()))
        assert row["facet_minus_rest"] == pytest.approx(row["in_facet"] - row["in_rest"])
        assert row["low"] < row["facet_minus_rest"] < row["high"]
        wins, losses = int((gains[inside] > 0).sum()), int((gains[inside] < 0).sum())
        exact = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
        assert row["p_better"] == pytest.approx(exact, rel=1e-9)
        a, b = ((number + 1) / (inside.sum() + 2) for number in (wins, losses))  # Bonett and Price 2012, equation 4
        reach = stats.norm.ppf(0.975) * np.sqrt((a + b - (a - b) ** 2) / (inside.sum() + 2))
        assert (row["in_facet_low"], row["in_facet_high"]) == pytest.approx((a - b - reach, a - b + reach), abs=1e-6)
    shown = {(row["system_a"], row["system_b"]) for row in rows if row["value"] == "news" and row["p_adjusted"] <= 0.05}
    assert shown == {("birch", "aspen"), ("birch", "cedar")}


def test_systems_have_the_order_of_the_options(board, registry):
    """On the board, birch is the best system."""
    board()
    first, last = (study(registry, "--attribute", "domain", "--system", a, "--system", b)
                   for a, b in (("birch", "aspen"), ("aspen", "birch")))
    assert {(row["system_a"], row["system_b"]) for row in last} == {("aspen", "birch")}
    for row, other in zip(last, first, strict=True):
        gains = (SCORES[:, 1] - SCORES[:, 0])[np.array(DOMAINS) == row["value"]]
        assert row["in_facet"] == pytest.approx(gains.mean()) == -other["in_facet"]
        assert (row["low"], row["high"]) == (-other["high"], -other["low"])
        assert (row["in_facet_low"], row["in_facet_high"]) == (-other["in_facet_high"], -other["in_facet_low"])
        wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
        assert row["p_better"] == pytest.approx(stats.binomtest(wins, wins + losses, alternative="greater").pvalue)
    pairs = study(registry, "--attribute", "domain", "--system", "aspen", "--system", "birch", "--show", "pairs")
    assert (pairs[0]["system_a"], pairs[0]["p_every"]) == ("birch", max(row["p_better"] for row in first))


def test_better_in_every_facet_takes_the_largest_p_value(board, registry):
    board()
    rows = study(registry, "--attribute", "domain")
    pairs = study(registry, "--attribute", "domain", "--show", "pairs")
    assert len(pairs) == 3
    for pair in pairs:
        of_pair = [row for row in rows if (row["system_a"], row["system_b"]) == (pair["system_a"], pair["system_b"])]
        assert pair["p_every"] == max(row["p_better"] for row in of_pair)
        assert pair["better_in_every"] is (pair["p_every"] <= 0.05)
        least = min(of_pair, key=lambda row: row["in_facet"])
        assert (pair["least_difference"], pair["in"]) == (least["in_facet"], least["value"])
    (strict,) = {row["better_in_every"] for row in study(
        registry, "--attribute", "domain", "--show", "pairs", "--alpha", "0.000001")}
    assert strict is False


def test_one_pair_reads_as_sentences(board, registry):
    board()
    options = ("--attribute", "domain", "--system", "birch", "--system", "aspen")
    (row,) = [row for row in study(registry, *options) if row["value"] == "news"]
    text = " ".join(registry("study", "facets", "t", *options, "--format", "table").stdout.split())
    assert (f"In domain=news, birch is {row['in_facet']:.4f} ahead of aspen, elsewhere "
            f"{abs(row['in_rest']):.4f} {'ahead of' if row['in_rest'] >= 0 else 'behind'} it: "
            f"{row['facet_minus_rest']:.4f} more (95 % simultaneous CI {row['low']:.4f} to {row['high']:.4f})") in text
    assert "Better in every domain: not shown (p = " in text
    registry("verify")


def test_one_pair_needs_a_smaller_critical_value_than_three(board, registry):
    board()
    widths = []
    for options in ((), ("--system", "birch", "--system", "aspen")):
        (row,) = [row for row in study(registry, "--attribute", "domain", *options)
                  if (row["system_a"], row["system_b"], row["value"]) == ("birch", "aspen", "news")]
        widths.append(row["high"] - row["low"])
    assert widths[1] < widths[0]


def test_items_with_several_values_are_in_several_facets(board, registry):
    topics = ["a; b" if n % 3 == 0 else "a" if n % 3 == 1 else "b" for n in range(240)]
    board(topic=tuple(topics))
    rows = study(registry, "--attribute", "topic", "--separator", ";", "--system", "birch", "--system", "aspen")
    gains = SCORES[:, 0] - SCORES[:, 1]
    for row in rows:
        inside = np.array([row["value"] in topic for topic in topics])
        assert (row["units"], row["in_facet"], row["in_rest"]) == (
            160, pytest.approx(gains[inside].mean()), pytest.approx(gains[~inside].mean()))
    assert [row["value"] for row in rows] == ["a", "b"]
    assert len({row["value"] for row in study(registry, "--attribute", "topic")}) == 3  # without --separator


def test_facets_of_the_manifest_are_the_default(task, scored, registry):
    """Each document is one cluster, so clusters give no interval; items do."""
    task.gold = {f"i{n:03}": "x" for n in range(240)}
    task.documents = {item: f"d{n % 2}" for n, item in enumerate(task.gold)}
    task.systems = {name: {item: "x" if right else "y" for item, right in zip(task.gold, column, strict=True)}
                    for name, column in zip(SYSTEMS, SCORES.T, strict=True)}
    task.test_set = {"facets": ["document"]}
    scored(task)
    by_unit = {unit: registry("study", "facets", "small", "--unit", unit, "--format", "json").json
               for unit in ("item", "cluster")}
    few = "the effective sample size of the facet is 1.0, below 50"
    for unit, (units, reason) in {"item": (120, ""), "cluster": (1, few)}.items():
        rows = {(row["attribute"], row["units"], row["reason"]) for row in by_unit[unit]}
        assert rows == {("document", units, reason)}
        assert {row["p_adjusted"] is None for row in by_unit[unit]} == {unit == "cluster"}
    text = registry("study", "facets", "small", "--unit", "cluster", "--format", "table").stdout
    assert f"6 combinations of facet and pair could not be compared with the rest (d0: {few}; d1: {few})." in text
    pair = registry("study", "facets", "small", "--unit", "cluster", "--format", "table", *(
        part for name in list(SYSTEMS)[:2] for part in ("--system", name))).stdout
    assert f"2 facets could not be compared with the rest (d0: {few}; d1: {few})." in pair


def test_too_many_contrasts_are_refused_before_the_work(board, registry, monkeypatch):
    board()
    monkeypatch.setattr(facets, "_MOST_INFLUENCES", 3 * 3 * 240 - 1)
    refused = registry("study", "facets", "t", "--attribute", "domain", exit_code=None)
    assert refused.exit_code
    assert "3 pairs in 3 facets of 240 units need too much memory; select systems by --system NAME" in refused.stderr
    study(registry, "--attribute", "domain", "--system", "birch", "--system", "aspen")


@pytest.mark.parametrize(("options", "message"), [
    ((), "t declares no facets; name an item attribute, such as --attribute genre"),
    (("--attribute", "genre"), "240 items of test set 'test' have no attribute 'genre'"),
    (("--attribute", "domain", "--system", "birch"), "--system birch names one system, but a difference needs two"),
    (("--attribute", "domain", "--system", "birch", "--system", "elm"), "unknown system 'elm'"),
    (("--attribute", "same"), "all items have same=one; name an attribute with two or more values"),
    (("--attribute", "both", "--separator", ";"), "all items have both=one, so there is no rest"),
])
def test_refusals_name_what_to_do(options, message, board, registry):
    board(same=("one",) * 240, both=tuple("one;two" if n % 2 else "one" for n in range(240)))
    refused = registry("study", "facets", "t", *options, exit_code=None)
    assert refused.exit_code
    assert message in refused.stderr
