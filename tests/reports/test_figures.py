"""Figures of leaderboards: they show what the board says, names are only names, and files are always the same."""

import subprocess
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from registry.errors import InputError, MismatchError
from registry.reports.figures import boards as board_figures
from registry.reports.figures import drawing as figures
from registry.reports.figures.boards import draw_scores
from registry.reports.figures.drawing import COLOURS, Look, parse_length, parse_limits
from tests.needs import need
from tests.reports.boards import HOSTILE, changed, leaderboard

BOARD = leaderboard(["A", "B", "C", "D"], [0.9, 0.85, 0.8, 0.7])  # systems differ where two places lie between them
RESAMPLED = replace(BOARD, groups=((0, 1), (1, 2), (2, 3)), standings=tuple(
    replace(of, ci_low=of.score - 0.05, ci_high=of.score + 0.05, frequencies=tuple(row), bootstrap_low=1,
            bootstrap_high=3)
    for of, row in zip(BOARD.standings, np.full((4, 4), 0.25), strict=True)))
DRAWN = {
    "scores": board_figures.draw_scores, "groups": board_figures.draw_groups, "ranks": board_figures.draw_ranks,
    "pairs": board_figures.draw_pairs, "gains": lambda board, path, **more: board_figures.draw_gains(
        board, path, "team", {of.submission: of.team for of in board.standings}, **more),
}


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draw and give the figure."""
    kept = []

    @contextmanager
    def keeping(path, size, font, dpi):
        with figures.drawing(path, size, font, dpi) as figure:
            yield figure
            kept.append(figure)

    monkeypatch.setattr(board_figures, "drawing", keeping)

    def draw(kind, board=RESAMPLED, **more):
        DRAWN[kind](board, tmp_path / "figure.png", **more)
        return kept[-1]

    return draw


def texts(figure):
    return {text.get_text() for text in figure.findobj(Text)}


@pytest.mark.parametrize(("kind", "ending"),
                         [*((kind, ".svg") for kind in DRAWN), ("pairs", ".pdf"), ("gains", ".png")])
def test_the_same_board_is_drawn_to_the_same_bytes(kind, ending, tmp_path):
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    for path in (one, two):
        DRAWN[kind](RESAMPLED, path)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("kind", DRAWN)
def test_names_are_no_formulas_and_no_commands(drawn, kind):
    many = leaderboard(list(HOSTILE))
    n = len(HOSTILE)
    board = replace(many, metric="$a_1$", groups=((0, 1),), standings=tuple(
        replace(of, frequencies=(1 / n,) * n) for of in many.standings))
    figure = drawn(kind, board)
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
    assert any("$a_1$" in text for text in texts(figure)) == (kind != "pairs")
    if kind != "gains":
        written = " ".join(texts(figure))
        assert "#3~" in written
        assert not {"\x1b", "\u202e"} & set(written)
        assert "U+6F22" in written  # no such letter in the font


def test_scores_have_intervals_and_clusters(drawn):
    (axes,) = drawn("scores").axes
    intervals = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert np.allclose(intervals, [(s - 0.05, s + 0.05) for s in (0.9, 0.85, 0.8, 0.7)])
    assert [patch.get_y() for patch in axes.patches] == [1.5, 2.5]  # the second cluster is C and D


def test_baselines_without_a_rank_are_hollow_and_undefined_scores_have_no_point(drawn):
    board = leaderboard(["A", "B", "C"], [0.9, 0.8, None])
    (a, b, c) = board.standings
    figure = drawn("scores", replace(board, standings=(a, replace(b, rank=None), c)))
    points = [line.get_markerfacecolor() for line in figure.axes[0].lines]
    assert points == [COLOURS[0], "white"]
    assert {"-", "n/a"} <= texts(figure)


def test_the_matrix_has_a_square_for_every_significant_pair_and_a_ring_for_every_other(drawn):
    (axes,) = drawn("pairs").axes
    shown = {line.get_marker(): set(zip(line.get_ydata(), line.get_xdata(), strict=True)) for line in axes.lines}
    assert shown == {"s": {(0, 2), (0, 3), (1, 3)}, "o": {(0, 1), (1, 2), (2, 3)}}


def test_a_dot_is_on_pairs_of_one_team(drawn):
    board = changed(BOARD, lambda of: {"same_team": (of.a, of.b) == (1, 3)})
    figure = drawn("pairs", board)
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o" and line.get_markeredgewidth() == 0]
    assert [(list(dot.get_ydata()), list(dot.get_xdata())) for dot in dots] == [([1], [3])]
    assert "same team" in texts(figure)
    assert "same team" not in texts(drawn("pairs"))


def test_gains_are_shown_with_confidence_and_pairs_of_one_team_apart(drawn):
    teams = ["x", "x", "y", "x"]
    board = replace(BOARD, standings=tuple(replace(of, team=team)
                                           for of, team in zip(BOARD.standings, teams, strict=True)))
    (axes,) = drawn("gains", board).axes
    found = [(line.get_marker(), line.get_markerfacecolor() != "none", sorted(np.round(line.get_xdata(), 2)))
             for line in axes.lines if line.get_marker() != "None"]
    assert sorted(found) == [("^", False, [0.05]), ("^", True, [0.15, 0.2]),
                             ("o", False, [0.05, 0.1]), ("o", True, [0.1])]
    assert {"same team, significant", "different team, not significant"} <= texts(axes)
    assert {"significant", "not significant"} <= texts(drawn("gains")), "no two are of one team"
    assert {y for line in axes.lines if line.get_marker() != "None" for y in line.get_ydata()} == {0.99}


def test_bars_join_those_that_are_not_told_apart(drawn):
    (axes,) = drawn("groups").axes
    bars = [line for line in axes.lines if line.get_linewidth() > 2]
    assert [list(bar.get_xdata()) for bar in bars] == [[1, 2], [2, 3], [3, 4]]


def test_a_bar_is_thin_where_it_passes_others_and_the_axis_shows_ranks(drawn):
    """The second has no rank, the last no score; the third and the fourth share rank 2."""
    five = leaderboard(["A", "B", "C", "D", "E", "F"], [0.9, 0.85, 0.8, 0.8, 0.7, None])
    board = replace(five, groups=((0, 3, 5), (2, 3), (3, 5), (4,)), standings=tuple(
        replace(of, rank=rank) for of, rank in zip(five.standings, (1, None, 2, 2, 4, 5), strict=True)))
    (axes,) = drawn("groups", board).axes
    thick, thin = ([list(bar.get_xdata()) for bar in axes.lines if bar.get_linewidth() == width and
                    bar.get_color() == COLOURS[1]] for width in (2.2, 0.5))
    assert thin == [[1, 3], [2, 3]]
    assert thick == [[1, 1], [3, 3], [2, 3]]
    assert [(place, label.get_text()) for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
            ] == [(1, "1"), (2, "2"), (3, "2"), (4, "4")]


def test_ranks_are_shown_as_often_as_they_were_drawn(drawn):
    axes = drawn("ranks").axes[0]
    assert np.array_equal(axes.images[0].get_array(), np.full((4, 4), 0.25))
    assert [(frame.get_x(), frame.get_width()) for frame in axes.patches] == [(0.5, 3.0)] * 4


@pytest.mark.parametrize(("kind", "board", "said"), [
    ("scores", leaderboard(["A"], [None]), "no score is defined"),
    ("groups", leaderboard(["A"]), "fewer than two ranked systems"),
    ("groups", BOARD, "too many overlapping groups"),
    ("ranks", BOARD, "cannot be resampled"),
    ("pairs", leaderboard(["A"]), "there is only one system, so there are no pairs to draw"),
    ("gains", leaderboard(["A"]), "there is only one system, so there are no pairs to draw"),
])
def test_what_cannot_be_drawn(kind, board, said, tmp_path):
    with pytest.raises(MismatchError, match=said):
        DRAWN[kind](board, tmp_path / "f.png")
    assert not (tmp_path / "f.png").exists()


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.svg, \.pdf, \.png or \.pgf"):
        DRAWN["pairs"](BOARD, tmp_path / "f.gif")


MANY = [f"system {n}" for n in range(29)]


@pytest.mark.parametrize("kind", DRAWN)
def test_thirty_systems_are_legible_in_a_column_of_7_7_cm(drawn, kind):
    """No letter is smaller than 7 points, no name stands on another one, and nothing leaves the figure."""
    names = [*MANY, "an outlier with a name of very many letters"]
    board = leaderboard(names, [*(0.9 - n / 500 for n in range(29)), 0.1])
    standings = [replace(of, ci_low=of.score - 0.02, ci_high=of.score + 0.02, frequencies=(1 / 30,) * 30,
                         bootstrap_low=1, bootstrap_high=30) for of in board.standings]
    figure = drawn(kind, replace(board, standings=tuple(standings), groups=((0, 1), (1, 2))))
    assert figure.get_size_inches()[0] == pytest.approx(7.7 / 2.54)
    FigureCanvasAgg(figure).draw()
    written = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible()]
    assert min(t.get_fontsize() for t in written) >= 7
    boxes = [t.get_window_extent() for t in written if t.get_text().strip().startswith(("system ", "an outlier"))]
    assert len(boxes) == {"gains": 0, "groups": 15}.get(kind, 30)
    assert not [1 for one, other in combinations(boxes, 2) if one.shrunk(0.9, 0.8).overlaps(other.shrunk(0.9, 0.8))]
    width, height = figure.canvas.get_width_height()
    ticks = {label for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())}
    outside = {t.get_text() for t in written if t not in ticks and not (
        -1 <= (box := t.get_window_extent()).x0 <= box.x1 <= width + 1 and -1 <= box.y0 <= box.y1 <= height + 1)}
    assert not outside


def test_an_outlier_is_an_arrow_with_its_score_and_flattens_nobody(drawn):
    board = leaderboard("abcdef", [0.90, 0.89, 0.88, 0.87, 0.86, 0.1])
    figure = drawn("scores", board)
    low, high = figure.axes[0].get_xlim()
    assert 0.85 < low < high < 0.92
    assert "0.1000" in texts(figure)
    assert [line.get_marker() for line in figure.axes[0].lines if line.get_marker() in "<>"] == ["<"]
    gains = drawn("gains", leaderboard("abcdefghij", [*(0.9 - n / 100 for n in range(9)), 0.1]))
    assert gains.axes[0].get_xlim()[1] < 0.1
    assert "9 pairs beyond the scale →, up to 0.8000" in texts(gains)
    few = drawn("scores", leaderboard("abc", [0.9, 0.8, 0.1])).axes[0]
    assert few.get_xlim()[0] < 0.1, "three are too few for one of them to be an outlier"


def test_limits_sizes_labels_and_greys_are_as_asked(drawn):
    look = Look(width=5, height=2, font=9, limits=(0.75, 0.95), label="F$_1$", palette="grey")
    figure = drawn("scores", look=look)
    assert tuple(figure.get_size_inches()) == (5, 2)
    assert figure.axes[0].get_xlim() == pytest.approx((0.744, 0.956))
    assert {"F$_1$", "0.7000"} <= texts(figure)
    with pytest.raises(InputError, match=r"the systems need a figure that is 2\.8 cm high"):
        drawn("scores", look=Look(height=1))
    inks = {to_rgb(line.get_color()) for line in figure.axes[0].lines}
    assert all(red == green == blue for red, green, blue in inks)


def test_bands_and_what_stands_beside_follow_the_ranks_that_are_shown(drawn):
    """Simultaneous ranks leave one cluster of three and one of one, whatever the decisions say."""
    places = [(1, 3), (1, 3), (1, 3), (4, 4)]
    board = replace(BOARD, ranks="simultaneous", standings=tuple(
        replace(of, simultaneous_low=low, simultaneous_high=high)
        for of, (low, high) in zip(BOARD.standings, places, strict=True)))
    figure = drawn("scores", board)
    assert [patch.get_y() for patch in figure.axes[0].patches] == [2.5]
    assert {"1-3", "4"} <= texts(figure)
    assert "ab" not in texts(figure)


def test_text_stays_text_in_svg_and_pdf_and_is_escaped_in_pgf(tmp_path):
    board = leaderboard([r"\input{x}_1", "<b>&", "ordinary"])
    for ending in ("svg", "pdf", "pgf"):
        draw_scores(board, tmp_path / f"f.{ending}")
    svg, pgf = ((tmp_path / f"f.{ending}").read_text() for ending in ("svg", "pgf"))
    assert ">ordinary</text>" in svg
    assert "&lt;b&gt;&amp;" in svg
    assert b"/FontFile2" in (tmp_path / "f.pdf").read_bytes(), "TrueType, whose letters can be searched"
    assert r"\textbackslash{}input\{x\}\_1" in pgf
    assert r"\input{x}" not in pgf
    assert str(tmp_path) not in pgf
    DRAWN["ranks"](RESAMPLED, tmp_path / "ranks.pgf")
    assert "includegraphics" not in (tmp_path / "ranks.pgf").read_text(), "no other file is needed"


@pytest.mark.parametrize(("take", "text", "said"), [
    (parse_length, "7.7", "is not a length; write 7.7cm"), (parse_length, "0.1in", "is not a possible size"),
    (parse_length, "900cm", "is not a possible size"),
    (parse_limits, "0.9,0.5", "two numbers, the lower one first"), (parse_limits, "a,b", "two numbers"),
    (parse_limits, "0,nan", "two"),
    (parse_limits, "0,inf", "two")])
def test_sizes_and_limits_that_are_none(take, text, said):
    with pytest.raises(InputError, match=said):
        take(text)


def test_ranks_of_the_best_systems_have_the_places_that_these_take(drawn):
    """Of four systems the two best, of which none is ever the last."""
    best = tuple(replace(of, frequencies=(0.5, 0.25, 0.25, 0.0)) for of in RESAMPLED.standings[:2])
    image = drawn("ranks", replace(RESAMPLED, standings=best)).axes[0].images[0]
    assert image.get_array().shape == (2, 3)
    assert drawn("ranks").axes[0].images[0].get_array().shape == (4, 4)


@pytest.mark.parametrize("n", [2, 4, 30])
@pytest.mark.parametrize("font", [7, 12])
def test_ticks_of_the_scale_of_shares_do_not_overlap(drawn, n, font):
    board = leaderboard([f"S{k}" for k in range(n)])
    figure = drawn("ranks", replace(board, standings=tuple(
        replace(of, frequencies=(1 / n,) * n) for of in board.standings)), look=Look(font=font))
    FigureCanvasAgg(figure).draw()
    boxes = [label.get_window_extent() for label in figure.axes[1].get_xticklabels()]
    assert len(boxes) >= 3
    assert not [1 for one, other in combinations(boxes, 2) if one.overlaps(other)]


def test_long_names_stay_different(drawn):
    """The first two differ only in the middle, and the first and the third at the end."""
    names = ["Llama-3.1-70B-Instruct-finetuned-chat", "Llama-3.1-70B-Base-model-finetuned-chat",
             "Llama-3.1-70B-Instruct-finetuned-code", "wren"]
    board = leaderboard(names)
    assert len(set(figures.shorten_names(names, 14))) == 4
    for kind in ("scores", "groups"):
        shown = {text.strip("1234 ") for text in texts(drawn(kind, replace(board, groups=((0, 1),)))) if "…" in text}
        assert len(shown) == 3, kind


def test_matrix_of_pairs_names_adjusted_p_values(drawn):
    board = changed(BOARD, lambda of: {"p_adjusted": 0.0005})
    assert "adjusted p ≤ 0.001" in texts(drawn("pairs", board))
    uncorrected = replace(board, comparison=BOARD.comparison._replace(correction="none"))
    assert "p ≤ 0.001" in texts(drawn("pairs", uncorrected))


def test_dots_per_inch_set_the_size_of_a_png(tmp_path):
    for dpi in (100, 300):
        DRAWN["pairs"](BOARD, tmp_path / "f.png", look=Look(width=4, dpi=dpi))
        with Image.open(tmp_path / "f.png") as picture:
            assert picture.width == 4 * dpi
    with pytest.raises(InputError, match="set it from 72 to 1200 dots per inch"):
        figures.parse_look(dpi=10)


@pytest.mark.parametrize("kind", DRAWN)
def test_pgf_of_every_kind_compiles(kind, tmp_path):
    need("pdflatex")
    DRAWN[kind](RESAMPLED, tmp_path / "f.pgf")
    (tmp_path / "a.tex").write_text(r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{pgf}"
                                    r"\begin{document}\input{f.pgf}\end{document}")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path,
                          capture_output=True, timeout=100)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
