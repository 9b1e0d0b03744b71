"""Boards of files without a manifest: roles are given as options or recognised by usual names, else asked for."""
