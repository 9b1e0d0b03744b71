"""Releases: folders with the boards and the data of a task as plain files.

These files can be read without the database and without this program.
"""
