"""What a page holds, as JSON: leaderboards in full precision, their pairs rounded, and the items to look at.

Columns rather than rows, one value where all are the same, and systems by their numbers: that keeps a page small. What
grows with the square of the systems or with the items is bounded, and the page says what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.identity import digest_lines, plain_value
from registry.leaderboards.decisions import Decisions
from registry.leaderboards.items import ItemView, SystemOutput
from registry.leaderboards.leaderboard import SHARED_KEYS, Leaderboard
from registry.rendering.latex import latex_table
from registry.rendering.table import number
from registry.reports.boards import BOARD_KEYS, HEADINGS, interval, rank_range
from registry.reports.latex_board import latex_board
from registry.reports.methods import methods
from registry.reports.wide import PARTS, WideColumn, part, wide_boards, wide_table
from registry.studies.suites.macro_average import MacroBoard

PAIRS = 20_000  # on a page, as far as they are not of neighbours; boards by the first metrics come first
NEIGHBOURS = 10  # places on either side of a system up to which its pairs are always there
ITEM_BYTES = 160_000  # of items to look at, shared by the test sets

_PAIR_NUMBERS = {"difference": 6, "ci_low": 6, "ci_high": 6, "p_value": 4, "p_adjusted": 4}  # significant digits
_PAIR_FACTS = ("n_discordant", "method", "resolved", "note")
Json = dict[str, Any]


def page_data(task: Mapping[str, str], boards: Sequence[Leaderboard], items: Sequence[ItemView],
              averages: Sequence[MacroBoard] = (), folder: str | None = None) -> Json:
    """Everything that a page shows.

    `task` has its id, title and version, `boards` those by the primary metric first, `items` the worst of each test set
    first, `averages` what stands beside the boards side by side; `folder` has the files of pairs that are left out.
    """
    written = []
    for n, (board, reach) in enumerate(zip(boards, reaches(boards), strict=True)):
        files = {"folder": f"{folder}/{n}", "key": board_key(board)} if folder and reach is not None else None
        written.append(_board(board, reach) | {"files": files})
    return {"task": dict(task), "keys": BOARD_KEYS, "boards": written,
            "items": dict(_items(items)), "wide": list(_wide(boards, averages))}


def reaches(boards: Sequence[Leaderboard]) -> list[int | None]:
    """How many places apart the systems of a pair on the page are at most, for each board; None: it has all pairs."""
    left, found = PAIRS, list[int | None]()
    for board in boards:
        n = len(board.standings)
        reach = n if len(board.decisions) <= left else max(NEIGHBOURS, left // n)
        left = max(0, left - int(np.count_nonzero(_apart(board.decisions) <= reach)))
        found.append(reach if reach < n else None)
    return found


def board_key(board: Leaderboard) -> str:
    """What tells a board from other states of it: its family, and the order of its systems."""
    return digest_lines([board.signature, *(of.submission for of in board.standings)])[-16:]


def embedded(data: Any) -> str:
    r"""JSON as it can stand in an HTML element: nothing in it ends the element or means something to HTML or a script.

    >>> print(embedded({"name": "</script>&\u2028"}))
    {"name":"\u003c/script\u003e\u0026\u2028"}
    """
    written = json.dumps(plain_value(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(f"\\u{ord(c):04x}" if c in "<>&\u2028\u2029" else c for c in written)


def _apart(decisions: Decisions) -> NDArray[np.int64]:
    """How many places apart the systems of each pair are."""
    apart: NDArray[np.int64] = np.abs(decisions.a - decisions.b)
    return apart


def _near(decisions: Decisions, reach: int | None) -> Decisions:
    """The pairs of systems up to so many places apart, or all, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    near = np.flatnonzero(_apart(decisions) <= (len(decisions) if reach is None else reach))
    return decisions.chosen(near[np.lexsort((decisions.b[near], decisions.a[near]))])


def _board(board: Leaderboard, reach: int | None) -> Json:
    """A board with the pairs of systems up to so many places apart, or all."""
    by, near = board.comparison, _near(board.decisions, reach)
    keys = [key for key in BOARD_KEYS if key not in SHARED_KEYS]
    standings = {key: _column(getattr(of, key) for of in board.standings) for key in (*keys, "shown")} | {
        # What people see, as all other forms write it, so that nothing is rounded in another way.
        "range": _column(rank_range(of, board.ranks) for of in board.standings),
        "printed": _column(number(4)(of.score) for of in board.standings),
        "interval": _column(interval(of.ci_low, of.ci_high) for of in board.standings)}
    return board.shared | {
        "title": board.title, "better": board.better, "alpha": by.alpha, "confidence": by.confidence,
        "corrected": by.correction != "none", "unit": by.unit,
        "n": len(board.standings), "heading": HEADINGS[board.ranks],
        "standings": standings, "open": _column(_open(board)), "n_pairs": len(board.decisions),
        "pairs": _pairs(near, len(board.standings), reach) if board.decisions else None,
        "sentences": (*board.sentences, *board.footnotes), "methods": methods(board), "latex": latex_board(board),
    }


def _open(board: Leaderboard) -> list[int]:
    """With how many others every system was compared without a significant difference."""
    decisions, n = board.decisions.chosen(~board.decisions.significant), len(board.standings)
    found: list[int] = (np.bincount(decisions.a, minlength=n) + np.bincount(decisions.b, minlength=n)).tolist()
    return found


def _pairs(near: Decisions, n: int, reach: int | None) -> Json:
    """Pairs as columns, with how far apart they are at most, and `a` and `b` where some of these were not tested."""
    far = min(reach or n, n - 1)
    all_of_them = n * far - far * (far + 1) // 2
    columns = {"a": near.a.tolist(), "b": near.b.tolist()} if len(near) < all_of_them else {}
    numbers = {key: _column(_rounded(value, digits) for value in near.columns[key].tolist())
               for key, digits in _PAIR_NUMBERS.items()}
    facts = {key: _column(near.columns[key].tolist()) for key in _PAIR_FACTS}
    return {"reach": reach} | columns | numbers | facts | {
        "significant": "".join("01"[of] for of in near.significant.astype(int).tolist())}


def _wide(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> Iterator[Json]:
    """For every track that has several the leaderboards side by side."""
    for wide in wide_boards(boards, averages, boards[0].metric):
        if len(wide.columns) > 1:
            rows = {key: _column(getattr(of, key) for _, of in wide.rows) for key in ("system", "team", "kind", "late")}
            yield {"track": wide.track, "title": wide.title, "n": len(wide.rows), "notes": wide.notes, "parts": PARTS,
                   "rows": rows | {"shown": _column(wide.shown)}, "latex": latex_table(wide_table(wide)),
                   "columns": [_wide_column(column, [name for name, _ in wide.rows], boards)
                               for column in wide.columns]}


def _wide_column(column: WideColumn, names: Sequence[str], boards: Sequence[Leaderboard]) -> Json:
    """A column: a leaderboard of the page by its number, or figures of its own, and where in them each row is."""
    at = {name: n for n, name in enumerate(column.cells)}
    found: Json = {"name": column.name, "better": column.better, "said": column.said,
                   "at": _column(at.get(name) for name in names)}
    if column.board is not None:
        return found | {"board": next(n for n, board in enumerate(boards) if board is column.board)}
    cells = column.cells.values()
    return found | {"figures": {
        **{key: _column(part(cell, key) for cell in cells) for key in PARTS},
        "printed": _column(number(4)(part(cell, "score")) for cell in cells),
        "beside": _column(map(column.beside, cells))}}


def _rounded(value: float | None, digits: int) -> float | None:
    value = plain_value(value)
    return None if value is None else float(f"{value:.{digits}g}")


def _column(values: Iterable[Any]) -> Any:
    """The values of a column, or the one value that all of them are, unless it is a list as columns are."""
    column = [plain_value(value) for value in values]
    same = len({json.dumps(value) for value in column}) == 1 and not isinstance(column[0], list)
    return column[0] if same else column


def _items(items: Sequence[ItemView]) -> Iterator[tuple[str, Json]]:
    """For every test set the metrics, who answers, and as many of its items as there is room for."""
    test_sets = list(dict.fromkeys(view.test_set for view in items))
    for test_set in test_sets:
        views = [view for view in items if view.test_set == test_set]
        first, room = views[0].outputs, ITEM_BYTES // len(test_sets)
        names = list(dict.fromkeys(_name(output, first) for output in first if output.system is not None))
        metrics = list(dict.fromkeys(metric for output in first for metric in output.scores))
        kept = []
        for view in views:
            written = _item(view, {name: n for n, name in enumerate(names)}, metrics)
            room -= len(embedded(written).encode())
            if room < 0:
                break
            kept.append(written)
        yield test_set, {"metrics": metrics, "names": [name for name, _ in names],
                         "tracks": _column(track for _, track in names), "items": kept}


def _name(of: SystemOutput, among: Sequence[SystemOutput]) -> tuple[str, str | None]:
    """The name of a run that people see, and its track."""
    teams = {other.team for other in among if other.system == of.system}
    runs = {other.replicate for other in among if (other.team, other.system) == (of.team, of.system)}
    name = of.system if len(teams) == 1 else f"{of.team}/{of.system}"
    return f"{name} (run {of.replicate})" if len(runs) > 1 else str(name), of.track


def _item(view: ItemView, number: Mapping[tuple[str, str | None], int], metrics: Sequence[str]) -> Json:
    """An item: its text, its golds, and each different response with who gives it, in the order of the systems.

    Scores are in the order of the metrics.
    """
    answers: dict[str, int] = {}

    def written(output: SystemOutput) -> Any:
        if output.text is not None or view.outputs[0].text is not None:
            return output.text
        return [answers.setdefault(answer, len(answers)) for answer in (*output.correct, *output.wrong)]

    golds, responses = [], dict[str, Json]()
    for output in view.outputs:
        what = written(output)
        if output.system is None:
            golds.append([output.source, what])
        else:
            scores = [_rounded(output.scores[metric], 6) for metric in metrics]
            responses.setdefault(json.dumps([what, scores]), {"said": what, "scores": scores, "by": []})["by"].append(
                number[_name(output, view.outputs)])
    return {"item": view.item, "text": view.text, "facets": list(view.facets), "answers": list(answers),
            "gold": golds, "responses": list(responses.values())}
