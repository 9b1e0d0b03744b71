"""Importers of results from other evaluation programs; `IMPORTERS` lists all."""

from registry.importers.base import Importer
from registry.importers.eval_arena import EvalArena
from registry.importers.every_eval_ever import EveryEvalEver
from registry.importers.helm import Helm
from registry.importers.inspect import Inspect
from registry.importers.judgments import Ratings, Votes
from registry.importers.lm_eval import LmEval
from registry.importers.mt_metrics_eval import MtMetricsEval
from registry.importers.mteb import Mteb
from registry.importers.swebench import SweBench
from registry.importers.tables import Long, Plain, Wide
from registry.manifest.folder import TaskFolder
from registry.plugins import Catalogue

IMPORTERS: Catalogue[Importer] = Catalogue("importer", Importer, (  # type: ignore[type-abstract]
    Wide, Long, LmEval, Inspect, Helm, SweBench, EveryEvalEver, EvalArena, Mteb, MtMetricsEval, Votes, Ratings, Plain,
))

__all__ = [
    "IMPORTERS", "EvalArena", "EveryEvalEver", "Helm", "Importer", "Inspect", "LmEval", "Long", "MtMetricsEval", "Mteb",
    "Plain", "Ratings", "SweBench", "TaskFolder", "Votes", "Wide",
]
