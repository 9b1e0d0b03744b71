"""Studies as commands: `registry study NAME`, a file for those that ask alike."""

from __future__ import annotations

from collections.abc import Callable

import typer

from registry.cli.console import RegistryGroup
from registry.cli.study import advice, dependence, gains, planning, test_sets, training

app = typer.Typer(cls=RegistryGroup, no_args_is_help=True, rich_markup_mode=None, help=(
    "Make a study of a task: what its numbers show and do not."))

COMMANDS: dict[str, Callable[..., None]] = {
    "advise": advice.advise,
    "threshold": gains.threshold,
    "curve": gains.curve,
    "test-size": gains.sizes,
    "calibration": gains.calibration,
    "correlation": dependence.correlation,
    "dependence": dependence.dependence,
    "power": planning.power,
    "replicability": test_sets.replicability,
    "synthesize": planning.synthesize,
    "resample-train": training.resample_train,
}
for name, command in COMMANDS.items():
    app.command(name=name)(command)
