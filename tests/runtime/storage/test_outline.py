"""The scenes of an outline as they are read for a position."""

from __future__ import annotations

from novelgen.memory.outline import OutlineScene
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, change, record, scene, store


def test_scenes_tell_place_and_presence_and_the_last_ones_what_happened(database: DatabaseManager) -> None:
    """In story order, whatever order they were stored in; of older scenes no record is read."""
    told = {"key_events": ["A key is lost"], "summary": ["Emma searches, in vain"]}
    store(
        database,
        scene(2, 1, participants=["C1"], record=record(2, 1, **told)),
        scene(1, 1, participants=["C0", "C1"], location_id="L0", title="“A” — 门", record=record(1, 1, **told)),
        scene(1, 2),
        scene(3, 1, record=record(3, 1)),
        *(scene(2, each) for each in range(2, 6)),
    )
    with database.project("demo").read() as unit:
        scenes = unit.outline(as_of=at(4)).scenes

    assert scenes == [
        OutlineScene(1, 1, "“A” — 门", "L0", ("C0", "C1"), is_guessed=True),
        OutlineScene(1, 2, is_guessed=True),
        OutlineScene(2, 1, "", None, ("C1",), ("A key is lost",), ("Emma searches, in vain",), is_guessed=True),
        *(OutlineScene(2, each, is_guessed=True) for each in range(2, 6)),
        OutlineScene(3, 1, is_guessed=True),
    ]


def test_scenes_are_cut_strictly_before_the_position(database: DatabaseManager) -> None:
    """The planned scene itself and what follows are not read, and of a story without earlier scenes nothing."""
    store(database, scene(1, 1), scene(1, 2, participants=["C9"]), scene(2, 1))
    with database.project("demo").read() as unit:
        before_it = unit.outline(as_of=at(1, 2)).scenes
        nothing = unit.outline(as_of=at(1, 1)).scenes

    assert before_it == [OutlineScene(1, 1, is_guessed=True)]
    assert nothing == []


def test_the_author_says_who_holds_a_thing_whatever_is_read_anew(database: DatabaseManager) -> None:
    """A correction outlives the re-ingest of its scene, in the outline as in the item's state."""
    key = scene(1, 1, states=[change("I0", "holder", "C9", entity_type="item")])
    store(database, key)
    with database.project("demo").write() as unit:
        corrected = change("I0", "holder", "C0", entity_type="item", chapter_index=1, scene_index=1)
        unit.states.append([corrected])
    store(database, key.model_copy(update={"text": "Told anew."}))
    with database.project("demo").read() as unit:
        (state,) = unit.states.snapshots(["I0"])
        assert state.state_data == {"holder": "C0"}
        assert unit.outline(as_of=at(2)).holders == {"C0": ["I0"]}
