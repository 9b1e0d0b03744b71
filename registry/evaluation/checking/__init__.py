"""Check a manifest and its files without storing anything."""
