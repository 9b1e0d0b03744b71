"""The page of a task as HTML, and the files of pairs next to it.

Templates escape all values, and a content-security policy allows styles and scripts by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from registry.arrays import Ints
from registry.boards.leaderboard import DECIMALS, Decisions, Leaderboard
from registry.boards.snapshot import TaskBoards
from registry.rendering.table import escape_controls, make_number_format
from registry.reports.columns import BOARD_KEYS, make_page_columns
from registry.reports.page.data import (
    COLUMNS,
    Json,
    dump_json,
    find_reaches,
    make_about,
    make_board_data,
    make_board_key,
    make_confusions_data,
    make_details_data,
    make_histories_data,
    make_items_data,
    make_systems_data,
    make_wide_data,
    number_systems,
    pack_columns,
)
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
    found.filters |= {"visible": escape_controls, "score": _score, "breakable": _breakable}
    return found


def hashed(content: str) -> str:
    """The source of a policy that admits just this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _breakable(name: str) -> Markup:
    """A name that can break after its parts."""
    return Markup("<wbr>").join(re.split(r"(?<=[._/])(?=\w)", name))


def _score(score: float | None, decimals: int = DECIMALS) -> str:
    return make_number_format(decimals)(score)


@cache
def _asset(folder: str, name: str) -> str:
    return (files("registry.reports.page") / folder / name).read_text("utf-8")


STYLES = ("base.css", "about.css", "table.css", "charts.css", "pairs.css", "systems.css", "items.css", "media.css")


def page(contents: TaskBoards, home: str = "", folder: str | None = None) -> str:
    """A task's page; the same contents give the same bytes.

    Args:
        contents: What it shows.
        home: Where the site's index is, for a link to it.
        folder: Where `pair_files` are, beside the page; None: the page stands alone.
    """
    shown = page_data(contents, folder)
    data, beside = dump_json(shown), any(board["files"] for board in shown["boards"])
    styled, scripted, about = style(STYLES), script("page"), make_about(contents)
    return rendered("page.html", heading=f"{contents.title or contents.task}: leaderboards", preview=about["preview"],
                    contents=contents, about=about, home=home, script=scripted, style=styled,
                    data=Markup(data), policy=policy(styled, scripted, beside=beside))  # noqa: S704


def page_data(contents: TaskBoards, folder: str | None = None) -> Json:
    """Everything that a page shows; `folder` has the files of pairs that are left out."""
    boards, details = contents.primary_first, contents.details
    written, names = [], number_systems(boards)
    for n, (board, reach) in enumerate(zip(boards, find_reaches(boards), strict=True)):
        files = {"folder": f"{folder}/{n}", "key": make_board_key(board)} if folder and reach is not None else None
        written.append(make_board_data(board, reach) | {"files": files})
    task = {"id": contents.task, "title": contents.title, "version": contents.version,
            "cost_unit": contents.about.declared.cost_unit}
    return {"task": task, "keys": BOARD_KEYS, "columns": make_page_columns(), "boards": written,
            "systems": make_systems_data(boards), "details": make_details_data(names, details),
            "confusions": make_confusions_data(details.confusions, list(names)),
            "histories": dict(make_histories_data(details.histories, boards, names)),
            "items": dict(make_items_data(contents.items or ())),
            "wide": list(make_wide_data(boards, contents.averages))}


def pair_files(boards: Sequence[Leaderboard]) -> Iterator[tuple[str, str]]:
    """Every file of a page: its name within their folder, of the numbers of board and place, and its content."""
    for n, (board, reach) in enumerate(zip(boards, find_reaches(boards), strict=True)):
        if reach is not None:
            pairs, systems = _written_of(board), len(board.standings)
            rows = np.argsort(np.concatenate([pairs.a, pairs.b]).astype(np.int32), kind="stable")
            ends = np.cumsum(np.bincount(np.concatenate([pairs.a, pairs.b]), minlength=systems))
            for place, of_system in enumerate(np.split(rows, ends[:-1])):
                yield f"{n}/{place}.js", _file(board, pairs, place, of_system % len(pairs))


def pair_file(boards: Sequence[Leaderboard], n: int, place: int) -> str | None:
    """One of these files, of the board of a number and the system at a place; None where there is none."""
    if n >= len(boards) or place >= len(boards[n].standings) or find_reaches(boards)[n] is None:
        return None
    pairs = _written_of(boards[n])
    return _file(boards[n], pairs, place, np.flatnonzero((pairs.a == place) | (pairs.b == place)))


def _written_of(board: Leaderboard) -> Decisions:
    """The pairs of a board with the columns that files have."""
    pairs = board.decisions
    return Decisions(pairs.a, pairs.b, {name: pairs.columns[name] for name in ("significant", *COLUMNS)})


def _file(board: Leaderboard, pairs: Decisions, place: int, of_system: Ints) -> str:
    """The file of the system at a place, whose pairs these are: their columns, in the order of the others."""
    others = pairs.a[of_system] + pairs.b[of_system] - place
    order = np.argsort(others)
    tested = {} if len(others) == len(board.standings) - 1 else {"others": others[order].tolist()}
    columns = tested | pack_columns(pairs.select(of_system[order]))
    return f"evalregistryPairs({json.dumps([make_board_key(board), place, columns], separators=(',', ':'))});\n"
