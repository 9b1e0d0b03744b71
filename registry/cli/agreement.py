"""The command that measures the agreement of annotators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from registry.cli.commands import TEST
from registry.cli.console import choose_format, print_tables, report, report_all
from registry.cli.options import AllNotes, OutputFormat, Quiet, ReaderOptions, parse_named_values


def agreement(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=(
        "A table of ratings: CSV, TSV, JSON, JSON Lines or Parquet."))],
    item: Annotated[list[str] | None, typer.Option("--item", metavar="COLUMN", help=(
        "The column of item ids; repeatable if several columns identify an item. Default: found by its name."))] = None,
    annotator: Annotated[str | None, typer.Option("--annotator", metavar="COLUMN", help=(
        "The column of annotators, in a table with a row for each item and annotator. Default: found by its "
        "name."))] = None,
    value: Annotated[str | None, typer.Option("--value", metavar="COLUMN", help=(
        "The column of labels or numbers in such a table. Default: found by its name."))] = None,
    annotators: Annotated[str | None, typer.Option("--annotators", metavar="A,B,...", help=(
        "The columns of annotators, in a table with a row for each item."))] = None,
    level: Annotated[Literal["nominal", "ordinal", "interval", "ratio"] | None, typer.Option("--level", help=(
        "The level of measurement: nominal (categories), ordinal (ranks), interval (differences count) or ratio "
        "(quotients count). Default: nominal; numbers with three or more values need it."))] = None,
    order: Annotated[str | None, typer.Option("--order", metavar="LOW,...,HIGH", help=(
        "The order of categories that are no numbers, for the level ordinal."))] = None,
    missing: Annotated[list[str] | None, typer.Option("--missing", metavar="VALUE", help=(
        "A value that means that there is no rating, such as NA; repeatable. Empty cells always do."))] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="COLUMN", help=(
        "Resample groups of items, such as documents, as a whole."))] = None,
    by: Annotated[Literal["annotator", "pair", "category"] | None, typer.Option("--by", help=(
        "Also print alpha without each annotator, of each pair of annotators, or of each category against the "
        "rest."))] = None,
    option: ReaderOptions = None,
    resamples: Annotated[int | None, typer.Option("--resamples", metavar="N", rich_help_panel=TEST, help=(
        "Number of bootstrap resamples. Default: 10,000."))] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", rich_help_panel=TEST, help=(
        "The confidence level of intervals. Default: 0.95."))] = None,
    seed: Annotated[int | None, typer.Option("--seed", rich_help_panel=TEST, help=(
        "Seed of the random numbers. Default: 1."))] = None,
    all_notes: AllNotes = False, format_: OutputFormat = None, quiet: Quiet = False,
) -> None:
    """Measure the agreement of annotators.

    The command prints Krippendorff's alpha, and the kappas or intraclass correlations that fit the level of
    measurement, with bootstrap intervals. It stores nothing.
    """
    from registry.direct.agreement import compute_agreement, make_agreement_table
    from registry.direct.ratings import RatingOptions

    result = compute_agreement(file, RatingOptions(
        tuple(item or ()), annotator, value, _split(annotators), level, _split(order), tuple(missing or ()), cluster,
        parse_named_values(option, "--option")), by, {"resamples": resamples, "confidence": confidence, "seed": seed})
    if not quiet:
        report(f"read as: {result.read_as}")
    report_all(result.notes, "warning")
    print_tables([make_agreement_table(result)], format_, all_notes=all_notes)
    if choose_format(format_) not in ("table", "md", "latex"):  # these have rows of numbers only
        report_all([result.sentence, *(message.sentence for message in result.messages)])


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",")) if names else ()
