"""The manual page of the program, made of what its commands say: docs/registry.1, which the wheel installs.

`make docs` writes it. All text is escaped: nothing that a command says is a macro of roff.
"""

import re

import typer

from registry.cli.app import app
from registry.cli.commands import group_commands, group_parameters
from registry.version import __version__

STATUS = (
    ("0", "All went well, or what was asked for is hidden for now."),
    ("1", "The database cannot be used, a query went beyond its limits, or the results cannot be written."),
    ("2", "The command line is wrong."),
    ("3", "A file, an item or a name that was given is wrong."),
    ("4", "What is stored and what is asked for do not belong together; verify: something was found."),
    ("5", "Another process holds the database."),
    ("130", "The command was interrupted; what is stored stays."))
FILES = (
    ("registry.duckdb", "The registry, where nothing else names one."),
    ("registry.toml", "In this folder or above it: the database that is meant, and who gives the commands."),
    ("task.toml", "A task's manifest, as people call it."))
ENVIRONMENT = (
    ("REGISTRY_DB, REGISTRY_FORMAT, ...", "The value of the option that names the variable in its description."),
    ("NO_COLOR, CLICOLOR", "No colours if NO_COLOR is set, or if CLICOLOR is 0."),
    ("COLUMNS", "The width of tables and help, instead of that of the terminal."))
EXAMPLES = (
    ("registry quick --gold gold.tsv a.tsv b.tsv", "The leaderboard of files as they are."),
    ("registry run task.toml", "Evaluate the task that a manifest declares."),
    ("registry board -m f1", "The leaderboard by one metric."),
    ('eval "$(registry completion bash)"', "Let the tab key complete commands and names."))


def manual_page():
    """The page as roff, with the macros of man(7)."""
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="registry", **root.context_settings)
    parts = [
        f'.TH REGISTRY 1 "" "evalregistry {__version__}" "User Commands"',
        ".SH NAME", "registry \\- evaluate shared tasks: statistics per item, tests of all pairs, honest leaderboards",
        ".SH SYNOPSIS", ".B registry", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]...",
        ".SH DESCRIPTION", _text(root.help),
        "Results go to stdout, everything else to stderr.", ".SH OPTIONS", *_parameters(root, context)]
    for heading, commands in group_commands(root).items():
        parts.append(f".SH {_plain(heading.upper())}")
        for name, command in commands.items():
            parts += _command(name, command.load(name), context)
    for heading, rows in (("EXIT STATUS", STATUS), ("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT),
                          ("EXAMPLES", EXAMPLES)):
        parts += [f".SH {heading}", *(line for row in rows for line in _described(*row))]
    return "\n".join(parts) + "\n"


def _command(name, command, parent):
    """Describe a command, then the commands of a group."""
    context = typer.Context(command, parent=parent, info_name=name)
    path, usage = _plain(context.command_path), _plain(" ".join(command.collect_usage_pieces(context)))
    said = [line for part in command.help.split("\n\n") for line in (".PP", _text(part))]
    below = [line for name, of in getattr(command, "commands", {}).items()
             for line in _command(name, of.load(name), context)]
    return [f".SS {path}", f"\\fB{path}\\fR {usage}", *said, *_parameters(command, context), *below]


def _parameters(command, context):
    return [line for _, records in group_parameters(command, context) for record in records
            for line in _described(*record)]


def _described(term, said):
    return [".TP", f"\\fB{_plain(term)}\\fR", _text(said)]


def _text(text):
    """A paragraph: one line, with what is typed in bold."""
    written = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", _plain(" ".join(text.split())))
    return f"\\&{written}" if written[:1] in (".", "'") else written


def _plain(text):
    """Text with what roff would take for a command of its own escaped."""
    return text.translate({ord("\\"): "\\e", ord("-"): "\\-", ord("'"): "\\(aq", ord("^"): "\\(ha", ord("~"): "\\(ti"})
