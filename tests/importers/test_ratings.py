"""`registry quick RATINGS --as ratings`: from ratings of outputs to adjusted means and tests of differences."""

import csv
import itertools

import numpy as np
import pytest

QUALITY = {"aspen": 80.0, "birch": 70.0, "cedar": 66.0}
SEVERITY = {"ann": 10.0, "ben": -10.0, "cy": 0.0}
EASE = {f"s{n}": 3.0 * (n % 4) for n in range(12)}


def write(path, rows, columns=("system", "segment", "annotator", "score")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def rate(system, segment, annotator, noise=0.0):
    return system, segment, annotator, QUALITY[system] + SEVERITY[annotator] + EASE[segment] + noise


def quick(registry, *options):
    done = registry("quick", "ratings.csv", "--as", "ratings", *options, "--format", "json")
    return {row["system"]: row["score"] for row in done.json}


def test_complete_ratings_have_the_mean_of_each_system(registry, tmp_path):
    noise = iter(np.random.default_rng(1).normal(size=3 * 12 * 3).round(2).tolist())
    rows = [rate(*cell, next(noise)) for cell in itertools.product(QUALITY, EASE, SEVERITY)]
    write(tmp_path / "ratings.csv", rows)
    assert quick(registry, "--keep", "r") == pytest.approx({
        system: np.mean([score for of, _, _, score in rows if of == system]) for system in QUALITY})
    assert "no faults" in registry("verify").stderr
    pair = registry("pairs", "r", "--format", "json").json[0]
    assert (pair["unit"], pair["n_units"], pair["test"]) == ("judgment", len(rows), "wald")


def test_lenient_annotators_and_easy_items_do_not_help(registry, tmp_path):
    """Without noise, the differences of quality are exact, although raw means have another order."""
    rows = [rate(system, segment, annotator) for n, segment in enumerate(EASE)
            for system, annotator in (("aspen", "ben" if n % 4 else "cy"), ("birch", "ann" if n % 4 else "cy"),
                                      ("cedar", "cy")) if (system, n % 3) != ("aspen", 2)]
    write(tmp_path / "ratings.csv", rows)
    scores = quick(registry)
    assert scores["aspen"] - scores["birch"] == pytest.approx(10)
    assert scores["birch"] - scores["cedar"] == pytest.approx(4)
    raw = quick(registry, "--option", "adjusts_for=nothing")
    assert raw["birch"] > raw["aspen"]


def test_systems_without_a_shared_item_are_not_compared(registry, tmp_path):
    write(tmp_path / "ratings.csv", [("aspen", "s1", "ann", 3), ("birch", "s2", "ben", 4), ("aspen", "s3", "ann", 4),
                                     ("birch", "s4", "ben", 2)])
    refused = registry("quick", "ratings.csv", "--as", "ratings", exit_code=3)
    assert "aspen" in refused.stderr
    assert "birch" in refused.stderr


def test_a_score_that_is_no_number_is_named_with_its_line(registry, tmp_path):
    write(tmp_path / "ratings.csv", [("aspen", "s1", "ann", 3), ("birch", "s1", "ben", "good")])
    refused = registry("quick", "ratings.csv", "--as", "ratings", exit_code=3)
    assert "ratings.csv:3: item '2': 'score' is 'good'; expected a finite number" in refused.stderr
