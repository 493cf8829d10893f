"""Every method of a story and of a memory stands on the pages about Python, in both languages."""

import re

import pytest

from novelgen import Memory, Story
from novelgen.memory.protocol import FurtherReads, MemoryTools, StoryMemory
from tests.docs.pages import text_of
from tests.support.story_parts import PARTS, methods_of

PAGES = ("docs/reference/python.md", "docs/reference/python.zh.md")


def table_names(page: str, heading: str) -> set[str]:
    """Return the names in the first cells of the table below a heading row."""
    table = re.search(rf"^\| {heading} \|.*\n((?:\|.*\n)+)", text_of(page), re.MULTILINE)
    assert table, (page, heading)
    return set(re.findall(r"`(\w+)\(", "\n".join(row.split(" | ")[0] for row in table.group(1).splitlines()[1:])))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("protocol", [MemoryTools, StoryMemory, FurtherReads])
def test_the_methods_of_a_memory_of_your_own_are_those_of_its_protocol(page: str, protocol: type) -> None:
    """No method is missing, and none is left that is gone."""
    own = methods_of(protocol) - (methods_of(MemoryTools) if protocol is StoryMemory else set())
    assert table_names(page, f"[^|]*`{protocol.__name__}`[^|]*") == own


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("part", PARTS)
def test_every_method_of_a_part_is_in_its_row(page: str, part: str) -> None:
    """The row of a part names each of its methods, and calls no other."""
    [row] = re.findall(rf"^\| `{part}` \| (.+) \|$", text_of(page), re.MULTILINE)
    methods = methods_of(PARTS[part])
    assert methods - set(re.findall(r"`(\w+)", row)) == set()
    assert set(re.findall(r"`(\w+)\(", row)) - methods == set()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("front", [Memory, Story])
def test_every_method_of_the_front_door_is_on_the_page(page: str, front: type) -> None:
    """`Memory` and `Story`, whose parts have rows of their own."""
    methods = {name for name in methods_of(front) if callable(getattr(front, name))}
    assert {name for name in methods if f"{name}(" not in text_of(page)} == set()
