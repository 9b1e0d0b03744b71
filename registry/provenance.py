"""The provenance of a result: versions, code revision, platform, and the signature that a paper prints.

Records are passed on, so they do not identify the machine or its user: files have their names within a task, and the
platform is the system and the processor.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from registry.identity import digest, digest_json, short
from registry.version import __version__

_STORE = ("duckdb", "duckdb-sqlalchemy", "sqlalchemy", "alembic")
_COMPUTE = ("numpy", "scipy", "sacrebleu")
_EXTRAS = ("rouge-score", "nltk", "jiwer", "rapidfuzz", "pycocoevalcap")  # what scores, where it is installed


def recorded_name(path: str | Path, within: str | Path | None = None) -> str:
    """What a file is called in a record: its path relative to the folder `within`, or, outside of it, its name alone.

    >>> recorded_name("/home/ann/task/gold/test.tsv", within="/home/ann/task"), recorded_name("/home/ann/out.tsv")
    ('gold/test.tsv', 'out.tsv')
    """
    relative = "." if within is None else Path(os.path.relpath(path, within)).as_posix()
    return Path(path).name if relative == "." or relative.startswith("../") else relative


@dataclass(frozen=True)
class Code:
    """The program that ran: its version and, in a git checkout, its revision and whether files differ from it."""

    version: str
    revision: str | None
    dirty: bool | None


@cache
def code() -> Code:
    """Tell which code is running."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return Code(__version__, None, None)
    try:
        revision = _git(root, "rev-parse", "HEAD").strip()
        return Code(__version__, revision, bool(_git(root, "status", "--porcelain", "--untracked-files=no").strip()))
    except (OSError, subprocess.SubprocessError):
        return Code(__version__, None, None)


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout  # noqa: S603


def environment() -> dict[str, str]:
    """List what a result may depend on beside the code: Python, the platform and the versions of the packages.

    The platform is the system and the processor's architecture; the kernel's release would tell machines apart.
    """
    return {"python": platform.python_version(), "platform": _platform(), **_packages(_STORE), **_packages(_COMPUTE),
            **_packages(_EXTRAS)}


@cache
def computing() -> dict[str, str]:
    """List what numbers depend on to the last bit: this program's code, Python, the platform, packages that compute."""
    folder = Path(__file__).parent
    content = digest_json([[path.relative_to(folder).as_posix(), digest(path.read_bytes())]
                           for path in sorted(folder.rglob("*.py"))])
    return {"evalregistry": f"{__version__} with code {short(content)}",
            "python": ".".join(platform.python_version_tuple()[:2]), "platform": _platform(), **_packages(_COMPUTE),
            **_packages(_EXTRAS)}


def _platform() -> str:
    return f"{platform.system()} {platform.machine()}"


@cache
def _packages(names: tuple[str, ...]) -> dict[str, str]:
    """The versions of packages, where they are installed."""
    packages = {}
    for name in names:
        with suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    return packages


@dataclass(frozen=True)
class Signature:
    """What identifies one comparison; `str` of it is the one line that a paper prints.

    `identity` is the digest of the comparison's content, `gold` that of the gold annotations; `n_clusters` is given
    where clusters are the units, `strata` where units are drawn within them, and `seed` where something was drawn.
    """

    metric: str
    task: str
    task_version: str
    test_set: str
    track: str | None
    facet: str | None
    n_items: int
    n_clusters: int | None
    strata: str | None
    gold: str
    test: str
    alternative: str
    method: str | None
    runs: str
    seed: int | None
    correction: str
    family_size: int
    alpha: float
    identity: str

    def __str__(self) -> str:
        where = f"set:{self.test_set}" + (f"|track:{_inert(self.track)}" if self.track else "")
        where += f"|facet:{_inert(self.facet)}" if self.facet else ""
        n = f"n:{self.n_items}" + ("" if self.n_clusters is None else f"/{self.n_clusters}c")
        n += f"|strata:{_inert(self.strata)}" if self.strata else ""
        test = self.test + (f"-{self.method}" if self.method else "")
        test += "" if self.alternative == "two-sided" else f"|alt:{self.alternative}"
        test += "" if self.runs == "fixed" else f"|runs:{self.runs}"
        return "|".join((
            self.metric, f"task:{self.task}@{self.task_version}", where, n, f"gold:{short(self.gold)}", f"test:{test}",
            f"seed:{'-' if self.seed is None else self.seed}", f"corr:{self.correction}/{self.family_size}",
            f"a:{str(self.alpha).removeprefix('0')}", f"v:{__version__}", f"id:{short(self.identity)}",
        ))


@dataclass(frozen=True)
class StudySignature:
    """What identifies one study; `str` of it is the one line that a paper prints.

    `test_sets` are those that it looks at, `golds` the digests of their annotations, `identity` the digest of all that
    its result depends on.
    """

    study: str
    metric: str
    task: str
    task_version: str
    test_sets: tuple[str, ...]
    track: str | None
    facet: str | None
    n_items: int
    n_systems: int
    golds: tuple[str, ...]
    seed: int
    identity: str

    def __str__(self) -> str:
        where = "set:" + "+".join(map(_inert, self.test_sets)) + (f"|track:{_inert(self.track)}" if self.track else "")
        where += f"|facet:{_inert(self.facet)}" if self.facet else ""
        return "|".join((
            f"study:{_inert(self.study)}", self.metric, f"task:{self.task}@{self.task_version}", where,
            f"n:{self.n_items}", f"systems:{self.n_systems}", f"gold:{'+'.join(map(short, self.golds))}",
            f"seed:{self.seed}", f"v:{__version__}", f"id:{short(self.identity)}"))


def _inert(name: str) -> str:
    """Keep a name from looking like further fields of a signature."""
    return name.replace("%", "%25").replace("|", "%7C")
