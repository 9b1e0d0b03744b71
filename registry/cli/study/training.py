"""Systems for studies, of resampled training files: resample-train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say
from registry.cli.options import DryRun, named_values
from registry.errors import counted


def resample_train(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "A training file, or parallel ones that are resampled alike."))],
    format_: Annotated[str, typer.Option("--format", metavar="READER", help="`registry list readers`.")],
    model: Annotated[list[str], typer.Option("--model", metavar="NAME", help=(
        "What is to be trained on every sample; can be repeated."))],
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
        "An option of the reader, as a manifest would write it; can be repeated."))] = None,
    size: Annotated[list[int] | None, typer.Option("--size", metavar="N", help=(
        "Items to draw; as many as there are if none is given; can be repeated."))] = None,
    copies: Annotated[int, typer.Option("--copies", metavar="N", help="Samples of each size.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random draws.")] = 0,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to write.")] = Path("resampled"),
    dry_run: DryRun = False,
) -> None:
    """Write resampled training files.

    With the [[submit]] tables that bring the systems trained on them back, marked by model, size and sample
    (Berg-Kirkpatrick et al. 2012, section 3.2.1).
    """
    from registry.manifest.folder import write_files
    from registry.readers import READERS, Document
    from registry.studies.planning.training_sets import Training, resampled
    from registry.values import build

    reader = build("reader", READERS, format_, named_values(option or [], "--option"))
    made = resampled([Training.of(Document.load(path), reader) for path in files], tuple(size or ()), copies, model,
                     seed)
    written = there = 0
    for name, content in made:  # one by one: together they may be larger than memory
        new = write_files(to, {name: content}, dry_run=dry_run)
        written += len(new)
        there += not new
    say(f"{to}: {counted(written, 'file')} {'would be ' if dry_run else ''}written, {there} there already; "
        f"{to / 'submissions.toml'} declares the systems")
