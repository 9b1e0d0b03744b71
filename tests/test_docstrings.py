"""Every public method says what it does, or overrides one that does."""

import importlib
import inspect
import pkgutil

import registry


def classes():
    for module in pkgutil.walk_packages(registry.__path__, "registry."):
        if module.name != "registry.__main__":
            for found in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(found) and found.__module__ == module.name and not found.__name__.startswith("_"):
                    yield found


def says_what_it_does(of, name):
    return any(getattr(vars(one).get(name), "__doc__", None) for one in of.__mro__)


def test_public_methods_have_a_docstring_or_their_base_s():
    methods = [(of, name) for of in classes() for name, member in vars(of).items()
               if not name.startswith("_") and name not in vars(of).get("__annotations__", {})
               and (inspect.isroutine(member) or hasattr(member, "func") or hasattr(member, "fget"))]
    assert len(methods) > 500
    assert [f"{of.__module__}.{of.__name__}.{name}" for of, name in methods if not says_what_it_does(of, name)] == []
