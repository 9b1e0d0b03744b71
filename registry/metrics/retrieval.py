"""Metrics of ranked documents: every query has a score, and the system's score is the mean over all judged queries.

All but ERR are trec_eval's, computed by ir-measures and pytrec_eval (MacAvaney et al. 2022; Van Gysel and de Rijke
2018). ERR is that of gdeval, TREC's script for graded judgments. A query without results scores 0, as with
`trec_eval -c`. Documents of negative relevance count as not judged.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats, share
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, AdditiveMetric, FScore, QuotientMetric, import_extra

Run = Mapping[str, Mapping[str, float]]
Judgments = Mapping[str, Mapping[str, int]]

_LEAST_AP = 0.00001  # trec_eval's


class RetrievalMetric(AdditiveMetric):
    """What all share: a score of every query, from 0 to 1 but where a metric says otherwise."""

    takes = "ranking"
    family = "ratio"
    terse = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("cutoff", "rel", "max_rel"):
            if (value := getattr(self, option, None)) is not None and not 1 <= value <= 10**6:
                raise InputError(f"option {option!r} of {self.name} is {value}; expected 1 or more")

    def words(self) -> tuple[str, Collection[str]]:
        words, shown_options = super().words()
        cutoff = getattr(self, "cutoff", None)
        return words + ("" if cutoff is None else f"@{cutoff}"), (*shown_options, "cutoff")

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        return tuple(self.corpus_statistics([item], [answer])[0])

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give (score, 1) of every query; one without results has 0."""
        # pytrec_eval writes beyond its arrays where all are negative; to trec_eval such documents are not in the pool
        judgments = {item.key: {name: grade for name, grade in item.gold.items() if grade >= 0} for item in items}
        run = {answer.key: answer.value for answer in answers if answer is not None and answer.value}
        scores = self.scores(judgments, run)
        return np.array([(scores.get(item.key, 0.0), 1.0) for item in items]).reshape(len(items), 2)

    @abstractmethod
    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Score every query that has results."""


class TrecEvalMetric(QuotientMetric, RetrievalMetric):
    """What trec_eval's own share, means of queries' scores; `measure` is what ir-measures calls it, if otherwise."""

    measure: ClassVar[str] = ""
    scorer = "trec_eval (pytrec_eval)"
    extra = "ir"
    libraries = ("ir-measures",)

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        options = {name: value for name in ("rel", "cutoff", "recall")
                   if (value := getattr(self, name, None)) is not None}
        return self.calculate(options, judgments, run)

    def calculate(self, options: Mapping[str, float], judgments: Judgments, run: Run) -> dict[str, float]:
        """Calculate the measure with these options by pytrec_eval, which contains trec_eval's code."""
        ir_measures = import_extra("ir_measures", self)
        measure = getattr(ir_measures, self.measure or self.name)(**options)
        results = ir_measures.pytrec_eval.iter_calc([measure], judgments, run) if run else ()
        return {metric.query_id: float(metric.value) for metric in results}


class P(TrecEvalMetric):
    """Precision at a cut-off: the share of relevant documents among the first ones; absent ones are not relevant.

    Of one query the relevant documents are kept and the cut-off, which is the same for all queries.
    """

    called = "P"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    cutoff: int
    rel: int = 1

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give (relevant documents among the first ones, cut-off) of every query."""
        return np.rint(super().corpus_statistics(items, answers) * self.cutoff)


class AP(TrecEvalMetric):
    """Average precision: precision at the rank of every relevant document, averaged over all relevant ones."""

    called = "MAP"
    citation = "Buckley and Voorhees 2000"

    rel: int = 1
    cutoff: int | None = None


class NDCG(TrecEvalMetric):
    """Normalized discounted cumulative gain; the gain is the relevance (`linear`), or 2^relevance - 1 (`exponential`).

    The discount is the logarithm to base 2 of the rank plus 1.
    """

    called = "nDCG"
    name = "nDCG"
    citation = "Järvelin and Kekäläinen 2002; exponential: Burges et al. 2005"

    cutoff: int | None = None
    gain: Literal["linear", "exponential"] = "linear"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        if self.gain == "exponential":
            _check_grades(self, judgments, 16)
            judgments = {query: {name: 2**grade - 1 for name, grade in judged.items()}
                         for query, judged in judgments.items()}
        return super().scores(judgments, run)


class RR(TrecEvalMetric):
    """Reciprocal rank of the first relevant document; 0 if no document up to the `cutoff` is relevant."""

    called = "MRR"
    citation = "Voorhees 1999"

    rel: int = 1
    cutoff: int | None = None

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Score whole rankings: a first relevant document below the cut-off counts 0, as with `trec_eval -M`."""
        scores = self.calculate({"rel": self.rel}, judgments, run)
        return {query: score if self.cutoff is None or round(1 / score) <= self.cutoff else 0.0
                for query, score in scores.items() if score}


class RPrecision(TrecEvalMetric):
    """R-precision: precision at the rank that is the number of relevant documents."""

    called = "R-precision"
    name = "Rprec"
    citation = "Buckley and Voorhees 2005"

    rel: int = 1


class Bpref(TrecEvalMetric):
    """Binary preference: how seldom a document that is judged not relevant stands before a relevant one."""

    called = "bpref"
    name = "bpref"
    measure = "Bpref"
    citation = "Buckley and Voorhees 2004"

    rel: int = 1


class GeometricMeanAP(RetrievalMetric):
    """The geometric mean of queries' average precision, which tells of hard queries; less than 0.00001 counts as that.

    Of one query the logarithm is kept.
    """

    called = "geometric MAP"
    name = "gm_map"
    scorer = "trec_eval (pytrec_eval)"
    extra = "ir"
    libraries = ("ir-measures",)
    citation = "Robertson 2006"

    rel: int = 1

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return (logarithm of average precision, 1) of every query."""
        statistics = super().corpus_statistics(items, answers)
        statistics[:, 0] = np.log(np.maximum(statistics[:, 0], _LEAST_AP))
        return statistics

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        return AP(rel=self.rel).scores(judgments, run)

    def score(self, sums: Floats) -> Floats:
        return np.asarray(np.exp(share(sums[..., 0], sums[..., 1])))


class ERR(QuotientMetric, RetrievalMetric):
    """Expected reciprocal rank of the document at which a user stops, who is content with it by its relevance.

    That is so with probability (2^relevance - 1) / 2^max_rel.
    """

    called = "ERR"
    scorer = "gdeval"
    citation = "Chapelle et al. 2009"

    cutoff: int = 20
    max_rel: int = 4

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Score the first documents of each query; equal scores are in reverse order of names."""
        _check_grades(self, judgments, self.max_rel)
        return {query: self._score_query(judgments[query], ranking) for query, ranking in run.items()}

    def _score_query(self, judged: Mapping[str, int], ranking: Mapping[str, float]) -> float:
        score, goes_on = 0.0, 1.0
        for rank, (_, name) in enumerate(heapq.nlargest(self.cutoff, ((s, n) for n, s in ranking.items())), 1):
            stops = (2.0 ** judged.get(name, 0) - 1) / 2**self.max_rel
            score += goes_on * stops / rank
            goes_on *= 1 - stops
        return score


def _check_grades(metric: RetrievalMetric, judgments: Judgments, highest: int) -> None:
    for query, judged in judgments.items():
        if (most := max(judged.values(), default=0)) > highest:
            raise InputError(f"a relevance is {most}; {metric!r} takes {highest} at most", item=query)


class _RelevantMetric(TrecEvalMetric):
    """What all share: a document is relevant or not, from the relevance `rel` on."""

    rel: int = field(default=1, kw_only=True)

    def calculate(self, options: Mapping[str, float], judgments: Judgments, run: Run) -> dict[str, float]:
        """Score by judgments of 1 and 0, because pytrec_eval counts everything from 1 on as relevant."""
        relevant = {query: {name: int(grade >= self.rel) for name, grade in judged.items()}
                    for query, judged in judgments.items()}
        return super().calculate({name: value for name, value in options.items() if name != "rel"}, relevant, run)


class RecallAt(_RelevantMetric):
    """Recall at a cut-off: the share of the relevant documents that is among the first ones."""

    called = "recall"
    name = "R"
    citation = "Manning, Raghavan and Schütze 2008, section 8.3"

    cutoff: int


class Success(_RelevantMetric):
    """Success at a cut-off: 1 where any of the first documents is relevant, else 0; others call it hit rate."""

    called = "success"
    citation = "Craswell and Hawking 2005"

    cutoff: int


class SetPrecision(_RelevantMetric):
    """Precision of all documents that are retrieved."""

    called = "precision of all retrieved"
    name = "set_P"
    measure = "SetP"
    citation = "van Rijsbergen 1979, chapter 7"


class SetRecall(_RelevantMetric):
    """Recall of all documents that are retrieved."""

    called = "recall of all retrieved"
    name = "set_recall"
    measure = "SetR"
    citation = "van Rijsbergen 1979, chapter 7"


class SetFBeta(FScore, _RelevantMetric):
    """F-beta of all documents that are retrieved, recall weighted by beta squared (trec_eval's parameter is that)."""

    called = "F{beta:g} of all retrieved"
    name = "set_F"
    measure = "SetF"
    citation = "van Rijsbergen 1979, chapter 7"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        return self.calculate({"beta": self.beta**2}, judgments, run)


class SetAP(_RelevantMetric):
    """Precision times recall of all documents that are retrieved."""

    called = "precision times recall of all retrieved"
    name = "set_map"
    measure = "SetAP"
    citation = "trec_eval (Buckley)"


class SetRelativePrecision(_RelevantMetric):
    """Precision of all documents that are retrieved, over the highest that so many documents could have."""

    called = "relative precision of all retrieved"
    name = "set_relative_P"
    measure = "SetRelP"
    citation = "trec_eval (Buckley)"


class InterpolatedPrecision(_RelevantMetric):
    """Interpolated precision at a recall: the highest one at any rank where recall is as high or higher.

    As many documents are asked for as recall is of all relevant ones, rounded up where more than a tenth is left over.
    """

    called = "interpolated precision at recall {recall:g}"
    name = "IPrec"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    recall: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.recall <= 1 or round(self.recall, 2) != self.recall:
            raise InputError(f"option 'recall' of {self.name} is {self.recall}; expected 0 to 1 with two decimals")


class ElevenPoint(_RelevantMetric):
    """Eleven-point average precision: the mean of interpolated precision at recalls 0, 0.1, ..., 1."""

    called = "eleven-point average precision"
    name = "11pt_avg"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Call pytrec_eval directly, because ir-measures lacks this measure."""
        evaluator = import_extra("pytrec_eval", self).RelevanceEvaluator(
            judgments, {self.name}, relevance_level=self.rel)
        return {query: scores[self.name] for query, scores in evaluator.evaluate(run).items()} if run else {}


class RelevantRetrieved(_RelevantMetric):
    """How many relevant documents are retrieved, on average; trec_eval tells their sum over all queries."""

    called = "relevant documents retrieved"
    name = "num_rel_ret"
    measure = "NumRelRet"
    score_range = FROM_ZERO
    citation = "trec_eval (Buckley)"
