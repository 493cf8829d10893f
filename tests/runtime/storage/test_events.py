"""States, threads and relationships over story time."""

import sqlite3
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.folds import fold_state_changes
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedLoop, RecordedLoopAdvance, RecordedLoopResolution, RecordedRelationshipChange
from novelgen.models.state import StateChange
from runtime.storage.database import DatabaseManager
from runtime.storage.records import Knowledge
from tests.runtime.storage.stories import at, change, memory, record, scene, store
from tests.support.databases import on_both_databases


@pytest.fixture
def stated(database: DatabaseManager) -> DatabaseManager:
    """C0 moves and changes over three chapters, C1 is only seen."""
    store(
        database,
        scene(1, 1, states=[change("C0", "mood", "calm"), change("C0", "bag", ["rope", "绳"])]),
        scene(2, 1, states=[change("C0", "mood", "grim"), change("C1", "presence", "L1", kind="presence")]),
        scene(2, 2, states=[change("C0", "bag", None)]),
        scene(4, 1, states=[change("C0", "mood", "merry")]),
    )
    return database


@on_both_databases
def test_a_state_is_the_fold_before_the_position(stated: DatabaseManager) -> None:
    """For an early position the early state answers; states come in the order asked, each once."""
    with stated.project("demo").read() as unit:
        (early,) = unit.states.snapshots(["C0"], as_of=at(2, 1))
        (late,) = unit.states.snapshots(["C0"], as_of=at(4, 1))
        assert (early.state_data, early.chapter_index) == ({"mood": "calm", "bag": ["rope", "绳"]}, 1)
        assert (late.state_data, late.chapter_index, late.scene_index) == ({"mood": "grim"}, 2, 2)
        assert early.timestamp.tzinfo is UTC
        assert unit.states.snapshots(["C0"], as_of=at(1, 1)) == []
    with stated.project("demo").read() as unit:
        found = unit.states.snapshots(["C1", "C7", "C0", "C1"])

    assert [snapshot.entity_id for snapshot in found] == ["C1", "C0"]


def test_a_timeline_has_one_snapshot_per_chapter_of_change(stated: DatabaseManager) -> None:
    """Folded to the end of the chapter, in story order, the window's ends included."""
    with stated.project("demo").read() as unit:
        found = unit.states.snapshots_around(2, 1)
        cut = unit.states.snapshots_around(5, 4, as_of=at(2, 2))
        later_chapters = {snapshot.chapter_index for snapshot in unit.states.snapshots_around(4, 2)}

    assert [(one.entity_id, one.chapter_index, one.scene_index) for one in found] == [
        ("C0", 1, 1),
        ("C1", 2, 1),
        ("C0", 2, 2),
    ]
    assert [(one.entity_id, one.chapter_index, one.scene_index) for one in cut] == [
        ("C0", 1, 1),
        ("C0", 2, 1),
        ("C1", 2, 1),
    ]
    assert later_chapters == {2, 4}


@pytest.mark.parametrize(
    ("chapter", "changed"),
    [(2, ["C1 2", "C0 2"]), (3, ["C1 2", "C0 2", "C0 4"]), (1, ["C0 1", "C1 2", "C0 2"])],
    ids=["one chapter", "begins with it", "ends with it"],
)
def test_the_window_of_a_timeline_holds_its_first_and_last_chapter(
    stated: DatabaseManager, chapter: int, changed: list[str]
) -> None:
    """Also an entity that changed in that chapter alone has its snapshot."""
    with stated.project("demo").read() as unit:
        window = unit.states.snapshots_around(chapter, 0 if chapter == 2 else 1)
    assert [f"{snapshot.entity_id} {snapshot.chapter_index}" for snapshot in window] == changed


def test_the_window_of_a_timeline_folds_all_changes_of_its_first_chapter(database: DatabaseManager) -> None:
    """A stay that a sight in that chapter ended stays over, though a sight without a place follows."""
    sights = [{"location_id": "L2"}, {"location_id": None}]
    store(
        database,
        scene(2, 1, states=[change("C0", "location_id", "L1")]),
        *(scene(2, 2 + i, states=[change("C0", "presence", sight, kind="presence")]) for i, sight in enumerate(sights)),
    )
    with database.project("demo").read() as unit:
        (window,) = unit.states.snapshots_around(2, 0)
    assert "location_id" not in window.state_data


@on_both_databases
@pytest.mark.parametrize(("chapter", "place"), [(3, None), (6, "L2")])
def test_a_place_compares_by_the_names_told_before(database: DatabaseManager, chapter: int, place: str | None) -> None:
    """A sight at the mill ends a stay in a cellar that turns out later to be the mill's."""
    later_name = EntityAlias(alias="the mill cellar", first_chapter=5, first_scene=1)
    with database.project("demo").write() as unit:
        unit.entities.upsert(Entity(entity_id="L1", entity_type="location", name="the mill"), origin="author")
        cellar = Entity(entity_id="L2", entity_type="location", name="the cellar", aliases=[later_name])
        unit.entities.upsert(cellar, origin="author")
        unit.states.append([change("C0", "location_id", "L2", chapter_index=1, scene_index=1)])
    sight = change("C0", "presence", {"location_id": "L1"}, kind="presence")
    store(database, scene(2, 1, states=[change("C0", "mood", "grim"), sight]))
    with database.project("demo").read() as unit:
        (state,) = unit.states.snapshots(["C0"], as_of=at(chapter))
        timeline = unit.states.snapshots_around(2, 0, as_of=at(chapter))

    assert state.state_data.get("location_id") == place
    assert [one.state_data.get("location_id") for one in timeline] == [place]


@pytest.mark.parametrize("later", [None, "L1", "L3"])
def test_a_stay_that_a_sight_ended_does_not_come_back(database: DatabaseManager, later: str | None) -> None:
    """Whatever is seen after that: somebody at no place, at the old one, or at a third."""
    stay = change("C0", "location_id", "L1", chapter_index=1, scene_index=1)
    with database.project("demo").write() as unit:
        unit.states.append([stay])
    for number, location_id in enumerate(("L2", later), 1):
        sight = change("C0", "presence", {"location_id": location_id}, kind="presence")
        store(database, scene(2, number, states=[sight]))
    with database.project("demo").read() as unit:
        for position in (at(2, 2), at(2, 3), at(2, 4), at(3), END_OF_STORY):
            (state,) = unit.states.snapshots(["C0"], as_of=position)
            assert "location_id" not in state.state_data, position


def test_the_authors_word_outranks_the_record_at_the_same_position(stated: DatabaseManager) -> None:
    """Even when the scene is ingested again afterwards; a change without a position holds from the start."""
    with stated.project("demo").write() as unit:
        unit.states.append([change("C0", "mood", "numb", chapter_index=2, scene_index=1)])
        unit.states.append([change("C0", "height", "tall")])
    store(stated, scene(2, 1, states=[change("C0", "mood", "grim")]))
    with stated.project("demo").read() as unit:
        assert unit.states.snapshots(["C0"], as_of=at(3))[0].state_data["mood"] == "numb"
        (start,) = unit.states.snapshots(["C0"], as_of=at(1, 1))
        assert (start.state_data, start.chapter_index) == ({"height": "tall"}, None)


def test_who_was_seen_was_seen_where_the_scene_stands_by_now(database: DatabaseManager) -> None:
    """A scene that moved takes along where somebody was last seen."""
    seen = {"location_id": "L0", "chapter_index": 1, "scene_index": 1}
    store(database, scene(1, 1, states=[change("C0", "presence", seen, kind="presence")]))
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 1), at(3, 2))
        (snapshot,) = unit.states.snapshots(["C0"])
    assert snapshot.state_data == {"presence": {"location_id": "L0", "chapter_index": 3, "scene_index": 2}}


PLACE = st.one_of(st.tuples(st.none(), st.none()), st.tuples(st.integers(0, 3), st.integers(0, 3)))
CHANGES = st.lists(st.tuples(PLACE, st.sampled_from("ab"), st.sampled_from(["x", "y", None, ["z"]])), max_size=10)


def test_what_a_scene_states_and_what_stood_before_it(stated: DatabaseManager) -> None:
    """The scene alone is read, and before it the last word on each attribute, that it is cleared among them."""
    with stated.project("demo").read() as unit:
        stated = unit.states.stated_in(at(2, 1), entity_ids=["C0", "C1"])
        before = unit.states.standing_before(at(2, 1), attributes=["mood", "bag"], entity_ids=["C0"])
        later = unit.states.standing_before(at(4, 1), attributes=["mood", "bag"])
        history = unit.states.stated(entity_ids=["C0"], as_of=at(2, 2))

    assert [(each.entity_id, each.value) for each in stated] == [("C0", "grim")]
    assert {each.attribute: each.value for each in before} == {"mood": "calm", "bag": ["rope", "绳"]}
    assert {each.attribute: each.value for each in later} == {"mood": "grim", "bag": None}
    assert [each.value for each in history] == ["calm", ["rope", "绳"], "grim"]


@on_both_databases
def test_texts_are_read_as_they_were_written(database: DatabaseManager) -> None:
    """Quotes, backslashes, breaks and characters beyond the first plane come back."""
    values = ["", '"', "\\", '\\"', "a\nb\u2028", "绳🪢", "[]", "null", ["x"], None, 7, True]
    store(database, scene(1, 1, states=[change("C0", f"v{index}", each) for index, each in enumerate(values)]))
    with database.project("demo").read() as unit:
        assert [each.value for each in unit.states.stated(entity_ids=["C0"])] == values


def test_more_entities_are_asked_for_than_sqlite_takes_parameters(stated: DatabaseManager) -> None:
    """A statement has one for all of them."""
    many = [f"C{number}" for number in range(50)]
    with stated.project("demo").read() as unit:
        unit.states._session.connection.connection.driver_connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 20)
        assert [each.entity_id for each in unit.states.snapshots(many)] == ["C0", "C1"]
        assert {each.entity_id for each in unit.states.stated(entity_ids=many)} == {"C0"}
        assert unit.relationships.changes_between(many) == {}
        assert [each.loop_id for each in unit.threads.list_as_of(loop_ids=many)] == []


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, cut=PLACE)
def test_storage_folds_as_the_model_does(
    database: DatabaseManager, changes: list, cut: tuple[int | None, int | None]
) -> None:
    """Whatever is appended, the snapshot is the fold of exactly the changes before the position."""
    entity_id = f"C{datetime.now(UTC).timestamp()}"
    written = [
        StateChange(entity_id=entity_id, attribute=name, value=value, chapter_index=place[0], scene_index=place[1])
        for place, name, value in changes
    ]
    with database.project("demo").write() as unit:
        unit.states.append(written)
        found = unit.states.snapshots([entity_id], as_of=at(*cut))  # type: ignore[arg-type]
        stated = unit.states.stated(entity_ids=[entity_id], as_of=at(*cut))  # type: ignore[arg-type]
        standing = unit.states.standing_before(
            at(*cut),  # type: ignore[arg-type]
            attributes="ab",
            entity_ids=[entity_id],
        )
    assert {each.attribute: each for each in standing} == {each.attribute: each for each in stated}
    assert len(standing) == len({each.attribute for each in stated})
    expected, chapter, scene_index = fold_state_changes(written, at(*cut))  # type: ignore[arg-type]

    assert [(one.state_data, one.chapter_index, one.scene_index) for one in found] in (
        [(expected, chapter, scene_index)],
        [],
    )
    assert bool(found) == any(at(*cut).admits(*place) for place, _, _ in changes)  # type: ignore[arg-type]


@pytest.fixture
def threaded(database: DatabaseManager) -> DatabaseManager:
    """OL0 is planted, moved and resolved; OL1 is planted and dropped; OL2 stays open."""
    planted = [
        {"id": "OL0", "description": "Who stole it?", "importance": "high", "related_characters": ["C0"],
         "related_locations": ["L1"], "category": "mystery"},
        {"id": "OL1", "description": "The cat.", "importance": "low"},
    ]  # fmt: skip
    later = record(3, 1, open_loops_created=[{"id": "OL2", "description": "The war.", "importance": "critical"}])
    ended = record(
        4,
        1,
        open_loops_resolved=[
            {"id": "OL0", "resolution_summary": "The butler."},
            {"id": "OL1", "abandoned": True, "resolution_summary": "Forgotten."},
        ],
    )
    store(
        database,
        scene(1, 1, record=record(1, 1, open_loops_created=planted)),
        scene(2, 1, record=record(2, 1, open_loops_advanced=[{"id": "OL0", "note": "A glove."}])),
        scene(3, 1, record=later),
        scene(4, 1, record=ended),
    )
    return database


@on_both_databases
def test_a_loop_has_the_status_of_its_position(threaded: DatabaseManager) -> None:
    """Open, advanced, resolved: the same loop at three positions."""
    with threaded.project("demo").read() as unit:
        assert unit.threads.get("OL0", as_of=at(1, 1)) is None
        seen = [unit.threads.get("OL0", as_of=at(chapter)) for chapter in (2, 3, 5)]

    assert [one.status for one in seen if one] == ["open", "advanced", "resolved"]
    assert [one.resolution_summary for one in seen if one] == [None, None, "The butler."]
    assert [one.age_scenes for one in seen if one] == [0, 1, 3]
    assert seen[1] is not None
    assert (seen[1].related_entities, seen[1].category, seen[1].last_chapter_index) == (["C0", "L1"], "mystery", 2)


def test_loops_are_listed_by_status(threaded: DatabaseManager) -> None:
    """In the order in which they were planted; weight times age decides which are due first."""
    with threaded.project("demo").read() as unit:
        assert [loop.loop_id for loop in unit.threads.list_as_of(as_of=at(4, 1))] == ["OL0", "OL1", "OL2"]
        assert [loop.loop_id for loop in unit.threads.list_as_of()] == ["OL2"]
        assert [loop.loop_id for loop in unit.threads.list_as_of(statuses=["abandoned"])] == ["OL1"]
        some = unit.threads.list_as_of(as_of=at(4, 1), loop_ids=["OL2", "OL0", "OL9"])
        assert [loop.loop_id for loop in some] == ["OL0", "OL2"]
        places = [at(1, 1), at(2), at(4, 1), at(5)]
        assert [unit.threads.count_waiting(as_of=each) for each in places] == [0, 2, 3, 1]
    with threaded.project("demo").read() as unit:
        due = unit.threads.due(as_of=at(4, 1), limit=2)

    assert [(loop.loop_id, loop.age_scenes) for loop in due] == [("OL0", 2), ("OL2", 0)]


def test_a_withdrawn_planting_takes_the_loop_from_sight_and_brings_it_back(threaded: DatabaseManager) -> None:
    """Without its planting a loop is not told; planted again it has its later history."""
    store(threaded, scene(1, 1))
    with threaded.project("demo").read() as unit:
        assert unit.threads.get("OL0") is None
    planted = record(1, 1, open_loops_created=[{"id": "OL0", "description": "Who took it?"}])
    store(threaded, scene(1, 1, record=planted))
    with threaded.project("demo").read() as unit:
        loop = unit.threads.get("OL0")

    assert loop is not None
    assert (loop.description, loop.status) == ("Who took it?", "resolved")


def test_an_author_plants_moves_and_ends_loops(threaded: DatabaseManager) -> None:
    """With ids that no record has, and only loops that exist can be moved."""
    with threaded.project("demo").write() as unit:
        loop_id = unit.threads.next_id()
        unit.threads.append(RecordedLoop(id=loop_id, description="Mine."), at=at(2, 1))
        unit.threads.append(RecordedLoopAdvance(id=loop_id), at=at(3, 1))
        unit.threads.append(RecordedLoopResolution(id=loop_id, abandoned=True), at=at(9))
        statuses = [unit.threads.get(loop_id, as_of=at(chapter)) for chapter in (3, 4, 9, 10)]
        with pytest.raises(UserInputError, match="no thread 'OL77'"):
            unit.threads.append(RecordedLoopAdvance(id="OL77"), at=at(1, 1))

    assert loop_id == "OL3"
    assert [one.status for one in statuses if one] == ["open", "advanced", "advanced", "abandoned"]


@pytest.fixture
def paired(database: DatabaseManager) -> DatabaseManager:
    """C0 and C1 fall out; C1 and C2 are friends."""
    first = {
        "character_a": "C1", "character_b": "C0", "relationship_type": "siblings", "status": "close",
        "perspective_a": "C1 adores", "perspective_b": "C0 bears it", "intensity": 8, "event": "childhood",
        "dimensions": {"trust": 60},
    }  # fmt: skip
    second = {
        "character_a": "C0", "character_b": "C1", "status": "broken", "perspective_a": "C0 hates",
        "event": "the will", "dimensions": {"fear": 20},
    }  # fmt: skip
    friends = {"character_a": "C1", "character_b": "C2", "status": "close"}
    store(
        database,
        scene(1, 1, record=record(1, 1, relationship_changes=[first])),
        scene(3, 1, record=record(3, 1, relationship_changes=[second, friends])),
    )
    return database


@on_both_databases
def test_a_pair_is_found_in_either_order_as_of_a_position(paired: DatabaseManager) -> None:
    """What the second scene did not say stays from the first."""
    with paired.project("demo").read() as unit:
        early = unit.relationships.between("C0", "C1", as_of=at(2))
        late = unit.relationships.between("C1", "C0")
        assert unit.relationships.between("C0", "C1", as_of=at(1, 1)) is None

    assert early is not None
    assert late is not None
    assert (early.relationship_id, early.character_a, early.character_b) == ("R0", "C0", "C1")
    assert (early.perspective_a, early.perspective_b, early.status) == ("C0 bears it", "C1 adores", "close")
    assert (late.perspective_a, late.perspective_b, late.status) == ("C0 hates", "C1 adores", "broken")
    assert (late.relationship_type, late.intensity, late.dimensions) == ("siblings", 8, {"trust": 60, "fear": 20})
    assert [(event.event, event.chapter_index) for event in late.history] == [("childhood", 1), ("the will", 3)]
    assert (late.chapter_index, late.scene_index) == (3, 1)


def test_relationships_are_listed_by_character_and_status(paired: DatabaseManager) -> None:
    """The status is that of the position, not an earlier one."""
    with paired.project("demo").read() as unit:

        def ids(**filters: object) -> list[str]:
            return [one.relationship_id for one in unit.relationships.list_as_of(**filters)]  # type: ignore[arg-type]

        assert ids() == ["R0", "R1"]
        assert ids(character_id="C2") == ["R1"]
        assert ids(status="close") == ["R1"]
        assert ids(status="close", as_of=at(3, 1)) == ["R0"]
        assert ids(character_id="C9") == []


def test_an_author_changes_only_what_is_said(paired: DatabaseManager) -> None:
    """The id is that of the pair, unset fields keep their values, and nobody has a relationship with themselves."""
    with paired.project("demo").write() as unit:
        healed = RecordedRelationshipChange(character_a="C1", character_b="C0", status="healed", event="peace")
        assert unit.relationships.append(healed, at=at(4, 2)) == "R0"
        relation = unit.relationships.between("C0", "C1")

    assert relation is not None
    assert (relation.status, relation.intensity, relation.perspective_a) == ("healed", 8, "C0 hates")
    alone = RecordedRelationshipChange(character_a="C1", character_b="C1")
    with pytest.raises(UserInputError, match="both are 'C1'"), paired.project("demo").write() as unit:
        unit.relationships.append(alone, at=at(1, 1))


def test_feelings_of_a_side_are_kept_in_story_time(database: DatabaseManager) -> None:
    """What one feels is stored on that side, in whichever order the pair was named, and not before its scene."""
    fear = {"character_a": "C1", "character_b": "C0", "dimensions": {"trust": 5}, "dimensions_a": {"fear": 30}}
    both = {"character_a": "C0", "character_b": "C1", "dimensions": {"fear": 10}}
    store(
        database,
        scene(1, 1, record=record(1, 1, relationship_changes=[fear])),
        scene(2, 1, record=record(2, 1, relationship_changes=[both])),
    )
    with database.project("demo").read() as unit:
        early = unit.relationships.between("C0", "C1", as_of=at(2))
        late = unit.relationships.between("C0", "C1")
        assert unit.relationships.between("C0", "C1", as_of=at(1, 1)) is None
    assert early is not None
    assert late is not None
    assert (early.dimensions, early.dimensions_a, early.dimensions_b) == ({"trust": 5}, {}, {"fear": 30})
    assert (late.dimensions, late.dimensions_a, late.dimensions_b) == ({"trust": 5, "fear": 10}, {}, {})


@pytest.fixture
def stretched(database: DatabaseManager) -> DatabaseManager:
    """Three scenes, each with a memory, a state and what somebody learns; a state of a chapter, and one of always."""
    for number, place in enumerate(((1, 1), (1, 2), (2, 1))):
        learnt = Knowledge(character_id=f"C{number}", source_id="M0")
        store(
            database,
            scene(
                *place,
                memory(f"M{number}"),
                states=[change(f"C{number}", "mood", "grim"), change("C8", "presence", "L0", kind="presence")],
                knowledge=[learnt],
            ),
        )
    with database.project("demo").write() as unit:
        unit.states.append([change("C6", "height", "tall"), change("C7", "mood", "calm", chapter_index=1)])
    return database


def test_a_stretch_has_its_beginning_and_not_its_end(stretched: DatabaseManager) -> None:
    """What has always held lies in none, a chapter's own at its end, and who was only seen did not change."""
    cases: list[tuple[StoryPosition, StoryPosition, list[tuple[int, int]], list[str], list[str]]] = [
        (at(1, 2), at(2, 1), [(1, 2)], ["C1", "C7"], ["C1"]),
        (at(1, 2), at(1, 3), [(1, 2)], ["C1"], ["C1"]),
        (at(1), at(2), [(1, 1), (1, 2)], ["C0", "C1", "C7"], ["C0", "C1"]),
        (at(1, 2), END_OF_STORY, [(1, 2), (2, 1)], ["C1", "C2", "C7"], ["C1", "C2"]),
        (at(2, 1), at(2, 1), [], [], []),
        (END_OF_STORY, END_OF_STORY, [], [], []),
    ]
    with stretched.project("demo").read() as unit:
        for since, until, places, changed, learners in cases:
            scenes = unit.scenes.list_as_of(as_of=until, since=since)
            assert [(each.chapter_index, each.scene_index) for each in scenes] == places
            assert unit.states.changed_between(since, until) == changed
            assert [each.character_id for each in unit.knowledge.said_between(since, until)] == learners


def test_memories_are_found_by_their_source_ids(stretched: DatabaseManager) -> None:
    """Only before the position, only active ones, and of two with one id the first in the story."""
    store(stretched, scene(3, 1, memory("later", source_id="M0"), memory("M9")))
    with stretched.project("demo").write() as unit:
        unit.memories.decide("M1", "ban")
    with stretched.project("demo").read() as unit:
        found = unit.memories.by_source_ids(["M0", "M1", "M9", "M7"], as_of=END_OF_STORY)
        assert {source_id: each.chunk_id for source_id, each in found.items()} == {"M0": "M0", "M9": "M9"}
        assert list(unit.memories.by_source_ids(["M0", "M9"], as_of=at(3, 1))) == ["M0"]
        assert unit.memories.by_source_ids([]) == {}
