"""The wheels that a scoring program carries: what checking and scoring import, and what that needs in turn.

They are taken from a folder, never from the network, so that the same folder gives the same bundle. They must fit
CPython on Linux x86-64, which is what platforms' images are.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import Parser
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from registry.errors import InputError
from registry.evaluation.scorers import scorer
from registry.metrics import METEOR, Metric

ALWAYS = ("numpy", "pydantic", "threadpoolctl")  # what checking and scoring import whatever the task
_FETCHED = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")  # pip takes those named alone
_PLATFORMS = [f"manylinux_2_{n}_x86_64" for n in range(28, 16, -1)] + [
    "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]


@dataclass(frozen=True)
class Wheel:
    """A wheel in a folder, and its version."""

    path: Path
    version: Version

    def requirements(self, python: str) -> list[Requirement]:
        """What it needs on Linux.

        Raises:
            InputError: It is no wheel.
        """
        try:
            with zipfile.ZipFile(self.path) as archive:
                (name,) = (n for n in archive.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA"))
                text = archive.read(name).decode()
            found = [Requirement(line) for line in Parser().parsestr(text, headersonly=True).get_all(
                "Requires-Dist", [])]
        except (OSError, ValueError, zipfile.BadZipFile, InvalidRequirement) as error:
            raise InputError(f"not a wheel: {error}", path=self.path) from None
        return [of for of in found if of.marker is None or of.marker.evaluate(_environment(python))]


def needed_wheels(folder: Path, metrics: Iterable[Metric], python: str) -> list[Path]:
    """Find the wheels in `folder` that a scoring program of these metrics needs under a version of Python.

    Raises:
        InputError: One is not there, or there is no such folder; says how to fetch all. Or a metric needs more than
            wheels.
    """
    roots = _roots(metrics)
    fetch = (f"pip download --only-binary=:all: --python-version {python} "
             + "".join(f"--platform {platform} " for platform in _FETCHED)
             + f"-d {folder} " + " ".join(f"'{root}'" for root in roots))
    if not folder.is_dir():
        raise InputError(f"no such folder; `{fetch}` fetches the wheels", path=folder)
    known = _wheels(folder, python)
    chosen: dict[str, Wheel] = {}
    waiting = list(roots)
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (wheel := chosen.get(name)) is None:
            fitting = [of for of in known.get(name, ()) if wanted.specifier.contains(of.version, prereleases=True)]
            if not fitting:
                raise InputError(f"no wheel of {wanted} here for CPython {python} on Linux x86-64; `{fetch}` fetches "
                                 "all that are needed", path=folder)
            chosen[name] = wheel = max(fitting, key=lambda of: of.version)
            waiting += wheel.requirements(python)
        if not wanted.specifier.contains(wheel.version, prereleases=True):
            raise InputError(f"{wheel.path.name} is here, and {wanted} is needed; empty the folder, then `{fetch}`",
                             path=folder)
    return sorted((wheel.path for wheel in chosen.values()), key=lambda path: path.name)


def _roots(metrics: Iterable[Metric]) -> list[Requirement]:
    """What the program itself imports: always, and for these metrics."""
    names = set(ALWAYS)
    for metric in metrics:
        if isinstance(metric, METEOR):
            raise InputError(f"{metric!r} needs Java, which the image of a scoring program does not have; leave it to "
                             "the registry's own boards")
        names |= scorer(metric).keys() - {"revision"}
    declared = _declared()
    return [declared.get(name, Requirement(name)) for name in sorted(names)]


def _declared() -> Mapping[str, Requirement]:
    """The requirements of this package by name, without their markers."""
    try:
        lines = metadata.requires("evalregistry") or []
    except metadata.PackageNotFoundError:
        lines = []
    found: dict[str, Requirement] = {}
    for line in lines:
        of = Requirement(line)
        found.setdefault(of.name, Requirement(f"{of.name}{of.specifier}"))
    return found


def _wheels(folder: Path, python: str) -> dict[str, list[Wheel]]:
    """The wheels of a folder that fit, by their distribution."""
    major, minor = (int(part) for part in python.split("."))
    fitting = {*cpython_tags((major, minor), platforms=_PLATFORMS),
               *compatible_tags((major, minor), f"cp{major}{minor}", _PLATFORMS)}
    found: dict[str, list[Wheel]] = {}
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename as error:
            raise InputError(f"not a wheel's name: {error}", path=path) from None
        if tags & fitting:
            found.setdefault(name, []).append(Wheel(path, version))
    return found


def _environment(python: str) -> dict[str, str]:
    """What markers of requirements are held against."""
    return {"implementation_name": "cpython", "implementation_version": f"{python}.0", "os_name": "posix",
            "platform_machine": "x86_64", "platform_python_implementation": "CPython", "platform_release": "",
            "platform_system": "Linux", "platform_version": "", "python_full_version": f"{python}.0",
            "python_version": python, "sys_platform": "linux", "extra": ""}
