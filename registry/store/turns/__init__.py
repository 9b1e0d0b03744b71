"""Whose turn it is to write: tickets, and the gate that lets a commit in."""
