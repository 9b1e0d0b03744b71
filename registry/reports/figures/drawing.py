"""Size, colours, names and files, which all figures share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import InputError, StoreError, suggest
from registry.rendering.table import escape_controls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can distinguish. Marks, fillings and letters repeat the same
# information without colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_GREYS = ("#333333", "#777777", "#000000", "#999999", "#FFFFFF", "#555555", "#000000", "#BBBBBB")
PALETTES = {"okabe-ito": COLOURS, "grey": _GREYS}

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}  # inches; pt is the point of LaTeX
_LENGTH = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(in|cm|mm|pt)")
WIDTHS = {  # of columns and pages of papers
    "acl": "7.7cm", "acl-wide": "16cm", "ieee": "3.5in", "ieee-wide": "7.16in", "lncs": "12.2cm", "neurips": "5.5in"}
_LEAST, _MOST = 1.0, 40.0  # inches
COLUMN = 7.7 / 2.54
_SMALLEST, _LARGEST = 4, 30  # points
_LETTER = 0.6  # width of most letters, as a share of the font size


def inches(text: str) -> float:
    """Return a length in inches.

    Args:
        text: A length such as `7.7cm`, or a key of `WIDTHS`, such as `acl` for a column of an ACL paper.

    Raises:
        InputError: The text is no length, or the length is too small or too large for a figure.

    >>> [round(inches(text), 2) for text in ("7.7cm", "acl", "3.5in", "219.08pt")]
    [3.03, 3.03, 3.5, 3.03]
    """
    match = _LENGTH.fullmatch(WIDTHS.get(text.strip(), text.strip()))
    if match is None:
        raise InputError(f"{text!r} is no length such as 7.7cm, 80mm, 3.5in or 219pt, nor one of {', '.join(WIDTHS)}")
    length = float(match[1]) * _UNITS[match[2]]
    if not _LEAST <= length <= _MOST:
        raise InputError(f"{text} is no size for a figure, which is from {_LEAST:g} to {_MOST:g} inches wide and high")
    return length


def limits(text: str) -> tuple[float, float]:
    """Return the ends of a scale from a text `LOW,HIGH`.

    Raises:
        InputError: The text is not two numbers, or the first number is not the lower one.
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high < float("inf"):
        raise InputError(f"--limits takes two numbers, the lower one first, as in 0.5,0.9, not {text!r}")
    return low, high


@dataclass(frozen=True)
class Look:
    """Size and style of a figure.

    Attributes:
        width: The width in inches.
        height: The height in inches; None: the height that the systems need.
        font: The size of all text in points.
        limits: The ends of the scale of scores or gains; None: the range of the data, with outliers at the edge.
        label: The label of the scale; None: the metric.
        palette: The name of the colours, a key of `PALETTES`.
    """

    width: float = COLUMN
    height: float | None = None
    font: float = 7
    limits: tuple[float, float] | None = None
    label: str | None = None
    palette: str = "okabe-ito"

    @property
    def colours(self) -> tuple[str, ...]:
        """The colours of the palette."""
        return PALETTES[self.palette]

    @property
    def scale(self) -> float:
        """The font size as a multiple of the default size."""
        return self.font / 7

    def size(self, height: float, *, least: bool = True) -> tuple[float, float]:
        """Return the width and the height of a figure in inches.

        Args:
            height: The height in inches that the figure needs with the default font size.
            least: True if the figure cannot be lower than this height.

        Raises:
            InputError: The requested height is too low.
        """
        needed = height * self.scale
        if least and self.height is not None and self.height < 0.95 * needed:
            raise InputError(f"the systems need a figure that is {2.54 * needed:.1f} cm high, where text is of "
                             f"{self.font:g} points; --top draws fewer of them")
        return self.width, self.height or needed

    def letters(self, share: float = 1) -> int:
        """Return the number of letters that fit side by side into a share of the width."""
        return max(8, int(share * self.width * 72 / (_LETTER * self.font)))


USUAL = Look()


def look_of(width: str = "acl", height: str | None = None, font_size: float = 7,
            limits: tuple[float, float] | None = None, label: str | None = None,
            palette: str = "okabe-ito") -> Look:
    """Return the size and the style of a figure from the texts that people give.

    Args:
        width: The width, a text that `inches` accepts.
        height: The height, a text that `inches` accepts; None: the height that the systems need.
        font_size: The size of all text in points.
        limits: The ends of the scale of scores or gains; None: the range of the data.
        label: The label of this scale; None: the metric.
        palette: The name of the colours, a key of `PALETTES`.

    Raises:
        InputError: A length, the font size, the limits or the palette is not valid.
    """
    if not _SMALLEST <= font_size <= _LARGEST:
        raise InputError(f"text of {font_size:g} points cannot be read; give it {_SMALLEST} to {_LARGEST}")
    if palette not in PALETTES:
        raise InputError(f"no palette is called {palette!r}; {suggest(palette, PALETTES)}")
    if limits is not None and not limits[0] < limits[1] < float("inf"):
        raise InputError(f"limits are two numbers, the lower one first, not {limits!r}")
    return Look(inches(width), None if height is None else inches(height), font_size, limits, label, palette)


_FORMS = (".svg", ".png", ".pdf", ".pgf")
# The first font comes with matplotlib and measures all text; a viewer of SVG without this font uses one of the others.
_FONTS = ["DejaVu Sans", "Verdana", "Bitstream Vera Sans"]
_LONGEST = 24  # characters of a name that a figure has room for


@contextmanager
def drawing(path: Path, size: tuple[float, float], font: float = 7) -> Iterator[Figure]:
    """Provide an empty figure, and write the figure into a file at the end.

    Args:
        path: The file to write. The ending (.svg, .png, .pdf, .pgf) selects the format.
        size: The width and the height in inches.
        font: The size of all text in points.

    Raises:
        InputError: matplotlib is not installed, or the ending is no known format.
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
    """Check that the ending of a path is a known format of figures.

    Raises:
        InputError: The ending is no known format.
    """
    if path.suffix not in _FORMS:
        raise InputError("a figure ends in .svg, .pdf, .png or .pgf", path=path)


def named(name: str, longest: int = _LONGEST) -> str:
    """Return a name as a figure can show it.

    Long names are shortened. Code points replace characters that are invisible or not in the font.
    """
    clipped = name if len(name) <= longest else name[:longest - 1] + "…"
    supported = _characters()
    return "".join(c if ord(c) in supported else f"U+{ord(c):04X}" for c in escape_controls(clipped))


@cache
def _characters() -> frozenset[int]:
    """Return the code points in matplotlib's font, the same on all machines."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
