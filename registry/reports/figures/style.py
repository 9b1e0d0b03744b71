"""What figures have in common: colours, names that are no formulas, and files that are always the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import InputError, StoreError
from registry.rendering.table import visible
from registry.reports.figures.look import COLUMN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMS = (".svg", ".png", ".pdf", ".pgf")
# The first comes with matplotlib, and all is measured by it; others stand in where a viewer of SVG lacks it.
_FONTS = ["DejaVu Sans", "Verdana", "Bitstream Vera Sans"]
_LONGEST = 24  # characters of a name that a figure has room for


@contextmanager
def drawing(path: Path, size: tuple[float, float], font: float = 7) -> Iterator[Figure]:
    """An empty figure to draw into, which is written once that is done.

    Args:
        path: Where to; its ending (.svg, .png, .pdf, .pgf) says in which form.
        size: Width and height in inches.
        font: The size of its text in points.

    Raises:
        InputError: matplotlib is not there, or the ending says no form.
        StoreError: The file cannot be written.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backend_bases import get_registered_canvas_class
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'evalregistry[plot]'") from None
    check_form(path)
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    with mpl.rc_context({"svg.hashsalt": "evalregistry", "svg.fonttype": "none", "pdf.fonttype": 42,
                         "pgf.rcfonts": False, "text.parse_math": False, "font.family": "sans-serif",
                         "font.sans-serif": _FONTS, "font.size": font,
                         "legend.frameon": False,
                         "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
                         "xtick.major.width": 0.6, "ytick.major.width": 0.6}):
        figure = Figure(figsize=size, dpi=300 if size[0] <= COLUMN else 150, layout="constrained")
        yield figure
        form = path.suffix.removeprefix(".")
        if form == "pgf":  # matplotlib's own runs LaTeX
            from registry.reports.figures.pgf import PgfCanvas

            canvas: Any = PgfCanvas(figure)
        else:
            canvas = get_registered_canvas_class(form)(figure)
        try:
            getattr(canvas, f"print_{form}")(path, metadata=metadata)  # savefig draws everything twice
        except OSError as error:
            raise StoreError(path, f"cannot write the figure: {error.strerror}") from None


def check_form(path: Path) -> None:
    """Refuse a path whose ending says no form.

    Raises:
        InputError: It does not.
    """
    if path.suffix not in _FORMS:
        raise InputError("a figure ends in .svg, .pdf, .png or .pgf", path=path)


def named(name: str, longest: int = _LONGEST) -> str:
    """A name as a figure can show it: clipped, and what is invisible or not in the font by code points."""
    clipped = name if len(name) <= longest else name[:longest - 1] + "…"
    there = _characters()
    return "".join(c if ord(c) in there else f"U+{ord(c):04X}" for c in visible(clipped))


@cache
def _characters() -> frozenset[int]:
    """Code points of the letters of the font that comes with matplotlib, so that they are the same everywhere."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
