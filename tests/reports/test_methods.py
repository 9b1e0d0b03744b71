"""Paragraphs about methods, as a person would write them."""

import re
from dataclasses import replace
from importlib.metadata import version

import pytest

from registry.boards.leaderboard import INTERVAL_METHODS, Intervals
from registry.messages import Message, Messages
from registry.metrics import METRICS
from registry.references import find_references
from registry.reports.methods import RANK_METHODS, Methods, describe_methods, group_boards, select_citation
from registry.significance import CORRECTIONS, TESTS, McNemar, TwoSampleT
from registry.values import build
from tests.reports.boards import HOSTILE, changed, leaderboard
from tests.required_options import REQUIRED

CODE = r"the test (?!set)|\w+\(\w|[=`{}_]|registry|None| {2}|\.\.|\( "  # must not be in a paragraph
CLOSED_FORMS = Intervals((INTERVAL_METHODS["wilson"],), (INTERVAL_METHODS["bonett-price"],))


def describe(board, **settings):
    return describe_methods(replace(board, comparison=board.comparison._replace(**settings))).text


def test_two_systems_need_three_sentences():
    assert describe(replace(leaderboard("ab"), intervals=CLOSED_FORMS)) == (
        "The 2 systems are scored by accuracy (Manning, Raghavan and Schütze 2008) on the 100 items of the test set. "
        "The difference is tested two-sided by a paired permutation test over items (Noreen 1989; Yeh 2000), with an "
        "exact p-value, and called significant if p is at most 0.05. The 95 % confidence intervals of scores are "
        "Wilson score intervals (Wilson 1927), and those of differences are Bonett-Price intervals (Bonett and Price "
        "2012).")


def test_pairs_of_several_systems_are_corrected():
    """Simulated p-values with their number and seed; clusters, a facet and a track."""
    board = changed(leaderboard("abc"), lambda _: {"method": "monte-carlo", "resamples": 1000})
    board = replace(board, test_set="dev", facet="genre=news", track="open", metric_name="WER", better="lower")
    assert describe(board, unit="cluster", n_units=20, test="bootstrap(variant=studentized)", correction="bh") == (
        "The 3 systems are scored by the word error rate (Morris, Maier and Green 2004; lower is better) on the 100 "
        "items with genre news in 20 clusters of the test set dev (track open). The differences of the 3 pairs of "
        "systems are tested two-sided by a paired bootstrap test of the studentized difference (bootstrap-t) over "
        "clusters (Efron and Tibshirani 1993; Berg-Kirkpatrick et al. 2012), with 1,000 bootstrap resamples (seed 1). "
        "The p-values are adjusted by Benjamini and Hochberg's correction (Benjamini and Hochberg 1995; Benjamini and "
        "Yekutieli 2001), "
        "which controls the false discovery rate if p-values are independent or positively dependent (PRDS), which is "
        "not certain for all pairs. A difference is called significant if its adjusted p-value is at most 0.05. The "
        "rank range of a system extends from the number of its significant losses plus one to the number of systems "
        "minus the number of its significant wins.")


def test_exact_and_simulated_p_values_are_counted():
    methods = iter(["exact", "monte-carlo", "monte-carlo"])
    resamples = iter([None, 1000, 4000])
    board = changed(leaderboard("abc"), lambda _: {"method": next(methods), "resamples": next(resamples)})
    assert ("; p-values are exact for 1 pair and simulated for 2 pairs with 1,000 to 4,000 random permutations "
            "(seed 1).") in describe(board)


def test_joint_resamples_of_a_correction_are_named_once():
    board = leaderboard("abc")
    assert "min-P correction (Westfall and Young 1993) in 1,000 random permutations (seed 1) of all pairs together" in (
        describe(board, correction="min-p"))
    simulated = changed(board, lambda _: {"method": "monte-carlo", "resamples": 1000})
    assert describe(simulated, correction="min-p").count("seed") == 1


@pytest.mark.parametrize(("settings", "words"), [
    ({"family_size": 30}, "The p-values are adjusted for the 30 pairs of several leaderboards by Holm's correction"),
    ({"correction": "none"}, "The p-values are not corrected for the number of pairs"),
    ({"correction": "gatekeeping"}, "adjusted by gatekeeping (Bretz, Maurer, Brannath and Posch 2009)"),
    ({"overall": "cochran"}, "All systems together are compared by Cochran's Q test (Cochran 1950)."),
    ({"unit": "response", "test": "response-permutation"}, "only one of the two systems gives (Yeh 2000), with"),
    ({"test": "crossed", "runs": "random"}, "over items and runs (Cornfield and Tukey 1956; Banerjee 1961)"),
    ({"test": "crossed(over=prompts)", "runs": "random"}, "over prompts ("),
    ({"runs": "random"}, "over whole runs ("),
    ({"alternative": "observed"}, "tested one-sided in the observed direction by a paired permutation test"),
])
def test_settings_are_described(settings, words):
    assert words in describe(leaderboard("abcd"), **settings)


@pytest.mark.parametrize(("runs", "words"), [
    ((3, 3, 3), "of the test set. Each system has 3 runs. A score is computed from the statistics of each item"),
    ((3, 1, 3), "a and c have 3 runs each, and every other system has one run. A score is computed"),
    ((3, 5, 1), "b has 5 runs, a has 3 runs, and every other system has one run."),
    ((1, 1, 1), "of the test set. The differences")])
def test_every_system_with_several_runs_is_named(runs, words):
    board = leaderboard("abc")
    board = replace(board, standings=tuple(
        replace(standing, runs=n) for standing, n in zip(board.standings, runs, strict=True)))
    scope = "The results hold for these runs, not for new ones."
    assert words in describe(board)
    assert (scope in describe(board)) == (max(runs) > 1)
    assert scope not in describe(board, runs="random")


@pytest.mark.parametrize(("metric", "words"), [
    ("LabelF", "macro-F1 (van Rijsbergen 1979; Opitz and Burst 2019)"),
    ("LabelF(average=micro, labels=[A, B])", "micro-F1 of A, B (van Rijsbergen 1979)"),
    ("SpanF", "F1 (van Rijsbergen 1979)"),
    ("SpanF(match=fuzzy)", "F1 (match fuzzy; van Rijsbergen 1979; Ehrmann et al. 2020)"),
    ("nDCG(gain=exponential, cutoff=10)",
     "nDCG@10 (gain exponential; Järvelin and Kekäläinen 2002; Burges et al. 2005)"),
    ("chrF", f"chrF (chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version('sacrebleu')}; Popović "
             "2015)"),
    ("Mean", "the mean score"),
    ("Formula(formula=\"tp / (tp + fn)\")", "the formula tp / (tp + fn)"),
    ("Recorded(of=SpanF, columns=[a, b, c])", "F1 (van Rijsbergen 1979)"),
])
def test_metrics_have_their_options_in_words(metric, words):
    assert f"scored by {words} on the" in describe(replace(leaderboard("ab"), metric_name=metric))


def test_scores_of_other_code_have_no_version():
    board = replace(leaderboard("ab"), metric_name="BLEU", outdated=(
        Message("other-code", {"metric": "bleu", "difference": "sacrebleu was 2.4.0, and is 2.6.0"}),))
    text = describe(board)
    assert "BLEU (BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp; Papineni et al. 2002; Post 2018)" in text


def test_a_declared_title_is_explained():
    board = replace(leaderboard("ab"), metric_name="LabelF", declared_title="Offense")
    assert "scored by Offense (macro-F1; van Rijsbergen 1979; Opitz and Burst 2019) on" in describe(board)
    assert "scored by Macro-F1 (van Rijsbergen" in describe(replace(board, declared_title="Macro-F1"))


@pytest.mark.parametrize("test", [*TESTS, "permutation(studentized=true)", "sign(tie=0.1)"])
def test_every_test_is_in_words(test):
    """No name of the program, no call, no option, no format of Python."""
    text = describe(leaderboard("abc"), test=test)
    assert re.findall(CODE, text) == []
    assert {*find_references(text)} >= {*find_references(select_citation(TESTS[test.partition("(")[0]].citation
                                                                         .partition("; ")[0], None))}


@pytest.mark.parametrize("ranks", RANK_METHODS)
def test_every_kind_of_ranks_is_in_words(ranks):
    text = describe(replace(leaderboard("abc"), ranks=ranks, rank_resamples=(2000, 7)))
    assert ("2,000 bootstrap resamples (seed 7)" in text) == (ranks in ("simultaneous", "bootstrap"))
    assert re.findall(CODE, text) == []
    assert "ranks" in text or "rank range" in text or "cluster" in text


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_correction_cites_its_works(correction):
    text = describe(leaderboard("abc"), correction=correction)
    assert {*find_references(CORRECTIONS[correction].citation)} <= {*find_references(text)}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_in_words(name):
    metric = build("metric", METRICS, name, REQUIRED.get(name, {}))
    text = describe(replace(leaderboard("ab"), metric_name=repr(metric)))
    assert re.findall(r"\w\(\w+=", text) == []


def test_sources_of_an_option_are_left_out_without_it():
    assert [select_citation(test.citation, test) for test in (
        McNemar(), McNemar(variant="mid-p"), TwoSampleT(), TwoSampleT(pooled=False))] == [
        "McNemar 1947", "McNemar 1947; Fagerland et al. 2013", "Student 1908; Yeh 2000",
        "Student 1908; Yeh 2000; Welch 1947"]
    assert "Deutsch" not in describe(leaderboard("ab"))
    assert "Yeh 2000; Deutsch, Dror and Roth 2021)" in describe(replace(leaderboard("ab"), metric_name="Pearson"))
    assert select_citation("Doe 1999: a book; Doe 2001", None) == "Doe 1999: a book; Doe 2001"


def test_every_form_has_the_paragraph_and_its_works():
    methods = describe_methods(replace(leaderboard("ab"), intervals=CLOSED_FORMS))
    names = ["Bonett", "Manning", "Noreen", "Wilson", "Yeh"]
    assert [work.authors[0][0] for work in methods.references] == names
    assert str(methods) == methods.text
    assert methods.to_text().split("\n\n")[0] == "task/test: acc = accuracy"
    assert "95 \\% confidence" in methods.to_latex()
    assert methods.results.startswith("On 100 items, a reaches 1.0000 and b 0.9900 (accuracy). The difference is ")
    for form in (methods.to_text(), methods.to_latex(), methods.to_markdown()):
        assert "On 100 items, a reaches" in form
    assert methods.described()["results"] == methods.results
    assert all(line.startswith("%") for line in methods.to_latex().split("\n\n", 2)[2].splitlines())
    assert methods.to_markdown().count("\n- ") == methods.to_bibtex().count("\n@") + 1 == 5
    assert [work["key"] for work in methods.described()["references"]] == [work.key for work in methods.references]


def test_names_are_no_markup_and_steer_no_terminal():
    for name in HOSTILE:
        methods = describe_methods(replace(leaderboard("ab"), test_set=name, facet=f"x={name}", track=name))
        assert "\x1b" not in methods.to_text() + methods.to_latex() + methods.to_markdown()
        assert "<script>" not in methods.to_markdown()
        assert r"\input" not in methods.to_latex().replace(r"\textbackslash{}input", "")
    assert Methods("a\nb", "").to_latex().splitlines()[1] == "", "no line of a title leaves the comment"


def test_leaderboards_of_several_metrics_share_a_paragraph():
    """A sentence that they share occurs once; others name their metrics."""
    first = leaderboard("abc")
    second = replace(changed(first, lambda _: {"method": "monte-carlo", "resamples": 1000}), metric="f1",
                     metric_name="LabelF")
    third = replace(second, metric="mcc", metric_name="MCC")
    other = replace(second, test_set="dev")
    assert group_boards([first, other, second, third]) == [[first, second, third], [other]]
    text = describe_methods(first, second, third).text
    assert "scored by accuracy (Manning, Raghavan and Schütze 2008), macro-F1 (van Rijsbergen 1979; Opitz" in text
    assert text.count("adjusted by Holm") == text.count("The rank range") == 1
    assert "For accuracy, the differences of the 3 pairs" in text
    assert "For macro-F1 and the Matthews correlation coefficient, the differences of the 3 pairs" in text
    assert "The p-values of each metric are corrected separately." in text


def test_leaderboards_of_facets_share_the_paragraph_of_the_whole_test_set():
    def facet(name, n_items, **settings):
        board = replace(leaderboard("abc"), facet=name)
        return replace(board, comparison=board.comparison._replace(n_items=n_items, n_units=n_items, **settings))

    whole, de, en = facet(None, 100), facet("language=de", 60), facet("language=en", 40)
    (group,) = group_boards([whole, de, en])
    assert describe_methods(*group).text == (
        describe_methods(whole).text + " Separate leaderboards are computed in the same way for the 60 items with "
        "language de and the 40 items with language en.")
    assert len(group_boards([whole, de, facet("language=en", 40, correction="bh")])) == 2
    assert len(group_boards([de, en])) == 2


def test_missing_answers_are_described():
    board = leaderboard("abc")
    missing = Message("missing-answers", {"n": 3, "items": 100, "policy": "worst"})
    board = replace(board, standings=(replace(board.standings[0], messages=Messages((missing,))), *board.standings[1:]))
    assert "a: 3 of 100 items have no answer and count as wrong." in describe_methods(board).text


def test_latex_cites_the_keys_of_its_entries():
    methods = describe_methods(replace(leaderboard("ab"), metric_name="WER", better="lower", intervals=CLOSED_FORMS))
    latex = methods.to_latex()
    assert r"the word error rate (\citealp{morris-etal-2004-wer}; lower is better)" in latex
    assert r"\citep{noreen-1989-computer,yeh-2000-accurate}" in latex
    keys = {key for group in re.findall(r"\\cite(?:p|alp)\{(.*?)\}", latex) for key in group.split(",")}
    assert keys == {work.key for work in methods.references}
    paragraph = latex.partition("\n\n")[0]
    assert not re.search(r"[A-Z]\w+ (19|20)\d\d", paragraph)
