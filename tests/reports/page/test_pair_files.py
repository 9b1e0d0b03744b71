"""The files beside a page: they give every pair of a system, rounded as little as the page rounds."""

import base64
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry.files import replace_files
from registry.rendering.table import format_p_value
from registry.reports.page import page, pair_file, pair_files
from registry.reports.page.data import pack_decimals, pack_p_values, round_p_values
from registry.reports.page.html import make_page_data
from tests.reports.boards import HOSTILE, changed
from tests.reports.page.contents import contents
from tests.reports.page.large import N, large


def codes(text):
    """The numbers of 24 bits behind four characters of base64 each; none for the largest."""
    bits = base64.b64decode(text)
    found = [int.from_bytes(bits[k:k + 3]) for k in range(0, len(bits), 3)]
    return [None if code == 2**24 - 1 else code for code in found]


def read(column):
    """A column as the page's script reads it."""
    if column is None:
        return None
    if isinstance(column, str):
        return [None if code is None else float(f"{code % 10_000}e-{code // 10_000}") for code in codes(column)]
    if "of" in column:
        return column["of"][0] if column["codes"] is None else [column["of"][code] for code in codes(column["codes"])]
    return [None if code is None else float(f"{code - 2**23}e{-column['decimals']}") for code in codes(column["codes"])]


def files(*boards):
    """What the files say, by their names."""
    said = {name: content.removeprefix("evalregistryPairs(").removesuffix(");\n") for name, content in
            pair_files(boards)}
    return {name: json.loads(content) for name, content in said.items()}


def read_again(packed):
    return read(json.loads(json.dumps(packed)))


@given(st.lists(st.just(float("nan")) | st.floats(0, 1), min_size=1))
@example([0.0, 1.0, 5e-324, 1e-300, 9.9996e-4, 0.00099999])
def test_p_values_keep_four_digits(values):
    for p, found in zip(values, read_again(pack_p_values(np.array(values))), strict=True):
        assert found is None if math.isnan(p) else found == pytest.approx(p, rel=1.5001e-3, abs=3e-324)


@given(st.integers(1000, 9999), st.integers(1, 9), st.floats(1e-8, 1e-4) | st.floats(-1e-4, -1e-8))
@example(2955, 2, -1e-5)
@example(2500, 1, -1e-5)
def test_people_see_packed_p_values_as_if_they_were_rounded_once(digits, decimals, error):
    """Ties are left out: which side a float is on depends on its last bit."""
    p = digits * 10.0**-(decimals + 3) * (1 + error)
    (found,) = read_again(pack_p_values(np.array([p])))
    assert round_p_values(np.array([p])) == [found]
    if p < 0.9999:  # larger ones have five digits
        assert float(format_p_value(found)) == float(format_p_value(p))  # just below 0.001 the notation may differ


@given(st.lists(st.just(float("nan")) | st.floats(-1e300, 1e300), min_size=1))
@example([0.0, -0.0])
def test_other_numbers_keep_six_digits_of_the_largest(values):
    largest = max((abs(value) for value in values if not math.isnan(value)), default=None)
    packed = pack_decimals(np.array(values))
    if largest is None:
        assert packed is None
        return
    for value, found in zip(values, read_again(packed), strict=True):
        assert found is None if math.isnan(value) else found == pytest.approx(
            value, abs=max(largest * 0.61e-6, 1e-300), rel=0)


def test_numbers_are_read_as_what_they_are():
    """0.0312 is 3120 times 10 to the -5: 53,120 = 0x00CF80; -0.5 of 7 decimals is 0x800000 - 5,000,000 = 0x33B4C0."""
    assert pack_p_values(np.array([0.0312])) == "AM+A"
    assert pack_decimals(np.array([-0.5, np.nan])) == {"decimals": 7, "codes": "M7TA////"}


def test_every_pair_is_in_the_files_of_both_systems():
    board = large()
    found = files(board)
    assert list(found) == [f"0/{n}.js" for n in range(N)]
    for place in (0, 7, N - 1):
        (_, of, said) = found[f"0/{place}.js"]
        pairs = {b if a == place else a: k for k, (a, b) in enumerate(
            zip(board.decisions.a.tolist(), board.decisions.b.tolist(), strict=True)) if place in (a, b)}
        which = board.decisions.select(np.array([pairs[other] for other in range(N) if other != place]))
        assert of == place
        assert "others" not in said
        for key in ("difference", "p_value", "p_adjusted", "n_discordant"):
            assert read(said[key]) == pytest.approx(which.columns[key].tolist(), rel=0.51e-3), key
        assert said["significant"] == "".join(map(str, which.significant.astype(int)))
        assert read(said["method"]) == "exact"


def test_one_file_alone_is_what_it_is_among_all():
    board = large()
    kept = ~((board.decisions.a == 2) & (board.decisions.b == 5))
    board = replace(board, decisions=board.decisions.select(kept))
    found = dict(pair_files([board]))
    assert [pair_file([board], 0, place) for place in (0, 2, N - 1)] == [
        found[f"0/{place}.js"] for place in (0, 2, N - 1)]
    assert pair_file([board], 0, N) is pair_file([board], 1, 0) is None
    assert pair_file(contents().primary_first, 0, 0) is None


def test_pairs_that_were_not_tested_are_left_out():
    board = large()
    kept = ~((board.decisions.a == 2) & (board.decisions.b == 5))
    found = files(replace(board, decisions=board.decisions.select(kept)))
    assert found["0/2.js"][2]["others"] == [n for n in range(N) if n not in (2, 5)]
    assert "others" not in found["0/3.js"][2]


def test_values_of_which_few_differ_are_told_once():
    board = changed(large(), lambda of: {"method": "random" if of.b - of.a == 1 else "exact", "resolved": None})
    (_, _, said) = files(board)["0/9.js"]
    assert read(said["method"]) == ["random" if abs(n - 9) == 1 else "exact" for n in range(N) if n != 9]
    assert read(said["resolved"]) is None


def test_files_hold_no_name():
    board = large()
    hostile = replace(board, standings=[
        replace(standing, display_name=name, system=name, team=name, submission=f"{name}/{name}@1")
        for standing, name in zip(board.standings, HOSTILE * N, strict=False)])
    for _, content in pair_files([hostile]):
        assert set(content) <= set("evalregistryPairs()[]{}\":,;/+=-_.\n0123456789"
                                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        assert "alert" not in content


def test_pages_with_room_for_all_pairs_have_no_file_and_the_strictest_policy():
    assert list(pair_files(contents().primary_first)) == []
    assert page(contents(), folder="task.pairs") == page(contents())
    assert "trusted-types &#39;none&#39;" in page(contents())
    alone = replace(contents(), boards=[large()])
    assert make_page_data(alone)["boards"][0]["files"] is None
    assert "strict-dynamic" not in page(alone)


def test_another_order_of_systems_has_another_key():
    board = large()
    turned = replace(board, standings=board.standings[::-1])
    assert files(board)["0/0.js"][0] != files(turned)["0/0.js"][0]


def test_a_file_of_5000_systems_stays_below_100_kb():
    """17 characters a pair: four for each of four numbers, and one for the decision."""
    board = large()
    (first, *_) = (content for _, content in pair_files([board]))
    said = len(first) - 17 * (N - 1)
    assert said < 400
    assert said + 17 * 4999 < 100_000


def test_files_are_replaced_where_they_differ_and_go_where_they_are_no_more(tmp_path):
    folder, pattern = tmp_path / "task.pairs", "[0-9]*/[0-9]*.js"
    replace_files(folder, pattern, [("0/0.js", "a"), ("0/1.js", "b"), ("1/0.js", "c")])
    (folder / "0" / "mine.txt").write_text("stays")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.js")}
    replace_files(folder, pattern, [("0/0.js", "a"), ("0/1.js", "new")])
    assert {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.*")} == {
        "0/0.js": "a", "0/1.js": "new", "0/mine.txt": "stays"}
    assert (folder / "0" / "0.js").stat().st_mtime_ns == before[folder / "0" / "0.js"]
    assert not (folder / "1").exists()
    (folder / "0" / "mine.txt").unlink()
    replace_files(folder, pattern, [])
    assert not folder.exists()


def test_a_site_of_a_small_task_is_its_pages(registry, task, tmp_path):
    stale = tmp_path / "public" / "tasks" / "small.pairs" / "0" / "3.js"
    stale.parent.mkdir(parents=True)
    stale.write_text("of a larger leaderboard")
    registry("site", task.write(), "-o", "public")
    assert sorted(str(path.relative_to(tmp_path / "public")) for path in (tmp_path / "public").rglob("*")) == [
        "feed.xml", "index.html", "tasks", "tasks/small.html"]
