"""The data of a task's page, as JSON.

Three rules keep a page small. Data are columns instead of rows. A column of equal values is a single value. Numbers
replace the names of systems. The numbers of pairs and items have limits, and the page reports how many are left out.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

from registry.arrays import Floats, Ints
from registry.boards.averages import make_average_leaderboard
from registry.boards.details import OTHER, Cell, Confusions, Details, DistinctiveItems, History, Regions
from registry.boards.items import ItemView, SystemOutput
from registry.boards.leaderboard import Decisions, Leaderboard, Standing
from registry.boards.snapshot import TaskAbout, TaskBoards
from registry.errors import counted
from registry.identity import digest_lines, replace_undefined
from registry.manifest.spec import FACTS, Task
from registry.rendering.table import format_interval, make_number_format
from registry.reports.boards import (
    CELL_KEYS,
    WideColumn,
    format_rank_ranges,
    get_cell_value,
    make_wide_boards,
)
from registry.reports.columns import STANDING_KEYS, make_page_headings, select_fields
from registry.reports.leads import find_lead, list_names
from registry.reports.methods import describe_methods
from registry.reports.paper_tables import render_latex_board, render_latex_wide
from registry.reports.papers import bibtex
from registry.studies.suites import MacroBoard

Json = dict[str, Any]


def dump_json(data: Any) -> str:
    r"""Return JSON that is safe inside a `script` element of an HTML page.

    The characters <, > and & are escaped, so that no text can end the element.

    >>> print(dump_json({"name": "</script>&\u2028"}))
    {"name":"\u003c/script\u003e\u0026\u2028"}
    """
    text = json.dumps(replace_undefined(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(f"\\u{ord(c):04x}" if c in "<>&\u2028\u2029" else c for c in text)


def round_number(value: float | None, digits: int) -> float | None:
    """Round a number to significant digits; None and nan become None."""
    value = replace_undefined(value)
    return None if value is None else float(f"{value:.{digits}g}")


def round_precisely(value: float | None, decimals: int) -> float | None:
    """Round to six significant digits, but to at least `decimals` + 1 decimals.

    Args:
        value: The number.
        decimals: The number of decimals that the page shows.

    >>> [round_precisely(number, 4) for number in (0.0123456789, 123.456789)]
    [0.0123457, 123.45679]
    """
    value = replace_undefined(value)
    return None if value is None else round_number(value, max(6, len(str(int(abs(value)))) + decimals + 1))


def make_column(values: Iterable[Any]) -> Any:
    """Return a list of values, or the value itself if all are equal.

    The page's script repeats a single value. Values that are lists themselves always stay in a list.
    """
    column = [replace_undefined(value) for value in values]
    are_equal = len({json.dumps(value) for value in column}) == 1 and not isinstance(column[0], list)
    return column[0] if are_equal else column


DESCRIPTIONS = 160_000  # bytes of descriptions of systems; the best systems of the first boards come first
_PREVIEW = 300  # characters of a description that other pages show
_LONGEST = 300  # characters of an address, or of the name of a number
_LINKS = ("paper", "code")
_ROWS = 10  # rows of the overview; with more boards, facets are in a table of their own
_BEST = 2  # names of the best systems in a row of the overview


def make_about(contents: TaskBoards) -> Json:
    """Return the texts at the head and the foot of a task's page.

    The result has the `description` of the task, `facts` such as its organisers and date, the `provenance` of the
    numbers, the `citation`, its BibTeX `entry`, and the `preview` that other websites show for a link to the page.
    """
    about, task = contents.about, contents.about.declared
    description = " ".join(task.description.split())
    return {"description": description, "facts": tuple(_list_facts(task)),
            "provenance": tuple(_list_provenance(about)), "citation": task.citation or "",
            "entry": bibtex(task, task.date or about.compared), "preview": _make_preview(contents, description)}


def make_board_overview(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard] = ()) -> Json:
    """Return the overview of the leaderboards on a page, one row per leaderboard.

    A row has the best systems, and how many other systems are significantly worse. The result has two lists: `rows` has
    leaderboards of whole test sets, and of facets (parts of a test set) too if these are few; `facets` has the others.
    The first rows of each metric are averages over test sets, which link to the boards side by side.
    """
    is_small, rows = len(boards) <= _ROWS, []
    for metric in dict.fromkeys(board.metric for board in boards):
        rows += [_make_row(board, f"#{urlencode({'show': 'wide'} | ({'track': board.track} if board.track else {}))}",
                           f"{board.metric_label}{f', track {board.track}' if board.track else ''}")
                 for board in make_average_boards(boards, averages, metric)]
        rows += [make_overview_row(board, boards) for board in boards
                 if board.metric == metric and (is_small or board.facet is None)]
    return {"rows": rows, "facets": [] if is_small else [
        make_overview_row(board, boards) for board in boards if board.facet is not None]}


def make_average_boards(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard],
                        metric: str) -> Iterator[Leaderboard]:
    """Yield the averages over test sets by a metric as leaderboards, one per track."""
    for average in averages:
        if average.metric == metric and average.pairs:
            yield make_average_leaderboard(average, boards)


def make_overview_row(board: Leaderboard, boards: Sequence[Leaderboard], page: str = "") -> Json:
    """Return a leaderboard's row in an overview.

    Args:
        board: The leaderboard.
        boards: All leaderboards of the task.
        page: The address of the task's page; empty for a link on this page.
    """
    return _make_row(board, make_board_link(page, board), describe_part(board, boards) or "all items")


def _make_row(board: Leaderboard, link: str, title: str) -> Json:
    lead = find_lead(board)
    names = [board.standings[n].display_name for n in lead.best]
    score = board.standings[lead.best[0]].score if lead.best else None
    best = list_names(names, _BEST) + " (best ranked)" * board.has_unranked_best if names else "–"
    direction = " (lower is better)" if board.better == "lower" else ""
    return {"link": link, "title": f"{title}{direction}", "best": best,
            "score": make_number_format(board.decimals)(score), "n": len(board.standings), "better_than": str(lead)}


def describe_part(board: Leaderboard, boards: Sequence[Leaderboard], *, has_metric: bool = True) -> str:
    """Describe what distinguishes a leaderboard on its page: `F1, test set news`.

    Args:
        board: The leaderboard.
        boards: All leaderboards of the page.
        has_metric: False to leave the metric out.
    """
    def varies(key: str) -> bool:
        return len({getattr(other, key) for other in boards}) > 1

    parts = (board.metric_label if has_metric and varies("metric") else None,
             f"test set {board.test_set}" if varies("test_set") else None,
             (f"track {board.track}" if board.track else "no track") if varies("track") else None, board.facet)
    return ", ".join(filter(None, parts))


def make_result(board: Leaderboard, boards: Sequence[Leaderboard]) -> str:
    """Return the result of a leaderboard in a sentence.

    The sentence names the metric and, if necessary, the test set, track or facet.
    """
    part = describe_part(board, boards, has_metric=False)
    place = f"By {board.metric_label}{f' ({part})' if part else ''}"
    if board.result:
        begins_with_name = any(board.result.startswith(standing.display_name) for standing in board.standings)
        return f"{place}, {board.result if begins_with_name else board.result[0].lower() + board.result[1:]}"
    names = [standing.display_name for standing in board.standings if standing.score is not None]
    if len(names) != 1:
        return f"{place}, {counted(len(names), 'system is', 'systems are')} scored, but not compared."
    score = make_number_format(board.decimals)(board.standings[0].score)
    return f"{place}, {names[0]} scores {score}; there is no other system to compare it with."


def make_average_result(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> str:
    """Return the result by the average over test sets in a sentence, which a page shows first.

    The metric and the track are those of the first leaderboard. The text is empty if they have no average.
    """
    first = boards[0]
    average = next((average for average in averages if average.pairs and (average.metric, average.track) == (
        first.metric, first.track)), None)
    if average is None:
        return ""
    board = make_average_leaderboard(average, boards)
    if not board.result:  # fewer than two systems are ranked
        return ""
    track = f" (track {board.track})" if board.track and len({board.track for board in boards}) > 1 else ""
    begins_with_name = any(board.result.startswith(standing.display_name) for standing in board.standings)
    result = board.result if begins_with_name else board.result[0].lower() + board.result[1:]
    n_sets = counted(len(average.test_sets), "test set")
    return f"By the average of {first.metric_label} over {n_sets}{track}, {result}"


def make_board_link(page: str, board: Leaderboard) -> str:
    """Return the link to one leaderboard on the page of its task."""
    view = {"metric": board.metric, "set": board.test_set, "track": board.track, "facet": board.facet}
    return f"{page}#{urlencode({name: value for name, value in view.items() if value})}"


def check_web_address(text: Any) -> str | None:
    """Return the text if it is a web address that may become a link; else None.

    >>> check_web_address("https://example.org/a"), check_web_address("javascript:alert(1)"), check_web_address(7)
    ('https://example.org/a', None, None)
    """
    try:
        parts = urlsplit(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return text if parts and parts.scheme in ("http", "https") and parts.netloc else None


def make_systems_data(boards: Sequence[Leaderboard]) -> Json:
    """Return the attributes of systems, such as descriptions, that a page shows.

    In the result, `of` has the attributes by submission, and `left_out` is the number of descriptions that exceed the
    size limit of the page.
    """
    room, left_out, systems = DESCRIPTIONS, 0, dict[str, Json]()
    for standing in (standing for board in boards for standing in board.standings):
        if not standing.attributes or standing.submission in systems:
            continue
        facts = {name: replace_undefined(value) for name, value in standing.attributes.items() if _is_shown(name,
            value)}
        room -= len(dump_json(facts).encode())
        if room < 0 and facts.pop("description", None) is not None:
            left_out += 1
        if facts:
            systems[standing.submission] = facts
    return {"of": systems, "left_out": left_out}


def _is_shown(name: str, value: Any) -> bool:
    """Return True if a page shows this attribute of a system.

    A page shows numbers, and texts with a standard name such as `description`. Links must be web addresses.
    """
    if isinstance(value, bool) or len(name) > _LONGEST or (name != "description" and len(str(value)) > _LONGEST):
        return False
    if name in _LINKS:
        return check_web_address(value) is not None
    return isinstance(value, int | float) or (name in FACTS and isinstance(value, str))


def _make_fact(name: str, text: str, address: str | None = None) -> Json:
    return {"name": name, "text": text, "address": address}


def _list_facts(task: Task) -> Iterator[Json]:
    deadline = f"{task.deadline:%Y-%m-%d %H:%M %Z}" if task.deadline else None
    facts = {"Organisers": ", ".join(task.organisers), "Date": task.date, "Deadline": deadline,
             "Licence": task.licence, "Contact": task.contact, "Task": task.url}
    for name, text in facts.items():
        if text:
            yield _make_fact(name, text, check_web_address(text))


def _list_provenance(about: TaskAbout) -> Iterator[Json]:
    if about.compared:
        yield _make_fact("Compared", about.compared)
    if about.computed_by:
        yield _make_fact("Computed by", ", ".join(f"{name} {version}" for name, version in about.computed_by.items()))
    for test_set, digest in about.gold.items():
        yield _make_fact(f"Gold of {test_set}", digest)
    if not about.declared.licence:
        yield _make_fact("Licence", "none is declared: ask the organisers before you reuse it")


def _make_preview(contents: TaskBoards, description: str) -> str:
    if not description and contents.boards:
        board = contents.primary_first[0]
        description = f"{counted(len(board.standings), 'system')} on {board.test_set} by {board.metric_title}."
    return description if len(description) <= _PREVIEW else f"{description[:_PREVIEW - 1]}…"


Name = tuple[str, str]  # team and name of a system

VERSIONS = 5_000  # versions on a page, the last ones
RUNS = 20_000  # scores of runs
DISTINCTIVE = 6_000  # items that distinguish systems, for all systems together
_SCORE_DIGITS = 8
_REGIONS = ("d1_tp", "d1_fp", "d2_tp", "d2_fp", "shared_tp", "shared_fp")


def number_systems(boards: Sequence[Leaderboard]) -> dict[Name, int]:
    """Give each system a number on the page, from 0.

    Returns:
        The numbers, by (team, system).
    """
    names = dict.fromkeys((standing.team, standing.system) for board in boards for standing in board.standings)
    return {name: n for n, name in enumerate(names)}


def make_details_data(numbers: Mapping[Name, int], details: Details) -> Json:
    """Return the page's data about single systems, such as versions and runs.

    Args:
        numbers: The number of each system on the page, by (team, system).
        details: The details of the systems.
    """
    counts = Counter(system for _, system in numbers)
    names = [system if counts[system] == 1 else f"{team}/{system}" for team, system in numbers]
    return {"n": len(numbers), "team": make_column(team for team, _ in numbers),
            "system": make_column(system for _, system in numbers), "names": make_column(names),
            "versions": _make_versions(details, numbers), "runs": _make_runs(details, numbers),
            "distinctive": _make_distinctive_items(details.distinctive_items, numbers),
            "regions": {regions.test_set: _make_regions(regions, numbers) for regions in details.regions}}


def _make_versions(details: Details, numbers: Mapping[Name, int]) -> Json:
    versions = [version for version in details.versions if (version.team, version.system) in numbers]
    shown = versions[-VERSIONS:]
    return {"n": len(shown), "left_out": len(versions) - len(shown),
            "of": make_column(numbers[version.team, version.system] for version in shown),
            **{key: make_column(getattr(version, key) for version in shown)
               for key in ("test_set", "version", "late")},
            "at": make_column(count_seconds(version.time) for version in shown),
            "score": make_column(round_number(version.score, _SCORE_DIGITS) for version in shown)}


def _make_runs(details: Details, numbers: Mapping[Name, int]) -> Json:
    systems, room = [runs for runs in details.runs if (runs.team, runs.system) in numbers], RUNS
    shown = []
    for runs in systems:
        room -= len(runs.scores)
        if room < 0:
            break
        shown.append(runs)
    return {"n": len(shown), "left_out": len(systems) - len(shown),
            "of": make_column(numbers[runs.team, runs.system] for runs in shown),
            **{key: make_column(getattr(runs, key) for runs in shown) for key in ("test_set", "metric")},
            "names": [list(runs.names) for runs in shown],
            "scores": [[round_number(score, _SCORE_DIGITS) for score in runs.scores] for runs in shown]}


def _make_distinctive_items(distinctive: Sequence[DistinctiveItems], numbers: Mapping[Name, int]) -> Json:
    """Return the items on which a system differs most from the other systems.

    There are two lists for each system: items on which it is better, and worse. They are shortened to the same maximum
    length if the page would have too many items.

    Args:
        distinctive: The items of each system.
        numbers: The number of each system on the page, by (team, system).
    """
    systems = [system for system in distinctive if (system.team, system.system) in numbers]
    limit = max(1, DISTINCTIVE // (2 * max(1, len(systems))))
    shown = [[*[item for item in system.items if item.above][:limit],
              *[item for item in system.items if not item.above][:limit]] for system in systems]
    items = list(dict.fromkeys(item.item for system_items in shown for item in system_items))
    places = {item: n for n, item in enumerate(items)}
    return {"n": len(systems), "of": make_column(numbers[system.team, system.system] for system in systems),
            "items": items,
            **{key: make_column(getattr(system, key) for system in systems) for key in (
                "test_set", "track", "best_alone", "worst_alone", "right_or_wrong")},
            "differences": [[[places[item.item], round_number(item.score, _SCORE_DIGITS),
                          round_number(item.others, _SCORE_DIGITS), int(item.above), int(item.alone)]
                         for item in system_items] for system_items in shown]}


def _make_regions(regions: Regions, numbers: Mapping[Name, int]) -> Json:
    pairs = [pair for pair in regions.pairs if pair.a in numbers and pair.b in numbers]
    return {"gold": regions.gold, "complete": regions.is_complete, "a": [numbers[pair.a] for pair in pairs],
            "b": [numbers[pair.b] for pair in pairs],
            **{key: make_column(_round_count(getattr(pair, key)) for pair in pairs) for key in _REGIONS}}


def _round_count(value: float) -> float:
    return int(value) if value == int(value) else round(value, 2)


def count_seconds(time: datetime) -> int:
    """Convert a time in UTC to seconds since 1970."""
    return int(time.replace(tzinfo=UTC).timestamp())


PAIRS = 20_000  # pairs on a page, besides pairs of neighbours; boards by the first metrics come first
NEIGHBOURS = 10  # pairs of systems at most this many places apart are always included

_P_VALUES, _DIFFERENCES = ("p_value", "p_adjusted"), ("difference", "ci_low", "ci_high")
_FACTS = ("method", "resolved", "messages")
COLUMNS = (*_P_VALUES, *_DIFFERENCES, "n_discordant", *_FACTS)
_TIES_AT = 5  # people see one digit less than the code has if its exponent is 5 (p from 0.01), and two less above
_EXACT = 1e-9  # smaller relative errors are rounding errors of floats

_NONE = 2**24 - 1
_ZERO = 2**23  # the code of 0 in columns with negative numbers
_TINY, _SCALE = 1e-250, 60  # smaller p-values are scaled by a power of ten, because their exponents exceed a double
_POWERS = np.array([float(f"1e{n}") for n in range(300)])


def find_reaches(boards: Sequence[Leaderboard]) -> list[int | None]:
    """Decide how many pairs of each leaderboard a page contains.

    A page cannot contain millions of pairs. The page has the pairs of systems that are at most some number of places
    apart on the leaderboard.

    Returns:
        The number of places for each leaderboard; None means all pairs.
    """
    room, reaches = PAIRS, list[int | None]()
    for board in boards:
        n = len(board.standings)
        reach = n if len(board.decisions) <= room else max(NEIGHBOURS, room // n)
        room = max(0, room - int(np.count_nonzero(_count_places_between(board.decisions) <= reach)))
        reaches.append(reach if reach < n else None)
    return reaches


def make_pairs_data(decisions: Decisions, n: int, reach: int | None, decimals: int) -> Json:
    """Return the test results of pairs as columns, for the page.

    Columns `a` and `b` have the places of both systems. They are left out if all pairs were tested, because the order
    is then fixed: (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        decisions: The test results of all pairs.
        n: The number of systems.
        reach: Select pairs of systems at most this many places apart, and pack the columns; None: all pairs.
        decimals: The number of decimals of displayed differences.
    """
    pairs, far = _select_near(decisions, reach), min(reach or n, n - 1)
    n_pairs = n * far - far * (far + 1) // 2
    tested = {"a": pairs.a.tolist(), "b": pairs.b.tolist()} if len(pairs) < n_pairs else {}
    return {"reach": reach} | tested | (pack_columns(pairs) if reach else _make_pair_columns(pairs, decimals))


def pack_columns(pairs: Decisions) -> Json:
    """Return the test results of pairs as compressed columns for the page's script."""
    return ({name: pack_p_values(pairs.numbers(name)) for name in _P_VALUES}
            | {name: pack_decimals(pairs.numbers(name)) for name in (*_DIFFERENCES, "n_discordant")}
            | {name: pack_values(_get_pair_facts(pairs, name)) for name in _FACTS}
            | {"significant": _pack_significance(pairs)})


def _make_pair_columns(pairs: Decisions, decimals: int) -> Json:
    p_values = {name: make_column(round_p_values(pairs.numbers(name))) for name in _P_VALUES}
    differences = {name: make_column(round_precisely(value, decimals) for value in pairs.columns[name].tolist())
                   for name in _DIFFERENCES}
    facts = {name: make_column(_get_pair_facts(pairs, name)) for name in ("n_discordant", *_FACTS)}
    return differences | p_values | facts | {"significant": _pack_significance(pairs)}


def _get_pair_facts(pairs: Decisions, name: str) -> list[Any]:
    column: list[Any] = pairs.columns[name].tolist()
    if name != "messages":
        return column
    texts = {messages: " ".join(message.finding for message in messages).removesuffix(".") for messages in set(column)}
    return [texts[messages] for messages in column]


def _pack_significance(pairs: Decisions) -> str:
    return (pairs.significant + np.uint8(ord("0"))).tobytes().decode()


def _select_near(decisions: Decisions, reach: int | None) -> Decisions:
    """Select the pairs of systems that are close to each other on a leaderboard.

    Args:
        decisions: All pairs.
        reach: The largest distance of the two positions; None: all pairs.

    Returns:
        The pairs in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    near = np.flatnonzero(_count_places_between(decisions) <= (len(decisions) if reach is None else reach))
    return decisions.select(near[np.lexsort((decisions.b[near], decisions.a[near]))])


def _count_places_between(decisions: Decisions) -> Ints:
    distances: Ints = np.abs(decisions.a - decisions.b)
    return distances


def round_p_values(p: Floats) -> list[float | None]:
    """Round p-values to four significant digits; nan becomes None."""
    return [None if math.isnan(code) else float(f"{code % 10_000:.0f}e-{code // 10_000:.0f}")
            for code in _encode_p_values(p).tolist()]


def pack_p_values(p: Floats) -> str:
    """Compress p-values to four significant digits, and return them as base64 text."""
    return _pack_codes(_encode_p_values(p))


def _encode_p_values(p: Floats) -> Floats:
    """Encode each p-value as a whole number: its first digits and its exponent.

    A p-value of `digits / 10**exponent` has the code `digits + 10_000 * exponent`.
    """
    tiny = p < _TINY
    scaled = np.where(tiny, p * 10.0**_SCALE, p)
    with np.errstate(divide="ignore"):
        exponent = 3 - np.floor(np.nan_to_num(np.log10(scaled), nan=0.0, neginf=0.0)).astype(np.int64)
    exact = scaled * _POWERS[exponent]
    digits = np.rint(exact)
    # People see fewer digits. A second rounding must not turn 0.029549 into 0.0296, so its code is that of 0.02954.
    is_tie = np.where(exponent == _TIES_AT, digits % 10 == 5, (exponent > _TIES_AT) & (digits % 100 == 50))
    error = exact - digits
    digits += np.where(is_tie & (np.abs(error) > _EXACT * digits), np.sign(error), 0)
    carried = digits == 10_000
    exponent -= carried
    codes: Floats = np.where(carried, 1000, digits) + 10_000.0 * (exponent + _SCALE * tiny)
    return codes


def pack_decimals(values: Floats) -> dict[str, Any] | None:
    """Compress numbers to integers with a common power of ten.

    The largest number keeps six or seven significant digits.

    Returns:
        The number of `decimals`, and the `codes` as base64 text; None if all numbers are undefined.
    """
    known = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(known).all():
        return None
    largest = np.nanmax(np.abs(known))
    decimals = min(300, math.floor(math.log10(_ZERO - 2) - math.log10(largest))) if largest else 0
    return {"decimals": decimals, "codes": _pack_codes(np.rint(known * 10.0**decimals) + _ZERO)}


def pack_values(values: Sequence[Any]) -> dict[str, Any]:
    """Compress a column with few different values.

    Returns:
        `of`, a list of the different values; and `codes`, the index of each value as base64 text. `codes` is None if
            all values are equal.
    """
    numbers = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.array([numbers[value] for value in values], dtype=np.float64)
    return {"of": list(numbers), "codes": _pack_codes(codes) if len(numbers) > 1 else None}


def _pack_codes(codes: Floats) -> str:
    """Encode integers of 24 bits as base64 with four characters each.

    nan becomes the largest integer.
    """
    integers = np.where(np.isnan(codes), _NONE, codes).astype(">u4")
    return base64.b64encode(integers.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()).decode()


LATEX = 1000  # larger boards have no LaTeX on the page


def make_board_key(board: Leaderboard) -> str:
    """Return a digest that identifies the results of a leaderboard and their order.

    The digest is computed from the leaderboard's signature and the names of its systems.
    """
    return digest_lines([board.signature, *(standing.submission for standing in board.standings)])[-16:]


def make_board_data(board: Leaderboard, boards: Sequence[Leaderboard], reach: int | None) -> Json:
    """Return all data of a leaderboard for the page.

    Args:
        board: The leaderboard.
        boards: All leaderboards of the page.
        reach: Include pairs of systems at most this many places apart; None: all pairs.
    """
    comparison, n, methods = board.comparison, len(board.standings), describe_methods(board)
    format_score = make_number_format(board.decimals)
    # Python formats scores and intervals, so that the page rounds like all other forms.
    standings = {key: make_column(_get_standing_value(standing, key) for standing in board.standings)
                 for key in STANDING_KEYS} | {
        "shown": make_column(standing.display_name for standing in board.standings),
        "range": make_column(format_rank_ranges(board)), "in_cluster": make_column(board.clusters),
        "printed": make_column(format_score(standing.score) for standing in board.standings),
        "interval": make_column(format_interval(standing.ci_low, standing.ci_high, board.decimals)
                                for standing in board.standings)}
    return board.shared_values | {
        "title": board.title, "result": make_result(board, boards), "metric_label": board.metric_label,
        "decimals": board.decimals, "better": board.better,
        "n_items": comparison.n_items, "alpha": comparison.alpha, "confidence": comparison.confidence,
        "corrected": comparison.correction != "none" and comparison.family_size > 1, "unit": comparison.unit,
        "n": n, "columns": [column.name for column in select_fields(board, "page")],
        "headings": make_page_headings(board), "standings": standings, "numbers": _select_numbers(board),
        "undecided": make_column(_count_undecided(board)), "n_pairs": len(board.decisions),
        "pairs": make_pairs_data(board.decisions, n, reach, board.decimals) if board.decisions else None,
        "warnings": [message.described() for message in board.warnings],
        "sentences": board.findings, "methods": methods.text,
        "references": [work.described() for work in methods.references],
        "latex": render_latex_board(board) if n <= LATEX else None,
    }


def _get_standing_value(standing: Standing, key: str) -> Any:
    return [message.described() for message in standing.messages] if key == "messages" else getattr(standing, key)


def _select_numbers(board: Leaderboard) -> Json:
    """Select the numeric attributes of systems that a chart can compare with scores.

    An attribute is left out if its value is a text for some system, or if all numbers are equal.

    Returns:
        For each attribute, a list with the number of each system.
    """
    attributes = [standing.attributes for standing in board.standings]
    columns = {name: [_parse_number(values.get(name)) for values in attributes] for name in dict.fromkeys(
        name for values in attributes for name in values)}
    return {name: numbers for name, numbers in columns.items()
            if len(set(numbers) - {None}) > 1 and all((number is None) == (name not in values)
                                                      for number, values in zip(numbers, attributes, strict=True))}


def _parse_number(value: Any) -> float | None:
    try:
        number = math.nan if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _count_undecided(board: Leaderboard) -> list[int]:
    undecided, n = board.decisions.select(~board.decisions.significant), len(board.standings)
    counts: list[int] = (np.bincount(undecided.a, minlength=n) + np.bincount(undecided.b, minlength=n)).tolist()
    return counts


CELLS = 40_000  # cells on a page; systems come in the order of the page
MATRIX = 12  # with more labels, a list replaces the matrix
LISTED = 30  # confusions in a list


def make_confusions_data(confusions: Sequence[Confusions], systems: Sequence[tuple[str, str]]) -> Json:
    """Return the confusion matrices of all systems, for each test set.

    The cells of a system are a flat list with three numbers per cell: gold label, predicted label, number of items. A
    label is an index into `labels`; -1 means no label.

    Args:
        confusions: The confusion matrices of each test set.
        systems: The systems in the order of the page, as (team, system).
    """
    room, data = CELLS, {}
    for table in confusions:
        has_matrix, cells = len(table.labels) <= MATRIX, {}
        for n, system in enumerate(systems):
            selected = [cell for cell in table.systems.get(system, ())
                        if has_matrix or _is_confusion(cell, has_types=table.has_types)]
            selected = selected if has_matrix else selected[:LISTED]
            room -= len(selected)
            if room < 0:
                break
            if selected:
                cells[str(n)] = [number for cell in selected for number in (
                    -1 if cell.gold is None else cell.gold, -1 if cell.predicted is None else cell.predicted,
                    cell.items)]
        data[table.test_set] = {"typed": table.has_types, "matrix": has_matrix, "labels": table.labels,
                                "gold": table.gold, "other": table.labels[-1] == OTHER, "systems": cells,
                                "left_out": sum(system in table.systems for system in systems) - len(cells)}
    return data


def _is_confusion(cell: Cell, *, has_types: bool) -> bool:
    """Return True if the gold label and the predicted label of a cell differ.

    Args:
        cell: A cell of a confusion matrix.
        has_types: True if the labels are types of spans. Then both must exist: a missing span is no confusion.
    """
    return cell.gold != cell.predicted and not (has_types and None in (cell.gold, cell.predicted))


BESTS = 300  # best systems of a leaderboard, the last ones


def make_histories_data(histories: Sequence[History], boards: Sequence[Leaderboard],
                        numbers: Mapping[Name, int]) -> Iterator[tuple[str, Json]]:
    """Yield the history of leaderboards for a page: which system was best when.

    Leaderboards without such a history are left out.

    Args:
        histories: The histories of leaderboards.
        boards: The leaderboards of the page.
        numbers: The number of each system on the page, by (team, system).

    Yields:
        The index of the leaderboard on the page, as text; and its history.
    """
    by_key = {history.key: history for history in histories}
    for n, board in enumerate(boards):
        if (history := by_key.get(board.key)) is not None:
            bests, format_score = history.bests[-BESTS:], make_number_format(board.decimals)
            yield str(n), {
                "n": len(bests), "states": history.n_states, "left_out": len(history.bests) - len(bests),
                "at": make_column(count_seconds(best.time) for best in bests),
                "of": make_column(numbers.get((best.team, best.system)) for best in bests),
                "shown": make_column(best.display_name for best in bests),
                "printed": make_column(format_score(best.score) for best in bests),
                "p": make_column(round_number(best.p_adjusted, 4) for best in bests),
                **{key: make_column(getattr(best, key) for best in bests) for key in ("tied", "score", "significant")},
                "why": ["; ".join(best.why) for best in bests]}


ITEM_BYTES = 160_000  # bytes of items, shared by the test sets
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # numbers of an item's responses
SHOWN = 6  # numbers of a response with many numbers


def make_items_data(items: Sequence[ItemView]) -> Iterator[tuple[str, Json]]:
    """Yield the test sets with the items and answers that a page shows.

    A size limit decides how many items are included. All items of a test set have the same runs in the same order.
    """
    test_sets = list(dict.fromkeys(view.test_set for view in items))
    for test_set in test_sets:
        views = [view for view in items if view.test_set == test_set]
        first, room = views[0], ITEM_BYTES // len(test_sets)
        runs = [output for output in first.outputs if output.system is not None]
        metrics = list(dict.fromkeys(metric for run in runs for metric in run.scores))
        shown = []
        for view in views:
            data = _make_item(view, metrics)
            if (size := len(dump_json(data).encode())) <= room:
                shown.append(data)
                room -= size
        yield test_set, {"kind": first.kind, "metrics": metrics, "names": _name_runs(runs),
                         "tracks": make_column(run.track for run in runs),
                         "teams": make_column(run.team for run in runs),
                         "systems": make_column(run.system for run in runs), "items": shown,
                         "left_out": len(views) - len(shown)}


def _name_runs(runs: Sequence[SystemOutput]) -> list[str]:
    """Return a name for each run of a system, such as `bert (run 2)`.

    The number is left out if the system has no runs with numbers. The team is included if several teams use the
    system's name.
    """
    teams = defaultdict[str | None, set[str | None]](set)
    for run in runs:
        teams[run.system].add(run.team)
    names = [str(run.system) if len(teams[run.system]) == 1 else f"{run.team}/{run.system}" for run in runs]
    repeated = {(run.team, run.system) for run in runs if run.replicate}
    return [f"{name} (run {run.replicate})" if (run.team, run.system) in repeated else name
            for name, run in zip(names, runs, strict=True)]


def _make_item(view: ItemView, metrics: Sequence[str]) -> Json:
    """Return the page's data of one item: its gold, and all answers with scores.

    Equal answers of several runs are stored once; `by` maps each run to its answer.
    """
    places, responses, numbers = dict[str, int](), list[tuple[Any, list[float | None]]](), list[int]()
    for output in view.outputs:
        if output.system is None:
            continue
        response = _make_response(view, output), [round_number(output.scores[metric], 6) for metric in metrics]
        numbers.append(places.setdefault(json.dumps(response), len(places)))
        if numbers[-1] == len(responses):
            responses.append(response)
    golds = [[output.source, _make_response(view, output)] for output in view.outputs
             if output.system is None] if view.kind in ("text", "number") else []
    return {"item": view.item, "place": view.place, "facets": list(view.facets), "tokens": list(view.tokens),
            "answers": _make_answers(view), "gold": golds, "contents": [response for response, _ in responses],
            "scores": [make_column(scores[n] for _, scores in responses) for n in range(len(metrics))],
            "by": "".join(DIGITS[n] for n in numbers) if len(responses) <= len(DIGITS) else numbers}


def _make_answers(view: ItemView) -> Json:
    """Return the different answers that the gold or some system gives to an item.

    Returns:
        The answers; `gold`, the number of answers in the gold; and `sure`, the number of answers that the gold
            requires, because they are not merely possible.
    """
    answers = view.known
    keys: Json = {"key": [answer.key for answer in answers]}
    if view.kind in ("span", "alignment"):  # two numbers, counted from 1
        ends = [answer.key.split("-") for answer in answers]
        keys = {"first": [int(first) for first, _ in ends], "last": [int(last) for _, last in ends]}
    elif view.kind == "tree":
        arcs = [answer.key.split(">") for answer in answers]
        keys = {"head": [_parse_word(head) for head, _ in arcs], "word": [_parse_word(word) for _, word in arcs]}
    relevance = {"relevance": make_column(answer.relevance for answer in answers)} if view.kind == "ranking" else {}
    types = list(dict.fromkeys(answer.type for answer in answers))
    return {"sure": sum(answer.in_gold and not answer.possible for answer in answers),
            "gold": sum(answer.in_gold for answer in answers), **keys, "types": types,
            "type": make_column(types.index(answer.type) for answer in answers), **relevance}


def _parse_word(number: str) -> int | str:
    """Convert the number of a word to an integer.

    Other texts remain texts: `?` and `+1` mark words that are not in the gold.
    """
    return int(number) if number.isdecimal() else number


def _make_response(view: ItemView, output: SystemOutput) -> Any:
    """Return the answer of one system to an item, in a compact form for the page.

    Texts are unchanged. Numbers are pairs [name, number]. A ranking has its first documents, the number of all
    documents, and the number of documents that are in the gold. Other answers, such as spans, are two lists of indices
    into `ItemView.known`: incorrect or merely possible answers, and missing answers. In trees, a word with an incorrect
    arc is only in the first list.
    """
    if view.kind == "text":
        return output.text
    if view.kind == "number":
        return None if output.numbers is None else [
            [name, round_number(output.numbers[name], 6)] for name in list(output.numbers)[:SHOWN]]
    answers = output.said or ()
    if view.kind == "ranking":
        return [list(answers), output.returned, output.found]
    n_sure = sum(answer.in_gold and not answer.possible for answer in view.known)
    added, missing = [n for n in answers if n >= n_sure], sorted(set(range(n_sure)).difference(answers))
    if view.kind == "tree":
        replaced = {view.known[n].key.partition(">")[2] for n in added}
        missing = [n for n in missing if view.known[n].key.partition(">")[2] not in replaced]
    return [added, missing]


def make_wide_data(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> Iterator[Json]:
    """Yield tables for the page with all leaderboards of a track side by side.

    A track with a single column of scores has no such table.
    """
    results = {board.track: make_result(board, [board])
               for board in make_average_boards(boards, averages, boards[0].metric)}
    for wide in make_wide_boards(boards, averages, boards[0].metric):
        if len(wide.columns) > 1:
            rows = {key: make_column(getattr(standing, key) for _, standing in wide.rows)
                    for key in ("system", "team", "kind", "late")}
            names = [name for name, _ in wide.rows]
            yield {"track": wide.track, "title": wide.title, "result": results.get(wide.track),
                   "n": len(wide.rows), "notes": wide.findings, "parts": CELL_KEYS,
                   "rows": rows | {"shown": make_column(wide.display_names)},
                   "latex": render_latex_wide(wide) if len(wide.rows) <= LATEX else None,
                   "columns": [_make_wide_column(column, names, boards) for column in wide.columns]}


def _make_wide_column(column: WideColumn, names: Sequence[str], boards: Sequence[Leaderboard]) -> Json:
    """Return the data of one column in a table of several leaderboards side by side.

    A column that shows a leaderboard has the leaderboard's index on the page. A column of averages has its own numbers.
    `at` has the position of each row's system in this leaderboard or in these averages.
    """
    places = {name: n for n, name in enumerate(column.cells)}
    data: Json = {"name": column.name, "title": column.title, "better": column.better, "basis": column.basis,
                  "at": make_column(places.get(name) for name in names)}
    if column.board is not None:
        return data | {"board": next(n for n, board in enumerate(boards) if board is column.board)}
    cells = column.cells.values()
    return data | {"figures": {
        **{key: make_column(get_cell_value(cell, key) for cell in cells) for key in CELL_KEYS},
        "printed": make_column(map(column.format_score, cells)),
        "beside": make_column(map(column.format_note, column.cells))}}
