r"""The command that prints scripts for completion in shells.

The scripts get candidates from typer, one a line, and insert them as quoted text; evaluating a candidate would run a
system's name as a command. Typer's own scripts are not used. The one for zsh evaluates candidates (`\$(COMMAND)` in a
name runs the command), the one for bash inserts them unquoted, and descriptions break lines in all of them, so typer is
called by its protocol for bash, which has none.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from registry.cli.console import write

SCRIPTS = {
    "bash": r"""# Completion of registry for bash (4.4 or later). Put this into ~/.bashrc:
#     eval "$(registry completion bash)"
# or write it once: registry completion bash > ~/.local/share/bash-completion/completions/registry
_registry_complete() {
    # $2 is the word from the last of COMP_WORDBREAKS on. The last word is begun, unless it follows a blank.
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
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Which shell.")],
) -> None:
    """Print a script that completes commands and names in a shell.

    Commands, options, tasks, teams, systems, metrics, test sets and more are completed by the tab key. The first lines
    of the script say where to put it.
    """
    write(SCRIPTS[shell])
