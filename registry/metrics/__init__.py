"""One file per task kind; `METRICS` maps a metric's name to its class."""

from registry.metrics.base import Metric, QuotientMetric
from registry.metrics.labels import Accuracy
from registry.metrics.segments import BLEU, TER, ChrF
from registry.metrics.sets import SetF, SetP, SetR
from registry.metrics.spans import SpanF, SpanP, SpanR

METRICS: dict[str, type[Metric]] = {metric.name: metric for metric in (
    Accuracy, SpanP, SpanR, SpanF, SetP, SetR, SetF, BLEU, ChrF, TER,
)}

__all__ = [
    "BLEU", "METRICS", "TER", "Accuracy", "ChrF", "Metric", "QuotientMetric", "SetF", "SetP", "SetR", "SpanF", "SpanP",
    "SpanR",
]
