r"""Figures as PGF: LaTeX commands that draw, with the document's font.

A document shows a figure by `\input{figure.pgf}`, with `\usepackage{pgf}`. Writing a figure does not run LaTeX, because
the font of the other formats measures all text. All text is escaped, so names cannot contain commands of LaTeX.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pgf import FigureCanvasPgf, RendererPgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from registry.rendering.latex import escape_latex

_SIGNS = {"≤": r"$\leq$", "…": r"\ldots{}", "−": r"$-$", "→": r"$\rightarrow$", "←": r"$\leftarrow$"}
_SIGN = re.compile(f"([{''.join(_SIGNS)}])")
_BEGIN = r"""%% Needs \usepackage{{pgf}} and \usepackage[T1]{{fontenc}}; \input{{this file}} shows it.
\begingroup%
\makeatletter%
\begin{{pgfpicture}}%
\pgfpathrectangle{{\pgfpointorigin}}{{\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%
\pgfusepath{{use as bounding box}}%
"""
_END = r"""\end{pgfpicture}%
\makeatother%
\endgroup%
"""


def latex_text(written: str) -> str:
    r"""Escape a text of a figure for LaTeX, and replace signs such as ≤ by commands.

    >>> print(latex_text("p ≤ 0.05 of \\input{x}_1"))
    p $\leq$ 0.05 of \textbackslash{}input\{x\}\_1
    """
    return "".join(_SIGNS.get(part) or escape_latex(part) for part in _SIGN.split(written))


class _Renderer(RendererPgf):
    """PGF renderer that escapes all text, and measures text without running LaTeX."""

    def draw_text(self, gc: Any, *given: Any, **more: Any) -> None:
        """Write a text, escaped for LaTeX, in the font of the document."""
        x, y, written, font, *rest = given
        plain = font.copy()
        plain.set_family("document")  # a name that no font has
        super().draw_text(gc, x, y, latex_text(written), plain, *rest, **more)  # type: ignore[no-untyped-call]

    def draw_image(self, _: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        """Draw an image as filled rectangles.

        The inherited method would write a second file for the image. One rectangle covers neighbouring pixels of the
        same colour in a row.
        """
        height, width = im.shape[:2]
        scale_x, _, _, scale_y, left, bottom = (
            (width, 0, 0, height, 0, 0) if transform is None else transform.frozen().to_values())
        to_inches = 1 / self.figure.dpi
        cell_x, cell_y = scale_x * to_inches / width, scale_y * to_inches / height
        self._write(r"\begin{pgfscope}")
        for row, pixels in enumerate(im[..., :3].tolist()):
            start = 0
            for (red, green, blue), run in groupby(pixels, tuple):
                n = len(list(run))
                self._write(rf"\definecolor{{cell}}{{RGB}}{{{red},{green},{blue}}}\pgfsetfillcolor{{cell}}")
                self._write(rf"\pgfpathrectangle{{\pgfqpoint{{{(left + x) * to_inches + start * cell_x:f}in}}"
                            rf"{{{(bottom + y) * to_inches + row * cell_y:f}in}}}}"
                            rf"{{\pgfqpoint{{{n * cell_x:f}in}}{{{cell_y:f}in}}}}\pgfusepath{{fill}}")
                start += n
        self._write(r"\end{pgfscope}")

    def _write(self, line: str) -> None:
        self.fh.write(f"{line}%\n")

    def get_text_width_height_descent(self, s: str, prop: FontProperties, _: Any) -> tuple[float, float, float]:
        """Return the width, the height and the descent of a text in pixels."""
        pixels = self.figure.dpi / 72
        width, height, descent = text_to_path.get_text_width_height_descent(s, prop, False)
        return width * pixels, height * pixels, descent * pixels


_mixed: Any = MixedModeRenderer
_renderer: Any = _Renderer  # matplotlib's own has no types


class PgfCanvas(FigureCanvasPgf):
    """Canvas of matplotlib that writes a figure as PGF commands for LaTeX."""

    def __init__(self, figure: Figure) -> None:
        super().__init__(figure)

    def get_renderer(self) -> Any:
        """Return a renderer that measures text before the figure is drawn."""
        return _renderer(self.figure, None)

    def print_pgf(self, fname_or_fh: Any, **_: Any) -> None:
        """Write the figure to a file."""
        width, height = self.figure.get_size_inches()
        with Path(fname_or_fh).open("w", encoding="utf-8") as file:
            file.write(_BEGIN.format(width=width, height=height))
            renderer: Any = _mixed(self.figure, width, height, self.figure.dpi, _renderer(self.figure, file))
            self.figure.draw(renderer)
            file.write(_END)
