r"""Shell completion: the candidates for names, and the scripts of `registry completion`.

The scripts get candidates from typer, one per line, and insert them as quoted text; evaluating a candidate would run a
system's name as a command. Typer's own scripts are not used: the one for zsh evaluates candidates (`\$(COMMAND)` in a
name runs the command), the one for bash inserts them unquoted, and in all of them descriptions break lines. All scripts
use typer's protocol for bash, which has no descriptions.

Functions that return candidates must not wait for locks or change anything; shells ignore errors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import typer

from registry.cli.console import write
from registry.cli.settings import choose_database_path


def complete_from_registry(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """Make a function that completes names in the registry, such as systems.

    Shells call the function to complete a command line. If the command line contains a task, only names of this task
    are suggested.

    Args:
        kind: The kind of names, such as `system` or `test set`.
    """
    def list_names(ctx: typer.Context, incomplete: str) -> list[str]:
        from registry.store.completions import completions

        db, task = ctx.params.get("db"), ctx.params.get("task")
        names = completions(choose_database_path(Path(db) if db else None), kind, incomplete, task)
        return [name for name in names if not name.startswith("-")]  # shells would insert an option

    return list_names


def complete_from_program(*tables: str) -> Callable[[], list[str]]:
    """Make a function that completes names that the program defines, such as metrics.

    Args:
        tables: The tables with the names as `module:name`, such as `metrics:METRICS`.
    """
    def list_names() -> list[str]:
        pairs = [table.split(":") for table in tables]
        return [name for module, attribute in pairs for name in getattr(import_module(f"registry.{module}"), attribute)]

    return list_names


tasks, test_sets, tracks = map(complete_from_registry, ("task", "test set", "track"))
teams, systems, submissions = map(complete_from_registry, ("team", "system", "submission"))
metric_ids, items, facets = map(complete_from_registry, ("metric", "item", "facet"))
team_systems, tables, signatures = map(complete_from_registry, ("team/system", "table", "signature"))
metrics, readers = complete_from_program("metrics:METRICS"), complete_from_program("readers:READERS")
importers = complete_from_program("importers:IMPORTERS")
formats = complete_from_program("readers:READERS", "importers:IMPORTERS")
tests, corrections = complete_from_program("significance:TESTS"), complete_from_program("significance:CORRECTIONS")

SCRIPTS = {
    "bash": r"""# Completion of registry for bash (4.4 or later). Put this into ~/.bashrc:
#     eval "$(registry completion bash)"
# or write it once: registry completion bash > ~/.local/share/bash-completion/completions/registry
_registry_complete() {
    # $2 is the text after the last character of COMP_WORDBREAKS. A blank before the cursor begins a new word.
    local line=${COMP_LINE:0:COMP_POINT} index=-1 special=$'\'"\\`$!' value
    local before=${line%"$2"}
    local prefix=${before##*[[:blank:]]}
    prefix=${prefix#--*=}
    [[ -z $2 && $before == *[[:blank:]] ]] && index=9999
    COMPREPLY=()
    while IFS= read -r value; do
        [[ -n $value ]] || continue
        if [[ $before == *[\'\"] ]]; then
            [[ $value != *[$special]* ]] || continue
        else
            printf -v value %q "$value"
            [[ $value == "$prefix"* ]] || continue
            value=${value#"$prefix"}
        fi
        COMPREPLY+=("$value")
    done < <(COMP_WORDS=$line COMP_CWORD=$index _REGISTRY_COMPLETE=complete_bash command registry 2>/dev/null)
}
complete -o default -o nosort -F _registry_complete registry evalregistry
""",
    "zsh": r"""#compdef registry evalregistry
# Completion of registry for zsh. Put this into ~/.zshrc, below compinit:
#     eval "$(registry completion zsh)"
# or write it once into a folder of $fpath: registry completion zsh > ~/.zfunc/_registry
_registry() {
    local -a values
    values=("${(@f)$(COMP_WORDS="${words[1,CURRENT]}" COMP_CWORD=$((CURRENT - 1)) \
        _REGISTRY_COMPLETE=complete_bash command registry 2>/dev/null)}")
    compset -P '--*='
    if [[ -n $values[1] ]]; then compadd -V registry -a values; else _files; fi
}
if [ "$funcstack[1]" = _registry ]; then _registry "$@"; else compdef _registry registry evalregistry; fi
""",
    "fish": r"""# Completion of registry for fish. Write it once:
#     registry completion fish > ~/.config/fish/completions/registry.fish
function __registry_complete
    env COMP_WORDS=(commandline -cp | string collect) COMP_CWORD=(count (commandline -opc)) \
        _REGISTRY_COMPLETE=complete_bash registry 2>/dev/null | string match -r '.+'
    or __fish_complete_path (commandline -ct)
end
complete -c registry -f -k -a '(__registry_complete)'
complete -c evalregistry -f -k -a '(__registry_complete)'
""",
}


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> None:
    """Print a script that completes commands and names in a shell.

    The tab key then completes commands, options, tasks, teams, systems, metrics, test sets and other names. The first
    lines of the script explain where to put it.
    """
    write(SCRIPTS[shell])
