"""What is said of who knows what: kept with its scene, and apart from the author's word."""

from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.database import DatabaseManager
from runtime.storage.models import SceneWrite
from runtime.storage.records import Knowledge
from tests.runtime.storage.stories import at, memory, record, scene, store
from tests.support.databases import on_both_databases


def _says(character_id: str, source_id: str, **fields: Any) -> Knowledge:
    return Knowledge(character_id=character_id, source_id=source_id, **fields)


def _author_says(database: DatabaseManager, said: Knowledge, place: tuple[int, int] | None) -> None:
    chapter, number = place or (None, None)
    with database.project("demo").write() as unit:
        unit.knowledge.say(said.model_copy(update={"chapter_index": chapter, "scene_index": number}))


def _told(database: DatabaseManager, as_of: StoryPosition = END_OF_STORY) -> list[tuple[Any, ...]]:
    """What is said, in the order in which it counts."""
    with database.project("demo").read() as unit:
        return [
            (each.character_id, each.source_id, each.kind, each.chapter_index, each.scene_index, each.origin)
            for each in unit.knowledge.said(as_of=as_of)
        ]


def _story(*said: Knowledge) -> list[SceneWrite]:
    return [
        scene(1, 1, memory("M1", "Ada hid the key.", entities_mentioned=["C0"]), participants=["C0"]),
        scene(1, 2, participants=["C0", "C1"], text="Ada told Ben where the key was.", knowledge=list(said)),
        scene(2, 1, participants=["C1", "C2"]),
    ]


BEN_KNOWS = _says(
    "C1", "M1", how="told", learned_from="C0", certainty=0.5, quote="told Ben where the key was", source_span=(4, 30)
)


@on_both_databases
def test_it_counts_from_its_scene_on(database: DatabaseManager) -> None:
    """On entering the scene nothing is said of it yet, and projects do not hear of each other."""
    store(database, *_story(BEN_KNOWS))
    assert _told(database, at(1, 2)) == []
    assert _told(database, at(1, 3)) == [("C1", "M1", "knows", 1, 2, "record")]
    with database.project("demo").read() as unit:
        (stored,) = unit.knowledge.said()
    assert stored == BEN_KNOWS.model_copy(update={"chapter_index": 1, "scene_index": 2})
    with database.project("demo2").read() as unit:
        assert unit.knowledge.said() == []
        assert unit.knowledge_story(as_of=END_OF_STORY).memories == []


def test_a_scene_that_is_stored_again_replaces_its_own_and_never_the_authors(database: DatabaseManager) -> None:
    """What an earlier record said is gone; the author's word at the same place stays and comes last."""
    store(database, *_story(BEN_KNOWS, _says("C2", "M1")))
    _author_says(database, _says("C1", "M1", kind="hidden"), (1, 2))
    store(database, _story(_says("C1", "M1", kind="doubts"))[1])
    assert _told(database) == [("C1", "M1", "doubts", 1, 2, "record"), ("C1", "M1", "hidden", 1, 2, "author")]


@on_both_databases
def test_the_authors_word_is_one_for_each_place(database: DatabaseManager) -> None:
    """A second word on the same person, memory and place takes the place of the first; elsewhere both stand."""
    store(database, *_story())
    for kind, place in (("hidden", (1, 1)), ("knows", (1, 1)), ("doubts", (2, 1)), ("hidden", None)):
        _author_says(database, _says("C2", "M1", kind=kind), place)
    _author_says(database, _says("C2", "M1", kind="deceived"), None)
    assert [row[2:5] for row in _told(database)] == [("deceived", None, None), ("knows", 1, 1), ("doubts", 2, 1)]


def test_it_is_taken_back_for_one_person_and_memory(database: DatabaseManager) -> None:
    """Only the author's word goes, of these two alone; taking back what nobody said takes nothing."""
    store(database, *_story(BEN_KNOWS))
    for who, what in (("C1", "M1"), ("C2", "M1"), ("C1", "M2")):
        _author_says(database, _says(who, what, kind="hidden"), (1, 1))
    with database.project("demo").write() as unit:
        assert [each.source_id for each in unit.knowledge.forget("C1", "M1")] == ["M1"]
        assert unit.knowledge.forget("C1", "M1") == []
    assert {(row[0], row[1], row[5]) for row in _told(database)} == {
        ("C1", "M1", "record"),
        ("C2", "M1", "author"),
        ("C1", "M2", "author"),
    }


def test_it_goes_with_its_scene(database: DatabaseManager) -> None:
    """A move takes the record's and the author's word along, a deletion not."""
    store(database, *_story(BEN_KNOWS))
    _author_says(database, _says("C2", "M1"), (1, 2))
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 2), at(3, 1))
    assert [row[3:5] for row in _told(database)] == [(3, 1), (3, 1)]
    with database.project("demo").write() as unit:
        unit.scenes.delete_scene(at(3, 1))
    assert _told(database) == [("C2", "M1", "knows", 3, 1, "author")]


@on_both_databases
def test_the_story_is_read_for_the_rules(database: DatabaseManager) -> None:
    """Who was there, the texts, the facts with their proof, and what is said: strictly before the position."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(Entity(entity_id="C0", entity_type="character", name="Ada"))
        unit.entities.upsert(Entity(entity_id="I0", entity_type="item", name="the key"))
    hid = memory("M1", "Ada hid the key.", entities_mentioned=["C0", "I0"], source_span=(0, 11))
    later = _story(BEN_KNOWS, _says("C1", "M7"), _says("C0", "*", learned_from="C1"))[1]
    later = later.model_copy(update={"record": record(1, 2, knowledge_read=True), "record_origin": "extracted"})
    store(database, scene(1, 1, hid, text="Ada hid it there.", participants=["C0"]), later)
    with database.project("demo").write() as unit:
        unit.memories.add_note("Nobody can swim.", at=END_OF_STORY)
        unit.memories.decide(unit.memories.add_note("Nonsense.", at=END_OF_STORY).chunk_id, "ban")
    with database.project("demo").read() as unit:
        story = unit.knowledge_story(as_of=at(1, 3))
        early = unit.knowledge_story(as_of=at(1, 2))
    assert [(each.present, each.tells_knowledge, each.has_record) for each in story.scenes] == [
        (frozenset({"C0"}), False, False),
        (frozenset({"C0", "C1"}), True, True),
    ]
    note, fact = story.memories
    assert (note.content, note.position) == ("Nobody can swim.", None)
    assert (fact.source_id, fact.position, fact.entities) == ("M1", at(1, 1), ["C0", "I0"])
    assert (fact.quote, fact.tells_knowers) == ("Ada hid it ", False)
    # What is said of a memory that no scene has brought waits for it.
    assert [each.source_id for each in story.events] == ["M1", "*"]
    assert story.character_ids == {"C0"}
    assert (early.events, [each.position for each in early.scenes]) == ([], [at(1, 1)])


def test_a_list_of_knowers_is_told_from_a_later_learning(database: DatabaseManager) -> None:
    """What a scene says of its own memory settles who knows it; then presence is not asked."""
    told = scene(
        1,
        1,
        memory("M1", entities_mentioned=["C0"]),
        memory("M2"),
        participants=["C0", "C1"],
        knowledge=[_says("C0", "M1", how="own_doing"), _says("C1", "M2", kind="hidden")],
    )
    store(database, told)
    with database.project("demo").read() as unit:
        story = unit.knowledge_story(as_of=at(1, 2))
    assert {each.source_id: each.tells_knowers for each in story.memories} == {"M1": True, "M2": False}
    assert not story.scenes[0].tells_knowledge
