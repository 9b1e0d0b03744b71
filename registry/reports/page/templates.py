"""Templates that escape whatever they are given, and policies that admit styles and scripts by their hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from registry.leaderboards.leaderboard import DECIMALS
from registry.rendering.table import number, visible
from registry.version import __version__


def rendered(template: str, **values: object) -> str:
    """A template with these values, of which `Markup` alone is not escaped."""
    return environment("registry.reports.page").get_template(template).render(program=__version__, **values)


def style(names: Sequence[str]) -> Markup:
    """Styles together, for one element."""
    return Markup("".join(_asset("styles", name) for name in names))  # noqa: S704


def script(page: str) -> Markup:
    """Return the script of a page, bundled from its modules in `scripts` (`make js`)."""
    return Markup(_asset("bundles", f"{page}.js"))  # noqa: S704


def policy(styled: str, scripted: str, *, beside: bool = False) -> str:
    """Nothing but this style, script and icon, and files beside the page that it loads; and no elements out of text."""
    loaded, types = (" 'strict-dynamic'", "pairs") if beside else ("", "'none'")
    return (f"default-src 'none'; script-src {hashed(scripted)}{loaded}; style-src {hashed(styled)}; img-src data:; "
            f"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types {types}")


@cache
def environment(package: str) -> Environment:
    """The templates of a package, which escape all values."""
    found = Environment(loader=PackageLoader(package, "templates"), autoescape=True, undefined=StrictUndefined,
                        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    found.filters |= {"visible": visible, "score": _score, "breakable": _breakable}
    return found


def hashed(content: str) -> str:
    """The source of a policy that admits just this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _breakable(name: str) -> Markup:
    """A name that can break after its parts."""
    return Markup("<wbr>").join(re.split(r"(?<=[._/])(?=\w)", name))


def _score(score: float | None, decimals: int = DECIMALS) -> str:
    return number(decimals)(score)


@cache
def _asset(folder: str, name: str) -> str:
    return (files("registry.reports.page") / folder / name).read_text("utf-8")
