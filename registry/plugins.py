"""Plugins: readers, metrics, importers, tests and studies of other packages, found by their entry points.

A package offers classes by entry points of the groups `evalregistry.readers`, `.metrics`, `.importers`, `.tests` and
`.studies`. A task lists packages in `[task] plugins` and uses plain names of their readers and metrics. Everywhere else
a class has its full name, which contains its package: `Within@evalregistry-toy`. Listing the classes of a package does
not load it. It is loaded, and its code runs, when one of its classes is requested by name.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, entry_points, version
from typing import Any, NamedTuple, TypeVar

from registry.errors import InputError, suggest

V = TypeVar("V")

loaded: list[str] = []  # the full names of what this process has loaded


class PluginEntry(NamedTuple):
    """A class that a package offers: its plain name, the package (its distribution) and the version of that."""

    name: str
    package: str
    version: str
    entry: EntryPoint

    @property
    def full_name(self) -> str:
        """The name with the package."""
        return f"{self.name}@{self.package}"


class Catalogue(dict[str, type[V]]):
    """Classes by name: the program's own, and those of packages by their full names, loaded when they are looked up.

    Iteration and length cover only the program's own classes.

    Attributes:
        kind: `reader`, `metric`, `importer`, `test` or `study`.
        base: The base class of all classes.
    """

    def __init__(self, kind: str, base: type[V], own: Sequence[type[V]]) -> None:
        super().__init__({cls.name: cls for cls in own})  # type: ignore[attr-defined]
        self.kind, self.base = kind, base

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and find_package(name) is not None)

    def __missing__(self, name: str) -> type[V]:
        package = find_package(name)
        if package is None:
            raise KeyError(name)
        plain, offered = name.partition("@")[0], {of.name: of for of in self.offered(package)}
        if plain not in offered:
            raise InputError(f"{package} offers no {self.kind} {plain!r}; {suggest(plain, offered)}")
        return _load(self.kind, self.base, offered[plain])

    def offered(self, package: str | None = None) -> list[PluginEntry]:
        """Return the classes that all packages, or one of them, offer, without loading them.

        Raises:
            InputError: The package is not installed.
        """
        return find_offered(self.kind, package)

    def with_plugins(self, packages: Sequence[str]) -> dict[str, type[V]]:
        """The program's own classes and those of some packages, all by plain names.

        Raises:
            InputError: A package is not installed, or a name is taken already.
        """
        known = dict(self)
        for package in packages:
            for of in self.offered(package):
                if of.name in known:
                    whose = find_package(known[of.name].name) or "this program"  # type: ignore[attr-defined]
                    raise InputError(f"{self.kind} {of.name!r} of {of.package} is called as one of {whose} is; leave "
                                     "the package out, or have it renamed there")
                known[of.name] = self[of.full_name]
        return known


def _load(kind: str, base: type[V], of: PluginEntry) -> type[V]:
    """Load a class, which from then on has its full name."""
    if sys.modules.get("pandas", sys) is None:  # the command line keeps it from DuckDB; a plugin may need it
        del sys.modules["pandas"]
    try:
        found: Any = of.entry.load()
    except Exception as error:
        raise InputError(f"{kind} {of.name!r} of {of.package} {of.version} cannot be loaded: {error!r:.300}") from None
    if not (isinstance(found, type) and issubclass(found, base)) or found.__module__.partition(".")[0] == "registry":
        raise InputError(f"{kind} {of.name!r} of {of.package} {of.version} is no {base.__name__} of its own: "
                         f"{of.entry.value}")
    if lacking := sorted(found.__abstractmethods__):  # type: ignore[attr-defined]
        raise InputError(f"{kind} {of.name!r} of {of.package} {of.version} does not define {', '.join(lacking)}")
    name = vars(found)["name"]
    if name not in (of.name, of.full_name):
        raise InputError(f"{kind} {of.name!r} of {of.package} {of.version} calls itself {name!r}; the entry point must "
                         "have that name")
    if name == of.name:
        found.name = of.full_name  # type: ignore[attr-defined]
        loaded.append(of.full_name)
    return found


def find_offered(kind: str, package: str | None = None) -> list[PluginEntry]:
    """Return the classes of a kind that all packages, or one of them, offer, without loading them.

    Raises:
        InputError: The package is not installed.
    """
    group = f"evalregistry.{'studies' if kind == 'study' else f'{kind}s'}"
    entries = entry_points(group=group) if package is None else _installed(package).entry_points.select(group=group)
    return sorted(PluginEntry(entry.name, entry.dist.name, entry.dist.version, entry)
                  for entry in entries if entry.dist is not None)


def find_package(name: str) -> str | None:
    """The package that something comes from, by its canonical name; None: this program.

    >>> find_package("Within@evalregistry-toy(width=1)"), find_package('LabelF(labels=["a@b"])'), find_package("P@5")
    ('evalregistry-toy', None, None)
    """
    package = name.partition("(")[0].partition("@")[2].strip()
    return None if package.isdigit() else package or None


def versions(names: Sequence[str]) -> dict[str, str]:
    """The versions of the packages that canonical names come from, where they are installed."""
    return {package: installed_version(package) or "none"
            for package in sorted(filter(None, set(map(find_package, names))))}


def installed_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _installed(package: str) -> Distribution:
    try:
        return distribution(package)
    except (PackageNotFoundError, ValueError):
        raise InputError(f"the package {package!r} is not installed: pip install {package}, or take it out of "
                         "task.plugins") from None
