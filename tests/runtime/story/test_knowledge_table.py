"""The table of who knows what says the same as asking for each memory alone."""

from typing import Any

import pytest

from novelgen.errors import NovelgenError, UnknownEntityError, UserInputError
from novelgen.models.knowledge import READER, KnownMemory
from novelgen.models.position import StoryPosition
from runtime.search.kept_readings import knowledge_rules
from runtime.stores import MemoryStores
from runtime.story.knowledge import author_words
from runtime.story.story import Story


@pytest.mark.parametrize("project_id", ["demo", "demo-zh"])
@pytest.mark.parametrize("as_of", [None, StoryPosition(3, 1)])
def test_every_cell_is_what_who_knows_says(
    read_demo_stores: MemoryStores, project_id: str, as_of: StoryPosition | None
) -> None:
    """Whoever the table says knows a memory is among its knowers, and nobody else of the cast is."""
    story = Story(read_demo_stores, project_id)
    table = story.knowledge.table(as_of=as_of, limit=12)
    assert len(table.rows) == 12
    assert next(iter(table.cast)) == READER
    for row in table.rows:
        asked = story.knowledge.who_knows(memory_id=row.source_id, as_of=as_of)
        known = {each.character_id: each.how for each in asked.known_by if each.character_id in table.cast}
        cells = dict(zip(table.cast, row.cells, strict=True))
        told = {who: cell.how for who, cell in cells.items() if isinstance(cell, KnownMemory)}
        assert told == known


@pytest.mark.slow
def test_the_latest_memories_come_first_and_none_from_the_position_on(read_demo_stores: MemoryStores) -> None:
    """Parts follow without a gap, of somebody only what is about them, and words on nothing are refused."""
    story = Story(read_demo_stores, "demo")
    table = story.knowledge.table(as_of=StoryPosition(2, 1), limit=1000)
    places = [(row.chapter_index or 0, row.scene_index or 0) for row in table.rows]
    assert places == sorted(places, reverse=True)
    assert max(places) < (2, 1)
    assert len(places) == table.total
    everybody = story.knowledge.table(max_cast=100)
    assert set(table.cast) < set(everybody.cast)
    table = story.knowledge.table(about="Sparrow", limit=1000)
    assert 0 < table.total < story.knowledge.table().total
    assert story.knowledge.table(about="zeppelin").rows == []
    whole = [row.source_id for row in story.knowledge.table(limit=1000).rows]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = story.knowledge.table(offset=offset, limit=30)
        seen += [row.source_id for row in part.rows]
        offset = part.next_offset
    assert seen == whole
    for character, memory_id in (("Ines", "M999"), ("Nobody At All", "M001")):
        with pytest.raises(NovelgenError):
            author_words(story._stores, story.project_id, character_id=character, memory_id=memory_id)


@pytest.mark.parametrize("as_of", [None, StoryPosition(3, 1)])
def test_what_one_knows_and_does_not_know(read_demo_stores: MemoryStores, as_of: StoryPosition | None) -> None:
    """The two halves of one person's table are all of it, and say what asking for that person says."""
    story = Story(read_demo_stores, "demo")
    told = story.knowledge.list(character_id="Sparrow", as_of=as_of)
    for narrowing, memories in (("known", told.known), ("unknown", told.not_known)):
        table = story.knowledge.table(
            as_of=as_of,
            narrowing=narrowing,  # type: ignore[arg-type]
            of="Sparrow",
            is_of_one=True,
            limit=1000,
        )
        assert list(table.cast.values()) == ["Sparrow"]
        assert [row.source_id for row in table.rows][::-1] == [each.source_id for each in memories]


def test_what_the_reader_knows_and_somebody_it_is_about_does_not(read_demo_stores: MemoryStores) -> None:
    """Of nobody named, somebody whom the fact is about does not know it; of somebody named, they do not."""
    tables = Story(read_demo_stores, "demo")
    rules = knowledge_rules(read_demo_stores, "demo", as_of=StoryPosition())
    by_id = {each.source_id: each for each in rules.story.memories}
    table = tables.knowledge.table(narrowing="irony", limit=1000)
    for row in table.rows:
        about = set(by_id[row.source_id].entities) & rules.story.character_ids
        assert any(not rules.knows(each, by_id[row.source_id]).knows for each in about)
    of_one = tables.knowledge.table(narrowing="irony", of="Hale", limit=1000)
    unknown = tables.knowledge.table(narrowing="unknown", of="Hale", limit=1000)
    assert [each.source_id for each in of_one.rows] == [each.source_id for each in unknown.rows]


def test_what_is_kept_from_somebody(demo_stores: MemoryStores) -> None:
    """A secret is what is said to be kept from one while another knows it, and only from where that is said."""
    story = Story(demo_stores, "demo")
    assert story.knowledge.table(narrowing="secret").rows == []
    story.knowledge.set(character_id="Finch", memory_id="M001", kind="hidden", start=StoryPosition(2, 1))
    (row,) = story.knowledge.table(narrowing="secret", of="Finch").rows
    assert (row.source_id, row.said_of) == ("M001", ["C3"])
    assert story.knowledge.table(narrowing="secret", of="Ines").rows == []
    earlier = story.knowledge.table(narrowing="secret", as_of=StoryPosition(1, 3))
    assert earlier.rows == []


def test_a_table_that_cannot_be(read_demo_stores: MemoryStores) -> None:
    """An unknown narrowing, one without the person that it needs, and an unknown person are refused."""
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"narrowing": "guessed"}, UserInputError),
        ({"narrowing": "known"}, UserInputError),
        ({"is_of_one": True}, UserInputError),
        ({"narrowing": "known", "of": "Nobody At All"}, UnknownEntityError),
    ]
    for asked, error in cases:
        with pytest.raises(error):
            Story(read_demo_stores, "demo").knowledge.table(**asked)
