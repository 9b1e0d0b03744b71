"""Copies of whole files: backups and purges."""
