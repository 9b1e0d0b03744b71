"""What items and runs add to the error of differences, against formulas on the labels themselves."""

import math
import random

import numpy as np
import pytest


@pytest.fixture
def trained(task, registry, scored):
    """Three systems, of 3, 3 and 4 runs, on 40 items: what a run gets right depends on system, run and item."""
    rng = random.Random(7)
    task.gold = {f"i{n:02}": "yes" for n in range(40)}
    task.documents, task.systems = {}, {}
    skills = {"a": (0.9, 0.7, 0.8), "b": (0.5, 0.4, 0.6), "c": (0.3, 0.4, 0.2, 0.3)}
    ease = {(system, i): rng.choice((-0.4, 0.4)) for system in skills for i in task.gold}
    task.runs = {system: {f"seed{k}": {i: "yes" if rng.random() < skill + ease[system, i] else "no" for i in task.gold}
                          for k, skill in enumerate(of)} for system, of in skills.items()}
    scored(task)
    return {system: np.array([[labels[i] == "yes" for i in task.gold] for labels in of.values()], dtype=float).T
            for system, of in task.runs.items()}


def test_errors_components_and_what_more_would_buy(trained, registry):
    def asked(*options):
        return registry("study", "variance", "small", "--format", "json", *options).json

    a, b = trained["a"], trained["b"]
    (pair,) = [r for r in asked() if (r["system_a"], r["system_b"]) == ("a", "b")]
    assert pair["difference"] == pytest.approx(a.mean() - b.mean())
    of_items = (a.mean(axis=1) - b.mean(axis=1)).var(ddof=1) / 40
    of_runs = a.mean(axis=0).var(ddof=1) / 3 + b.mean(axis=0).var(ddof=1) / 3
    residuals = [x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean() for x in (a, b)]
    left = [(x**2).sum() / (39 * 2) for x in residuals]
    assert pair["error_items"] == pytest.approx(math.sqrt(of_items))
    assert pair["error_runs"] == pytest.approx(math.sqrt(of_runs))
    assert pair["error_all"] == pytest.approx(math.sqrt(of_items + of_runs - sum(left) / 120))
    assert pair["p_items"] < pair["p_all"]
    assert pair["p_runs"] < pair["p_all"]
    sources = {(r["source"], r["of"]): r for r in asked("--show", "sources")
               if (r["system_a"], r["system_b"]) == ("a", "b")}
    assert sources["items x runs", "b"]["deviation"] == pytest.approx(math.sqrt(left[1]))
    assert sources["runs", "a"]["squared_error"] == pytest.approx((a.mean(axis=0).var(ddof=1) - left[0] / 40) / 3)
    assert sources["items", ""]["squared_error"] == pytest.approx(of_items - sum(left) / 120)
    assert sum(r["share"] for r in sources.values()) == pytest.approx(1)
    more = {r["more"]: r for r in asked("--show", "more") if (r["system_a"], r["system_b"]) == ("a", "b")}
    assert more["runs"]["error"] == pytest.approx(pair["error_all"])
    kept = sources["items", ""]["squared_error"]
    assert more["runs"]["error_twice"] == pytest.approx(math.sqrt(kept + (pair["error_all"]**2 - kept) / 2))
    assert more["runs"]["error_one_more"] == pytest.approx(math.sqrt(kept + (pair["error_all"]**2 - kept) * 3 / 4))
    of_runs_alone = sum((x.mean(axis=0).var(ddof=1) - rest / 40) / 3 for x, rest in zip((a, b), left, strict=True))
    assert more["items"]["error_one_more"] == pytest.approx(  # all that depends on items is by 41 of them
        math.sqrt(of_runs_alone + (pair["error_all"]**2 - of_runs_alone) * 40 / 41))
    said = registry("study", "variance", "small", "--format", "table").stdout
    assert "40 items, 3 runs. In the median pair" in said
    assert "One more of the runs would reduce the median error" in said


def test_systems_with_one_run_have_none_to_compare(task, registry, scored):
    scored(task)
    assert "3 of 3 systems have only one run" in registry("study", "variance", "small", exit_code=3).stderr
