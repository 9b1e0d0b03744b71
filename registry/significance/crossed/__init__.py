"""Test sets that are crossed with runs: what items and runs each add to the error of a difference.

`tables` lays a system's replicates out by unit and factor, `sources` finds what each source of variation adds, and
`critical` how large a difference must be beside them. `outlying_levels` tells of prompts that break a system.
"""
