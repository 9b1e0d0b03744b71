"""What a task declares: frozen specifications read from one TOML file, unknown keys rejected."""

from registry.manifest.fields import DRAWS, MOST_DRAWS, NAMES_PARTICIPANT, PRECISION, is_active
from registry.manifest.files import Root
from registry.manifest.folder import format_toml
from registry.manifest.load import (
    load_manifest,
    read_manifest,
    significance_with,
    stored_form,
    stored_manifest,
    submit_entry,
    system_facts,
)
from registry.manifest.spec import Manifest, MetricSpec, Reading, Significance, Submit, TestSet

__all__ = [
    "DRAWS", "MOST_DRAWS", "NAMES_PARTICIPANT", "PRECISION", "Manifest", "MetricSpec", "Reading", "Root",
    "Significance", "Submit", "TestSet", "format_toml", "is_active", "load_manifest", "read_manifest",
    "significance_with", "stored_form", "stored_manifest", "submit_entry", "system_facts",
]
