"""Merging and splitting entities: everything is re-linked, and undone exactly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, text

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager
from runtime.storage.records import SceneWrite
from tests.runtime.storage.stories import at, change, memory, record, scene, store

PEOPLE = ("C0", "C1", "C2", "C3")
_numbers = itertools.count(1)
_COMPARED = (
    "entities",
    "entity_aliases",
    "name_mentions",
    "scenes",
    "memory_chunks",
    "chunk_entities",
    "chunk_tags",
    "state_changes",
    "loop_events",
    "relationships",
    "relationship_changes",
    "knowledge_events",
)


def _rows(database: DatabaseManager, project_id: str = "demo") -> dict[str, list[str]]:
    """Every row of the project, in an order of their own; a relationship's number means nothing."""
    engine = create_engine(database.url)
    with engine.connect() as connection:
        rows = {table: sorted(_dumped(connection, table, project_id)) for table in _COMPARED}
    engine.dispose()
    return rows


def _dumped(connection: Connection, table: str, project_id: str) -> Iterator[str]:
    statement = text(f"SELECT * FROM {table} WHERE project_id = :project_id")
    for row in connection.execute(statement, {"project_id": project_id}):
        values = dict(row._mapping)
        yield json.dumps(values | ({"row_id": 0} if table == "relationships" else {}), default=str)


def _person(entity_id: str, name: str, *aliases: str, **fields: Any) -> Entity:
    return Entity(
        entity_id=entity_id,
        entity_type="character",
        name=name,
        aliases=[EntityAlias(alias=each) for each in aliases],
        **fields,
    )


def _fill(database: DatabaseManager) -> None:
    """A stranger (C1) who turns out to be Mary (C0); Tom (C2) knew both."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(_person("C0", "Mary", "Miss Grey", description="A nurse"))
        unit.entities.upsert(_person("C1", "the stranger", "the veiled lady"), origin="extracted")
        unit.entities.upsert(_person("C2", "Tom", profile={"ally": "C1"}))
        unit.entities.upsert(Entity(entity_id="I0", entity_type="item", name="the key"))
    store(
        database,
        scene(
            1,
            1,
            memory(
                "M1", "The veiled lady hid the key.", entities_mentioned=["C1", "I0"], slot_type="C1.secret"
            ),
            participants=["C1", "C2"],
            pov="C1",
            states=[change("C1", "mood", "afraid"), change("I0", "holder", "C1", entity_type="item")],
            mentions=[("C1", "the veiled lady"), ("C2", "Tom")],
            record=record(
                1,
                1,
                characters_present=["C1", "C2"],
                relationship_changes=[
                    {
                        "character_a": "C1",
                        "character_b": "C2",
                        "perspective_a": "she trusts",
                        "perspective_b": "he doubts",
                    }
                ],
                open_loops_created=[
                    {"id": "OL0", "description": "Who is she?", "related_characters": ["C1"]}
                ],
            ),
        ),
        scene(
            1,
            2,
            memory("M2", "Mary met the stranger.", entities_mentioned=["C0", "C1"]),
            participants=["C0", "C1"],
            states=[change("C0", "mood", "curious")],
            mentions=[("C0", "Mary"), ("C1", "the stranger")],
            record=record(
                1,
                2,
                relationship_changes=[
                    {"character_a": "C0", "character_b": "C1", "status": "wary"},
                    {
                        "character_a": "C2",
                        "character_b": "C0",
                        "status": "close",
                        "perspective_a": "he likes her",
                    },
                ],
            ),
        ),
    )


def test_a_merge_links_everything_to_the_one_who_stays(sqlite_database: DatabaseManager) -> None:
    """Names, mentions, memories, slots, states, loops, relationships, presence and profiles."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        kept = unit.merges.merge("C0", "C1")
        assert (kept.kind, kept.entity_id, kept.other_id) == ("merge", "C0", "C1")
        stored = unit.entities.get("C0")
        assert stored is not None
        assert stored.entity.names() == ["Mary", "Miss Grey", "the veiled lady", "the stranger"]
        assert stored.entity.description == "A nurse"
        assert unit.entities.get("C1") is None
        first, second = unit.memories.by_ids(["M1", "M2"])
        assert (first.entities_mentioned, first.slot_type) == (["C0", "I0"], "C0.secret")
        assert second.entities_mentioned == ["C0"]
        assert [each.chunk_id for each in unit.memories.by_entities(["C0"])] == ["M2", "M1"]
        (state, key) = unit.states.snapshots(["C0", "I0"])
        assert state.state_data["mood"] == "curious"
        assert key.state_data["holder"] == "C0"
        (loop,) = unit.threads.list_as_of()
        assert loop.related_entities == ["C0"]
        (relation,) = unit.relationships.list_as_of()
        assert relation.seen_by("C0").your_view == "she trusts"
        assert relation.seen_by("C2").your_view == "he likes her"
        assert unit.entities.first_mentions()["C0", "the stranger"] == (1, 2)
        scenes = unit.scenes.list_as_of()
        assert [one.participants for one in scenes] == [["C0", "C2"], ["C0"]]
        assert scenes[0].pov == "C0"
        tom = unit.entities.get("C2")
        assert tom is not None
        assert tom.entity.profile == {"ally": "C0"}


def test_a_stored_record_can_be_taken_in_again_after_a_merge(sqlite_database: DatabaseManager) -> None:
    """The record speaks of the one who stays, and no longer of her relationship with herself."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        unit.merges.merge("C0", "C1")
        stored = unit.scenes.require(at(1, 2))
        assert stored.record is not None
        assert [each.character_a for each in stored.record.relationship_changes] == ["C2"]
        unit.scenes.replace_scene(scene(1, 2, record=stored.record))
        assert "C1" not in json.dumps(stored.record.model_dump())


def test_a_merge_changes_the_mark_of_the_story(sqlite_database: DatabaseManager) -> None:
    """A context that was made before is stale; undo brings the old mark back."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        before = unit.story_version(END_OF_STORY)
        done = unit.merges.merge("C0", "C1")
        assert unit.story_version(END_OF_STORY) != before
        unit.merges.undo(done.change_id)
        assert unit.story_version(END_OF_STORY) == before


def test_the_index_is_told_of_relinked_memories(sqlite_database: DatabaseManager) -> None:
    """Only those that changed, at the merge and at its undo."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        unit.outbox.mark_done(unit.outbox.claim())
        done = unit.merges.merge("C2", "C1")
        entries = unit.outbox.claim()
        assert [entry.chunk_id for entry in entries] == ["M1", "M2"]
        unit.outbox.mark_done(entries)
        unit.merges.undo(done.change_id)
        assert [entry.chunk_id for entry in unit.outbox.claim()] == ["M1", "M2"]


def test_a_split_takes_the_scenes_that_only_name_the_other(sqlite_database: DatabaseManager) -> None:
    """The veiled lady was somebody else: what happened under that name is hers."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        done = unit.merges.split("C1", name="the veiled lady")
        assert (done.kind, done.entity_id, done.other_id) == ("split", "C1", "C3")
        names = {one.entity.entity_id: one.entity.names() for one in unit.entities.list_all()}
        assert (names["C1"], names["C3"]) == (["the stranger"], ["the veiled lady"])
        first, second = unit.memories.by_ids(["M1", "M2"])
        assert first.entities_mentioned == ["C3", "I0"]
        assert second.entities_mentioned == ["C0", "C1"]
        assert unit.states.snapshots(["C3"])[0].state_data == {"mood": "afraid"}
        assert unit.states.snapshots(["C1"]) == []
        hers = unit.relationships.between("C2", "C3")
        assert hers is not None
        assert hers.seen_by("C3").your_view == "she trusts"
        assert unit.relationships.between("C1", "C2") is None


def test_in_a_scene_that_names_both_the_text_decides(sqlite_database: DatabaseManager) -> None:
    """Memories go to whom they name; those that name nobody stay; both are on stage."""
    with sqlite_database.project("demo").write() as unit:
        unit.entities.upsert(_person("C0", "Mary", "Ann"))
    chunks = [
        memory("K1", "Ann sang.", entities_mentioned=["C0"]),
        memory("K2", "Mary and Ann danced.", entities_mentioned=["C0"]),
        memory("K3", "She left.", entities_mentioned=["C0"]),
    ]
    mentions = [("C0", "Mary"), ("C0", "Ann")]
    store(sqlite_database, scene(1, 1, *chunks, participants=["C0"], mentions=mentions))
    with sqlite_database.project("demo").write() as unit:
        unit.merges.split("C0", name="Ann")
        found = unit.memories.by_ids(["K1", "K2", "K3"])
        assert [each.entities_mentioned for each in found] == [["C1"], ["C0", "C1"], ["C0"]]
        assert unit.scenes.require(at(1, 1)).participants == ["C0", "C1"]
        assert unit.entities.first_mentions() == {("C0", "Mary"): (1, 1), ("C1", "Ann"): (1, 1)}


def test_listed_scenes_move_whole_under_a_new_name(sqlite_database: DatabaseManager) -> None:
    """An author can say which scenes were about somebody who has no name yet."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        done = unit.merges.split("C1", name="Vera", scenes=[(1, 2)])
        assert unit.scenes.require(at(1, 2)).participants == ["C0", done.other_id]
        assert unit.scenes.require(at(1, 1)).participants == ["C1", "C2"]


@pytest.mark.parametrize(
    ("keep", "gone", "kind", "message"),
    [
        ("C0", "C0", UserInputError, "cannot be merged with itself"),
        ("C0", "I0", UserInputError, "'I0' of type item; only entities of one type"),
        ("C0", "C9", UnknownEntityError, "no entity 'C9' is stored"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    sqlite_database: DatabaseManager, keep: str, gone: str, kind: type[Exception], message: str
) -> None:
    """Both must be stored, two, and of one type."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit, pytest.raises(kind, match=message):
        unit.merges.merge(keep, gone)


def test_a_split_needs_something_to_move(sqlite_database: DatabaseManager) -> None:
    """Neither the display name nor nothing can be split off."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        with pytest.raises(UserInputError, match="'Mary' is the display name"):
            unit.merges.split("C0", name="Mary")
        with pytest.raises(UserInputError, match="neither a name of 'C0' nor a scene"):
            unit.merges.split("C0", name="Nobody")


def test_a_change_is_undone_once_and_only_while_it_stands(sqlite_database: DatabaseManager) -> None:
    """What was changed again since is not overwritten; nothing of the undo is then done."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
    store(sqlite_database, scene(1, 1, participants=["C0"]))
    before = _rows(sqlite_database)
    with (
        sqlite_database.project("demo").write() as unit,
        pytest.raises(UserInputError, match="changed since"),
    ):
        unit.merges.undo(done.change_id)
    assert _rows(sqlite_database) == before
    with (
        sqlite_database.project("demo").write() as unit,
        pytest.raises(UserInputError, match="no change 99 is kept"),
    ):
        unit.merges.undo(99)


def test_an_undone_change_stays_in_the_journal(sqlite_database: DatabaseManager) -> None:
    """It says when it was undone, and cannot be undone again."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
        undone = unit.merges.undo(done.change_id)
        assert undone.undone_at is not None
        assert unit.merges.list_all() == [undone]
        with pytest.raises(UserInputError, match="undone already"):
            unit.merges.undo(done.change_id)


def test_what_was_attached_and_taken_off_by_hand_goes_with_the_merge(
    sqlite_database: DatabaseManager,
) -> None:
    """Attachments by hand are links like others, those taken off as well."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        unit.attachments.attach(["M2"], ["C2"])
        unit.attachments.detach(["M1"], ["C1"])
        unit.merges.merge("C0", "C2")
        unit.merges.merge("C0", "C1")
        contents = unit.exchange.contents()
    marks = {each.chunk.chunk_id: (each.attached, each.detached) for each in contents.memories}
    assert marks == {"M1": ([], ["C0"]), "M2": (["C0"], [])}


def test_what_came_since_stays_at_an_undo(sqlite_database: DatabaseManager) -> None:
    """A scene that was written after the merge is not part of it."""
    _fill(sqlite_database)
    with sqlite_database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
    store(sqlite_database, scene(2, 1, memory("M3", entities_mentioned=["C0"]), participants=["C0"]))
    with sqlite_database.project("demo").write() as unit:
        unit.merges.undo(done.change_id)
        assert unit.scenes.require(at(2, 1)).participants == ["C0"]
        assert unit.scenes.require(at(1, 1)).participants == ["C1", "C2"]
        assert unit.memories.by_ids(["M3"])[0].entities_mentioned == ["C0"]


_people = st.lists(st.sampled_from(PEOPLE), unique=True, max_size=4)
_pair = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)).filter(lambda pair: pair[0] != pair[1])
_relation = st.builds(
    lambda pair, status, mine: {
        "character_a": pair[0],
        "character_b": pair[1],
        "status": status,
        "perspective_a": mine,
    },
    _pair,
    st.sampled_from(["close", "wary"]),
    st.sampled_from(["", "he hides something"]),
)
_state = st.builds(
    change,
    st.sampled_from(PEOPLE),
    st.sampled_from(["mood", "companions", "ally"]),
    st.one_of(
        st.none(), st.sampled_from(["calm", *PEOPLE]), _people, st.fixed_dictionaries({"with": _people})
    ),
)
_told = st.fixed_dictionaries(
    {
        "participants": _people,
        "links": st.lists(st.tuples(_people, st.sampled_from([None, "C0.secret", "C1.secret"])), max_size=3),
        "states": st.lists(_state, max_size=4),
        "relations": st.lists(_relation, max_size=3),
        "loop": _people,
        "mentions": st.lists(
            st.tuples(st.sampled_from(PEOPLE), st.sampled_from(["the one", "Mary"])), unique=True, max_size=4
        ),
    }
)


def _write(project_id: str, number: int, told: dict[str, Any]) -> SceneWrite:
    chunks = [
        memory(
            f"K{number}{index}",
            f"Mary, or the one, did {index}.",
            project_id,
            entities_mentioned=links,
            slot_type=slot,
        )
        for index, (links, slot) in enumerate(told["links"])
    ]
    loop = {"id": f"OL{number}", "description": "Why?", "related_characters": told["loop"]}
    return scene(
        1,
        number,
        *chunks,
        project_id=project_id,
        participants=told["participants"],
        states=told["states"],
        mentions=told["mentions"],
        record=record(1, number, relationship_changes=told["relations"], open_loops_created=[loop]),
    )


def _tell(database: DatabaseManager, story: list[dict[str, Any]]) -> str:
    """Store a story as a project of its own and return the project's id."""
    project_id = f"story-{next(_numbers)}"
    with database.project(project_id).write() as unit:
        unit.projects.create()
        for entity_id in PEOPLE:
            unit.entities.upsert(_person(entity_id, f"Person {entity_id[1]}", "the one", "Mary"))
    store(database, *(_write(project_id, number, told) for number, told in enumerate(story, start=1)))
    return project_id


@pytest.fixture(scope="module")
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseManager]:
    """One database for many stories, each a project of its own."""
    opened = DatabaseManager.open(tmp_path_factory.mktemp("merges") / "novel.db")
    yield opened
    opened.close()


@settings(max_examples=30, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(story=st.lists(_told, min_size=1, max_size=3), pair=_pair, is_merge=st.booleans())
def test_whatever_the_story_undo_restores_every_row(
    shared_database: DatabaseManager, story: list[dict[str, Any]], pair: tuple[str, str], is_merge: bool
) -> None:
    """After a merge nothing speaks of the one who went; after the undo all rows are as they were."""
    keep, gone = pair
    project_id = _tell(shared_database, story)
    before = _rows(shared_database, project_id)
    with shared_database.project(project_id).write() as unit:
        merges = unit.merges
        scenes = [(1, 1)]
        done = merges.merge(keep, gone) if is_merge else merges.split(keep, name="Mary", scenes=scenes)
    changed = _rows(shared_database, project_id)
    assert changed != before
    if is_merge:
        assert f'"{gone}"' not in json.dumps(changed).replace("\\", "")
    with shared_database.project(project_id).write() as unit:
        unit.merges.undo(done.change_id)
    assert _rows(shared_database, project_id) == before
