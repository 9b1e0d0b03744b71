"""What Python programs use of a registry: `registry.open`, and what it leads to."""

from registry.api.registry import Registry, Result, Task, Tasks

__all__ = ["Registry", "Result", "Task", "Tasks"]
