"""The scores of one submission, on whatever leaderboards it stands."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, text

from registry.errors import MismatchError, UnknownNameError
from registry.store.embargoes import require_scores


class SubmissionScore(NamedTuple):
    """One score of a submission: by which metric on which test set; None where it is undefined."""

    test_set: str
    metric: str
    score: float | None


def submission_scores(connection: Connection, task: str, submission: str) -> list[SubmissionScore]:
    """All scores of one submission, `team/system` or `team/system@version`, in the order of the manifest.

    Raises:
        UnknownNameError: No submission that takes part is called so.
        MismatchError: It is not scored yet.
        HiddenError: Scores are not public yet.
    """
    require_scores(connection, task)
    rows = connection.execute(text("""
        SELECT name, team || '/' || system AS named, version FROM ranked_submission WHERE task = :task"""),
        {"task": task}).all()
    known = {name for row in rows for name in (row.named, f"{row.named}@{row.version}")}
    if submission not in known:
        raise UnknownNameError("submission", submission, known)
    names = [row.name for row in rows if submission in (row.named, f"{row.named}@{row.version}")]
    found = connection.execute(
        text("SELECT test_set, metric, score FROM submission_score WHERE submission IN :names").bindparams(
            bindparam("names", expanding=True)), {"names": names})
    scores = [SubmissionScore._make(row) for row in found]
    if not scores:
        raise MismatchError(f"{submission} is not scored yet; `registry score` does it")
    return scores
