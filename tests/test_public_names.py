"""What programs learn of the API by completion, `help` and imports."""

import inspect
from collections.abc import Iterator
from types import GenericAlias
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import novelgen
import novelgen.models
from novelgen import Character, Memory, Story
from tests.support.story_parts import PARTS, methods_of

OWNERS = [Memory, Story, Character, *PARTS.values()]


def _classes(hint: Any) -> Iterator[type]:
    """Yield our classes in a type hint."""
    for item in (hint, get_origin(hint)):
        if isinstance(item, type) and not isinstance(item, GenericAlias):
            yield item
    for item in get_args(hint):
        yield from _classes(item)


def _returned_classes(owner: type) -> set[type]:
    methods = [getattr(owner, name) for name in methods_of(owner) if callable(getattr(owner, name))]
    returned = {found for method in methods for found in _classes(get_type_hints(method)["return"])}
    return {found for found in returned if found.__module__.startswith(("novelgen", "runtime"))}


def test_every_class_that_a_public_call_returns_can_be_imported() -> None:
    """Also the parts themselves; `What is stable` covers both modules."""
    public = {getattr(module, name) for module in (novelgen, novelgen.models) for name in module.__all__}
    returned = {found for owner in OWNERS for found in _returned_classes(owner)} | set(OWNERS)
    assert len(returned) > 90
    assert sorted(found.__qualname__ for found in returned - public) == []


@pytest.mark.parametrize("owner", OWNERS)
def test_signatures_show_plain_types(owner: type) -> None:
    """What is checked at run time stays in the annotations, which `get_type_hints` gives."""
    for name, method in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_"):
            assert "Annotated" not in str(inspect.signature(method)), name
    bounds = get_type_hints(Story.context, include_extras=True)["pov"].__metadata__
    assert bounds[0].metadata[0].max_length == 400
