"""The page of a task as HTML, and the files of pairs next to the page.

Templates escape all values. A content-security policy allows styles and scripts by their hashes.
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
    make_average_result,
    make_board_data,
    make_board_key,
    make_board_overview,
    make_confusions_data,
    make_details_data,
    make_histories_data,
    make_items_data,
    make_result,
    make_systems_data,
    make_wide_data,
    number_systems,
    pack_columns,
)
from registry.version import __version__


def render_template(template: str, **values: object) -> str:
    """Render an HTML template; all values are escaped, except `Markup` objects."""
    return make_environment("registry.reports.page").get_template(template).render(program=__version__, **values)


def load_styles(names: Sequence[str]) -> Markup:
    """Load style sheets, such as `base.css`, and return them as one text."""
    return Markup("".join(_load_asset("styles", name) for name in names))  # noqa: S704


def load_script(page: str) -> Markup:
    """Load the JavaScript of a page, which `make js` bundled into one file."""
    return Markup(_load_asset("bundles", f"{page}.js"))  # noqa: S704


def make_policy(css: str, js: str, *, has_files: bool = False) -> str:
    """Return a content-security policy that allows only one style and one script.

    Args:
        css: The content of the style.
        js: The content of the script.
        has_files: True if the script may load further files with pairs of systems.
    """
    loading, types = (" 'strict-dynamic'", "pairs") if has_files else ("", "'none'")
    return (f"default-src 'none'; script-src {hash_source(js)}{loading}; style-src {hash_source(css)}; img-src data:; "
            f"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types {types}")


@cache
def make_environment(package: str) -> Environment:
    """Return the Jinja environment for the templates of a Python package.

    The templates escape all values, and raise an error for undefined values.
    """
    environment = Environment(loader=PackageLoader(package, "templates"), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters |= {"visible": escape_controls, "score": _format_score, "breakable": _allow_breaks}
    return environment


def hash_source(content: str) -> str:
    """Return the hash of a style or script for a content-security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _allow_breaks(name: str) -> Markup:
    return Markup("<wbr>").join(re.split(r"(?<=[._/])(?=\w)", name))


def _format_score(score: float | None, decimals: int = DECIMALS) -> str:
    return make_number_format(decimals)(score)


@cache
def _load_asset(folder: str, name: str) -> str:
    return (files("registry.reports.page") / folder / name).read_text("utf-8")


STYLES = ("base.css", "about.css", "table.css", "charts.css", "pairs.css", "systems.css", "items.css", "media.css")


def page(contents: TaskBoards, home: str = "", folder: str | None = None) -> str:
    """Return the HTML page of a task with all its leaderboards.

    Equal contents give an identical page.

    Args:
        contents: The leaderboards and details of the task.
        home: The address of the site's index, for a link; empty: no link.
        folder: The folder next to the page with files of test results that are too many for the page; None: no such
            files.
    """
    data, boards = make_page_data(contents, folder), contents.primary_first
    has_files = any(board["files"] for board in data["boards"])
    css, js, about = load_styles(STYLES), load_script("page"), make_about(contents)
    return render_template("page.html", heading=f"{contents.title or contents.task}: leaderboards",
                           preview=about["preview"], contents=contents, about=about, home=home,
                           result=make_result(boards[0], boards),
                           average=make_average_result(boards, contents.averages),
                           overview=make_board_overview(boards, contents.averages) if len(boards) > 1 else None,
                           script=js, style=css,
                           data=Markup(dump_json(data)),  # noqa: S704
                           policy=make_policy(css, js, has_files=has_files))


def make_page_data(contents: TaskBoards, folder: str | None = None) -> Json:
    """Return all data of a task's page, as a JSON object.

    Args:
        contents: The leaderboards and details of the task.
        folder: The folder next to the page with files of test results that are too many for the page; None: no such
            files.
    """
    boards, details = contents.primary_first, contents.details
    boards_data, names = [], number_systems(boards)
    for n, (board, reach) in enumerate(zip(boards, find_reaches(boards), strict=True)):
        files = {"folder": f"{folder}/{n}", "key": make_board_key(board)} if folder and reach is not None else None
        boards_data.append(make_board_data(board, boards, reach) | {"files": files})
    task = {"id": contents.task, "title": contents.title, "version": contents.version,
            "cost_unit": contents.about.declared.cost_unit}
    return {"task": task, "keys": BOARD_KEYS, "columns": make_page_columns(), "boards": boards_data,
            "systems": make_systems_data(boards), "details": make_details_data(names, details),
            "confusions": make_confusions_data(details.confusions, list(names)),
            "histories": dict(make_histories_data(details.histories, boards, names)),
            "items": dict(make_items_data(contents.items or ())),
            "wide": list(make_wide_data(boards, contents.averages))}


def pair_files(boards: Sequence[Leaderboard]) -> Iterator[tuple[str, str]]:
    """Yield files with the pairs of systems that are too many for a page.

    The file `N/PLACE.js` has all pairs of one system: of the leaderboard with index N, and its system at index PLACE.
    Leaderboards whose pairs are all on the page have no files.

    Yields:
        The name and the content of a file.
    """
    for n, (board, reach) in enumerate(zip(boards, find_reaches(boards), strict=True)):
        if reach is not None:
            pairs, n_systems = _select_columns(board), len(board.standings)
            rows = np.argsort(np.concatenate([pairs.a, pairs.b]).astype(np.int32), kind="stable")
            ends = np.cumsum(np.bincount(np.concatenate([pairs.a, pairs.b]), minlength=n_systems))
            for place, system_rows in enumerate(np.split(rows, ends[:-1])):
                yield f"{n}/{place}.js", _make_file(board, pairs, place, system_rows % len(pairs))


def pair_file(boards: Sequence[Leaderboard], n: int, place: int) -> str | None:
    """Return the file with all pairs of one system; None if there is no such file.

    A leaderboard has such files only if its pairs are too many for the page.

    Args:
        boards: The leaderboards of the page.
        n: The index of the leaderboard.
        place: The index of the system on the leaderboard.
    """
    if n >= len(boards) or place >= len(boards[n].standings) or find_reaches(boards)[n] is None:
        return None
    pairs = _select_columns(boards[n])
    return _make_file(boards[n], pairs, place, np.flatnonzero((pairs.a == place) | (pairs.b == place)))


def _select_columns(board: Leaderboard) -> Decisions:
    pairs = board.decisions
    return Decisions(pairs.a, pairs.b, {name: pairs.columns[name] for name in ("significant", *COLUMNS)})


def _make_file(board: Leaderboard, pairs: Decisions, place: int, system_rows: Ints) -> str:
    """Make the script file with the results of one system compared with all others.

    Args:
        board: The leaderboard.
        pairs: All pairs of the leaderboard.
        place: The position of the system on the leaderboard, from 0.
        system_rows: The indices of the system's pairs.

    Returns:
        JavaScript, with the pairs in the order of the other systems.
    """
    others = pairs.a[system_rows] + pairs.b[system_rows] - place
    order = np.argsort(others)
    tested = {} if len(others) == len(board.standings) - 1 else {"others": others[order].tolist()}
    columns = tested | pack_columns(pairs.select(system_rows[order]))
    return f"evalregistryPairs({json.dumps([make_board_key(board), place, columns], separators=(',', ':'))});\n"
