"""Metrics of what a run retrieves: recall, success, sets of documents without their order, and precision at recalls.

All are trec_eval's, see `registry.metrics.retrieval`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from registry.errors import InputError
from registry.metrics.base import FROM_ZERO, FScore, needed_module
from registry.metrics.retrieval import Judgments, Run, TrecEvalMetric


class _RelevantMetric(TrecEvalMetric):
    """What all share: a document is relevant or not, from the relevance `rel` on."""

    rel: int = field(default=1, kw_only=True)

    def calculated(self, options: Mapping[str, float], judgments: Judgments, run: Run) -> dict[str, float]:
        """Score by judgments of 1 and 0: of others pytrec_eval counts all that are relevant from 1 on."""
        relevant = {query: {name: int(grade >= self.rel) for name, grade in judged.items()}
                    for query, judged in judgments.items()}
        return super().calculated({name: value for name, value in options.items() if name != "rel"}, relevant, run)


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
        return self.calculated({"beta": self.beta**2}, judgments, run)


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
        """Ask pytrec_eval itself, as ir-measures does not know it."""
        evaluator = needed_module("pytrec_eval", self).RelevanceEvaluator(
            judgments, {self.name}, relevance_level=self.rel)
        return {query: found[self.name] for query, found in evaluator.evaluate(run).items()} if run else {}


class RelevantRetrieved(_RelevantMetric):
    """How many relevant documents are retrieved, on average; trec_eval tells their sum over all queries."""

    called = "relevant documents retrieved"
    name = "num_rel_ret"
    measure = "NumRelRet"
    score_range = FROM_ZERO
    citation = "trec_eval (Buckley)"
