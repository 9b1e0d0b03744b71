"""Copies of whole files: backups, upgrades, purges."""
