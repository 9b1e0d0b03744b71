"""Releases: a task with its boards and all that they rest on as plain files, which outlive database and program."""
