"""What every service has in common, so that a door over them is thin."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from runtime import story


def modules() -> Iterator[ModuleType]:
    """Give the modules of the services."""
    for each in pkgutil.iter_modules(story.__path__):
        yield importlib.import_module(f"{story.__name__}.{each.name}")


def over_stores() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give the public functions that work on stores, with their names."""
    for module in modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            is_own = function.__module__ == module.__name__ and not name.startswith("_")
            if is_own and next(iter(inspect.signature(function).parameters), "") == "stores":
                yield f"{module.__name__}.{name}", function


def test_a_service_takes_stores_and_project_and_all_else_by_keyword() -> None:
    """Whoever builds a door calls every service alike, and sees what each one gives back."""
    odd = []
    for name, function in over_stores():
        signature = inspect.signature(function)
        positional = [
            each.name for each in signature.parameters.values() if each.kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        is_typed = signature.return_annotation is not inspect.Signature.empty
        if positional not in (["stores"], ["stores", "project_id"]) or not is_typed or not function.__doc__:
            odd.append(name)
    assert odd == []


def test_services_print_and_ask_nothing() -> None:
    """What a user sees is the door's business: no service brings the library of the command line along."""
    told = [module.__name__ for module in modules() if "click" in vars(module) or "print" in vars(module)]
    assert told == []
