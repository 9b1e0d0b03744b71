"""What docs and help promise, and the rows that stand for each promise.

A promise is quoted by words that stand where it is made, so that it cannot be reworded there without being looked at
here. `kept` are the rows over the range for which it is made; `beyond` those outside of it, where a warning, a refusal
or the text itself says that it may not hold.
"""

import fnmatch
from dataclasses import dataclass

from tests.validity.bands import LEVELS
from tests.validity.record import HEADER, KEEPS, recorded, replaced

TABLE = ("promise", "made in", "keep their level", "conservative", "do not", "largest error at 5 %",
         "beyond the promise")
WHAT, VALUE = HEADER.index("measured"), HEADER.index("value")


@dataclass(frozen=True)
class Guarantee:
    """A promise: what it says, the page and the words that say it, and the patterns of rows."""

    says: str
    page: str
    words: str
    kept: tuple[str, ...]
    beyond: tuple[str, ...] = ()


GUARANTEES = (
    Guarantee("permutation is exact for exchangeable systems, at any number of units", "significance.md",
              "p <= 0.05 occurs in 5 % of test sets or fewer, for any number of units",
              ("permutation-[!r]*", "size-permutation-binary", "size-permutation-few-spans", "size-permutation-bleu",
               "size-permutation-20-draws", "size-permutation-documents", "size-permutation-suited-documents",
               "clusters-*-permutation", "unequal-clusters-*-permutation", "correlation-swaps-*",
               "rare-class-*-alike-permutation"),
              ("size-permutation-unequal-f1", "unequal-f1-*-permutation", "lopsided-*-permutation",
               "size-permutation-lopsided", "unequal-bleu-*-permutation", "unequal-macro-f1-*-permutation",
               "*clusters-*-permutation-f1",
               "size-permutation-items-*-documents", "permutation-retrained-10", "one-side-*-permutation",
               "rare-class-*-opposed-permutation", "alike-swaps-*")),
    Guarantee("sign, McNemar, Wilcoxon and Fisher are exact for their null hypotheses", "significance.md",
              "all permutations are counted, in whole numbers",
              ("sign-*", "mcnemar-*", "wilcoxon-*", "fisher-*", "size-mcnemar-exact", "size-sign-binary",
               "size-wilcoxon-binary", "size-wilcoxon-normal", "size-fisher", "size-fisher-doubling"),
              ("lopsided-*-wilcoxon", "size-wilcoxon-lopsided", "size-fisher-one-answer-each", "size-mcnemar-mid-p",
               "size-mcnemar-chi-squared", "size-mcnemar-corrected")),
    Guarantee("response-permutation is exact, each response on its own", "significance.md",
              "exact if responses are independent", ("response-permutation", "size-response-permutation")),
    Guarantee("studentized permutation holds where systems trade precision for recall", "significance.md",
              "if one system has higher precision and the other higher recall",
              ("unequal-f1-*-permutation-studentized", "size-permutation-studentized-unequal-f1",
               "size-permutation-studentized-lopsided", "family-unequal-f1-permutation-studentized"),
              ("seldom-*-permutation-studentized",)),
    Guarantee("the recentred bootstrap holds from 200 units on", "significance.md",
              "BLEU, chrF, TER and other functions of sums, 200 units or more",
              ("bootstrap-f1-[2-9]00", "bootstrap-f1-1000", "bootstrap-f1-2000", "bootstrap-f1-greater",
               "bootstrap-bleu-200", "bootstrap-lognormal-200", "bootstrap-opposed-200", "bootstrap-binary-200",
               "bootstrap-lopsided-200", "bootstrap-lopsided-1000", "bootstrap-ideal-counts-200",
               "size-bootstrap-unequal-f1", "size-bootstrap-documents", "unequal-bleu-200-bootstrap",
               "unequal-bleu-2000-bootstrap", "unequal-macro-f1-300-bootstrap", "bootstrap-strata"),
              ("bootstrap-f1-[125]0", "bootstrap-f1-100", "bootstrap-lopsided-[25]0", "bootstrap-ideal-counts-[25]0",
               "unequal-bleu-[25]0-bootstrap", "unequal-macro-f1-50-bootstrap", "bootstrap-berg-kirkpatrick",
               "bootstrap-strata-ignored", "correlation-bootstrap-*", "zipf-*-bootstrap", "zipf-*-bootstrap-f1",
               "heavy-[0-9]*-bootstrap", "rare-class-*-bootstrap")),
    Guarantee("bounded holds at every number of units, whatever the distribution", "significance.md",
              "holds at every number of units and for every distribution of independent units", ("bounded-[lbm]*",)),
    Guarantee("the studentized bootstrap is for skewed differences in many items", "significance.md",
              "more items with skewed differences",
              ("bootstrap-studentized-*", "unequal-f1-*-bootstrap-studentized", "lopsided-*-bootstrap-studentized",
               "zipf-*-bootstrap-studentized*"),
              ("one-large-cluster-*", "clusters-*-bootstrap-studentized", "unequal-clusters-*-bootstrap-studentized",
               "skewed-clusters-*-bootstrap-studentized", "heavy-*-bootstrap-studentized",
               "seldom-*-bootstrap-studentized")),
    Guarantee("no p is 0, and what is better by the other alternative is not significant", "significance.md",
              "No p-value is 0, and `log10_p` exists for every p-value", ("bootstrap-ideal-five", "wrong-side-*")),
    Guarantee("t holds where the mean difference is nearly normal", "tests.md",
              "their mean difference is nearly normal",
              ("t-normal", "size-t-normal-2000", "size-t-lognormal", "size-t-binary", "coverage-t-*"),
              ("lopsided-*-t", "size-t-lopsided")),
    Guarantee("tests of independent results hold where results are independent", "significance.md",
              "tests that assume that the results of two systems are independent",
              ("two-sample-t-independent", "size-binomial-z*-independent", "size-chi-squared*-independent",
               "size-rank-sum*-independent", "own-items-20-80-1-*", "own-items-*-pooled-false"),
              ("size-*-correlated", "size-two-sample-t-opposed", "own-items-*-[23]-two-sample-t",
               "own-items-*-[23]-rank-sum")),
    Guarantee("Williams' and Steiger's tests hold for jointly normal scores", "tests.md",
              "predictions and gold values are jointly normal",
              tuple(f"correlation-{name}{size}" for name in ("williams", "steiger") for size in ("", "-15", "-500")),
              ("correlation-*-spearman", "correlation-steiger-10-high")),
    Guarantee("from 6 clusters on, studentized swaps of clusters hold, or nearly", "significance.md",
              "Studentized permutation of clusters keeps its level in these populations, or nearly",
              ("clusters-*-permutation-studentized*", "unequal-clusters-*-permutation-studentized*",
               "zipf-*-permutation-studentized*"),
              ("skewed-clusters-*-permutation-studentized", "one-large-cluster-*-permutation-studentized-f1")),
    Guarantee("crossed keeps its level from two runs on", "tests.md", "averages over the items of a run",
              ("crossed-*", "skewed-items-200-crossed"), ("skewed-items-[25]0-crossed", "broken-prompts-*")),
    Guarantee("random runs: permutation of runs is exact on these items, the bootstrap holds from 5 runs on",
              "significance.md", "exact on these items, for systems whose runs are exchangeable",
              ("permutation-trained-4", "bootstrap-trained-*", "bootstrap-retrained-*"), ("permutation-retrained-10",)),
    Guarantee("holm, bonferroni, shaffer, hochberg, min-p and max-t control the family-wise error", "significance.md",
              "control the family-wise error rate; `bh` and `by` the false discovery rate",
              tuple(f"family-{of}-*" for of in ("holm", "bonferroni", "shaffer", "hochberg", "permutation", "bootstrap",
                                                "bh", "by")),
              ("family-none-*", "family-unequal-f1-permutation", "joint-resamples-*")),
    Guarantee("boards of a task as one family, and gatekeeping over metrics", "significance.md",
              "controls the family-wise error rate for any dependence",
              ("boards-*-together", "boards-gatekeeping-*", "boards-*-metrics"), ("boards-20-holm-apart",)),
    Guarantee("ranks hold, all at once and each by itself, and a best system may be it", "significance.md",
              "were reliable from 20 and 50 units of similar weight on",
              ("ranks-holm", "ranks-resampled-*", "best-*", "rank-sets-binary-*", "rank-sets-f1-*-bootstrap",
               "rank-sets-bleu-*", "rank-sets-f1-opposed-100-20-flips", "rank-sets-5-runs-*",
               "rank-sets-documents-tied-20-6-bootstrap"),
              ("ranks-none", "rank-sets-[23]-runs-*", "rank-sets-documents-tied-8-*", "rank-sets-*-20-[68]-flips",
               "heavy-ranks-*", "rare-ranks-*")),
    Guarantee("intervals of differences, scores and effects cover at 95 %", "significance.md",
              "with its bootstrap interval",
              ("coverage-*", "interval-[!l]*", "accurate-score-500", "rare-class-*-score", "uneven-interval-120-*"),
              ("skewed-*-standardized-difference", "long-tails-*", "accurate-score-200",
               "uneven-interval-[136][02]-*", "few-score-*-interval", "rare-positives-*-interval",
               "interval-lost-utterances-*")),
    Guarantee("nothing is called equivalent more often than alpha allows", "significance.md",
              "Without a declared margin, no pair is called equivalent", ("equivalence-*",),
              ("skewed-*-equivalence-t", "rare-25-equivalence-score")),
    Guarantee("tests of all systems, and of normality", "significance.md", "tests all systems at once as well",
              ("size-overall-*", "size-shapiro-wilk", "size-anderson-darling", "size-lilliefors"),
              ("alike-overall-*",)),
    Guarantee("Monte-Carlo p-values have intervals of 95 %, and so have proportions", "significance.md",
              "with a 95 % confidence interval", ("monte-carlo-interval", "clopper-pearson-*")),
    Guarantee("judged items: levels are kept to within two points", "manifest.md",
              "levels are kept to within two points",
              ("judged-*-bootstrap", "judged-[ub]*-permutation", "judged-*ed-normal", "judged-*-system-normal",
               "judged-*-alike-normal", "judged-unlike-normal", "judged-*interval", "judged-*-prediction-powered",
               "judge-favours*"),
              ("judged-few-normal", "judged-own-items-permutation", "judge-rare-errors-*")),
    Guarantee("no more than alpha of histories have a false new best", "studies.md",
              "is at most alpha where none was chosen by the scores of earlier ones",
              ("new-best-independent", "new-best-revised", "new-best-stairs", "new-best-slopes", "new-best-*-ladder-*",
               "new-best-of-eight-[!u]*"), ("new-best-vote-scores", "new-best-of-eight-unspent", "skewed-stairs-*")),
    Guarantee("the winner's corrected interval holds from 200 units on", "studies.md",
              "hybrid interval of Andrews, Kitagawa and McCloskey",
              ("winner-hybrid-[!5]*", "winner-hybrid-50-tied", "winner-hybrid-50-tied-1000-items"),
              ("winner-hybrid-50-tied-50-items", "winner-plain-*", "accurate-winner-*")),
    Guarantee("ranks over a suite hold with other items, and with other test sets", "studies.md",
              "at one level for all systems at once", ("suite-[!i]*",), ("suite-items-for-sets", "skewed-suite-*")),
    Guarantee("replicability: Bonferroni's number and Holm's list always, Fisher's number for independent sets",
              "studies.md", "Fisher",
              ("replicability-bonferroni-*", "replicability-list-*", "replicability-fisher-independent-*"),
              ("replicability-fisher-dependent-*", "skewed-replicability-*")),
    Guarantee("precision of parts: more than the binomial variance, and too many parts outside", "ranking.md",
              "that these are more than the confidence allows", ("variation-20-p-variance", "variation-20-p-outside"),
              ("variation-*-p-kolmogorov",)),
)


def chosen(patterns, names):
    """The names that any of the patterns matches."""
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def summary(page):
    """A line of every guarantee, from the lines of the page."""
    lines, _ = recorded(page)
    found = []
    for of in GUARANTEES:
        kept, beyond = (_of_levels(patterns, lines) for patterns in (of.kept, of.beyond))
        counts = [str(sum(line[KEEPS] == word for line in kept)) for word in ("yes", "conservative", "no")]
        wrong = f"{sum(line[KEEPS] == 'no' for line in beyond)} of {len(beyond)} do not" if beyond else "-"
        found.append((of.says, f"[{of.page}]({of.page})", *counts, _worst(kept), wrong))
    return found


def _of_levels(patterns, lines):
    """The lines of rows that match, where a level is claimed."""
    return [line for line in lines if line[KEEPS] != "-" and any(fnmatch.fnmatch(line[0], of) for of in patterns)]


def _worst(lines):
    """The largest share of errors where 5 % are allowed, and its row."""
    rates = [(1 - float(line[VALUE]) if LEVELS.get(line[WHAT], 0) > 0.5 else float(line[VALUE]), line[0])
             for line in lines if line[WHAT] in LEVELS or line[WHAT] == "p <= 0.05"]
    return f"{100 * max(rates)[0]:.1f} %, {max(rates)[1]}" if rates else "-"


def with_summary(page):
    """The page with the table of guarantees made anew."""
    return replaced(page, summary(page), TABLE)
