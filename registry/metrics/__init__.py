"""One file per task kind; `METRICS` maps a metric's name to its class."""

from registry.metrics.additive import Formula, Recorded
from registry.metrics.alignment import AER, AlignmentP, AlignmentR
from registry.metrics.base import AdditiveMetric, Metric, QuotientMetric
from registry.metrics.confusion import MCC, Accuracy, BalancedAccuracy, ConfusionMetric, Kappa, LabelF, LabelP, LabelR
from registry.metrics.judged import JudgedMean
from registry.metrics.meteor import METEOR
from registry.metrics.overlap import SpanOverlapF, SpanOverlapP, SpanOverlapR
from registry.metrics.parsing import (
    BLEX,
    CLAS,
    LAS,
    MLAS,
    UAS,
    UPOS,
    XPOS,
    AllTags,
    Lemmas,
    PlainLAS,
    PlainUAS,
    Sentences,
    Tokens,
    UFeats,
    Words,
)
from registry.metrics.perplexity import BitsPerCharacter, Perplexity
from registry.metrics.retrieval import AP, ERR, NDCG, RR, Bpref, GeometricMeanAP, P, RPrecision
from registry.metrics.retrieved import (
    ElevenPoint,
    InterpolatedPrecision,
    RecallAt,
    RelevantRetrieved,
    SetAP,
    SetFBeta,
    SetPrecision,
    SetRecall,
    SetRelativePrecision,
    Success,
)
from registry.metrics.rouge import ROUGE
from registry.metrics.scores import MAE, RMSE, CorrelationMetric, Kendall, Mean, Pearson, Spearman
from registry.metrics.segments import BLEU, TER, ChrF
from registry.metrics.sets import SetF, SetP, SetR
from registry.metrics.spans import SpanF, SpanP, SpanPartialF, SpanPartialP, SpanPartialR, SpanR
from registry.metrics.speech import CER, WER
from registry.plugins import Catalogue

METRICS: Catalogue[Metric] = Catalogue("metric", Metric, (  # type: ignore[type-abstract]
    Accuracy,
    LabelP,
    LabelR,
    LabelF,
    BalancedAccuracy,
    MCC,
    Kappa,
    SpanP,
    SpanR,
    SpanF,
    SpanPartialP,
    SpanPartialR,
    SpanPartialF,
    SpanOverlapP,
    SpanOverlapR,
    SpanOverlapF,
    SetP,
    SetR,
    SetF,
    BLEU,
    ChrF,
    TER,
    METEOR,
    ROUGE,
    WER,
    CER,
    Mean,
    MAE,
    RMSE,
    Perplexity,
    BitsPerCharacter,
    Formula,
    JudgedMean,
    P,
    AP,
    GeometricMeanAP,
    NDCG,
    RR,
    RPrecision,
    Bpref,
    ERR,
    RecallAt,
    Success,
    SetPrecision,
    SetRecall,
    SetFBeta,
    SetAP,
    SetRelativePrecision,
    InterpolatedPrecision,
    ElevenPoint,
    RelevantRetrieved,
    Tokens,
    Sentences,
    Words,
    UPOS,
    XPOS,
    UFeats,
    AllTags,
    Lemmas,
    UAS,
    LAS,
    CLAS,
    MLAS,
    BLEX,
    PlainUAS,
    PlainLAS,
    AER,
    AlignmentP,
    AlignmentR,
    Pearson,
    Spearman,
    Kendall,
    Recorded,
))

__all__ = [
    "AER", "AP", "BLEU", "BLEX", "CER", "CLAS", "ERR", "LAS", "MAE", "MCC", "METEOR", "METRICS", "MLAS", "NDCG",
    "RMSE", "ROUGE", "RR", "TER", "UAS", "UPOS", "WER", "XPOS", "Accuracy", "AdditiveMetric", "AlignmentP",
    "AlignmentR", "AllTags", "BalancedAccuracy", "BitsPerCharacter", "Bpref", "ChrF", "ConfusionMetric",
    "CorrelationMetric", "ElevenPoint", "Formula", "InterpolatedPrecision", "JudgedMean", "Kappa", "Kendall", "LabelF",
    "LabelP", "LabelR", "Lemmas", "Mean", "Metric", "P", "Pearson", "Perplexity", "PlainLAS", "PlainUAS",
    "QuotientMetric", "RPrecision", "RecallAt", "Recorded", "RelevantRetrieved", "Sentences", "SetAP", "SetF",
    "SetFBeta", "SetP", "SetPrecision", "SetR", "SetRecall", "SetRelativePrecision", "SpanF", "SpanOverlapF",
    "SpanOverlapP", "SpanOverlapR", "SpanP", "SpanPartialF", "SpanPartialP", "SpanPartialR", "SpanR", "Spearman",
    "Success", "Tokens", "UFeats", "Words",
]
