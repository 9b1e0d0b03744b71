"""The Python interface to a registry: `registry.open` and the objects that it returns."""

from registry.api.registry import Registry, Result, Task, Tasks

__all__ = ["Registry", "Result", "Task", "Tasks"]
