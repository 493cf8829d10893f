"""The table of who knows what says the same as asking for each memory alone."""

from __future__ import annotations

import pytest

from novelgen.errors import UnknownProjectError
from novelgen.models.knowledge import READER, KnownMemory
from novelgen.models.position import StoryPosition
from runtime.services.knowledge import who_knows
from runtime.services.knowledge_table import knowledge_table
from runtime.stores import MemoryStores


@pytest.mark.parametrize("project_id", ["demo", "demo-zh"])
@pytest.mark.parametrize("as_of", [None, StoryPosition(3, 1)])
def test_every_cell_is_what_who_knows_says(
    demo_stores: MemoryStores, project_id: str, as_of: StoryPosition | None
) -> None:
    """Whoever the table says knows a memory is among its knowers, and nobody else of the cast is."""
    table = knowledge_table(demo_stores, project_id, as_of=as_of, limit=12)
    assert len(table.rows) == 12
    assert next(iter(table.cast)) == READER
    for row in table.rows:
        asked = who_knows(demo_stores, project_id, memory_id=row.source_id, as_of=as_of)
        known = {each.character_id: each.how for each in asked.known_by if each.character_id in table.cast}
        cells = dict(zip(table.cast, row.cells, strict=True))
        told = {who: cell.how for who, cell in cells.items() if isinstance(cell, KnownMemory)}
        assert told == known


def test_the_latest_memories_come_first_and_none_from_the_position_on(demo_stores: MemoryStores) -> None:
    """Rows go back from the position, and the cast is of those who were on stage before it."""
    table = knowledge_table(demo_stores, "demo", as_of=StoryPosition(2, 1), limit=1000)
    places = [(row.chapter_index or 0, row.scene_index or 0) for row in table.rows]
    assert places == sorted(places, reverse=True)
    assert max(places) < (2, 1)
    assert len(places) == table.total
    everybody = knowledge_table(demo_stores, "demo", max_cast=100)
    assert set(table.cast) < set(everybody.cast)


def test_memories_about_somebody(demo_stores: MemoryStores) -> None:
    """Only what is about them has a row; words that nothing holds give an empty table."""
    table = knowledge_table(demo_stores, "demo", about="Sparrow", limit=1000)
    assert 0 < table.total < knowledge_table(demo_stores, "demo").total
    assert knowledge_table(demo_stores, "demo", about="zeppelin").rows == []


def test_of_an_unknown_project_nothing_is_told(demo_stores: MemoryStores) -> None:
    """It is refused, and nothing is made."""
    with pytest.raises(UnknownProjectError):
        knowledge_table(demo_stores, "nowhere")
