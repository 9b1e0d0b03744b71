"""Other programs, asked by their public interfaces, with their defaults where nothing else is said.

Every function takes a test set of a null and gives a p-value, or 1 where what is counted of the null happened, else 0.
One-sided tests are asked whether the first system is better. A program is imported when it is asked.
"""

from itertools import combinations

import numpy as np

ALPHA = 0.05


def mean_difference(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def scipy_ttest(test_set):
    from scipy.stats import ttest_rel

    return ttest_rel(*test_set.scores).pvalue


def scipy_wilcoxon(test_set):
    from scipy.stats import wilcoxon

    return wilcoxon(*test_set.scores).pvalue


def scipy_permutation(test_set):
    from scipy.stats import permutation_test

    return permutation_test(tuple(test_set.scores), mean_difference, permutation_type="samples", vectorized=True,
                            n_resamples=999, rng=np.random.default_rng(test_set.seed)).pvalue


def scipy_bca(test_set):
    """Whether the interval holds the true difference, as an error."""
    from scipy.stats import bootstrap

    interval = bootstrap(tuple(test_set.scores), mean_difference, paired=True, vectorized=True, n_resamples=999,
                         rng=np.random.default_rng(test_set.seed)).confidence_interval
    return 1.0 if interval.low <= 0 <= interval.high else 0.0


def statsmodels_mcnemar(test_set):
    from statsmodels.stats.contingency_tables import mcnemar

    return mcnemar(_table(*test_set.scores), exact=True).pvalue


def statsmodels_mcnemar_chi(test_set):
    from statsmodels.stats.contingency_tables import mcnemar

    return mcnemar(_table(*test_set.scores), exact=False, correction=False).pvalue


def statsmodels_family(method):
    def ask(test_set):
        from statsmodels.stats.contingency_tables import mcnemar
        from statsmodels.stats.multitest import multipletests

        raw = [mcnemar(_table(*pair), exact=True).pvalue for pair in combinations(test_set.scores, 2)]
        return float(multipletests(raw, alpha=ALPHA, method=method)[0].any())

    return ask


def ranx_fisher(test_set):
    from ranx.statistical_tests import fisher_randomization_test

    return fisher_randomization_test(*map(np.ascontiguousarray, test_set.scores))[0]


def ranx_student(test_set):
    from ranx.statistical_tests import paired_student_t_test

    return paired_student_t_test(*test_set.scores)[0]


def deepsig_permutation(test_set):
    from deepsig import permutation_test

    return permutation_test(*test_set.scores, seed=test_set.seed)


def deepsig_bootstrap(test_set):
    from deepsig import bootstrap_test

    return bootstrap_test(*test_set.scores, seed=test_set.seed)


def _evalstats(test_set):
    import evalstats
    import pandas

    models, items = test_set.scores.shape
    table = pandas.DataFrame({"model": np.repeat([f"m{n}" for n in range(models)], items),
                              "item": np.tile([f"i{n}" for n in range(items)], models),
                              "score": test_set.scores.ravel()})
    return evalstats.compare(evalstats.load_from(table), factors="model").to_frame()["pairwise"]


def evalstats_pair(test_set):
    return _evalstats(test_set).p_value.iloc[0]


def evalstats_family(test_set):
    return float(_evalstats(test_set).significant.any())


def _board(scores, dates=None):
    from honestboard import Board

    whole = scores.astype(np.uint8) if np.isin(scores, (0, 1)).all() else scores
    return Board([f"m{n}" for n in range(len(scores))], whole, dates=dates)


def honestboard_pair(test_set):
    return _board(test_set.scores).compare(0, 1, B=100)["p_two_sided"]


def honestboard_ranks(test_set):
    """Whether the interval of the first system's rank holds it; it is the worst of ten that are near each other."""
    rows = {row["name"]: row for row in _board(test_set.scores).rank_summary(seed=test_set.seed)}
    return float(rows["m0"]["rank_lo"] <= len(rows) <= rows["m0"]["rank_hi"])


def honestboard_best(test_set):
    return float("m0" in _board(test_set.scores).confidence_set_best(seed=test_set.seed)["members"])


def honestboard_winner(method):
    def ask(test_set):
        low, high = getattr(_board(test_set.scores), method)(seed=test_set.seed)["ci"]
        return float(low <= test_set.truth[0] <= high)

    return ask


def honestboard_records(rule):
    def ask(test_set):
        from honestboard import certify_chain

        board = _board(test_set.right, [f"{n:04d}" for n in range(len(test_set.right))])
        better = {f"m{n}" for n in np.flatnonzero(test_set.is_better)}
        return float(any(step["certified"] and step["new"] not in better
                         for step in certify_chain(board, alpha=ALPHA, rule=rule)["steps"]))

    return ask


def sacrebleu_paired(kind, **options):
    def ask(test_set):
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import PairedTest

        systems = [("a", test_set.hypotheses[0]), ("b", test_set.hypotheses[1])]
        _, found = PairedTest(systems, {"BLEU": BLEU()}, [test_set.references], test_type=kind, **options)()
        return found["BLEU"][1].p_value

    return ask


def _table(a, b):
    return [[int(((a == x) & (b == y)).sum()) for y in (1, 0)] for x in (1, 0)]
