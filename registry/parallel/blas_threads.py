"""The threads of linear algebra: one, where the work itself is shared among threads."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[object]:
    """Let matrix products have one thread each, in this process and for a while."""
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads of their own; to find them takes milliseconds, and only an import brings another."""
    return ThreadpoolController()
