"""Studies as commands: `registry study NAME`, derived from the studies themselves, and those that write files."""

from __future__ import annotations

import typer

from registry.cli.console import RegistryGroup
from registry.cli.late import add_command
from registry.cli.study.command import add_study
from registry.cli.study.writing import resample_train, synthesize
from registry.studies import STUDIES

app = typer.Typer(cls=RegistryGroup, no_args_is_help=True, rich_markup_mode=None, help=(
    "Make a study of a task: what its numbers show and do not."))
for name in STUDIES:
    add_study(app, name)
add_command(app, synthesize, "synthesize")
add_command(app, resample_train, "resample-train")
