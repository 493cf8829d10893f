"""The context of a piece of text over real SQLite and real Chroma."""

import itertools
from collections.abc import Iterator

import pytest

from novelgen.errors import DatabaseError
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.settings import ChunkContextSettings
from runtime.context_chain import build_chunk_context
from runtime.files.project_files import EntityEntry
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.memories import StoryMemories
from tests.support.demo_project import settings_for

PROJECT = "garden"
ENTRIES = [
    {
        "entity_id": "C0",
        "entity_type": "character",
        "name": "林黛玉",
        "aliases": [{"alias": "黛玉", "translation": "Daiyu"}, "颦儿"],
        "description": "寄居贾府的孤女",
        "translation": "Lin Daiyu",
    },
    {"entity_id": "C1", "entity_type": "character", "name": "袭人", "translation": "Aroma"},
    {"entity_id": "T0", "entity_type": "term", "name": "通灵玉", "translation": "the Magic Jade"},
]
SORROWS = ("落花", "旧帕", "秋雨", "冷月", "父母", "诗稿", "病", "一句玩笑", "风筝")
SCENES = {
    (1, 1): ("黛玉进了贾府，与外祖母相见。", [("M1", "黛玉初到贾府，处处小心。", ["C0"], 8)]),
    (1, 2): ("黛玉读书，袭人送茶。", [("M2", "袭人送来一盏茶。", ["C1"], 4)]),
    (2, 1): ("颦儿又哭了。", [(f"M1{n}", f"黛玉为{what}哭过。", ["C0"], 7) for n, what in enumerate(SORROWS)]),
    (3, 1): ("通灵玉不见了。", [("M3", "通灵玉在袭人枕下。", ["T0", "C1"], 9)]),
}
HANDS = str.maketrans("0123456789abcdef", "金玉香扇诗画琴棋书酒茶花月雪风云")
"""Makes of two hexadecimal digits a name that no other shares words with."""
TEXT = "颦儿望着袭人，想起那盏茶，眼泪又落下来。"


def scene(chapter: int, number: int) -> SceneInput:
    """Return a scene of the garden with its record."""
    return scene_of((chapter, number), *SCENES[chapter, number])


def scene_of(place: tuple[int, int], text: str, memories: list[tuple[str, str, list[str], int]]) -> SceneInput:
    """Return a scene with a record of (id, content, entities, importance) per memory."""
    chapter, number = place
    recorded = [
        {"memory_id": name, "content": content, "entities": entities, "importance": weight}
        for name, content, entities, weight in memories
    ]
    record = {"chapter_index": chapter, "scene_index": number, "title": "", "memories": recorded}
    return SceneInput(chapter_index=chapter, scene_index=number, text=text, record=SceneRecord.model_validate(record))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, module_database_url: str | None) -> Iterator[MemoryStores]:
    """Stores with the garden's story, on either database."""
    settings = settings_for(tmp_path_factory.mktemp("garden"))
    entities: list[Entity] = [EntityEntry.model_validate(each).entity() for each in ENTRIES]
    with MemoryStores(settings.model_copy(update={"database_url": module_database_url})) as opened:
        opened.create_project(PROJECT, language="zh")
        store_entities(opened, PROJECT, entities)
        ingest_scenes(opened, PROJECT, [scene(*place) for place in SCENES])
        yield opened


@pytest.mark.slow
def test_the_whole_book_is_at_hand(stores: MemoryStores) -> None:
    """Names with translations and descriptions, and the memories about them, the protagonist's among others."""
    context = build_chunk_context(PROJECT, TEXT, limit=4, stores=stores)
    assert [(each.name, each.translation) for each in context.glossary] == [("林黛玉", "Lin Daiyu"), ("袭人", "Aroma")]
    assert [(each.name, each.translation) for each in context.glossary[0].aliases] == [("黛玉", "Daiyu"), ("颦儿", "")]
    assert context.glossary[0].description == "寄居贾府的孤女"
    found = [each.chunk.source_id for each in context.memories]
    assert "M2" in found
    assert len(found) == 4
    assert context.more >= 6
    assert f"……另有 {context.more} 条" in context.text
    assert context.issues == []


def test_the_rest_is_counted_beyond_what_a_retriever_lists(stores: MemoryStores) -> None:
    """Of a protagonist's 120 memories ten are told and 110 counted, but for those that come later."""
    names = [f"{number:02x}".translate(HANDS) for number in range(160)]
    told = [(f"B{n}", f"宝玉收下{name}。", ["C9"], 5) for n, name in enumerate(names)]
    stores.create_project("jade", language="zh")
    entry = {"entity_id": "C9", "entity_type": "character", "name": "宝玉"}
    store_entities(stores, "jade", [EntityEntry.model_validate(entry).entity()])
    places = {(1, 1): told[:60], (1, 2): told[60:120], (2, 1): told[120:]}
    ingest_scenes(stores, "jade", [scene_of(place, "宝玉来了。", facts) for place, facts in places.items()])
    context = build_chunk_context("jade", "宝玉笑了。", 2, stores=stores)
    assert (len(context.memories), context.more) == (10, 110)


@pytest.mark.parametrize("chapter", [1, 2, 3])
def test_nothing_of_the_chapter_or_later_is_told(stores: MemoryStores, chapter: int) -> None:
    """Memories, aliases and descriptions are cut before the chapter that the text stands in."""
    context = build_chunk_context(PROJECT, TEXT + "通灵玉", chapter, 200, stores=stores)
    position = StoryPosition(chapter)
    assert all(position.admits(each.chunk.chapter_index, each.chunk.scene_index) for each in context.memories)
    told = context.model_dump_json()
    assert ("枕下" in told) == (chapter > 3)
    assert ("处处小心" in told) == (chapter > 1)


@pytest.mark.slow
def test_what_was_attached_by_hand_comes_with_its_entity(demo_stores: MemoryStores) -> None:
    """A note that names nobody is at hand where the entity appears that it was attached to."""
    with demo_stores.database("demo").write() as unit:
        character = unit.entities.list_all(entity_types=["character"])[0].entity
        note = unit.memories.add_note("Always formal, never uses contractions.")
        unit.attachments.attach([note.chunk_id], [character.entity_id])
    context = build_chunk_context("demo", f"{character.name} spoke.", stores=demo_stores, limit=200)
    found = {each.chunk.chunk_id: each.attached_to for each in context.memories}
    assert found[note.chunk_id] == [character.entity_id]


def test_reading_writes_nothing_unless_asked(stores: MemoryStores) -> None:
    """touch notes the moment on the memories shown, and the story does not count as changed."""

    def noted() -> tuple[str, set[str]]:
        with stores.database(PROJECT).read() as unit:
            version = unit.story_version(StoryPosition())
            every = unit.memories.list_matching()
        return version, {each.chunk.chunk_id for each in every if each.last_accessed_at is not None}

    version, _ = noted()
    build_chunk_context(PROJECT, TEXT, stores=stores)
    assert noted() == (version, set())
    shown = build_chunk_context(PROJECT, TEXT, stores=stores, touch=True).memories
    assert noted() == (version, {each.chunk.chunk_id for each in shown})


def test_a_database_that_fails_is_said(stores: MemoryStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the database down, what the index holds is still found, and the rest is an issue."""
    build_chunk_context(PROJECT, TEXT, stores=stores)

    def refuse(project_id: str) -> None:
        raise DatabaseError("the disk is gone")

    monkeypatch.setattr(stores, "database", refuse)
    context = build_chunk_context(PROJECT, TEXT, stores=stores, touch=True)
    assert context.glossary == []
    assert context.memories
    assert {"outline", "lexical"} <= {issue.stage for issue in context.issues}


_numbers = itertools.count(1)


@pytest.fixture
def ferry(stores: MemoryStores) -> str:
    """A story of a test's own: two chapters, and of Sparrow thirty memories of weight."""
    project_id = f"ferry-{next(_numbers)}"
    stores.create_project(project_id, language="en")
    entry = {"entity_id": "C0", "entity_type": "character", "name": "Sparrow", "aliases": ["the ferry girl"]}
    store_entities(stores, project_id, [EntityEntry.model_validate(entry).entity()])
    words = "oars rope lamp bell fog tide coin letter gull storm knife song boat rat key".split()
    told = [(f"M{n}", f"Sparrow and the {words[n % 15]} of ferry {n}.", ["C0"], 9) for n in range(30)]
    places = {(1, 1): told[:20], (2, 1): told[20:]}
    scenes = [scene_of(place, "Sparrow came.", facts) for place, facts in places.items()]
    ingest_scenes(stores, project_id, scenes)
    return project_id


def test_a_memory_that_names_somebody_is_never_dropped_by_rank(stores: MemoryStores, ferry: str) -> None:
    """Seed 003.7: attached to nobody and of no weight, it is there beside thirty that rank higher."""
    with stores.database(ferry).write() as unit:
        note = unit.memories.add_note("As a child the ferry girl was bitten; dogs scare her.", importance=1)
        other = unit.memories.add_note("A ferryman's glossary of knots, of no use to anybody.", importance=1)
    context = build_chunk_context(ferry, "Sparrow rowed on through the fog.", stores=stores, limit=200)
    named = {each.chunk.chunk_id: each.names for each in context.memories}
    assert named[note.chunk_id] == ["C0"]
    assert named.get(other.chunk_id, []) == []
    assert len(named) >= 31


@pytest.mark.slow
def test_chapter_and_book_memories_come_for_their_chunk(stores: MemoryStores, ferry: str) -> None:
    """Seed 003.21: they name nobody; the chapter's come in that chapter alone, the book's in every one."""
    of_chapter = StoryMemories(stores, ferry).add(content="Told in the present tense.", attached_to=["chapter:2"]).note
    of_book = StoryMemories(stores, ferry).add(content="Spell it grey.", attached_to=["book"]).note
    by_itself = StoryMemories(stores, ferry).add(content="Nobody ever whistles.").note

    def shown(chapter: int | None) -> dict[str, list[str]]:
        context = build_chunk_context(ferry, "The water was still.", chapter, 200, stores=stores)
        return {each.chunk.chunk_id: each.attached_to for each in context.memories}

    in_chapter = shown(2)
    assert in_chapter[of_chapter.chunk_id] == ["chapter:2"]
    assert in_chapter[of_book.chunk_id] == in_chapter[by_itself.chunk_id] == ["book"]
    assert of_chapter.chunk_id not in shown(1)
    assert {of_book.chunk_id, by_itself.chunk_id} <= shown(1).keys() & shown(None).keys()


def test_a_rule_for_a_chapter_stays_in_it_whomever_it_names(stores: MemoryStores, ferry: str) -> None:
    """Seed 003: what is attached to a chapter alone comes there alone, though a text of another has the name."""
    rule = StoryMemories(stores, ferry).add("Here Sparrow is called the boy.", attached_to=["chapter:2"]).note.chunk_id
    shown = {
        chapter: {
            each.chunk.chunk_id
            for each in build_chunk_context(ferry, "Sparrow rowed on.", chapter, 200, stores=stores).memories
        }
        for chapter in (1, 2, 3)
    }
    assert [chapter for chapter, ids in shown.items() if rule in ids] == [2]


def test_a_chapters_memory_of_later_is_not_told(stores: MemoryStores, ferry: str) -> None:
    """Seed 003.21: what is attached to a chapter and holds from a later one on waits for that one."""
    start = StoryPosition(2, 1)
    note = (
        StoryMemories(stores, ferry)
        .add(content="The bell is a forgery.", attached_to=["chapter:1", "Sparrow"], start=start)
        .note
    )
    for chapter in (1, 2):
        context = build_chunk_context(ferry, "Sparrow heard the bell.", chapter, 200, stores=stores)
        assert (note.chunk_id in {each.chunk.chunk_id for each in context.memories}) == (chapter == 2)


def test_what_was_not_read_for_longest_comes_first_when_asked(stores: MemoryStores, ferry: str) -> None:
    """Seed 003.13: with the priority and touch each context brings what none before it showed."""
    shown = [
        {
            each.chunk.chunk_id
            for each in build_chunk_context(
                ferry, "Sparrow rowed on.", limit=8, stores=stores, priority="least_recently_read", touch=True
            ).memories
        }
        for _ in range(3)
    ]
    assert [len(each) for each in shown] == [8, 8, 8]
    assert len(set().union(*shown)) == 24


def test_the_limit_and_the_priority_of_a_book_are_settings(
    stores: MemoryStores, ferry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 003.12: the project's settings hold where a call says nothing; what a call says wins."""
    own = ChunkContextSettings(limit=3, priority="least_recently_read", touch=True)
    memory = stores.settings.memory.model_copy(update={"chunk_context": own})
    monkeypatch.setattr(stores, "settings", stores.settings.model_copy(update={"memory": memory}))
    first, second = (build_chunk_context(ferry, "Sparrow rowed on.", stores=stores) for _ in range(2))
    assert len(first.memories) == len(second.memories) == 3
    ids = [{each.chunk.chunk_id for each in context.memories} for context in (first, second)]
    assert ids[0].isdisjoint(ids[1])
    assert len(build_chunk_context(ferry, "Sparrow rowed on.", limit=7, stores=stores).memories) == 7
