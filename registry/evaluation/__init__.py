"""The composers: apply, submit, score, compare and check join readers, metrics, tests and the store."""

from registry.evaluation.apply import Applied, apply, submit
from registry.evaluation.check import Checked, check, check_task
from registry.evaluation.compare import Compared, compare
from registry.evaluation.readings import Readings
from registry.evaluation.requests import Request, declared_request
from registry.evaluation.score import Scored, score

__all__ = [
    "Applied", "Checked", "Compared", "Readings", "Request", "Scored", "apply", "check", "check_task", "compare",
    "declared_request", "score", "submit",
]
