"""Judged items against ppi-python, from the files to boards and the study of the judge; what is no sample is told."""

import numpy as np
import pytest
from scipy import stats

from registry.evaluation.matrices import Counts, build_matrix
from registry.items import Answer, Item
from registry.judged import estimate_mean, make_columns, subtract_statistics
from registry.messages import Message
from registry.metrics import JudgedMean
from registry.significance import Execution, PredictionPowered, Settings
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.judges import find_favoured
from registry.studies.judge import _warn_of_no_sample, make_corrected_row
from tests.evaluation.tables import manifest
from tests.studies.judged_items import ITEMS, LABELLED, SYSTEMS, scores

# printed by tests/studies/judged_items.py: mean (or difference), interval, p-value, with slope 1, weighted with 0.7
PPI = {
    "aspen": (0.4763906539914461, 0.4402833545438166, 0.5124979534390756, 1.9137228181729553e-147,
              0.47281666666666666, 0.47646611111111115),
    "birch": (0.46532908306069976, 0.42798307423799364, 0.5026750918834059, 1.0224787249626223e-131,
              0.45499999999999996, 0.45991666666666664),
    "aspen less birch": (0.011171342586577388, -0.01759161685892578, 0.03993430203208055, 0.44651551867640826,
                         0.01781666666666666, 0.016549444444444443)}


@pytest.fixture
def judged(tmp_path):
    """Write the task of judged items, with people's scores of those that they `looked` at."""
    def write(*, looked=range(LABELLED), options='drawn = "random"', probabilities=None, metric=(), human=None,
              significance="", bias=0.0):
        of_people, of_judge = scores()
        folder = tmp_path / "t"
        folder.mkdir(exist_ok=True)
        for system in SYSTEMS:
            rows = ["item,judge,human"]
            for n, (y, f) in enumerate(zip((human or of_people)[system], of_judge[system], strict=True)):
                rows.append(f"i{n:03},{f + bias * (system == 'birch'):.2f},{y if n in looked else ''}")
            (folder / f"{system}.csv").write_text("\n".join(rows) + "\n")
        chances = probabilities or [0.15] * len(of_judge["aspen"])
        (folder / "gold").write_text("item,probability\n" + "".join(f"i{n:03},{p}\n" for n, p in enumerate(chances)))
        return manifest(folder, metric=metric or ['name = "JudgedMean"'], significance=significance, test_set=(
            f'gold = "gold"\nformat = "judged"\noptions = {{ separator = "comma"{options and ", " + options} }}'))

    return write


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_scores_intervals_and_pairs_are_those_of_ppi_python(judged, registry):
    registry("run", judged(metric=['name = "JudgedMean"', 'name = "JudgedMean"\nid = "plain"\noptions.slope = 1.0'],
                           significance='test = "bootstrap"\nresamples = 500'))
    board = {(r["metric"], r["system"]): r["score"] for r in registry("board", "t", "--format", "json").json}
    for system in SYSTEMS:
        assert board["JudgedMean", system] == close(PPI[system][0])
        assert board["plain", system] == close(PPI[system][4])
    study = "study", "judge", "t", "--format", "json"
    for row in registry(*study).json:
        mean, low, high, *_ = PPI[row["system"]]
        assert (row["score"], row["low"], row["high"]) == tuple(map(close, (mean, low, high)))
        assert row["labelled"] == LABELLED < row["effective"]
    (pair,) = registry(*study, "--show", "pairs").json
    difference, low, high, p, *_ = PPI["aspen less birch"]
    assert [pair[key] for key in ("difference", "low", "high", "p_value", "p_adjusted")] == [
        close(value) for value in (difference, low, high, p, p)]
    assert pair["error_of_scores"] >= pair["error"]
    assert "the effective sample size is" in registry(*study[:3], "--format", "table").stdout
    assert registry("best", "t", "--format", "json").json


def test_the_board_tests_differences_with_slopes_of_their_own(judged, registry):
    """The numbers are ppi-python's, also where the judge is a constant above people, which is told of."""
    path = judged(significance='test = "prediction-powered(variant=normal)"', bias=0.2)
    assert "in the only pair, the automatic judge favours one of the two systems" in registry("run", path).stderr
    assert "the only pair, the automatic judge favours one" in registry("board", "t", "--format", "table").stdout
    (pair,) = registry("pairs", "t", "--format", "json").json
    difference, low, high, p, *_ = PPI["aspen less birch"]
    assert [pair[key] for key in ("difference", "ci_low", "ci_high", "p_value", "p_adjusted")] == [
        close(value) for value in (difference, low, high, p, p)]
    assert "judge-favours" in [of["code"] for of in pair["messages"]]
    for row in registry("board", "t", "--format", "json").json:
        assert (row["score"], row["ci_low"], row["ci_high"]) == tuple(map(close, PPI[row["system"]][:3]))
    advice = "study", "advise", "t", "--format", "json", "--show"
    assert [row["test"] for row in registry(*advice, "tests").json if row["recommended"]] == ["prediction-powered"]
    facts = {row["fact"]: row["value"] for row in registry(*advice, "facts").json}
    assert facts["smallest number of units with human judgements"] == str(LABELLED)
    told = registry("study", "judge", "t")
    assert "the judge favours some systems (or disfavours, if negative): aspen (-0.1" in told.stderr
    assert "birch (+0.1" in told.stderr
    assert "no sample" not in told.stderr
    registry("verify")
    registry("page", "t", "-o", path.parent / "board.html")
    page = (path.parent / "board.html").read_text()
    assert "scores are prediction-powered t intervals. Those of differences are obtained from the same test." in page


def of_both():
    """The statistics of both systems, [items, systems, columns]."""
    of_people, of_judge = map(dict.values, scores())
    looked = (np.arange(ITEMS) < LABELLED).astype(float)
    return np.stack([np.stack(make_columns(np.array(f), np.array(y), looked, np.ones(ITEMS)), axis=1)
                     for f, y in zip(of_judge, of_people, strict=True)], axis=1)


def outcome(statistics, variant, units=None, **settings):
    matrix = build_matrix(JudgedMean(), Counts.from_statistics(np.pad(statistics, ((0, 0), (0, 0), (0, 3)))), units)
    return PredictionPowered(variant).run(matrix, [(0, 1)], Settings(**settings))[0]


def test_t_has_the_degrees_of_the_items_that_people_looked_at():
    """Two less, as mean and slope are fitted, by which squares of residuals are divided too."""
    normal, of_t = (outcome(of_both(), variant) for variant in ("normal", "t"))
    t = normal.statistic * np.sqrt((LABELLED - 2) / LABELLED)
    assert (of_t.statistic, of_t.p_value) == (close(t), close(2 * stats.t.sf(t, LABELLED - 2)))
    assert of_t.difference == normal.difference
    reach = stats.t.ppf(0.975, LABELLED - 2) * normal.difference / t
    assert (of_t.ci_low, of_t.ci_high) == (close(normal.difference - reach), close(normal.difference + reach))
    few = of_both() * (np.arange(ITEMS) >= LABELLED - 3)[:, None, None]
    assert "few-judged-pairs" in outcome(few, "t").messages.codes


def test_resamples_tune_the_slope_anew_and_do_not_hang_on_memory():
    """Against resamples drawn here; documents of two like items are resampled as items are."""
    found = outcome(of_both(), "bootstrap", resamples=2000)
    again = outcome(of_both(), "bootstrap", resamples=2000, execution=Execution(workers=1, memory=2**20))
    assert repr(again) == repr(found)  # by repr: nan is not equal to itself
    assert found.p_value == pytest.approx(outcome(of_both(), "t").p_value, abs=0.05)
    apart_, rng = subtract_statistics(*np.moveaxis(of_both(), 1, 0), lower=False), np.random.default_rng(0)
    drawn = np.array([estimate_mean(apart_[rng.integers(ITEMS, size=ITEMS)].sum(axis=0), None) for _ in range(2000)])
    assert found.p_value == pytest.approx(np.mean(abs(drawn - found.difference) >= abs(found.difference)), abs=0.05)
    units = np.arange(ITEMS).repeat(2)
    twice = outcome(of_both().repeat(2, axis=0), "bootstrap", units=units, resamples=2000)
    assert twice.p_value == pytest.approx(found.p_value, abs=0.01)
    assert twice.n_units == ITEMS


def test_probabilities_of_looking_at_both_must_be_known(judged, registry):
    """Where people looked at other items of each system, with probabilities; at random it does not matter."""
    path = judged(options='drawn = "probability"', significance='test = "prediction-powered"')
    birch = path.parent / "birch.csv"
    lines = birch.read_text().splitlines()
    lines[LABELLED] = lines[LABELLED].rpartition(",")[0] + ","
    birch.write_text("\n".join(lines) + "\n")
    assert "probability that an item is labelled for both systems of a pair is unknown" in registry(
        "run", path, exit_code=3).stderr
    path.write_text(path.read_text().replace('drawn = "probability"', 'drawn = "random"'))
    registry("run", path, "--db", path.parent / "random.duckdb")


def test_items_drawn_with_probabilities_are_weighted():
    """Scores are ppi-python's with its weights; drawn with 0.15 each, as 60 of 400, they are those of random items."""
    of_people, of_judge = scores()

    def score(metric, system, chances):
        said = [{"judge": f} | ({"human": y} if n < LABELLED else {})
                for n, (f, y) in enumerate(zip(of_judge[system], of_people[system], strict=True))]
        return float(metric.score(np.sum([metric.statistics(Item("i", chance), Answer("i", value))
                                          for chance, value in zip(chances, said, strict=True)], axis=0)))

    for system in SYSTEMS:
        of_three = [0.5 if n % 3 else 0.2 for n in range(ITEMS)]
        assert score(JudgedMean(slope=0.7), system, of_three) == close(PPI[system][5])
        assert score(JudgedMean(), system, [0.15] * ITEMS) == close(PPI[system][0])


def test_items_of_a_cluster_count_together():
    """Each item twice in a cluster of its own tells as much as once; where lower is better A's lead is B's."""
    of_people, of_judge = map(dict.values, scores())
    looked = (np.arange(ITEMS) < LABELLED).astype(float)
    a, b = (np.stack(make_columns(np.array(f), np.array(y), looked, np.ones(ITEMS)), axis=1)
            for f, y in zip(of_judge, of_people, strict=True))
    once = make_corrected_row(subtract_statistics(a, b, lower=False), JudgedMean(slope=0.7), None, 0.05)
    units = np.arange(ITEMS).repeat(2)
    differences = subtract_statistics(b, a, lower=True).repeat(2, axis=0)
    twice = make_corrected_row(differences, JudgedMean(slope=0.7), units, 0.05)
    assert twice | {"labelled": LABELLED, "effective": 0} == {
        key: close(value) for key, value in (once | {"effective": 0}).items()}
    assert twice["labelled"] == 2 * LABELLED


@pytest.mark.parametrize(("looked", "told"), [(10, False), (11, True)])
def test_that_all_of_few_items_are_as_far_apart_says_nothing(looked, told):
    """Where the judge is above people by chance, and so far on one side only, two items have no error in 3 %."""
    w = (np.arange(ITEMS) < looked).astype(float)
    both = np.stack([np.stack(make_columns(np.full(ITEMS, judge), np.full(ITEMS, 0.5), w, np.ones(ITEMS)), axis=1)
                     for judge in (1.0, 0.0)], axis=1)
    m = build_matrix(JudgedMean(), Counts.from_statistics(np.pad(both, ((0, 0), (0, 0), (0, 3)))), None)
    assert find_favoured(SystemPairs.every(m)).where.tolist() == [told]


def test_a_judge_whose_errors_nobody_saw_is_told_of_before_the_work_at_the_pair_and_by_the_study(judged, registry):
    of_judge = {system: [round(value, 2) for value in of] for system, of in scores()[1].items()}
    at_pair = str(Message("few-judge-errors", {"pairs": 1, "of_pairs": 1}))
    of_systems = str(Message("few-judge-errors-systems", {"systems": "birch, aspen"}))
    assert at_pair.startswith("in the only pair, p-values may be too small")
    path = judged(looked=range(15), human=of_judge, metric=['name = "JudgedMean"\noptions.slope = 1.0'],
                  significance='test = "prediction-powered"')
    assert at_pair in registry("run", path).stderr
    assert at_pair.replace("in", "In", 1) in " ".join(registry("board", "t", "--format", "table").stdout.split())
    assert of_systems in registry("study", "judge", "t").stderr


def test_items_that_were_chosen_are_told_from_a_sample(judged, registry):
    of_judge = scores()[1]["aspen"]
    best = sorted(range(400), key=lambda n: -of_judge[n])[:60]
    registry("run", judged(looked=set(best)))
    assert "corrected scores of aspen, birch may be wrong" in registry(
        "study", "judge", "t").stderr


@pytest.mark.parametrize(("yes", "told"), [(0, False), (3, False), (9, True)])
@pytest.mark.parametrize("chance", [None, 0.01])
def test_few_items_that_the_judge_likes_may_be_missing_from_a_sample(yes, told, chance):
    """Of 20 items in 2,000 none or 3 are among its 40 by chance (in 67 and 0.7 %), and 9 in one of 10^10 samples."""
    judge, looked = (np.arange(2000) < 40) * 1.0, np.zeros(2000)
    looked[40 - yes:60 - yes] = 1
    w, a = (looked, np.ones(2000)) if chance is None else (looked / chance, np.full(2000, 1 / chance - 1))
    found = _warn_of_no_sample(np.stack(make_columns(judge, judge, w, a), axis=-1)[None], ["a"], None)
    assert bool(found) == told


def test_swaps_of_systems_of_which_people_saw_other_items_are_refused(judged, registry):
    """They reject 15 % where people saw 30 and 150 items (tests.validity.judges); the bootstrap does not mind."""
    path = judged(looked=range(30))
    file = path.parent / "birch.csv"
    of_people, of_judge = scores()
    file.write_text("item,judge,human\n" + "".join(
        f"i{n:03},{f},{y if n < 150 else ''}\n" for n, (y, f) in enumerate(zip(
            of_people["birch"], of_judge["birch"], strict=True))))
    assert "use --test bootstrap" in registry("run", path, exit_code=3).stderr
    path.write_text(path.read_text().replace("seed = 1", 'seed = 1\ntest = "bootstrap"\nresamples = 200'))
    told = registry("run", path)
    assert "people judged only 30 items of some system; at least 50" in told.stderr
    (pair,) = registry("pairs", "t", "--format", "json").json
    assert pair["method"] == "monte-carlo"


@pytest.mark.parametrize(("options", "change", "says"), [
    ("", {}, "needs the option 'drawn'"),
    ('drawn = "probability"', {"probabilities": [1.0] * 400},
     "item 'i060': it has no human score, although its sampling probability is 1"),
    ('drawn = "probability"', {"probabilities": [0.0] * 400}, "gold:2: item 'i000': 'probability' is 0; expected"),
    ('drawn = "random", judge = "human", human = "judge"', {}, "item 'i060': 'human' is missing, but"),
])
def test_what_is_no_sample_is_refused(judged, registry, options, change, says):
    assert says in registry("run", judged(options=options, **change), exit_code=3).stderr
