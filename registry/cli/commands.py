"""Typer commands and groups of this program: the only module that extends typer's classes.

A `LazyCommand` has a name and a summary, and is imported on use. `--help` lists commands and options below headings in
plain text; typer's own panels require rich, whose import takes as long as the whole `--help`. Some options of the
program may also follow the command. Usage errors end with a remedy.
"""

from __future__ import annotations

import copy
import inspect
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from registry.cli.console import end_verbose_log, report, report_error
from registry.cli.hints import add_remedy, suggest_command
from registry.errors import NOTHING_STORED, RegistryError, Termination, has_written, one_line

# Headings of shared options, in the order in which they follow a command's own options.
WHICH, TEST, WORK, STORE = "Which results", "The test", "The work", "The registry"
STUDY = "study:make_study_command"  # makes the command of a study from its name
_PROGRAM_OPTIONS = ("is_verbose", "color")  # these may also follow the command
_MAX_PLAIN_OPTIONS = 8  # a command with more options has headings
_MARGINS = 4  # blanks left and right of a command's name

Parameter = tuple[str, Any, Any]  # name, annotation and default value
T = TypeVar("T")

# Contexts that end with the command.
_open_contexts: ContextVar[ExitStack] = ContextVar("_open_contexts")


def keep_open(manager: AbstractContextManager[T]) -> T:
    """Enter a context manager, and exit from it at the end of the command."""
    return _open_contexts.get().enter_context(manager)


def add_parameters(function: Callable[..., None], parameters: Iterable[Parameter]) -> None:
    """Replace `**values` in a function's signature by named parameters.

    Typer turns these parameters into options.

    Args:
        function: The function of a command.
        parameters: Tuples (name, annotation, default value) for typer.
    """
    signature = inspect.signature(function, eval_str=True)
    written = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
             for name, annotation, default in parameters]
    function.__signature__ = signature.replace(parameters=[*written, *added])  # type: ignore[attr-defined]


def make_command(function: Callable[..., None], name: str, description: str | None = None) -> TyperCommand:
    """Make a typer command from a function.

    The text of `--help` is the description, by default the docstring.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=RegistryCommand, help=description)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


class RegistryCommand(TyperCommand):
    """Command with headings above its options in `--help`.

    Some options of the program, such as `--verbose`, may also follow the command.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's parameters, and program options that may follow it."""
        own = super().get_params(ctx)
        flags = {flag for parameter in own for flag in parameter.opts}
        return [*own, *(_copy_for_command(option) for option in ctx.find_root().command.params
                        if option.name in _PROGRAM_OPTIONS and not flags & set(option.opts))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options for `--help`."""
        write_parameters(self, ctx, formatter)


def _copy_for_command(option: Any) -> Any:
    """Copy a global option, such as `--verbose`, so that it can follow a command.

    The copy is hidden in `--help`. It has no value of its own: its callback runs if the option is given.
    """
    option = copy.copy(option)
    option.default, option.envvar, option.hidden, option.expose_value = None, None, True, False
    return option


class LazyCommand(TyperCommand):
    """Command whose module is imported only if the command is used.

    Attributes:
        target: Location of the command: `module:name` in the package `registry.cli`, or the constant `STUDY` for a
            study.
    """

    def __init__(self, target: str, summary: str, heading: str | None = None) -> None:
        super().__init__(None, help=summary, rich_help_panel=heading, rich_markup_mode=None)
        self.target = target

    def load(self, name: str) -> Any:
        """Import the module, and return the command."""
        module, _, attribute = self.target.partition(":")
        target = getattr(import_module(f"registry.cli.{module}"), attribute)
        if isinstance(target, TyperGroup):
            return target
        return target(name) if self.target == STUDY else make_command(target, name)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the module, and let the command parse its arguments."""
        return self.load(str(info_name)).make_context(info_name, args, parent, **extra)


class RegistryGroup(TyperGroup):
    """Group of commands, which `--help` lists below headings.

    If a command does not exist, the error suggests similar commands.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands and then the options for `--help`."""
        longest = max(map(len, self.commands))
        width = formatter.width - _MARGINS - longest
        for heading, commands in group_commands(self).items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{longest}}", command.get_short_help_str(width))
                                    for name, command in commands.items()])
        write_parameters(self, ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command with the name that the user typed.

        If it does not exist, the error suggests similar commands, also of other groups.
        """
        if args[0][:1].isalnum() and args[0] not in self.commands and not ctx.resilient_parsing:
            ctx.fail(f"No such command {one_line(args[0])!r}; {suggest_command(args[0], ctx)}")
        return super().resolve_command(ctx, args)


class Program(RegistryGroup):
    """The whole command line program.

    It prints each error of a command as one line, and sets the exit status.
    """

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Parse the options that precede the command; add remedies to errors."""
        try:
            return super().make_context(*arguments, **extra)
        except KeyboardInterrupt as interrupt:
            raise _report_interrupt(interrupt) from None
        except Exception as error:
            add_remedy(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run a command; print its error, if any, and set the exit status.

        The exit status after an interrupt (Ctrl-C) is 130. After SIGTERM, the process ends by this signal.
        """
        has_written.set(False)
        signals: list[int] = []
        try:
            with ExitStack() as stack:
                signals = stack.enter_context(_raise_termination())
                _open_contexts.set(stack)
                return super().invoke(ctx)
        except RegistryError as error:
            report_error(error)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt as interrupt:
            raise _report_interrupt(interrupt) from None
        except Exception as error:
            if str(error) == "Query interrupted":  # what DuckDB makes of a KeyboardInterrupt in a query
                raise _report_interrupt(Termination() if signals else KeyboardInterrupt()) from None
            add_remedy(error)
            raise
        finally:
            end_verbose_log()


def _report_interrupt(interrupt: KeyboardInterrupt) -> typer.Exit:
    """Print what an interrupted command has stored, and return its exit.

    If the exception has a message, it says what is stored. After the signal SIGTERM, the process ends by this signal.
    """
    stored = str(interrupt)
    if not stored:
        stored = "completed steps are stored; run the command again for the rest" if has_written.get() else (
            NOTHING_STORED)
    is_terminated = isinstance(interrupt, Termination)
    report(f"{'terminated' if is_terminated else 'interrupted'}: {stored}")
    if is_terminated:
        signal.raise_signal(signal.SIGTERM)
    return typer.Exit(130)


@contextmanager
def _raise_termination() -> Iterator[list[int]]:
    """Raise `Termination` in the block if the process gets the signal SIGTERM.

    Only the main thread can have a handler.

    Yields:
        The number of each signal that was received.
    """
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def terminate(number: int, frame: Any) -> None:  # noqa: ARG001
        signals.append(number)
        raise Termination

    previous = signal.signal(signal.SIGTERM, terminate)
    try:
        yield signals
    finally:
        signal.signal(signal.SIGTERM, previous)


def write_parameters(command: Any, context: Any, formatter: Any) -> None:
    """Write the arguments and options of a command below headings, for `--help`."""
    for heading, records in group_parameters(command, context):
        with formatter.section(heading):
            formatter.write_dl(records)


def group_parameters(command: Any, context: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Group the parameters of a command by their headings in `--help`.

    A command with few options has only one heading.

    Returns:
        For each heading, the parameters and their descriptions.
    """
    groups: dict[str, list[tuple[str, str]]] = {
        heading: [] for heading in ("Arguments", "Options", WHICH, TEST, WORK, STORE)}
    visible = [(parameter, record) for parameter in command.get_params(context)
               if (record := parameter.get_help_record(context)) is not None]
    has_headings = sum(parameter.param_type_name == "option" for parameter, _ in visible) > _MAX_PLAIN_OPTIONS
    for parameter, record in visible:
        panel = getattr(parameter, "rich_help_panel", None) if has_headings else None
        groups["Arguments" if parameter.param_type_name == "argument" else panel or "Options"].append(record)
    return ((heading, records) for heading, records in groups.items() if records)


def group_commands(group: Any) -> dict[str, dict[str, Any]]:
    """Group the commands of a group by their headings.

    Returns:
        For each heading, the commands by name.
    """
    groups: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, command in group.commands.items():
        groups[command.rich_help_panel or "Commands"][name] = command
    return groups
