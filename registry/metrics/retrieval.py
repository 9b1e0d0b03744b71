"""Metrics of ranked documents.

Every query has a score, and the score of a system is the mean over all queries with judgments. All metrics except ERR
equal those of trec_eval, and are computed by ir-measures and pytrec_eval (MacAvaney et al. 2022; Van Gysel and de Rijke
2018). ERR equals that of gdeval, TREC's script for graded judgments. A query without results scores 0, as with
`trec_eval -c`. Documents with a negative relevance count as not judged.
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

_LEAST_AP = 0.00001  # as in trec_eval


class RetrievalMetric(AdditiveMetric):
    """Base class of metrics of ranked documents, which give each query a score.

    In most cases, scores are from 0 to 1.
    """

    takes = "ranking"
    family = "ratio"
    terse = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("cutoff", "rel", "max_rel"):
            if (value := getattr(self, option, None)) is not None and not 1 <= value <= 10**6:
                raise InputError(f"option {option!r} of {self.name} is {value}; expected 1 or more")

    def format_name(self) -> tuple[str, Collection[str]]:
        words, shown_options = super().format_name()
        cutoff = getattr(self, "cutoff", None)
        return words + ("" if cutoff is None else f"@{cutoff}"), (*shown_options, "cutoff")

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        return tuple(self.corpus_statistics([item], [answer])[0])

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return two numbers for each query: its score, and 1.

        The mean over queries is the sum of scores over the sum of ones. The score of a query without results is 0.

        Returns:
            The numbers, [queries, 2].
        """
        # pytrec_eval writes beyond its arrays if all grades are negative; trec_eval counts such documents as not judged
        judgments = {item.key: {name: grade for name, grade in item.gold.items() if grade >= 0} for item in items}
        run = {answer.key: answer.value for answer in answers if answer is not None and answer.value}
        scores = self.scores(judgments, run)
        return np.array([(scores.get(item.key, 0.0), 1.0) for item in items]).reshape(len(items), 2)

    @abstractmethod
    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Return the score of every query for which a system retrieves documents.

        Args:
            judgments: Maps each query to the relevance of its judged documents.
            run: Maps each query to the scores of the retrieved documents.
        """


class TrecEvalMetric(QuotientMetric, RetrievalMetric):
    """Base class of metrics that average a measure of trec_eval over queries.

    Attributes:
        measure: Name of the measure in ir-measures; empty if it equals the metric's name.
    """

    measure: ClassVar[str] = ""
    scorer = "trec_eval (pytrec_eval)"
    extra = "ir"
    libraries = ("ir-measures",)

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        options = {name: value for name in ("rel", "cutoff", "recall")
                   if (value := getattr(self, name, None)) is not None}
        return self.calculate(options, judgments, run)

    def calculate(self, options: Mapping[str, float], judgments: Judgments, run: Run) -> dict[str, float]:
        """Compute the measure for every query with pytrec_eval, the code of trec_eval.

        Args:
            options: Options of the measure in ir-measures.
            judgments: Maps each query to the relevance of its judged documents.
            run: Maps each query to the scores of the retrieved documents.
        """
        ir_measures = import_extra("ir_measures", self)
        measure = getattr(ir_measures, self.measure or self.name)(**options)
        results = ir_measures.pytrec_eval.iter_calc([measure], judgments, run) if run else ()
        return {metric.query_id: float(metric.value) for metric in results}


class P(TrecEvalMetric):
    """Precision at k: share of the k best-ranked documents that are relevant.

    If fewer than k documents are retrieved, the missing ones count as not relevant.

    Attributes:
        cutoff: The number k.
        rel: Lowest relevance of a relevant document.
    """

    called = "P"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    cutoff: int
    rel: int = 1

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return two numbers per query: relevant documents among the first k, and k."""
        return np.rint(super().corpus_statistics(items, answers) * self.cutoff)


class AP(TrecEvalMetric):
    """Average precision: mean of the precisions at the ranks of relevant documents.

    A relevant document that is not retrieved has the precision 0.

    Attributes:
        rel: Lowest relevance of a relevant document.
        cutoff: Number of best-ranked documents that count; None for the whole ranking.
    """

    called = "MAP"
    citation = "Buckley and Voorhees 2000"

    rel: int = 1
    cutoff: int | None = None


class NDCG(TrecEvalMetric):
    """Normalized discounted cumulative gain.

    The gain of a document is divided by log2(rank + 1).

    Attributes:
        cutoff: Number of best-ranked documents that count; None for the whole ranking.
        gain: Gain of a document: its relevance (`linear`), or 2^relevance - 1 (`exponential`).
    """

    called = "nDCG"
    name = "nDCG"
    citation = "Järvelin and Kekäläinen 2002; gain=exponential: Burges et al. 2005"

    cutoff: int | None = None
    gain: Literal["linear", "exponential"] = "linear"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        if self.gain == "exponential":
            _check_grades(self, judgments, 16)
            judgments = {query: {name: 2**grade - 1 for name, grade in judged.items()}
                         for query, judged in judgments.items()}
        return super().scores(judgments, run)


class RR(TrecEvalMetric):
    """Reciprocal rank of the first relevant document.

    Attributes:
        rel: Lowest relevance of a relevant document.
        cutoff: Number of best-ranked documents that count; if none of these documents is relevant, the score is 0. None
            for the whole ranking.
    """

    called = "MRR"
    citation = "Voorhees 1999"

    rel: int = 1
    cutoff: int | None = None

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Return the reciprocal rank of every query that has results.

        If the first relevant document is below the cut-off, the score is 0, as with `trec_eval -M`.
        """
        scores = self.calculate({"rel": self.rel}, judgments, run)
        return {query: score if self.cutoff is None or round(1 / score) <= self.cutoff else 0.0
                for query, score in scores.items() if score}


class RPrecision(TrecEvalMetric):
    """R-precision: precision at rank R, where R is the number of relevant documents.

    Attributes:
        rel: Lowest relevance of a relevant document.
    """

    called = "R-precision"
    name = "Rprec"
    citation = "Buckley and Voorhees 2005"

    rel: int = 1


class Bpref(TrecEvalMetric):
    """Binary preference: how rarely a non-relevant document precedes a relevant one.

    Only documents with judgments count.

    Attributes:
        rel: Lowest relevance of a relevant document.
    """

    called = "bpref"
    name = "bpref"
    measure = "Bpref"
    citation = "Buckley and Voorhees 2004"

    rel: int = 1


class GeometricMeanAP(RetrievalMetric):
    """Geometric mean of the queries' average precision; it emphasizes hard queries.

    An average precision below 0.00001 counts as 0.00001.

    Attributes:
        rel: Lowest relevance of a relevant document.
    """

    called = "geometric MAP"
    name = "gm_map"
    scorer = "trec_eval (pytrec_eval)"
    extra = "ir"
    libraries = ("ir-measures",)
    citation = "Robertson 2006"

    rel: int = 1

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return two numbers per query: the logarithm of its average precision, and 1."""
        statistics = super().corpus_statistics(items, answers)
        statistics[:, 0] = np.log(np.maximum(statistics[:, 0], _LEAST_AP))
        return statistics

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        return AP(rel=self.rel).scores(judgments, run)

    def score(self, sums: Floats) -> Floats:
        return np.asarray(np.exp(share(sums[..., 0], sums[..., 1])))


class ERR(QuotientMetric, RetrievalMetric):
    """Expected reciprocal rank of the document at which a user stops.

    The user reads documents in their order. A document satisfies the user, who then stops, with probability
    (2^relevance - 1) / 2^max_rel.

    Attributes:
        cutoff: Number of best-ranked documents that count.
        max_rel: Highest relevance of the scale.
    """

    called = "ERR"
    scorer = "gdeval"
    citation = "Chapelle et al. 2009"

    cutoff: int = 20
    max_rel: int = 4

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        """Return the expected reciprocal rank of every query that has results.

        Documents with equal scores are in reverse order of their names.
        """
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
            raise InputError(f"a relevance is {most}, but {metric!r} supports at most {highest}; use lower grades",
                             item=query)


class _RelevantMetric(TrecEvalMetric):
    """Base class of metrics with binary relevance: a document is relevant or not.

    Attributes:
        rel: Lowest relevance of a relevant document.
    """

    rel: int = field(default=1, kw_only=True)

    def calculate(self, options: Mapping[str, float], judgments: Judgments, run: Run) -> dict[str, float]:
        """Compute a measure for every query, with relevance reduced to 1 and 0.

        A document is relevant if its relevance is at least the option `rel`. The reduction is necessary because
        pytrec_eval counts every relevance of 1 or more as relevant.
        """
        relevant = {query: {name: int(grade >= self.rel) for name, grade in judged.items()}
                    for query, judged in judgments.items()}
        return super().calculate({name: value for name, value in options.items() if name != "rel"}, relevant, run)


class RecallAt(_RelevantMetric):
    """Recall at k: share of the relevant documents that are among the first k.

    Attributes:
        cutoff: The number k of best-ranked documents.
    """

    called = "recall"
    name = "R"
    citation = "Manning, Raghavan and Schütze 2008, section 8.3"

    cutoff: int


class Success(_RelevantMetric):
    """Success at k (hit rate): 1 if one of the first k documents is relevant, else 0.

    Attributes:
        cutoff: The number k of best-ranked documents.
    """

    called = "success"
    citation = "Craswell and Hawking 2004"

    cutoff: int


class SetPrecision(_RelevantMetric):
    """Precision of all retrieved documents, regardless of their order."""

    called = "precision of all retrieved"
    name = "set_P"
    measure = "SetP"
    citation = "van Rijsbergen 1979, chapter 7"


class SetRecall(_RelevantMetric):
    """Recall of all retrieved documents, regardless of their order."""

    called = "recall of all retrieved"
    name = "set_recall"
    measure = "SetR"
    citation = "van Rijsbergen 1979, chapter 7"


class SetFBeta(FScore, _RelevantMetric):
    """F-beta of all retrieved documents, regardless of their order.

    Recall is weighted by beta squared. The parameter of trec_eval is beta squared, not beta.
    """

    called = "F{beta:g} of all retrieved"
    name = "set_F"
    measure = "SetF"
    citation = "van Rijsbergen 1979, chapter 7"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        return self.calculate({"beta": self.beta**2}, judgments, run)


class SetAP(_RelevantMetric):
    """Precision times recall of all retrieved documents."""

    called = "precision times recall of all retrieved"
    name = "set_map"
    measure = "SetAP"
    citation = "Buckley, trec_eval"


class SetRelativePrecision(_RelevantMetric):
    """Precision of all retrieved documents, divided by its highest possible value.

    The highest possible precision is that of the best set with the same number of documents.
    """

    called = "relative precision of all retrieved"
    name = "set_relative_P"
    measure = "SetRelP"
    citation = "Buckley, trec_eval"


class InterpolatedPrecision(_RelevantMetric):
    """Interpolated precision at a recall level.

    The score is the highest precision at any rank with at least this recall. The recall level times the number of
    relevant documents is rounded to a whole number: up if the fraction is at least a tenth, else down.

    Attributes:
        recall: Recall level, from 0 to 1.
    """

    called = "interpolated precision at recall {recall:g}"
    name = "IPrec"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    recall: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.recall <= 1 or round(self.recall, 2) != self.recall:
            raise InputError(f"option 'recall' of {self.name} is {self.recall}; expected a number from 0 to 1 with at "
                             "most two decimals")


class ElevenPoint(_RelevantMetric):
    """Mean of the interpolated precisions at recall levels 0, 0.1, ..., 1."""

    called = "eleven-point average precision"
    name = "11pt_avg"
    citation = "Manning, Raghavan and Schütze 2008, section 8.4"

    def scores(self, judgments: Judgments, run: Run) -> dict[str, float]:
        # ir-measures lacks this measure
        evaluator = import_extra("pytrec_eval", self).RelevanceEvaluator(
            judgments, {self.name}, relevance_level=self.rel)
        return {query: scores[self.name] for query, scores in evaluator.evaluate(run).items()} if run else {}


class RelevantRetrieved(_RelevantMetric):
    """Mean number of relevant documents that are retrieved per query.

    trec_eval prints the sum over queries instead.
    """

    called = "relevant documents retrieved"
    name = "num_rel_ret"
    measure = "NumRelRet"
    score_range = FROM_ZERO
    citation = "Buckley, trec_eval"
