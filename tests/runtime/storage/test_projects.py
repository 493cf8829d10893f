"""Projects and the mark of their story."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from novelgen.errors import InvalidProjectIdError, UnknownProjectError, UserInputError
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager, UnitOfWork
from runtime.storage.models import MemoryEdit
from runtime.storage.records import Knowledge
from tests.runtime.storage.stories import Undone, at, change, memory, scene, store
from tests.support.databases import on_both_databases


@on_both_databases
def test_a_project_is_created_read_and_changed(database: DatabaseManager) -> None:
    """Chinese ids work, settings are kept, what is not given stays."""
    with database.project("红楼梦").write() as unit:
        created = unit.projects.create(name="梦", language="zh", settings={"budget": 2000})
        assert (created.settings, created.story_revision) == ({"budget": 2000}, 0)
        unit.projects.set_embedding_model("local", 384)
        changed = unit.projects.update(name="石头记")
        assert (changed.name, changed.language, changed.embedding_dimension) == ("石头记", "zh", 384)
        unit.projects.count_index_removals(3)
        unit.projects.count_index_removals(2)
        counted = unit.projects.require()
        assert (counted.index_removals, counted.index_id) == (5, created.index_id)
        unit.projects.switch_index(f"{created.index_id}-b")
        switched = unit.projects.require()
        assert (switched.index_removals, switched.index_id) == (0, f"{created.index_id}-b")
    stored = database.list_projects()
    assert [one.project_id for one in stored] == ["demo", "demo2", "红楼梦"]
    assert len({one.index_id for one in stored}) == 3
    with database.project("nobody").read() as unit:
        assert unit.projects.get() is None


@on_both_databases
def test_projects_that_cannot_be_are_refused(database: DatabaseManager) -> None:
    """Twice the same id, ids like paths, and changes of what is not there."""
    with database.project("demo").write() as unit, pytest.raises(UserInputError, match="'demo' exists already"):
        unit.projects.create()
    with database.project("../x").write() as unit, pytest.raises(InvalidProjectIdError, match=r"\.\./x"):
        unit.projects.create()
    with database.project("nobody").write() as unit:
        for call in (
            lambda: unit.projects.require(),
            lambda: unit.projects.update(name="x"),
            lambda: unit.projects.set_embedding_model("m", 1),
            lambda: unit.entities.upsert(Entity(entity_id="C5", entity_type="character", name="Nobody")),
            lambda: unit.states.append([change("C5", "mood", "calm")]),
            lambda: unit.memories.add_note("canon"),
        ):
            with pytest.raises(UnknownProjectError, match="'nobody'"):
                call()


def test_every_write_counts_in_the_revision(database: DatabaseManager) -> None:
    """A cheap sign that something changed."""
    revisions = []
    for write in (
        lambda unit: unit.scenes.replace_scene(scene(1, 1, memory("M1"))),
        lambda unit: unit.memories.decide("M1", "pin"),
        lambda unit: unit.scenes.insert_gap(at(1, 1)),
    ):
        with database.project("demo").write() as unit:
            write(unit)
            revisions.append(unit.projects.require().story_revision)

    assert revisions == sorted(set(revisions))


def _known(chapter: int) -> Knowledge:
    return Knowledge(character_id="C2", source_id="M1", chapter_index=chapter, scene_index=1, origin="author")


LATER: list[Callable[[UnitOfWork], object]] = [
    lambda unit: unit.scenes.replace_scene(scene(2, 1, memory("M9"), text="changed")),
    lambda unit: unit.scenes.replace_scene(scene(3, 1)),
    lambda unit: unit.memories.add_note("later canon", at=at(2, 1)),
    lambda unit: unit.memories.decide("M2", "pin"),
    lambda unit: unit.attachments.attach(["M2"], ["C1"]),
    lambda unit: unit.knowledge.say(_known(2)),
    lambda unit: unit.summaries.write("chapter", 2, "The vow.", chapters=(2, 2), origin="author"),
    lambda unit: unit.states.append([change("C0", "mood", "x", chapter_index=2)]),
    lambda unit: unit.entities.upsert(
        Entity(entity_id="C5", entity_type="character", name="Late", first_chapter=2, first_scene=1)
    ),
    lambda unit: unit.outbox.mark_done(unit.outbox.claim()),
    lambda unit: unit.embeddings.put("m", {"M1": [1.0]}),
    lambda unit: unit.scenes.replace_scene(scene(1, 1, memory("M1"), states=[change("C0", "mood", "calm")])),
]
EARLIER: list[Callable[[UnitOfWork], object]] = [
    lambda unit: unit.scenes.replace_scene(scene(1, 1, memory("M1"), text="changed")),
    lambda unit: unit.scenes.replace_scene(scene(1, 1, memory("M1", importance=9))),
    lambda unit: unit.scenes.replace_scene(scene(1, 2)),
    lambda unit: unit.scenes.insert_gap(at(1, 1)),
    lambda unit: unit.scenes.delete_scene(at(1, 1)),
    lambda unit: unit.memories.add_note("canon"),
    lambda unit: unit.memories.decide("M1", "pin"),
    lambda unit: unit.memories.decide("M1", "ban"),
    lambda unit: unit.memories.edit("M1", MemoryEdit(content="edited")),
    lambda unit: unit.attachments.attach(["M1"], ["C1"]),
    lambda unit: unit.knowledge.say(_known(1)),
    lambda unit: unit.summaries.write("chapter", 1, "The vow.", chapters=(1, 1), origin="author"),
    lambda unit: unit.states.append([change("C0", "mood", "x", chapter_index=1, scene_index=1)]),
    lambda unit: unit.entities.upsert(Entity(entity_id="C5", entity_type="character", name="Early")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("writes", "is_changed"), [(EARLIER, True), (LATER, False)], ids=["earlier", "later"])
def test_the_mark_changes_with_what_lies_before_alone(
    database: DatabaseManager, writes: list[Callable[[UnitOfWork], object]], is_changed: bool
) -> None:
    """Texts, memories, what is done to them and said count; later ones, the index and a repeated ingest do not."""
    store(database, scene(1, 1, memory("M1"), states=[change("C0", "mood", "calm")]), scene(2, 1, memory("M2")))
    for number, write in enumerate(writes):
        with suppress(Undone), database.project("demo").write() as unit:
            before = unit.story_version(at(2, 1))
            write(unit)
            assert (unit.story_version(at(2, 1)) != before) is is_changed, number
            raise Undone


@on_both_databases
def test_the_same_story_has_the_same_mark(database: DatabaseManager) -> None:
    """In another project, written at another time, in another order."""
    twin = [memory("M1", project_id="demo2")]
    store(database, scene(1, 1, memory("M1")), scene(1, 2))
    store(database, scene(1, 2, project_id="demo2"), scene(1, 1, *twin, project_id="demo2"))
    with database.project("demo").read() as unit, database.project("demo2").read() as other:
        first, second = unit.story_version(END_OF_STORY), other.story_version(END_OF_STORY)
        empty = unit.story_version(at(1, 1))

    assert first != empty
    assert first == second


@on_both_databases
def test_a_mark_of_an_earlier_version_stays_true(database: DatabaseManager) -> None:
    """Contexts carry it: the same story must not look changed after an update."""
    store(database, scene(1, 1, memory("M1", "宝玉摔玉。")), scene(1, 2), scene(2, 1, participants=["C0"]))
    with database.project("demo").read() as unit:
        marks = [unit.story_version(as_of) for as_of in (at(1), at(2), at(3))]

    assert marks == [
        "38664e03fa3374412449e5ebdd371aaa",
        "745fa6f5520bc66e054dd37dce0abfa3",
        "ece1cd5287f931842f646e761b203637",
    ]
