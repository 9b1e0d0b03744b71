"""Studies as commands: `registry study NAME`, derived from the studies themselves, and those that write files."""

from __future__ import annotations

from registry.cli.commands import STUDY, LazyCommand, RegistryGroup
from registry.plugins import find_offered
from registry.studies import STUDIES

group = RegistryGroup(name="study", no_args_is_help=True, rich_markup_mode=None, help=(
    "Make a study of a task: what its numbers show and do not."))
group.commands.update({name: LazyCommand(STUDY, study.help) for name, study in STUDIES.items()})
group.commands.update({
    offered.full_name: LazyCommand(STUDY, f"A study of {offered.package} {offered.version}.")
    for offered in find_offered("study")})
group.commands.update({
    "synthesize": LazyCommand("study.writing:synthesize", "Write a task of drawn system outputs."),
    "resample-train": LazyCommand("study.writing:resample_train", "Write resampled training files.")})
