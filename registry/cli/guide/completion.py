"""What may come next on an unfinished command line: commands, options, choices, and names of the registry.

A shell gives the words so far, of which the last has been begun, and gets what it may be, one in each line. Whatever
goes wrong, a shell at work is told nothing, for it would stand in the middle of what somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import typer


class Candidate(NamedTuple):
    """What a word may be, and what that means, as far as something is said of it."""

    value: str
    said: str = ""


@dataclass
class _Place:
    """Where on a command line the next word stands.

    Attributes:
        command: The command, or group of commands, that takes the word.
        context: Its context.
        arguments: How many arguments it has been given.
        awaited: The option whose value the word is.
        are_over: Whether no options can follow, after --.
    """

    command: Any
    context: Any
    arguments: int = 0
    awaited: Any = None
    are_over: bool = field(default=False)

    def is_option(self, word: str) -> bool:
        """Whether a word is an option, or the beginning of one."""
        return not self.are_over and word.startswith("-")

    def pass_by(self, word: str) -> bool:
        """Go on to the place after a word; False where no command has such a name."""
        if self.awaited is not None:
            self.context.params[self.awaited.name], self.awaited = word, None
        elif self.is_option(word):
            self._pass_option(word)
        elif hasattr(self.command, "commands"):
            return self._enter(word)
        elif (argument := self.argument()) is not None:
            self.context.params[argument.name] = word
            self.arguments += 1
        return True

    def argument(self) -> Any:
        """The argument that comes next; None where there is none left."""
        arguments = [of for of in self.parameters() if of.param_type_name == "argument"]
        last = arguments[-1] if arguments and arguments[-1].nargs == -1 else None
        return arguments[self.arguments] if self.arguments < len(arguments) else last

    def option(self, flag: str) -> Any:
        """The option that is called so; None where there is none."""
        known = (*self.parameters(), *self._shared())
        found = next((of for of in known if flag in (*of.opts, *of.secondary_opts)), None)
        return found if found is not None or not self._complete() else self.option(flag)

    def options(self) -> list[Any]:
        """All options."""
        self._complete()
        return [of for of in self.parameters() if of.param_type_name == "option"]

    def parameters(self) -> list[Any]:
        """Arguments and options as far as they are known."""
        return list(self.command.get_params(self.context))

    def _shared(self) -> list[Any]:
        """The options that a command has in common with its like, where so far only some of its own are known."""
        shared = getattr(self.command, "shared", None)
        return [] if shared is None else list(shared().get_params(self.context))

    def _complete(self) -> bool:
        """Take the command with all of its options, where so far only some are known."""
        if (in_full := getattr(self.command, "in_full", None)) is None:
            return False
        self.command = in_full()
        return True

    def _pass_option(self, word: str) -> None:
        if word == "--":
            self.are_over = True
            return
        flag, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        option = self.option(flag)
        if option is None or option.is_flag or option.count:
            return
        if equals:
            self.context.params[option.name] = value
        else:
            self.awaited = option

    def _enter(self, name: str) -> bool:
        self.command = self.command.get_command(self.context, name)
        if self.command is None:
            return False
        self.context = typer.Context(self.command, parent=self.context, info_name=name, resilient_parsing=True)
        self.arguments = 0
        return True


def candidates(program: Any, words: list[str]) -> Iterator[Candidate]:
    """What the last of the words may be.

    Args:
        program: The group of all commands.
        words: The words after the program's name; the last one has been begun, and may be empty.
    """
    *before, begun = words or [""]
    place = _Place(program, typer.Context(program, info_name="registry", resilient_parsing=True))
    if not all(map(place.pass_by, before)):
        return
    if place.awaited is not None:
        found = _values(place, place.awaited, begun)
    elif place.is_option(begun) and "=" in begun:
        flag, _, value = begun.partition("=")
        option = place.option(flag)
        values = iter(()) if option is None else _values(place, option, value)
        found = (Candidate(f"{flag}={of.value}", of.said) for of in values)
    elif place.is_option(begun):
        found = (Candidate(flag, _summary(of.help)) for of in place.options()
                 for flag in (*of.opts, *of.secondary_opts) if flag.startswith(begun) and flag.startswith("--"))
    elif hasattr(place.command, "commands"):
        found = (Candidate(name, _summary(of.help)) for name, of in place.command.commands.items()
                 if name.startswith(begun) and not of.hidden)
    else:
        argument = place.argument()
        found = iter(()) if argument is None else _values(place, argument, begun)
    for of in found:  # a name that looks like an option would be taken for one
        if of.value.isprintable() and (place.is_option(begun) or not of.value.startswith("-")):
            yield of


def _values(place: _Place, parameter: Any, begun: str) -> Iterator[Candidate]:
    """The values of a parameter that begin so, as far as they can be listed."""
    for item in parameter.shell_complete(place.context, begun):
        if item.type == "plain":
            yield Candidate(str(item.value), _summary(item.help))


def _summary(text: str | None) -> str:
    """The first sentence, on one line."""
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".")
