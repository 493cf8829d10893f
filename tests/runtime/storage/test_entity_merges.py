"""Merging and splitting entities: everything is re-linked, and undone exactly."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.dated_values import entity_at
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager, UnitOfWork
from runtime.storage.models import SceneWrite
from runtime.storage.records import Knowledge
from tests.runtime.storage.stories import at, change, memory, record, scene, store
from tests.runtime.storage.strangers_story import MINDS, remembered
from tests.runtime.storage.strangers_story import fill as _fill
from tests.runtime.storage.strangers_story import person as _person
from tests.runtime.storage.strangers_story import rows_of as _rows
from tests.support.databases import on_both_databases

PEOPLE = ("C0", "C1", "C2", "C3")
_numbers = itertools.count(1)


def test_a_merge_links_everything_to_the_one_who_stays(database: DatabaseManager) -> None:
    """Names, mentions, memories, slots, states, loops, relationships, presence and profiles."""
    _fill(database)
    with database.project("demo").write() as unit:
        kept = unit.merges.merge("C0", "C1")
        assert (kept.kind, kept.entity_id, kept.other_id) == ("merge", "C0", "C1")
        stored = unit.entities.get("C0")
        assert stored is not None
        assert stored.entity.names() == ["Mary", "Miss Grey", "the veiled lady", "the stranger"]
        assert entity_at(stored.entity, END_OF_STORY).description == "A nurse"
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


def test_a_stored_record_can_be_taken_in_again_after_a_merge(database: DatabaseManager) -> None:
    """The record speaks of the one who stays, and no longer of her relationship with herself."""
    _fill(database)
    with database.project("demo").write() as unit:
        unit.merges.merge("C0", "C1")
        stored = unit.scenes.require(at(1, 2))
        assert stored.record is not None
        assert [each.character_a for each in stored.record.relationship_changes] == ["C2"]
        unit.scenes.replace_scene(scene(1, 2, record=stored.record))
        assert "C1" not in json.dumps(stored.record.model_dump())


def test_the_index_hears_nothing_of_links(database: DatabaseManager) -> None:
    """It has no copy of whom a memory is about: neither a merge nor its undo embeds or indexes anything."""
    _fill(database)
    with database.project("demo").write() as unit:
        unit.outbox.mark_done(unit.outbox.claim())
        done = unit.merges.merge("C2", "C1")
        assert unit.outbox.claim() == []
        unit.journal.undo(done.change_id)
        assert unit.outbox.claim() == []


@pytest.mark.slow
@on_both_databases
def test_a_mind_goes_with_the_merge_and_comes_back(database: DatabaseManager) -> None:
    """What she knew, remembered, felt, hid and was told is the other's; undo brings every row back."""
    _fill(database)
    before = _rows(database)
    with database.project("demo").write() as unit:
        done = unit.merges.merge("C2", "C1")
        known = [(each.character_id, each.learned_from, each.source_id) for each in unit.knowledge.said()]
        assert known == [("C2", None, "M1"), ("C0", "C2", "M1"), ("C2", None, "*")]
        hers, told, _ = unit.characters.read("C2", model="m").memories
        assert (hers.memory_id, hers.participants, hers.slot) == ("CM0", ["C2"], "place_of_key")
        assert (told.participants, told.heard_from, told.slot) == (["C0", "C2"], None, "mood:C2")
        assert [each.secret_id for each in unit.play.secrets("C2")] == ["name (C1)", "name"]
        assert unit.play.others("C2") == ["C0", "C2"]
        assert [each.memory_ids for each in unit.characters.changes("C2")] == [["CM0"], ["CM2", "CM3"], ["CM2"]]
    changed = _rows(database)
    assert not any('"C1"' in row for table in MINDS for row in changed[table])
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change_id)
    assert _rows(database) == before


def test_what_was_done_to_a_memory_is_undone_after_a_merge(database: DatabaseManager) -> None:
    """The memory is as it was before its correction, and speaks of the one who stays; then the merge stands on it."""
    _fill(database)
    with database.project("demo").write() as unit:
        done = unit.merges.merge("C2", "C1")
        assert unit.characters.undo("C2").memory_ids == ["CM2"]
        told = unit.characters.require("C2", "CM2")
        assert (told.content, told.participants) == ("Memory CM2.", ["C2"])
        with pytest.raises(UserInputError, match="changed since"):
            unit.merges.undo(done.change_id)


def test_what_somebody_thinks_of_both_is_one_value(database: DatabaseManager) -> None:
    """Of two values that speak of one person now the latest holds; undo parts them again."""
    _fill(database)
    with database.project("demo").write() as unit:
        unit.characters.add([remembered("CM9", "C2", slot="mood:C0")])
    before = _rows(database)
    with database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
        held = {
            each.memory_id: (each.slot, each.superseded_by) for each in unit.characters.active("C2", slot="mood:C0")
        }
    assert held == {"CM2": ("mood:C0", "CM9"), "CM9": ("mood:C0", None)}
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change_id)
    assert _rows(database) == before


@pytest.mark.slow
@on_both_databases
def test_what_was_learnt_where_both_are_named_goes_by_its_quote(database: DatabaseManager) -> None:
    """Only where the quote names the new one alone is the learning hers; undo brings every row back."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(_person("C1", "the stranger", "the veiled lady"))
        unit.entities.upsert(_person("C2", "Tom"))
    quotes = {
        "M1": "The veiled lady saw it",
        "M2": "the stranger saw it",
        "M3": "The veiled lady and the stranger spoke",
        "M4": "",
    }
    said = [Knowledge(character_id="C1", source_id=each, quote=quote) for each, quote in quotes.items()]
    of_her = Knowledge(
        character_id="C2", source_id="M1", how="told", learned_from="C1", quote="The veiled lady told Tom"
    )
    names = [("C1", "the stranger"), ("C1", "the veiled lady"), ("C2", "Tom")]
    store(database, scene(1, 1, participants=["C1", "C2"], mentions=names, knowledge=[*said, of_her]))
    before = _rows(database)
    with database.project("demo").write() as unit:
        done = unit.merges.split("C1", name="the veiled lady")
        told = [(each.source_id, each.character_id, each.learned_from) for each in unit.knowledge.said()]
    new = done.other_id
    assert told == [("M1", new, None), ("M2", "C1", None), ("M3", "C1", None), ("M4", "C1", None), ("M1", "C2", new)]
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change_id)
    assert _rows(database) == before


def test_a_split_takes_the_scenes_that_only_name_the_other(database: DatabaseManager) -> None:
    """The veiled lady was somebody else: what happened under that name is hers."""
    _fill(database)
    with database.project("demo").write() as unit:
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
        known = [(each.character_id, each.learned_from) for each in unit.knowledge.said()]
        assert known == [("C3", None), ("C0", "C1"), ("C2", "C1")]


def test_in_a_scene_that_names_both_the_text_decides(database: DatabaseManager) -> None:
    """Memories go to whom they name; those that name nobody stay; both are on stage."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(_person("C0", "Mary", "Ann"))
    chunks = [
        memory("K1", "Ann sang.", entities_mentioned=["C0"]),
        memory("K2", "Mary and Ann danced.", entities_mentioned=["C0"]),
        memory("K3", "She left.", entities_mentioned=["C0"]),
    ]
    mentions = [("C0", "Mary"), ("C0", "Ann")]
    store(database, scene(1, 1, *chunks, participants=["C0"], mentions=mentions))
    with database.project("demo").write() as unit:
        unit.merges.split("C0", name="Ann")
        found = unit.memories.by_ids(["K1", "K2", "K3"])
        assert [each.entities_mentioned for each in found] == [["C1"], ["C0", "C1"], ["C0"]]
        assert unit.scenes.require(at(1, 1)).participants == ["C0", "C1"]
        assert unit.entities.first_mentions() == {("C0", "Mary"): (1, 1), ("C1", "Ann"): (1, 1)}


def test_listed_scenes_move_whole_under_a_new_name(database: DatabaseManager) -> None:
    """An author can say which scenes were about somebody who has no name yet."""
    _fill(database)
    with database.project("demo").write() as unit:
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
    database: DatabaseManager, keep: str, gone: str, kind: type[Exception], message: str
) -> None:
    """Both must be stored, two, and of one type."""
    _fill(database)
    with database.project("demo").write() as unit, pytest.raises(kind, match=message):
        unit.merges.merge(keep, gone)


def test_a_split_needs_something_to_move(database: DatabaseManager) -> None:
    """Neither the display name nor nothing can be split off."""
    _fill(database)
    with database.project("demo").write() as unit:
        with pytest.raises(UserInputError, match="'Mary' is the display name"):
            unit.merges.split("C0", name="Mary")
        with pytest.raises(UserInputError, match="neither a name of 'C0' nor a scene"):
            unit.merges.split("C0", name="Nobody")


def test_a_change_is_undone_once_and_only_while_it_stands(database: DatabaseManager) -> None:
    """What was changed again since is not overwritten; nothing of the undo is then done."""
    _fill(database)
    with database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
    store(database, scene(1, 1, participants=["C0"]))
    before = _rows(database)
    with database.project("demo").write() as unit, pytest.raises(UserInputError, match="changed since"):
        unit.merges.undo(done.change_id)
    assert _rows(database) == before
    with database.project("demo").write() as unit:
        with pytest.raises(UserInputError, match="no change 99 is kept"):
            unit.merges.undo(99)
        undone = unit.merges.mark_undone(done.change_id)
        assert undone.undone_at is not None
        assert unit.merges.list_all() == [undone]
        with pytest.raises(UserInputError, match="undone already"):
            unit.merges.undo(done.change_id)


def test_what_was_attached_and_taken_off_by_hand_goes_with_the_merge(database: DatabaseManager) -> None:
    """Attachments by hand are links like others, those taken off as well; undone they are as they were."""
    _fill(database)

    def marks(unit: UnitOfWork) -> dict[str, tuple[list[str], list[str]]]:
        return {each.chunk.chunk_id: (each.attached, each.detached) for each in unit.exchange.contents().memories}

    with database.project("demo").write() as unit:
        unit.attachments.attach(["M2"], ["C2"])
        unit.attachments.detach(["M1"], ["C1"])
        before = marks(unit)
        done = [unit.merges.merge("C0", gone) for gone in ("C2", "C1")]
        assert marks(unit) == {"M1": ([], ["C0"]), "M2": (["C0"], [])} != before
        for each in reversed(done):
            unit.merges.undo(each.change_id)
        assert marks(unit) == before


def test_what_came_since_stays_at_an_undo(database: DatabaseManager) -> None:
    """A scene that was written after the merge is not part of it; once undone it cannot be undone again."""
    _fill(database)
    with database.project("demo").write() as unit:
        done = unit.merges.merge("C0", "C1")
    store(database, scene(2, 1, memory("M3", entities_mentioned=["C0"]), participants=["C0"]))
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change_id)
        assert unit.scenes.require(at(2, 1)).participants == ["C0"]
        assert unit.scenes.require(at(1, 1)).participants == ["C1", "C2"]
        assert unit.memories.by_ids(["M3"])[0].entities_mentioned == ["C0"]
        with pytest.raises(UserInputError, match="undone already"):
            unit.merges.undo(done.change_id)


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
    st.one_of(st.none(), st.sampled_from(["calm", *PEOPLE]), _people, st.fixed_dictionaries({"with": _people})),
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
            f"K{number}{index}", f"Mary, or the one, did {index}.", project_id, entities_mentioned=links, slot_type=slot
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


@pytest.mark.slow
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
