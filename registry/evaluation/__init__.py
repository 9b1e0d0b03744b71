"""The composers: apply, submit, score, compare and check join readers, metrics, tests and the store."""

from registry.evaluation.checking.check import Checked, check, check_task
from registry.evaluation.comparing.compare import Compared, compare
from registry.evaluation.comparing.settings import Request, declared_request
from registry.evaluation.ingest.apply import Applied, apply, submit
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.scoring.score import Scored, score

__all__ = [
    "Applied", "Checked", "Compared", "Ingest", "Request", "Scored", "apply", "check", "check_task", "compare",
    "declared_request", "score", "submit",
]
