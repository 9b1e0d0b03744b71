"""Releases: the boards of a task and their data as plain files, which outlive database and program."""
