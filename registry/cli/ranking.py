"""The command that evaluates rankings: n-best precision and recall, and where two systems differ in them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say, show
from registry.cli.options import Db, OutputFormat, database
from registry.errors import InputError

if TYPE_CHECKING:
    from registry.rendering.table import Table
    from registry.studies.nbest.load import RankedTestSet
    from registry.studies.nbest.precision import RankingStudy


class Shown(StrEnum):
    """What is printed."""

    pairs = "pairs"
    tests = "tests"
    curves = "curves"
    variation = "variation"


class Ties(StrEnum):
    """What happens to candidates that are tied at a cut-off."""

    random = "random"
    include = "include"
    exclude = "exclude"


class Figure(StrEnum):
    """What is drawn."""

    precision = "precision"
    recall = "recall"
    intervals = "intervals"
    significance = "significance"


def ranking(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id.")],
    shown: Annotated[Shown, typer.Option("--show", help=(
        "pairs: up to which n they differ; tests: every test; curves: precision and recall; variation: over the "
        "repetitions."))] = Shown.pairs,
    system: Annotated[list[str] | None, typer.Option("--system", metavar="NAME", help=(
        "Only this one, system or team/system; may be given several times."))] = None,
    test_set: Annotated[str | None, typer.Option("--test-set", metavar="NAME", help="Only this one.")] = None,
    grid: Annotated[str, typer.Option("--grid", metavar="FIRST:LAST:STEP", help=(
        "The sizes of the n-best lists; or a list as 100,500,1000."))] = "100:2000:50",
    ties: Annotated[Ties, typer.Option("--ties", help="Accept random ones of those tied at a cut-off, or all, or none.",
                                       )] = Ties.random,
    seed: Annotated[int, typer.Option("--seed", help="Of the random order of those tied.")] = 0,
    alpha: Annotated[float, typer.Option("--alpha", min=0, max=1, help="Of every single test.")] = 0.05,
    confidence: Annotated[float, typer.Option("--confidence", min=0, max=1, help="Of the intervals.")] = 0.95,
    repetition: Annotated[str | None, typer.Option("--repetition", metavar="ATTRIBUTE", help=(
        "The attribute of candidates that tells the repetitions of the experiment apart."))] = None,
    accept: Annotated[int, typer.Option("--accept", min=1, help="Candidates accepted per repetition, on average.",
                                        )] = 100,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=(
        "Draw a figure into this .svg, .png or .pdf; needs the extra plot."))] = None,
    figure: Annotated[Figure | None, typer.Option("--figure", help=(
        "What to draw; the significance of two systems, else the precision of all."))] = None,
    db: Db = None,
    format_: OutputFormat = None,
) -> None:
    """Evaluate rankings: n-best lists, and where two differ.

    Precision has Clopper-Pearson intervals, and Fisher's test compares what only one of two systems accepts (Evert
    2004).
    """
    from registry.errors import UnknownNameError
    from registry.store import catalog
    from registry.studies.nbest.load import load
    from registry.studies.sizes import rising_sizes

    cut_offs = rising_sizes(grid, "--grid")
    if (shown is Shown.variation) != (repetition is not None):
        raise InputError("--show variation and --repetition go together: what tells the repetitions apart?")
    if figure is not None and plot is None:
        raise InputError("--figure says what to draw, and --plot where; give both")
    with database(db).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        test_sets = catalog.test_sets(connection, row.task_id)
        if test_set is not None and test_set not in (known := [one.name for one in test_sets]):
            raise UnknownNameError(f"test set of {task}", test_set, known)
        loaded = [load(connection, row, one, system or (), seed)
                  for one in test_sets if test_set in (None, one.name)]
        repetitions = [one.repetition(connection, repetition) for one in loaded] if repetition else []
    if repetition is not None:
        from registry.reports.ranking import variation_table
        from registry.studies.nbest.variation import variations

        said = [f"Accepted by a threshold: {accept} per repetition on average. Expected is the binomial deviation, the "
                f"p beside it chi-squared; outside are {100 * confidence:g} % intervals that leave out the average."]
        show([variation_table(one, repetition, variations(one.ranked, of_one, average=accept, confidence=confidence),
                              said) for one, of_one in zip(loaded, repetitions, strict=True)], format_)
        return
    if plot is not None and len(loaded) > 1:
        raise InputError(f"a figure shows one test set, and {task} has {len(loaded)}; name one by --test-set")
    show([_table(one, cut_offs, shown, ties, confidence, alpha, plot, figure) for one in loaded], format_)


def _table(one: RankedTestSet, cut_offs: tuple[int, ...], shown: Shown, ties: Ties, confidence: float, alpha: float,
           plot: Path | None, figure: Figure | None) -> Table:
    import numpy as np

    from registry.reports.ranking import curves_table, pairs_table, tests_table, unequal_sizes
    from registry.studies.nbest.precision import study

    n = len(one.ranked.right)
    if cut_offs[0] > n:
        raise InputError(f"{one.name} has {n} candidates only; give smaller sizes by --grid")
    within = np.array([size for size in cut_offs if size <= n], dtype=np.int64)
    found = study(one.ranked, within, ties=ties.value, confidence=confidence, alpha=alpha)
    for warning in (*one.warnings, *unequal_sizes(found, one.name)):
        say(f"warning: {warning}")
    if shown is not Shown.curves and len(found.curves) == 1:
        say(f"warning: {one.name}: one system makes no pair; --show curves shows its lists")
    if plot is not None:
        _draw(found, plot, figure)
    interval = f"{100 * confidence:g} % Clopper-Pearson intervals"
    tests = (f"Fisher's test of D1 and D2, two-sided by point probabilities, at {len(within)} n from {within[0]} to "
             f"{within[-1]}, each at {alpha:g} (not corrected for their number); ties: {ties.value}.")
    table = {Shown.pairs: pairs_table, Shown.tests: tests_table}.get(shown, curves_table)
    return table(one, found, [f"{interval}; ties: {ties.value}." if table is curves_table else tests])


def _draw(found: RankingStudy, plot: Path, figure: Figure | None) -> None:
    from registry.reports.figures.nbest import draw

    draw(found, (figure or (Figure.significance if len(found.curves) == 2 else Figure.precision)).value, plot)
    say(f"drawn: {plot}")
