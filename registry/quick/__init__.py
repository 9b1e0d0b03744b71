"""Leaderboards of files without a manifest.

The user names the roles of files and columns by options, or the program recognises usual names. If a role is unclear,
the program asks.
"""
