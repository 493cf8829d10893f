"""Classes of the parts of a story, by their names on `Story`."""

from functools import cached_property
from inspect import getattr_static
from typing import get_type_hints

from novelgen import Story

PARTS: dict[str, type] = {
    name: get_type_hints(value.func)["return"]
    for name in dir(Story)
    if not name.startswith("_") and isinstance(value := getattr_static(Story, name), cached_property)
}


def methods_of(part: type) -> set[str]:
    """Return the names of a class's public methods, without async twins."""
    names = {name for name in dir(part) if not name.startswith("_")}
    return {name for name in names if not (name.startswith("a") and name[1:] in names)}
