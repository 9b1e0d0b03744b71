"""The data that a page embeds, as JSON.

Columns instead of rows, one value if all are the same, and systems by their numbers keep a page small. What grows with
the square of the systems or with the items is bounded, and the page says how much it leaves out.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from registry.arrays import Floats, Ints
from registry.boards.details import OTHER, Cell, Confusions, Details, History, Regions, Telling, TellingItem
from registry.boards.items import ItemView, SystemOutput
from registry.boards.leaderboard import Decisions, Leaderboard, Standing
from registry.boards.snapshot import TaskAbout, TaskBoards
from registry.errors import counted
from registry.identity import digest_lines, plain_value
from registry.manifest.spec import FACTS, Task
from registry.rendering.render import render_latex
from registry.rendering.table import make_number_format
from registry.reports.boards import PARTS, WideColumn, part, rank_ranges, wide_boards, wide_table
from registry.reports.columns import STANDING_KEYS, format_interval, make_page_headings, select_fields
from registry.reports.papers import bibtex, latex_board, methods
from registry.studies.suites import MacroBoard

Json = dict[str, Any]


def embedded(data: Any) -> str:
    r"""JSON as it can stand in an HTML element: nothing in it ends the element or means something to HTML or a script.

    >>> print(embedded({"name": "</script>&\u2028"}))
    {"name":"\u003c/script\u003e\u0026\u2028"}
    """
    written = json.dumps(plain_value(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(f"\\u{ord(c):04x}" if c in "<>&\u2028\u2029" else c for c in written)


def rounded(value: float | None, digits: int) -> float | None:
    """A number with so many significant digits."""
    value = plain_value(value)
    return None if value is None else float(f"{value:.{digits}g}")


def precise(value: float | None, decimals: int) -> float | None:
    """A number with six significant digits, or with as many as so many decimals need.

    >>> [precise(of, 4) for of in (0.0123456789, 123.456789)]
    [0.0123457, 123.45679]
    """
    value = plain_value(value)
    return None if value is None else rounded(value, max(6, len(str(int(abs(value)))) + decimals + 1))


def as_column(values: Iterable[Any]) -> Any:
    """The values of a column, or the one value that all of them are, unless it is a list as columns are."""
    column = [plain_value(value) for value in values]
    same = len({json.dumps(value) for value in column}) == 1 and not isinstance(column[0], list)
    return column[0] if same else column


DESCRIPTIONS = 160_000  # bytes of what systems say of themselves; those of the first boards' best systems come first
_PREVIEW = 300  # characters that other pages show of a description
_LONGEST = 300  # characters of an address, or of the name of a number
_LINKS = ("paper", "code")


def page_about(contents: TaskBoards) -> Json:
    """What stands at the head and the foot of a page, in words; what the task does not declare is left out.

    `description` is a paragraph on it, `facts` who held it, when, and so on, `provenance` where the numbers come from,
    `citation` what to cite, as the task declares it, `entry` the same for BibTeX, and `preview` what pages that link
    here show of it.
    """
    about, task = contents.about, contents.about.declared
    description = " ".join(task.description.split())
    return {"description": description, "facts": tuple(_facts(task)), "provenance": tuple(_provenance(about)),
            "citation": task.citation or "", "entry": bibtex(task, task.date or about.compared),
            "preview": _preview(contents, description)}


def web_address(text: Any) -> str | None:
    """An address of the web, which may become a link; None for all else, which a link could run.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', None, None)
    """
    try:
        parts = urlsplit(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return text if parts and parts.scheme in ("http", "https") and parts.netloc else None


def systems_data(boards: Sequence[Leaderboard]) -> Json:
    """Facts and numbers by the names of submissions, and of how many the description had no room."""
    room, left_out, found = DESCRIPTIONS, 0, dict[str, Json]()
    for of in (of for board in boards for of in board.standings):
        if not of.attributes or of.submission in found:
            continue
        known = {name: plain_value(value) for name, value in of.attributes.items() if _is_shown(name, value)}
        room -= len(embedded(known).encode())
        if room < 0 and known.pop("description", None) is not None:
            left_out += 1
        if known:
            found[of.submission] = known
    return {"of": found, "left_out": left_out}


def _is_shown(name: str, value: Any) -> bool:
    """Whether something that is declared of a system belongs on a page: a fact, or a number to hold scores against."""
    if isinstance(value, bool) or len(name) > _LONGEST or (name != "description" and len(str(value)) > _LONGEST):
        return False
    if name in _LINKS:
        return web_address(value) is not None
    return isinstance(value, int | float) or (name in FACTS and isinstance(value, str))


def _fact(name: str, text: str, address: str | None = None) -> Json:
    """Something that is known of a task: what, and where to read on if that is an address of the web."""
    return {"name": name, "text": text, "address": address}


def _facts(task: Task) -> Iterator[Json]:
    deadline = f"{task.deadline:%Y-%m-%d %H:%M %Z}" if task.deadline else None
    told = {"Organisers": ", ".join(task.organisers), "Date": task.date, "Deadline": deadline,
            "Licence": task.licence, "Contact": task.contact, "Task": task.url}
    for name, text in told.items():
        if text:
            yield _fact(name, text, web_address(text))


def _provenance(about: TaskAbout) -> Iterator[Json]:
    if about.compared:
        yield _fact("Compared", about.compared)
    if about.computed_by:
        yield _fact("Computed by", ", ".join(f"{name} {version}" for name, version in about.computed_by.items()))
    for test_set, digest in about.gold.items():
        yield _fact(f"Gold of {test_set}", digest)
    yield _fact("Licence", about.declared.licence or "none is declared: ask the organisers before you reuse it")


def _preview(contents: TaskBoards, said: str) -> str:
    if not said and contents.boards:
        first = contents.primary_first[0]
        said = f"{counted(len(first.standings), 'system')} on {first.test_set} by {first.metric_title}."
    return said if len(said) <= _PREVIEW else f"{said[:_PREVIEW - 1]}…"


Name = tuple[str, str]  # of a system: its team and its own

VERSIONS = 5_000  # on a page, the last ones
RUNS = 20_000  # scores of runs
TELLING = 6_000  # items that set systems apart, of all systems together
_SCORE_DIGITS = 8  # of scores
_REGIONS = ("d1_tp", "d1_fp", "d2_tp", "d2_fp", "shared_tp", "shared_fp")


def names_of(boards: Sequence[Leaderboard]) -> dict[Name, int]:
    """The systems on some boards, with their numbers on the page."""
    known = dict.fromkeys((of.team, of.system) for board in boards for of in board.standings)
    return {name: n for n, name in enumerate(known)}


def details_data(number: Mapping[Name, int], details: Details) -> Json:
    """What is known of the systems, by their numbers.

    A name is the system's own, with the team's where several teams have one of that name.
    """
    times = Counter(system for _, system in number)
    names = [system if times[system] == 1 else f"{team}/{system}" for team, system in number]
    return {"n": len(number), "team": as_column(team for team, _ in number),
            "system": as_column(system for _, system in number), "names": as_column(names),
            "versions": _versions(details, number), "runs": _runs(details, number),
            "telling": _telling(details.telling, number),
            "regions": {of.test_set: _regions(of, number) for of in details.regions}}


def _versions(details: Details, number: Mapping[Name, int]) -> Json:
    there = [of for of in details.versions if (of.team, of.system) in number]
    shown = there[-VERSIONS:]
    return {"n": len(shown), "left_out": len(there) - len(shown),
            "of": as_column(number[of.team, of.system] for of in shown),
            **{key: as_column(getattr(of, key) for of in shown) for key in ("test_set", "version", "late")},
            "at": as_column(seconds(of.at) for of in shown),
            "score": as_column(rounded(of.score, _SCORE_DIGITS) for of in shown)}


def _runs(details: Details, number: Mapping[Name, int]) -> Json:
    there, room = [of for of in details.runs if (of.team, of.system) in number], RUNS
    shown = []
    for of in there:
        room -= len(of.scores)
        if room < 0:
            break
        shown.append(of)
    return {"n": len(shown), "left_out": len(there) - len(shown),
            "of": as_column(number[of.team, of.system] for of in shown),
            **{key: as_column(getattr(of, key) for of in shown) for key in ("test_set", "metric")},
            "names": [list(of.names) for of in shown],
            "scores": [[rounded(score, _SCORE_DIGITS) for score in of.scores] for of in shown]}


def _telling(telling: Sequence[Telling], number: Mapping[Name, int]) -> Json:
    """Of every system its items, as many of each of its lists as there is room for."""
    there = [of for of in telling if (of.team, of.system) in number]
    each = max(1, TELLING // (2 * max(1, len(there))))
    kept = [[*_first(of, each, above=True), *_first(of, each, above=False)] for of in there]
    items = list(dict.fromkeys(item.item for of in kept for item in of))
    at = {item: n for n, item in enumerate(items)}
    return {"n": len(there), "of": as_column(number[of.team, of.system] for of in there), "items": items,
            **{key: as_column(getattr(of, key) for of in there) for key in (
                "test_set", "track", "best_alone", "worst_alone", "right_or_wrong")},
            "telling": [[[at[of.item], rounded(of.score, _SCORE_DIGITS), rounded(of.others, _SCORE_DIGITS),
                          int(of.above), int(of.alone)] for of in of_system] for of_system in kept]}


def _first(of: Telling, n: int, *, above: bool) -> list[TellingItem]:
    return [item for item in of.items if item.above == above][:n]


def _regions(of: Regions, number: Mapping[Name, int]) -> Json:
    pairs = [pair for pair in of.pairs if pair.a in number and pair.b in number]
    return {"gold": of.gold, "complete": of.complete, "a": [number[pair.a] for pair in pairs],
            "b": [number[pair.b] for pair in pairs],
            **{key: as_column(_count(getattr(pair, key)) for pair in pairs) for key in _REGIONS}}


def _count(value: float) -> float:
    """A number of answers, or an average of such numbers over runs."""
    return int(value) if value == int(value) else round(value, 2)


def seconds(at: datetime) -> int:
    """A time in UTC, as seconds since 1970."""
    return int(at.replace(tzinfo=UTC).timestamp())


PAIRS = 20_000  # on a page, as far as they are not of neighbours; boards by the first metrics come first
NEIGHBOURS = 10  # places on either side of a system up to which its pairs are always there

_P_VALUES, _DIFFERENCES = ("p_value", "p_adjusted"), ("difference", "ci_low", "ci_high")
_FACTS = ("method", "resolved", "messages")
COLUMNS = (*_P_VALUES, *_DIFFERENCES, "n_discordant", *_FACTS)
_P_DIGITS = 4  # significant ones of p-values

_NONE = 2**24 - 1
_ZERO = 2**23  # the code of 0 where numbers can be negative
_TINY, _SCALE = 1e-250, 60  # p-values below are times a power of ten that no double holds
_POWERS = np.array([float(f"1e{n}") for n in range(300)])


def reaches(boards: Sequence[Leaderboard]) -> list[int | None]:
    """How many places apart the systems of a pair on the page are at most, for each board; None: it has all pairs."""
    left, found = PAIRS, list[int | None]()
    for board in boards:
        n = len(board.standings)
        reach = n if len(board.decisions) <= left else max(NEIGHBOURS, left // n)
        left = max(0, left - int(np.count_nonzero(_apart(board.decisions) <= reach)))
        found.append(reach if reach < n else None)
    return found


def pairs_data(decisions: Decisions, n: int, reach: int | None, decimals: int) -> Json:
    """The pairs of `n` systems as columns, with how far apart they are at most; all of them without a `reach`.

    `a` and `b` are there where some of these were not tested; else pairs are (0, 1), (0, 2), ..., (1, 2), ... Those of
    a board that is not large have differences for its `decimals`.
    """
    near, far = _near(decisions, reach), min(reach or n, n - 1)
    all_of_them = n * far - far * (far + 1) // 2
    tested = {"a": near.a.tolist(), "b": near.b.tolist()} if len(near) < all_of_them else {}
    return {"reach": reach} | tested | (packed_columns(near) if reach else _columns(near, decimals))


def packed_columns(pairs: Decisions) -> Json:
    """Columns by their names, as `pairs.js` reads them."""
    return ({name: packed_p_values(pairs.numbers(name)) for name in _P_VALUES}
            | {name: packed_decimals(pairs.numbers(name)) for name in (*_DIFFERENCES, "n_discordant")}
            | {name: packed_values(_pair_facts(pairs, name)) for name in _FACTS}
            | {"significant": _significant(pairs)})


def _columns(pairs: Decisions, decimals: int) -> Json:
    p_values = {name: as_column(rounded(value, _P_DIGITS) for value in pairs.columns[name].tolist())
                for name in _P_VALUES}
    differences = {name: as_column(precise(value, decimals) for value in pairs.columns[name].tolist())
                   for name in _DIFFERENCES}
    facts = {name: as_column(_pair_facts(pairs, name)) for name in ("n_discordant", *_FACTS)}
    return differences | p_values | facts | {"significant": _significant(pairs)}


def _pair_facts(pairs: Decisions, name: str) -> list[Any]:
    """Return a column as the page shows it: messages as text."""
    column: list[Any] = pairs.columns[name].tolist()
    if name != "messages":
        return column
    texts = {messages: str(messages) for messages in set(column)}
    return [texts[messages] for messages in column]


def _significant(pairs: Decisions) -> str:
    """A digit for each pair: 1 where it is significant, else 0."""
    return (pairs.significant + np.uint8(ord("0"))).tobytes().decode()


def _near(decisions: Decisions, reach: int | None) -> Decisions:
    """The pairs of systems up to so many places apart, or all, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    near = np.flatnonzero(_apart(decisions) <= (len(decisions) if reach is None else reach))
    return decisions.select(near[np.lexsort((decisions.b[near], decisions.a[near]))])


def _apart(decisions: Decisions) -> Ints:
    """How many places apart the systems of each pair are."""
    apart: Ints = np.abs(decisions.a - decisions.b)
    return apart


def packed_p_values(p: Floats) -> str:
    """P-values of four digits: ten thousand times the exponent of ten that divides these, and the digits."""
    tiny = p < _TINY
    scaled = np.where(tiny, p * 10.0**_SCALE, p)
    with np.errstate(divide="ignore"):
        exponent = 3 - np.floor(np.nan_to_num(np.log10(scaled), nan=0.0, neginf=0.0)).astype(np.int64)
    digits = np.rint(scaled * _POWERS[exponent])
    carried = digits == 10_000
    exponent -= carried
    return _packed(np.where(carried, 1000, digits) + 10_000.0 * (exponent + _SCALE * tiny))


def packed_decimals(values: Floats) -> dict[str, Any] | None:
    """Numbers as whole ones of a power of ten; none where all are undefined."""
    known = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(known).all():
        return None
    largest = np.nanmax(np.abs(known))
    decimals = min(300, math.floor(math.log10(_ZERO - 2) - math.log10(largest))) if largest else 0
    return {"decimals": decimals, "codes": _packed(np.rint(known * 10.0**decimals) + _ZERO)}


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """Values of which few differ."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.array([known[value] for value in values], dtype=np.float64)
    return {"of": list(known), "codes": _packed(codes) if len(known) > 1 else None}


def _packed(codes: Floats) -> str:
    """Numbers of 24 bits, each as four characters of base64; the largest stands for what is undefined."""
    whole = np.where(np.isnan(codes), _NONE, codes).astype(">u4")
    return base64.b64encode(whole.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()).decode()


LATEX = 1000  # systems up to which a board is there in LaTeX


def board_key(board: Leaderboard) -> str:
    """What tells a board from other states of it: its family, and the order of its systems."""
    return digest_lines([board.signature, *(of.submission for of in board.standings)])[-16:]


def board_data(board: Leaderboard, reach: int | None) -> Json:
    """A board with the pairs of systems up to so many places apart, or all."""
    by, n = board.comparison, len(board.standings)
    standings = {key: as_column(_standing_value(of, key) for of in board.standings) for key in STANDING_KEYS} | {
        "shown": as_column(of.display_name for of in board.standings),
        # What people see, as all other forms write it, so that nothing is rounded in another way.
        "range": as_column(rank_ranges(board)), "in_cluster": as_column(board.clusters),
        "printed": as_column(make_number_format(board.decimals)(of.score) for of in board.standings),
        "interval": as_column(format_interval(of.ci_low, of.ci_high, board.decimals) for of in board.standings)}
    return board.shared_values | {
        "title": board.title, "metric_label": board.metric_label, "decimals": board.decimals, "better": board.better,
        "alpha": by.alpha, "confidence": by.confidence,
        "corrected": by.correction != "none", "unit": by.unit,
        "n": n, "columns": [of.name for of in select_fields(board, "page")], "headings": make_page_headings(board),
        "standings": standings, "numbers": _numbers(board), "open": as_column(_open(board)),
        "n_pairs": len(board.decisions),
        "pairs": pairs_data(board.decisions, n, reach, board.decimals) if board.decisions else None,
        "warnings": [message.described() for message in board.warnings],
        "sentences": (*board.sentences, *board.footnotes), "methods": methods(board),
        "latex": latex_board(board) if n <= LATEX else None,
    }


def _standing_value(of: Standing, key: str) -> Any:
    return [message.described() for message in of.messages] if key == "messages" else getattr(of, key)


def _numbers(board: Leaderboard) -> Json:
    """The attributes that are numbers wherever they are there, and differ: what a score can be weighed against."""
    declared = [of.attributes for of in board.standings]
    columns = {name: [_number(of.get(name)) for of in declared] for name in dict.fromkeys(
        name for of in declared for name in of)}
    return {name: values for name, values in columns.items()
            if len(set(values) - {None}) > 1 and all((value is None) == (name not in of) for value, of in zip(
                values, declared, strict=True))}


def _number(value: Any) -> float | None:
    """A finite number, also one that was given as text."""
    try:
        found = math.nan if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _open(board: Leaderboard) -> list[int]:
    """With how many others every system was compared without a significant difference."""
    decisions, n = board.decisions.select(~board.decisions.significant), len(board.standings)
    found: list[int] = (np.bincount(decisions.a, minlength=n) + np.bincount(decisions.b, minlength=n)).tolist()
    return found


CELLS = 40_000  # on a page; systems come in the order of the page
MATRIX = 12  # labels up to which a matrix is drawn
LISTED = 30  # confusions of a system that are listed where there are more


def confusions_data(confusions: Sequence[Confusions], systems: Sequence[tuple[str, str]]) -> Json:
    """For every test set the labels, and by the systems' numbers their cells: gold, predicted (-1: none), how often."""
    room, found = CELLS, {}
    for of in confusions:
        matrix, cells = len(of.labels) <= MATRIX, {}
        for n, system in enumerate(systems):
            chosen = [cell for cell in of.systems.get(system, ()) if matrix or _is_confused(cell, typed=of.typed)]
            chosen = chosen if matrix else chosen[:LISTED]
            room -= len(chosen)
            if room < 0:
                break
            if chosen:
                cells[str(n)] = [number for cell in chosen for number in (
                    -1 if cell.gold is None else cell.gold, -1 if cell.predicted is None else cell.predicted,
                    cell.items)]
        found[of.test_set] = {"typed": of.typed, "matrix": matrix, "labels": of.labels, "gold": of.gold,
                              "other": of.labels[-1] == OTHER, "systems": cells,
                              "left_out": sum(system in of.systems for system in systems) - len(cells)}
    return found


def _is_confused(cell: Cell, *, typed: bool) -> bool:
    """Whether labels differ; of types, whether gold and system have one each at the place."""
    return cell.gold != cell.predicted and not (typed and None in (cell.gold, cell.predicted))


BESTS = 300  # of a leaderboard, the last ones


def histories_data(histories: Sequence[History], boards: Sequence[Leaderboard],
                   numbers: Mapping[Name, int]) -> Iterator[tuple[str, Json]]:
    """The history of each of the page's boards that has one, by the board's number."""
    by_key = {of.key: of for of in histories}
    for n, board in enumerate(boards):
        if (of := by_key.get(board.key)) is not None:
            bests = of.bests[-BESTS:]
            yield str(n), {
                "n": len(bests), "states": of.n_states, "left_out": len(of.bests) - len(bests),
                "at": as_column(seconds(best.at) for best in bests),
                "of": as_column(numbers.get((best.team, best.system)) for best in bests),
                "printed": as_column(make_number_format(board.decimals)(best.score) for best in bests),
                "p": as_column(rounded(best.p_adjusted, 4) for best in bests),
                **{key: as_column(getattr(best, key) for best in bests)
                   for key in ("shown", "tied", "score", "significant")},
                "why": ["; ".join(best.why) for best in bests]}


ITEM_BYTES = 160_000  # of items to look at, shared by the test sets
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # that number an item's responses
SHOWN = 6  # numbers of a response that has many


def items_data(items: Sequence[ItemView]) -> Iterator[tuple[str, Json]]:
    """For every test set the metrics, who answers, and as many of its items as there is room for.

    All items of a test set are answered by the same runs, in one order.
    """
    test_sets = list(dict.fromkeys(view.test_set for view in items))
    for test_set in test_sets:
        views = [view for view in items if view.test_set == test_set]
        first, room = views[0], ITEM_BYTES // len(test_sets)
        runs = [output for output in first.outputs if output.system is not None]
        metrics = list(dict.fromkeys(metric for run in runs for metric in run.scores))
        kept = []
        for view in views:
            written = _item(view, metrics)
            if (size := len(embedded(written).encode())) <= room:
                kept.append(written)
                room -= size
        yield test_set, {"kind": first.kind, "metrics": metrics, "names": _names(runs),
                         "tracks": as_column(run.track for run in runs), "teams": as_column(run.team for run in runs),
                         "systems": as_column(run.system for run in runs), "items": kept,
                         "left_out": len(views) - len(kept)}


def _names(runs: Sequence[SystemOutput]) -> list[str]:
    """The names of runs that people see: with the team where two have systems of that name, and the run's number."""
    teams = defaultdict[str | None, set[str | None]](set)
    for run in runs:
        teams[run.system].add(run.team)
    shown = [str(run.system) if len(teams[run.system]) == 1 else f"{run.team}/{run.system}" for run in runs]
    several = {(run.team, run.system) for run in runs if run.replicate}
    return [f"{name} (run {run.replicate})" if (run.team, run.system) in several else name
            for name, run in zip(shown, runs, strict=True)]


def _item(view: ItemView, metrics: Sequence[str]) -> Json:
    """An item: what it consists of, its golds, and each different response with its scores and who gives it."""
    places, responses, by = dict[str, int](), list[tuple[Any, list[float | None]]](), list[int]()
    for output in view.outputs:
        if output.system is None:
            continue
        response = _said(view, output), [rounded(output.scores[metric], 6) for metric in metrics]
        by.append(places.setdefault(json.dumps(response), len(places)))
        responses += [response] if by[-1] == len(responses) else []
    golds = [[of.source, _said(view, of)] for of in view.outputs if of.system is None] if view.kind in (
        "text", "number") else []
    return {"item": view.item, "place": view.place, "facets": list(view.facets), "tokens": list(view.tokens),
            "answers": _answers(view), "gold": golds, "said": [said for said, _ in responses],
            "scores": [as_column(of[n] for _, of in responses) for n in range(len(metrics))],
            "by": "".join(DIGITS[n] for n in by) if len(responses) <= len(DIGITS) else by}


def _answers(view: ItemView) -> Json:
    """The answers that are known of an item: how many the gold is sure of, how many it has, and what they are."""
    known = view.known
    keys: Json = {"key": [one.key for one in known]}
    if view.kind in ("span", "alignment"):  # two numbers, counted from 1
        ends = [one.key.split("-") for one in known]
        keys = {"first": [int(first) for first, _ in ends], "last": [int(last) for _, last in ends]}
    elif view.kind == "tree":
        arcs = [one.key.split(">") for one in known]
        keys = {"head": [_word(head) for head, _ in arcs], "word": [_word(word) for _, word in arcs]}
    more = {"relevance": as_column(one.relevance for one in known)} if view.kind == "ranking" else {}
    types = list(dict.fromkeys(one.type for one in known))
    return {"sure": sum(one.in_gold and not one.possible for one in known), "gold": sum(one.in_gold for one in known),
            **keys, "types": types, "type": as_column(types.index(one.type) for one in known), **more}


def _word(number: str) -> int | str:
    """A word by its number in the gold; `?` and `+1` are words that the gold does not have."""
    return int(number) if number.isdecimal() else number


def _said(view: ItemView, of: SystemOutput) -> Any:
    """A text; names and numbers; a ranking's first documents, how many it has and how many are right; or a set's parts.

    These are the answers that the gold is not sure of, and those that it is sure of and that are not there. A tree has
    one arc for each word, so that what takes the place of another arc says that this one is not there.
    """
    if view.kind == "text":
        return of.text
    if view.kind == "number":
        return None if of.numbers is None else [
            [name, rounded(of.numbers[name], 6)] for name in list(of.numbers)[:SHOWN]]
    said = of.said or ()
    if view.kind == "ranking":
        return [list(said), of.returned, of.found]
    sure = sum(one.in_gold and not one.possible for one in view.known)
    added, lacking = [n for n in said if n >= sure], sorted(set(range(sure)).difference(said))
    if view.kind == "tree":
        replaced = {view.known[n].key.partition(">")[2] for n in added}
        lacking = [n for n in lacking if view.known[n].key.partition(">")[2] not in replaced]
    return [added, lacking]


def wide_data(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> Iterator[Json]:
    """One entry for each such track, with the page's boards by their numbers."""
    for wide in wide_boards(boards, averages, boards[0].metric):
        if len(wide.columns) > 1:
            rows = {key: as_column(getattr(of, key) for _, of in wide.rows)
                    for key in ("system", "team", "kind", "late")}
            yield {"track": wide.track, "title": wide.title, "n": len(wide.rows), "notes": wide.notes, "parts": PARTS,
                   "rows": rows | {"shown": as_column(wide.shown)},
                   "latex": render_latex(wide_table(wide)) if len(wide.rows) <= LATEX else None,
                   "columns": [_wide_column(column, [name for name, _ in wide.rows], boards)
                               for column in wide.columns]}


def _wide_column(column: WideColumn, names: Sequence[str], boards: Sequence[Leaderboard]) -> Json:
    """A column: a leaderboard of the page by its number, or figures of its own, and where in them each row is."""
    at = {name: n for n, name in enumerate(column.cells)}
    found: Json = {"name": column.name, "title": column.title, "better": column.better, "said": column.said,
                   "at": as_column(at.get(name) for name in names)}
    if column.board is not None:
        return found | {"board": next(n for n, board in enumerate(boards) if board is column.board)}
    cells = column.cells.values()
    return found | {"figures": {
        **{key: as_column(part(cell, key) for cell in cells) for key in PARTS},
        "printed": as_column(map(column.printed, cells)),
        "beside": as_column(map(column.beside, column.cells))}}
