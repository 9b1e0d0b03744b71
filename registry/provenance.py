"""Provenance of results: program, versions, platform, and signatures for papers.

Registries are published. So these records do not identify the computer or its user: paths of files are relative to the
task, paths of manifests are relative to the registry, and the platform is only the operating system and the type of
processor.
"""

from __future__ import annotations

import os
import platform
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from registry.errors import InputError
from registry.identity import digest, digest_json, short
from registry.plugins import installed_version, loaded, versions
from registry.version import __version__

_STORE = ("duckdb", "duckdb-sqlalchemy", "sqlalchemy", "alembic")
_COMPUTE = ("numpy", "scipy")
_METHODS = ("exact", "ideal", "monte-carlo", "asymptotic", "bound", "mixed")  # mixed: several methods
# Packages that compute scores. Their versions are recorded if they are installed.
_EXTRAS = ("sacrebleu", "rouge-score", "nltk", "jiwer", "rapidfuzz", "pycocoevalcap")


def recorded_name(path: str | Path, within: str | Path | None = None) -> str:
    """Return a file's name for the log, which does not reveal the user's folders.

    The name is the path relative to the folder `within`, or only the file name if the file is elsewhere.

    >>> recorded_name("/home/ann/task/gold/test.tsv", within="/home/ann/task"), recorded_name("/home/ann/out.tsv")
    ('gold/test.tsv', 'out.tsv')
    """
    relative = "." if within is None else Path(os.path.relpath(path, within)).as_posix()
    return Path(path).name if relative == "." or relative.startswith("../") else relative


@dataclass(frozen=True)
class Code:
    """The version of this program.

    Attributes:
        version: The version number.
        revision: The git commit; None if the program does not run in a git checkout.
        dirty: True if files differ from the commit; None if the program does not run in a git checkout.
    """

    version: str
    revision: str | None
    dirty: bool | None


@cache
def code() -> Code:
    """Return the version and the git commit of this program."""
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
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=10).stdout  # noqa: S603


def environment() -> dict[str, str]:
    """Return all versions that may affect a result, by name, for the log.

    The versions are those of the code, Python, the platform, packages, and the processor instructions that numpy uses,
    because they affect the last bits of sums.
    """
    return {"code": _compute_code_digest(), "python": platform.python_version(), "platform": _platform(),
            **_list_processor_features(), **_list_versions(_STORE), **_list_versions(_COMPUTE),
            **_list_versions(_EXTRAS), **versions(loaded)}


@cache
def computing_versions() -> dict[str, str]:
    """Return the versions that two computers must share to compute equal numbers.

    The versions are those of this program, Python, the platform, and the packages that compute.
    """
    return {"evalregistry": f"{__version__} with code {_compute_code_digest()}",
            "python": ".".join(platform.python_version_tuple()[:2]), "platform": _platform(),
            **_list_versions(_COMPUTE), **_list_versions(_EXTRAS)}


@cache
def _compute_code_digest() -> str:
    """Return a short digest of the source code of this program.

    A git commit would be less exact: not every commit changes a module, and an installed wheel has no commit.
    """
    folder = Path(__file__).parent
    return short(digest_json([[path.relative_to(folder).as_posix(), digest(path.read_bytes())]
                              for path in sorted(folder.rglob("*.py"))]))


def _platform() -> str:
    return f"{platform.system()} {platform.machine()}"


@cache
def _list_processor_features() -> dict[str, str]:
    """Return the processor instructions that numpy and its algebra library use."""
    import numpy as np  # imported late, because printing a version does not need numpy
    from threadpoolctl import threadpool_info

    vectors = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    # Other packages may have loaded their own BLAS, so only that of numpy counts.
    folder = str(Path(np.__file__).parent)
    own = [library for library in libraries if library["filepath"].startswith(folder)] or libraries
    kinds = {library.get("architecture", library["internal_api"]) for library in own}
    return {"vectors": " ".join(vectors), "blas": " ".join(sorted(kinds))}


@cache
def _list_versions(names: tuple[str, ...]) -> dict[str, str]:
    return {name: version for name in names if (version := installed_version(name)) is not None}


class _Line(ABC):
    """Base class of signatures, which are lines of text that identify a result.

    `str` writes the line, and `parse` reads it.
    """

    @classmethod
    def parse(cls, line: str) -> Self:
        """Convert a line of text to a signature.

        Raises:
            InputError: The line is not a signature, or `str` would write the signature in another way.
        """
        try:
            signature = cls._parse(line)
        except KeyError as error:
            raise InputError(f"this line is not a signature: it has no field {error.args[0]!r}") from None
        except ValueError as error:
            raise InputError(f"this line is not a signature: {error}") from None
        if str(signature) != line:
            raise InputError("this line is not a signature as the program writes it; the program would write "
                             f"{signature}")
        return signature

    @classmethod
    @abstractmethod
    def _parse(cls, line: str) -> Self:
        """Convert a line of text to a signature, without validation."""


@dataclass(frozen=True)
class Signature(_Line):
    """Signature of a comparison: a line for papers that identifies data and settings.

    The line is printed below a leaderboard and stored with the results.

    Attributes:
        metric: Alias of the metric.
        task, task_version, test_set, track, facet: These identify the leaderboard.
        n_items: Number of items.
        n_clusters: Number of clusters; None if clusters are not permuted or resampled as a whole.
        strata: Attribute whose values are the strata; None if there are no strata.
        gold: First digits of the digest of the gold.
        test: The test of pairs.
        alternative: `two-sided`, `greater`, or `observed` if the test takes its direction from the data.
        method: Method of the p-values, such as `exact`; `mixed` if pairs have different methods.
        runs: `fixed` or `random`.
        seed: The seed; None if the results do not depend on random numbers.
        correction: Method that corrects p-values for the number of pairs.
        family_size: Number of pairs whose p-values are corrected together.
        alpha: The significance level.
        identity: First digits of the digest that identifies the comparison.
        version: Version of this program.
        n_boards: Number of leaderboards whose pairs are corrected together.
        plugins: Name and version of the packages that define the metric, reader or test.
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
    version: str = __version__
    n_boards: int = 1
    plugins: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        where = f"set:{self.test_set}" + (f"|track:{_escape(self.track)}" if self.track else "")
        where += f"|facet:{_escape(self.facet)}" if self.facet else ""
        n = f"n:{self.n_items}" + ("" if self.n_clusters is None else f"/{self.n_clusters}c")
        n += f"|strata:{_escape(self.strata)}" if self.strata else ""
        test = _escape(self.test) + (f"-{self.method}" if self.method else "")
        test += "" if self.alternative == "two-sided" else f"|alt:{self.alternative}"
        test += "" if self.runs == "fixed" else f"|runs:{self.runs}"
        plugins = ["plugins:" + ",".join(f"{name}@{version}" for name, version in self.plugins)] * bool(self.plugins)
        return "|".join((
            self.metric, f"task:{self.task}@{self.task_version}", where, n, f"gold:{self.gold}", f"test:{test}",
            f"seed:{'-' if self.seed is None else self.seed}",
            f"corr:{self.correction}/{self.family_size}" + (f"/{self.n_boards}b" if self.n_boards > 1 else ""),
            f"a:{str(self.alpha).removeprefix('0')}", *plugins, f"v:{self.version}", f"id:{self.identity}",
        ))

    @classmethod
    def _parse(cls, line: str) -> Self:
        metric, _, rest = line.partition("|")
        fields = _split_fields(rest)
        task, _, task_version = fields["task"].partition("@")
        n, _, clusters = fields["n"].partition("/")
        test, _, method = fields["test"].rpartition("-")
        if method == "carlo":
            test, method = test.removesuffix("-monte"), "monte-carlo"
        if method not in _METHODS:
            test, method = fields["test"], ""
        correction, family, *boards = fields["corr"].split("/")
        return cls(
            metric, task, task_version, fields["set"], _unescape(fields.get("track")), _unescape(fields.get("facet")),
            int(n), int(clusters.removesuffix("c")) if clusters else None, _unescape(fields.get("strata")),
            fields["gold"], str(_unescape(test)), fields.get("alt", "two-sided"), method or None,
            fields.get("runs", "fixed"), None if fields["seed"] == "-" else int(fields["seed"]), correction,
            int(family), float(fields["a"]), fields["id"], fields["v"],
            int(boards[0].removesuffix("b")) if boards else 1,
            tuple((name, version) for part in fields.get("plugins", "").split(",") if part
                  for name, _, version in [part.partition("@")]))


@dataclass(frozen=True)
class StudySignature(_Line):
    """Signature of a study: a line for papers that identifies data and settings.

    A study is an analysis of leaderboards, such as one of their power.

    Attributes:
        study: The kind of study with its settings.
        metric: Alias of the metric; several are joined by a plus sign.
        task, task_version, track, facet: These identify the leaderboards that the study uses.
        test_sets: Names of the test sets.
        n_items: Number of items.
        n_systems: Number of systems.
        golds: First digits of the digest of the gold, for each test set.
        seed: The seed.
        identity: First digits of a digest of all data and settings that affect the result.
        version: Version of this program.
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
    version: str = __version__

    def __str__(self) -> str:
        where = "set:" + "+".join(self.test_sets) + (f"|track:{_escape(self.track)}" if self.track else "")
        where += f"|facet:{_escape(self.facet)}" if self.facet else ""
        return "|".join((
            f"study:{_escape(self.study)}", self.metric, f"task:{self.task}@{self.task_version}", where,
            f"n:{self.n_items}", f"systems:{self.n_systems}", f"gold:{'+'.join(self.golds)}",
            f"seed:{self.seed}", f"v:{self.version}", f"id:{self.identity}"))

    @classmethod
    def _parse(cls, line: str) -> Self:
        study, _, rest = line.partition("|")
        metric, _, rest = rest.partition("|")
        fields = _split_fields(f"{study}|{rest}")
        task, _, task_version = fields["task"].partition("@")
        return cls(
            str(_unescape(fields["study"])), metric, task, task_version, tuple(fields["set"].split("+")),
            _unescape(fields.get("track")), _unescape(fields.get("facet")), int(fields["n"]), int(fields["systems"]),
            tuple(fields["gold"].split("+")), int(fields["seed"]), fields["id"], fields["v"])


def parse_signature(line: str) -> Signature | StudySignature:
    """Convert a line of text to the signature of a comparison or of a study.

    Raises:
        InputError: The line is not a signature, or `str` would write the signature in another way.
    """
    return StudySignature.parse(line) if line.startswith("study:") else Signature.parse(line)


def _split_fields(line: str) -> dict[str, str]:
    """Split the text of a signature: `a:1|b:2` -> {"a": "1", "b": "2"}."""
    values = {}
    for part in line.split("|"):
        name, colon, value = part.partition(":")
        if not colon:
            raise ValueError(f"{part!r} is not of the form NAME:VALUE")
        values[name] = value
    return values


def _escape(name: str) -> str:
    return name.replace("%", "%25").replace("|", "%7C")


def _unescape(name: str | None) -> str | None:
    return None if name is None else name.replace("%7C", "|").replace("%25", "%")
