"""Attacks on what a registry hides, and alterations of what it holds: each must fail, or be named."""
