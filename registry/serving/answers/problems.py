"""What goes wrong, as HTTP tells it: a status, and one sentence that says what to do; never a path or a traceback."""

from __future__ import annotations

from collections.abc import Mapping

from registry.errors import HiddenError, InputError, LimitError, MismatchError, RegistryError, UnknownNameError

BUSY = "the registry is busy or cannot be read now; ask again in a moment"
FAILED = "something went wrong here; the log of the server has the details"


class ProblemError(Exception):
    """An answer that is none.

    Attributes:
        status: Of HTTP.
        message: What is wrong, and what to do.
        excerpt: What is easier seen than told.
        headers: What else is answered.
    """

    def __init__(self, status: int, message: str, excerpt: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.excerpt, self.headers = status, message, excerpt, headers or {}


def busy() -> ProblemError:
    """Return the answer to a request that may succeed in a moment."""
    return ProblemError(503, BUSY, headers={"Retry-After": "2"})


def problem_of(error: Exception) -> ProblemError | None:
    """An error as HTTP tells it; None where it is nothing that a client could understand."""
    match error:
        case ProblemError():
            return error
        case HiddenError():
            return ProblemError(403, str(error))
        case UnknownNameError() | MismatchError():
            return ProblemError(404, str(error), error.excerpt)
        case InputError():
            return ProblemError(400, str(error), error.excerpt)
        case LimitError():
            return ProblemError(422, str(error))
        case RegistryError():
            return busy()
    return None
