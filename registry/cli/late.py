"""Commands whose functions are looked at when they are used.

Typer reads the parameters of a function for its command. Those of all functions take a twentieth of a second, and a
command line uses one of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import typer

from registry.cli.guide.layout import GuidedCommand


class LateCommand(GuidedCommand):
    """The command of a function, which is known by its summary until its parameters are asked for."""

    _function: ClassVar[Callable[..., None]]

    def __init__(self, *arguments: Any, **given: Any) -> None:
        super().__init__(*arguments, **given)
        del self.params, self.callback  # which are those below

    @cached_property
    def _command(self) -> Any:
        return command_of(self._function, str(self.name))

    @cached_property
    def params(self) -> Any:  # type: ignore[override]
        """The parameters of the function."""
        return self._command.params

    @cached_property
    def callback(self) -> Any:  # type: ignore[override]
        """The function, as it is called with what was parsed."""
        return self._command.callback


def command_of(function: Callable[..., None], name: str, said: str | None = None) -> Any:
    """The command of a function; `said` is its help, else what its docstring says."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=GuidedCommand, help=said)(function)
    return typer.main.get_command(alone)


def add_command(app: typer.Typer, function: Callable[..., None], name: str, heading: str | None = None) -> None:
    """Add the command of a function, listed below a heading."""
    class Command(LateCommand):
        _function = staticmethod(function)

    app.command(name, cls=Command, help=inspect.getdoc(function), rich_help_panel=heading)(lambda: None)
