"""Size, colours, names and files, which all figures share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_COARSEST, _FINEST = 72, 1200  # dots per inch
_LETTER = 0.6  # width of most letters, as a share of the font size


def parse_length(text: str) -> float:
    """Convert a length such as `7.7cm` to inches.

    Args:
        text: A number with the unit in, cm, mm or pt; or a key of `WIDTHS`, such as `acl` for a column of an ACL paper.

    Raises:
        InputError: The text is no length, or the length is too small or too large for a figure.

    >>> [round(parse_length(text), 2) for text in ("7.7cm", "acl", "3.5in", "219.08pt")]
    [3.03, 3.03, 3.5, 3.03]
    """
    match = _LENGTH.fullmatch(WIDTHS.get(text.strip(), text.strip()))
    if match is None:
        raise InputError(f"{text!r} is not a length; write 7.7cm, 80mm, 3.5in or 219pt, or one of {', '.join(WIDTHS)}")
    length = float(match[1]) * _UNITS[match[2]]
    if not _LEAST <= length <= _MOST:
        raise InputError(f"{text} is not a possible size; a figure is {_LEAST:g} to {_MOST:g} inches wide and high")
    return length


def parse_limits(text: str) -> tuple[float, float]:
    """Parse the limits of an axis: `0.5,0.9` -> (0.5, 0.9).

    Raises:
        InputError: The text is not two numbers, or the first number is not the lower one.
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high < float("inf"):
        raise InputError(f"--limits {text!r} is not a range; write two numbers, the lower one first, such as 0.5,0.9")
    return low, high


@dataclass(frozen=True)
class Look:
    """Size and style of a figure.

    Attributes:
        width: The width in inches.
        height: The height in inches; None: the height that all systems need.
        font: The size of all text in points.
        limits: The ends of the axis of scores or differences; None: the range of the data, with outliers at the edge.
        label: The label of this axis; None: the metric.
        palette: The name of the colours, a key of `PALETTES`.
        dpi: The resolution of PNG files in dots per inch.
    """

    width: float = COLUMN
    height: float | None = None
    font: float = 7
    limits: tuple[float, float] | None = None
    label: str | None = None
    palette: str = "okabe-ito"
    dpi: int = 300

    @property
    def colours(self) -> tuple[str, ...]:
        """Colours of the palette, as hexadecimal codes."""
        return PALETTES[self.palette]

    @property
    def scale(self) -> float:
        """Font size as a multiple of the default font size."""
        return self.font / 7

    def size(self, height: float, *, least: bool = True) -> tuple[float, float]:
        """Return the width and the height of a figure in inches.

        Args:
            height: The height that the figure needs with the default font size, in inches.
            least: True if a smaller height that the user chose is an error.

        Raises:
            InputError: The user chose a height that is too small.
        """
        needed = height * self.scale
        if least and self.height is not None and self.height < 0.95 * needed:
            raise InputError(f"with text of {self.font:g} points, the systems need a figure that is "
                             f"{2.54 * needed:.1f} cm high; increase the height, or draw fewer systems with --top")
        return self.width, self.height or needed

    def letters(self, share: float = 1) -> int:
        """Return how many letters fit side by side into a share of the figure's width.

        The result is at least 8.
        """
        return max(8, int(share * self.width * 72 / (_LETTER * self.font)))


USUAL = Look()


def parse_look(width: str = "acl", height: str | None = None, font_size: float = 7,
               limits: tuple[float, float] | None = None, label: str | None = None,
               palette: str = "okabe-ito", dpi: int = 300) -> Look:
    """Return the size and the style of a figure from the options of a user.

    Args:
        width: The width, such as `7.7cm`, or `acl` for a column of an ACL paper.
        height: The height, such as `5cm`; None: the height that all systems need.
        font_size: The size of all text in points.
        limits: The ends of the axis of scores or differences; None: the range of the data.
        label: The label of this axis; None: the metric.
        palette: The name of the colours, a key of `PALETTES`.
        dpi: The resolution of PNG files in dots per inch.

    Raises:
        InputError: A length, the font size, the limits, the palette or the resolution is not valid.
    """
    if not _SMALLEST <= font_size <= _LARGEST:
        raise InputError(f"the font size {font_size:g} is not allowed; set it from {_SMALLEST} to {_LARGEST} points")
    if palette not in PALETTES:
        raise InputError(f"unknown palette {palette!r}; {suggest(palette, PALETTES)}")
    if limits is not None and not limits[0] < limits[1] < float("inf"):
        raise InputError(f"limits must be two numbers, the lower one first, not {limits!r}")
    if not _COARSEST <= dpi <= _FINEST:
        raise InputError(f"the resolution {dpi} is not allowed; set it from {_COARSEST} to {_FINEST} dots per inch")
    return Look(parse_length(width), None if height is None else parse_length(height), font_size, limits, label,
                palette, dpi)


_FORMS = (".svg", ".png", ".pdf", ".pgf")
# The first font comes with matplotlib and measures all text; a viewer of SVG without this font uses one of the others.
_FONTS = ["DejaVu Sans", "Verdana", "Bitstream Vera Sans"]
LONGEST_NAME = 24  # characters of a name that a figure has room for


@contextmanager
def drawing(path: Path, size: tuple[float, float], font: float = 7, dpi: int = 300) -> Iterator[Figure]:
    """Provide an empty figure for a `with` block, and write it to a file at the end.

    Args:
        path: The file to write. The ending (.svg, .png, .pdf, .pgf) selects the format.
        size: The width and the height in inches.
        font: The size of all text in points.
        dpi: The resolution of PNG files in dots per inch.

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
        figure = Figure(figsize=size, dpi=dpi, layout="constrained")
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
    """Check that the ending of a file name is a supported format of figures.

    Raises:
        InputError: The ending is not .svg, .png, .pdf or .pgf.
    """
    if path.suffix not in _FORMS:
        raise InputError("the file name of a figure must end in .svg, .pdf, .png or .pgf", path=path)


def shorten_names(names: Sequence[str], longest: int) -> list[str]:
    """Shorten long names to `longest` characters, to different names if possible.

    The middle of a name is left out. If short names would be equal, the common beginning of the names is left out.

    >>> shorten_names(["Llama-70B-Instruct-tuned", "Llama-70B-Base-tuned", "wren"], 12)
    ['Lla…Instruct', 'Lla…Base-tun', 'wren']
    """
    def shorten(name: str, skipped: int) -> str:
        if len(name) <= longest:
            return name
        head = longest // 4 if skipped else longest // 2
        tail = longest - 1 - head
        return f"{name[:head]}…{name[skipped:skipped + tail] if skipped else name[-tail:]}"

    short = [shorten(name, 0) for name in names]
    for text in {text for text in short if short.count(text) > 1}:
        equal = [n for n, other in enumerate(short) if other == text]
        letters = zip(*(names[n] for n in equal), strict=False)
        start = next((k for k, others in enumerate(letters) if len(set(others)) > 1), 0)
        for n in equal:
            short[n] = shorten(names[n], start)
    return short


def format_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name in a form that figures can show.

    Names longer than `longest` characters are shortened in the middle. Characters that are invisible or not in the font
    are replaced by escapes such as `U+2603`.
    """
    clipped = shorten_names([name], longest)[0]
    supported = _list_supported_characters()
    return "".join(c if ord(c) in supported else f"U+{ord(c):04X}" for c in escape_controls(clipped))


@cache
def _list_supported_characters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
