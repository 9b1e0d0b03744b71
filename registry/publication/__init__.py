"""Public files.

A public file is a new registry that contains only the public data of another registry.
"""
