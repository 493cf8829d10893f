"""Names of a package that are imported when they are first used (PEP 562), so that importing it stays light."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from novelgen.errors import ConfigurationError


def lazy_exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a lazy package."""
    places = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_own(places[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, names, sorted(places)


def import_own(name: str) -> ModuleType:
    """Import a module of novelgen's two packages.

    Raises:
        ConfigurationError: When another package of the same name comes first on `sys.path`.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        module_type = sys.modules.get(package)
        place = getattr(module_type, "__file__", None) or next(iter(getattr(module_type, "__path__", [])), None)
        raise ConfigurationError(
            f"novelgen needs its own package {package!r}, but Python finds another one at {place!r}; rename that one, "
            "or keep its folder off sys.path"
        ) from error
