"""What computed a score: the code of its metric and the versions of the libraries that this calls.

The code is that of the metric's modules and of all that these import from the registry, but for what only names and
refuses. Comments, docstrings and empty lines do not count. numpy and scipy do arithmetic; that their versions make no
difference, `registry verify` shows. What computed a score stands in the log, in the entry `score` of its run.
"""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import Connection

from registry.identity import digest_json, short
from registry.metrics import Metric
from registry.plugins import installed_version, package_of, versions
from registry.store.log.journal import entries

Scorer = dict[str, str]  # `code`: the digest; of every library, by its name, the version

_NAMES = {"registry.errors", "registry.values", "registry.version"}
_OF_EXTRA = {"ir": ("ir-measures",), "meteor": ("pycocoevalcap",), "rouge": ("rouge-score", "nltk"),
             "speech": ("jiwer", "rapidfuzz")}
_version = cache(installed_version)


def scorer(metric: Metric) -> Scorer:
    """What computes a metric's scores in this program."""
    original = metric.original
    classes = {*type(metric).__mro__, *type(original).__mro__}
    modules = _modules(frozenset(of.__module__ for of in classes if of.__module__.startswith("registry.")))
    modules = modules if package_of(original.name) is None else {*modules, type(original).__module__}
    libraries = [*(["sacrebleu"] if any("sacrebleu" in _imports(name) for name in modules) else []),
                 *_OF_EXTRA.get(original.extra, ())]
    return {"code": short(digest_json([[name, _code(name)] for name in sorted(modules)]))} | {
        name: _version(name) or "none" for name in libraries} | versions([metric.name, original.name])


def recorded(connection: Connection) -> dict[int, dict[str, Scorer]]:
    """What computed the scores of every run, by the metrics' names; none of what a purge blanked."""
    found: dict[int, dict[str, Scorer]] = {}
    for of in entries(connection, "score"):
        found.setdefault(of.run_id, {}).update(of.details.get("scorers", {}))
    return found


def difference(before: Scorer, now: Scorer) -> str:
    """What differs between two scorers, in words; empty where nothing does."""
    return ", ".join(f"{'its code' if name == 'code' else name} was {before.get(name, 'none')}, and is "
                     f"{now.get(name, 'none')}" for name in sorted(before.keys() | now.keys())
                     if before.get(name) != now.get(name))


@cache
def _modules(first: frozenset[str]) -> set[str]:
    """Modules, and those of the registry that they import."""
    found: set[str] = set()
    waiting = set(first) - _NAMES
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= {other for other in _imports(name) if other.startswith("registry.")} - found - _NAMES
    return found


@cache
def _imports(module: str) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "registry" else set()
            names |= inside or {node.module}
    return frozenset(names | {name.partition(".")[0] for name in names})


@cache
def _source(module: str) -> str:
    spec = find_spec(module)
    return "" if spec is None or spec.origin is None else Path(spec.origin).read_text("utf-8")


@cache
def _code(module: str) -> str:
    """The lines of a module without comments, docstrings and empty lines."""
    source = _source(module)
    lines: list[str] = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            lines[line - 1] = lines[line - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines[node.lineno - 1:node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())
