"""Studies as commands: `registry study NAME`, a file for those that ask alike."""

from __future__ import annotations

import typer

from registry.cli.console import RegistryGroup
from registry.cli.study import advice, dependence, gains, planning, test_sets, training

app = typer.Typer(cls=RegistryGroup, no_args_is_help=True, rich_markup_mode=None, help=(
    "Analyse a task as the papers do: each study prints a table and what it means."))

for command in (
    advice.advise,
    gains.threshold,
    gains.curve,
    gains.calibration,
    dependence.correlation,
    dependence.dependence,
    planning.power,
    planning.synthesize,
    test_sets.replicability,
    training.resample_train,
):
    app.command(name=command.__name__.rstrip("_").replace("_", "-"))(command)
app.command(name="test-size")(gains.sizes)  # a function of that name would be a test
