"""Manifest of a task: the TOML file that declares it, as immutable Python values."""

from registry.manifest.fields import DRAWS, MOST_DRAWS, NAMES_PARTICIPANT, PRECISION, is_active
from registry.manifest.files import Root
from registry.manifest.folder import format_toml
from registry.manifest.load import (
    check_system_facts,
    decode_manifest,
    encode_manifest,
    load_manifest,
    make_submit,
    read_manifest,
    update_significance,
)
from registry.manifest.spec import FileSettings, Manifest, MetricSpec, Significance, Submit, TestSet

__all__ = [
    "DRAWS",
    "MOST_DRAWS",
    "NAMES_PARTICIPANT",
    "PRECISION",
    "FileSettings",
    "Manifest",
    "MetricSpec",
    "Root",
    "Significance",
    "Submit",
    "TestSet",
    "check_system_facts",
    "decode_manifest",
    "encode_manifest",
    "format_toml",
    "is_active",
    "load_manifest",
    "make_submit",
    "read_manifest",
    "update_significance",
]
