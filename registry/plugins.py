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

loaded: list[str] = []  # full names of the plugin classes that this process has loaded


class PluginEntry(NamedTuple):
    """A reader, metric or other class that an installed package offers as a plugin.

    Attributes:
        name: The name of the class without the package.
        package: The name of the distribution.
        version: The version of the distribution.
        entry: The entry point, which loads the class.
    """

    name: str
    package: str
    version: str
    entry: EntryPoint

    @property
    def full_name(self) -> str:
        """The name of the class with its package, such as `Within@evalregistry-toy`."""
        return f"{self.name}@{self.package}"


class Catalogue(dict[str, type[V]]):
    """Mapping from names to classes of one kind, such as all metrics, with plugins.

    `METRICS["Within@evalregistry-toy"]` loads the class `Within` of the package `evalregistry-toy`. Iteration and
    length cover only the classes of this program.

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
        plain, offered = name.partition("@")[0], {entry.name: entry for entry in self.list_plugins(package)}
        if plain not in offered:
            raise InputError(f"{package} offers no {self.kind} {plain!r}; {suggest(plain, offered)}")
        return _load(self.kind, self.base, offered[plain])

    def list_plugins(self, package: str | None = None) -> list[PluginEntry]:
        """List the plugins of this kind, without loading them.

        Args:
            package: Package that offers the plugins; None means all packages.

        Raises:
            InputError: The package is not installed.
        """
        return find_plugins(self.kind, package)

    def with_plugins(self, packages: Sequence[str]) -> dict[str, type[V]]:
        """Return the classes of this program and of some packages, by short name.

        The short name of a plugin does not include the package.

        Raises:
            InputError: A package is not installed, or two classes have the same name.
        """
        classes = dict(self)
        for package in packages:
            for plugin in self.list_plugins(package):
                if plugin.name in classes:
                    owner = find_package(classes[plugin.name].name) or "this program"  # type: ignore[attr-defined]
                    raise InputError(f"{self.kind} {plugin.name!r} of {plugin.package} has the same name as the "
                                     f"{self.kind} of {owner}; remove {plugin.package} from task.plugins, or rename "
                                     f"the {self.kind} in that package")
                classes[plugin.name] = self[plugin.full_name]
        return classes


def _load(kind: str, base: type[V], plugin: PluginEntry) -> type[V]:
    """Load and check the class of a plugin, and add the package to its name.

    Args:
        kind: Kind of the class, such as `metric`.
        base: Base class that the class must have.
        plugin: The plugin.

    Raises:
        InputError: The class cannot be loaded, or is not a valid class of this kind.
    """
    if sys.modules.get("pandas", sys) is None:  # the command line hides it from DuckDB; a plugin may need it
        del sys.modules["pandas"]
    about = f"{kind} {plugin.name!r} of {plugin.package} {plugin.version}"
    try:
        cls: Any = plugin.entry.load()
    except Exception as error:
        raise InputError(f"{about} cannot be loaded: {error!r:.300}") from None
    if not (isinstance(cls, type) and issubclass(cls, base)) or cls.__module__.partition(".")[0] == "registry":
        raise InputError(f"{about} is not a {base.__name__} that the package defines: {plugin.entry.value}")
    if lacking := sorted(cls.__abstractmethods__):  # type: ignore[attr-defined]
        raise InputError(f"{about} does not define {', '.join(lacking)}")
    name = vars(cls)["name"]
    if name not in (plugin.name, plugin.full_name):
        raise InputError(f"{about} has the name {name!r}; give its entry point the same name")
    if name == plugin.name:
        cls.name = plugin.full_name  # type: ignore[attr-defined]
        loaded.append(plugin.full_name)
    return cls


def find_plugins(kind: str, package: str | None = None) -> list[PluginEntry]:
    """List the plugins of one kind, such as `metric`, without loading them.

    Args:
        kind: The kind.
        package: Package that offers the plugins; None means all packages.

    Raises:
        InputError: The package is not installed.
    """
    group = f"evalregistry.{'studies' if kind == 'study' else f'{kind}s'}"
    entries = entry_points(group=group) if package is None else _installed(package).entry_points.select(group=group)
    return sorted(PluginEntry(entry.name, entry.dist.name, entry.dist.version, entry)
                  for entry in entries if entry.dist is not None)


def find_package(name: str) -> str | None:
    """Return the package in a plugin's name; None for classes of this program.

    >>> find_package("Within@evalregistry-toy(width=1)"), find_package('LabelF(labels=["a@b"])'), find_package("P@5")
    ('evalregistry-toy', None, None)
    """
    package = name.partition("(")[0].partition("@")[2].strip()
    return None if package.isdigit() else package or None


def versions(names: Sequence[str]) -> dict[str, str]:
    """Return the installed versions of the packages that provide some plugins.

    Args:
        names: Canonical names, such as `Within@evalregistry-toy(width=1)`; names of this program's own classes are
            ignored.

    Returns:
        Version of each package; `none` if it is not installed.
    """
    return {package: installed_version(package) or "none"
            for package in sorted(filter(None, set(map(find_package, names))))}


def installed_version(package: str) -> str | None:
    """Return the version of a package; None if the package is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _installed(package: str) -> Distribution:
    try:
        return distribution(package)
    except (PackageNotFoundError, ValueError):
        raise InputError(f"the package {package!r} is not installed: pip install {package}, or remove it from "
                         "task.plugins") from None
