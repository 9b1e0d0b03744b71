"""Competitions on other platforms: bundles that run a task, downloads of submissions, and pull requests.

This module imports nothing, because scoring programs run without a database.
"""
