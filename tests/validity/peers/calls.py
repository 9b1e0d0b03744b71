"""What is called of each program, on which nulls and how often."""

from collections.abc import Callable
from dataclasses import dataclass

from registry.significance import Bootstrap, MatchedT, McNemar, Permutation
from tests.validity.peers import nulls
from tests.validity.peers import programs as ask
from tests.validity.peers import this_package as own
from tests.validity.peers.nulls import Null


@dataclass(frozen=True)
class Call:
    """A call of a program on some nulls.

    `said` is how it is written, `runs` how many test sets it is worth, and `what` what is counted: `p <= 0.05`, or what
    `bands.LEVELS` has a level of.
    """

    program: str
    said: str
    ask: Callable
    on: tuple[Null, ...]
    runs: int
    what: str = "p <= 0.05"


def calls():
    """All of them, in the order of the table."""
    yield from _of_pairs()
    yield from _of_boards()
    yield from _of_this_package()


def _of_pairs():
    means = (nulls.RIGHT, nulls.FEW, nulls.SKEWED)
    yield Call("scipy", "ttest_rel(a, b)", ask.scipy_ttest, means, 2000)
    yield Call("scipy", "wilcoxon(a, b)", ask.scipy_wilcoxon, means, 2000)
    yield Call("scipy", 'permutation_test(..., permutation_type="samples", n_resamples=999)', ask.scipy_permutation,
               means, 2000)
    yield Call("scipy", "bootstrap(..., paired=True, n_resamples=999)", ask.scipy_bca, (nulls.LONG_TAILS,), 2000,
               "coverage")
    yield Call("statsmodels", "mcnemar(table, exact=True)", ask.statsmodels_mcnemar,
               (nulls.RIGHT, nulls.MANY_ITEMS), 2000)
    yield Call("statsmodels", "mcnemar(table, exact=False, correction=False)", ask.statsmodels_mcnemar_chi,
               (nulls.RIGHT,), 2000)
    yield Call("ranx", "fisher_randomization_test(a, b)", ask.ranx_fisher, means, 1000)
    yield Call("ranx", "paired_student_t_test(a, b)", ask.ranx_student, means, 2000)
    yield Call("deepsig", "permutation_test(a, b)", ask.deepsig_permutation, means, 200)
    yield Call("deepsig", "bootstrap_test(a, b)", ask.deepsig_bootstrap, means, 200)
    yield Call("evalstats", 'compare(..., factors="model")', ask.evalstats_pair, means, 500)
    yield Call("honestboard", 'Board.compare(0, 1)["p_two_sided"]', ask.honestboard_pair, (nulls.RIGHT,), 2000)
    yield Call("sacrebleu", 'PairedTest(..., test_type="bs")', ask.sacrebleu_paired("bs"), (nulls.TRANSLATIONS,), 500)
    yield Call("sacrebleu", 'PairedTest(..., test_type="ar", n_samples=1000)',
               ask.sacrebleu_paired("ar", n_samples=1000), (nulls.TRANSLATIONS,), 500)


def _of_boards():
    for method in ("holm", "hommel", "fdr_bh"):
        yield Call("statsmodels", f'multipletests(p, method="{method}") of mcnemar', ask.statsmodels_family(method),
                   (nulls.FIVE,), 500, "any error")
    yield Call("evalstats", 'compare(..., factors="model"), any significant', ask.evalstats_family, (nulls.FIVE,), 100,
               "any error")
    yield Call("honestboard", "Board.rank_summary()", ask.honestboard_ranks, (nulls.NEAR,), 500,
               "one system's ranks hold")
    yield Call("honestboard", "Board.confidence_set_best()", ask.honestboard_best, (nulls.TEN,), 500,
               "a best may be it")
    for method in ("winner_hybrid", "winner_zoom"):
        yield Call("honestboard", f"Board.{method}()", ask.honestboard_winner(method), (nulls.SHARES,), 500,
                   "coverage")
    # lord's rate is of false discoveries, which is that of any error where there is nothing to find
    for rule, on in (("fallback", (nulls.EQUALS, nulls.STAIRS)), ("lord", (nulls.EQUALS,))):
        yield Call("honestboard", f'certify_chain(board, rule="{rule}")', ask.honestboard_records(rule), on, 1000,
                   "a false new best")


def _of_this_package():
    means = (nulls.RIGHT, nulls.FEW, nulls.SKEWED)
    for test, on in ((Permutation(), (*means, nulls.TRANSLATIONS)), (Bootstrap(), (nulls.TRANSLATIONS,)),
                     (Bootstrap("studentized"), (nulls.FEW, nulls.SKEWED)), (MatchedT(), (nulls.FEW,)),
                     (McNemar(), (nulls.RIGHT, nulls.MANY_ITEMS))):
        runs = 500 if on[-1] is nulls.TRANSLATIONS else 2000
        yield Call("evalregistry", repr(test), own.ours(test, resamples=999), on, runs)
    yield Call("evalregistry", "bootstrap, interval = bca", own.our_interval, (nulls.LONG_TAILS,), 2000, "coverage")
    yield Call("evalregistry", "mcnemar, holm", own.our_family, (nulls.FIVE,), 500, "any error")
    yield Call("evalregistry", "best: marginal ranks", own.our_ranks, (nulls.NEAR,), 500, "one system's ranks hold")
    yield Call("evalregistry", "best: may_be_best", own.our_best, (nulls.TEN,), 500, "a best may be it")
    yield Call("evalregistry", "new-best: the winner, corrected", own.our_winner, (nulls.SHARES,), 500, "coverage")
    yield Call("evalregistry", "new-best", own.our_records, (nulls.EQUALS, nulls.STAIRS), 1000, "a false new best")
