"""Columns of the table `submission`, with their types and rules, in one list.

Manifests, the log, past boards, `verify`, `amend`, `purge`, public files, releases, `list` and `show` take their
columns from this list. To add a column, add an entry here and a comment in `registry/store/comments.toml`. The ids of
the row itself, its test set, system and run are not in the list; `registry/store/models.py` declares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class SubmissionField:
    """A property of submissions, such as their track, and the rules for it.

    The property is a column of the table `submission`.

    Attributes:
        name: The key in manifests, and the name in the log, lists and `registry show`.
        type: `setting` is a text with few possible values. `text` and `object` (JSON) are written by people and may
            contain names of participants.
        declared_by: `participant`: manifests, `registry submit` and `registry amend`; `organiser`: only manifests
            and `registry amend`; `task`: the rules of the task; `program`: set by the program, never declared.
        default: The value if nothing is declared.
        may_change: True if a later declaration may change the value. The log records every change.
        public: `always`, `never`, `named` (the default if a pseudonym hides the team) or `replaced` (by an expression
            in `registry/publication/tables.py`).
        purged: The treatment of the value if the data of the team is deleted: `kept`, `cleared` or `replaced` (by an
            expression in `registry/evaluation/submissions/purge.py`).
        is_optional: True if the value may be NULL.
        is_released: True if a release contains the value.
    """

    name: str
    type: Literal["id", "flag", "time", "setting", "name", "text", "object", "digest"]
    declared_by: Literal["participant", "organiser", "task", "program"] = "program"
    default: Any = None
    may_change: bool = False
    public: Literal["always", "never", "named", "replaced"] = "never"
    purged: Literal["kept", "cleared", "replaced"] = "cleared"
    is_optional: bool = False
    is_released: bool = False

    @property
    def column(self) -> str:
        """Name of the column in the table: the name, or the name and `_id` for an id."""
        return f"{self.name}_id" if self.type == "id" else self.name

    @property
    def is_declared(self) -> bool:
        """True if people can set and change the property in a manifest or by a command."""
        return self.declared_by in ("participant", "organiser") and self.may_change


SUBMISSION_FIELDS = (
    SubmissionField("track", "id", "participant", may_change=True, public="always", purged="kept", is_optional=True,
                    is_released=True),
    SubmissionField("version", "name", "participant", public="replaced", purged="replaced", is_released=True),
    SubmissionField("kind", "setting", "participant", "primary", may_change=True, public="always", purged="kept",
                    is_released=True),
    SubmissionField("reader", "setting", public="replaced"),
    SubmissionField("missing", "setting", "task", may_change=True, public="always", purged="kept", is_released=True),
    SubmissionField("withdrawn", "flag", "organiser", default=False, may_change=True, public="always",
                    purged="replaced"),
    SubmissionField("late", "flag", "organiser", default=False, may_change=True, public="always", purged="kept",
                    is_released=True),
    SubmissionField("attributes", "object", "participant", {}, may_change=True, public="named", is_released=True),
    SubmissionField("digest", "digest", public="replaced", is_released=True),
    SubmissionField("created_at", "time", public="replaced", purged="kept"),
    SubmissionField("declared", "object", is_optional=True),
)

DECLARED = {field.name: field.default for field in SUBMISSION_FIELDS if field.is_declared}
CHANGEABLE = tuple(field.column for field in SUBMISSION_FIELDS if field.may_change)
# Columns that people write freely, in which a purge looks for names.
FREE = tuple(field.column for field in SUBMISSION_FIELDS if field.type in ("text", "object"))


def declarable_texts(*declared_by: str) -> tuple[str, ...]:
    """Return the names of the free-text properties that some people may declare.

    Args:
        declared_by: `participant`, `organiser` or both.
    """
    return tuple(field.name for field in SUBMISSION_FIELDS
                 if field.type == "text" and field.is_declared and field.declared_by in declared_by)
