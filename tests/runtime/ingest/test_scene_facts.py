"""What a scene brings: its memories and its states, and what its names tell: who is on stage and where."""

from datetime import UTC, datetime
from typing import Any

import pytest

from novelgen.language.resolver import NameResolver
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from runtime.ingest.scene_input import (
    RecordOrigin,
    SceneInput,
    SceneReading,
    SceneSurroundings,
    known_in_scene,
    name_mentions,
)
from runtime.ingest.scene_writes import SceneChunks, scene_states
from runtime.settings import IngestSettings

RESOLVER = NameResolver(
    [
        Entity(entity_id="C0", entity_type="character", name="Mary Grey"),
        Entity(entity_id="I0", entity_type="item", name="the lamp"),
        Entity(entity_id="C1", entity_type="character", name="阿青"),
    ]
)
RECORD = SceneRecord.model_validate(
    {
        "chapter_index": 2,
        "scene_index": 3,
        "summary": ["Mary Grey lit the lamp.", " ", "It went out."],
        "key_events": ["the lamp is lit"],
        "memories": [
            {
                "memory_id": "M7",
                "event_type": "promise_made",
                "content": "Mary Grey promised to keep the lamp lit.",
                "short": "Mary keeps the lamp lit",
                "importance": 8,
                "entities": ["C0", "I0", "C0"],
                "tags": ["promise"],
                "supersedes": "M3",
                "slot_type": "I0.holder",
            },
            {"memory_id": "M8", "content": "It rained."},
        ],
    }
)


def _scene(text: str = "Mary Grey came.", record: SceneRecord | None = None, **changes: object) -> SceneInput:
    return SceneInput.model_validate({"chapter_index": 2, "scene_index": 3, "text": text, "record": record, **changes})


def _chunks(scene: SceneInput, **scope: Any) -> list[StoryMemoryChunk]:
    """Return what a scene brings: of its record, then of its text."""
    told = {"project_id": "p", "scene_id": "s1", "settings": IngestSettings(), **scope}
    made = SceneChunks(scene, created_at=datetime(2026, 1, 1, tzinfo=UTC), mentions_in=RESOLVER.find_mentions, **told)
    of_record = [] if scene.record is None else made.of_record(scene.record, {"M8": "M2"})
    return of_record + made.of_text()


def _states(record: SceneRecord | None, text: str = "", **changes: Any) -> list[StateChange]:
    scene = _scene(text, record, **changes)
    entities = [Entity(entity_id="L1", entity_type="faction", name="the Guild")]
    return scene_states(scene, SceneReading(scene, SceneSurroundings()), entities)


def test_a_recorded_memory_keeps_all_that_the_record_says() -> None:
    """With its id as source; bullets name their place in the record, and an extracted one says so."""
    memory, rained, *chunks, _ = _chunks(_scene(record=RECORD))
    assert (memory.content_type, memory.source_id, memory.event_type) == ("memory", "M7", "promise_made")
    assert (memory.chapter_index, memory.scene_index) == (2, 3)
    assert (memory.short, memory.importance, memory.tags) == ("Mary keeps the lamp lit", 8, ["promise"])
    assert (memory.supersedes, memory.slot_type, memory.origin) == ("M3", "I0.holder", "record")
    assert memory.entities_mentioned == ["C0", "I0"]
    assert rained.supersedes == "M2"
    assert [(each.source_id, each.entities_mentioned, each.tags) for each in chunks] == [
        ("2:3:summary:0", ["C0", "I0"], []),
        ("2:3:summary:2", [], []),
        ("2:3:key_events:0", ["I0"], ["key_event"]),
    ]
    for made_by, origin in (("extracted", "extracted"), ("author", "record")):
        assert _chunks(_scene(record=RECORD, record_origin=made_by))[0].origin == origin


def test_what_is_embedded_beside_a_record_is_a_setting() -> None:
    """Without a record a passage speaks for itself, with its weightiest sentence as short form."""
    scene = _scene(record=RECORD)
    assert [each.content for each in _chunks(scene) if not each.is_indexed] == ["the lamp is lit", "Mary Grey came."]
    everything = IngestSettings(embed_passages=True, embed_key_events=True)
    assert all(each.embedding_id == each.chunk_id for each in _chunks(scene, settings=everything))
    text = "阿青答应守住灯火。" + "风吹过山谷，落叶满地，远处有人在唱一支很老的歌。" * 30
    first, *rest = _chunks(_scene(text))
    assert (first.embedding_id, first.short, first.entities_mentioned) == (first.chunk_id, "阿青答应守住灯火。", ["C1"])
    assert first.origin == "text"
    assert [text[slice(*each.source_span)] for each in [first, *rest] if each.source_span] == [
        each.content for each in [first, *rest]
    ]
    assert len(rest) >= 1
    assert _chunks(_scene(" \n ")) == []


def test_ids_are_the_same_every_time_and_differ_between_scenes_and_projects() -> None:
    """Equal texts of a scene have their own, and a passage keeps its id when others come before it."""
    scene = _scene(record=RECORD)
    ids = [each.chunk_id for each in _chunks(scene)]
    assert ids == [each.chunk_id for each in _chunks(scene)]
    for change in ({"scene_id": "s2"}, {"project_id": "q"}):
        assert not set(ids) & {each.chunk_id for each in _chunks(scene, **change)}
    record = RECORD.model_copy(update={"summary": ["It rained.", "It rained."], "key_events": ["It rained."]})
    ids = [each.chunk_id for each in _chunks(_scene(record=record))]
    assert len(set(ids)) == len(ids) == 6
    later = "The storm took the roof. " * 20
    after = _chunks(_scene("She came home and told nobody. " * 14 + "\n\n" + later))
    assert {each.chunk_id for each in _chunks(_scene(later))} <= {each.chunk_id for each in after}


def test_a_scene_states_who_is_there_and_every_recorded_attribute() -> None:
    """Each on stage once with place and position; changes one per attribute, None included; a flashback none."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 2,
            "scene_index": 3,
            "characters_present": ["C1", "hero", "C1"],
            "location_id": "L2",
            "state_changes": [
                {"entity_id": "C0", "changes": {"mood": "calm", "goals": ["a", "b"]}},
                {"entity_id": "I3", "changes": {"holder": None}},
                {"entity_id": "L1", "changes": {"tension": 3}},
            ],
        }
    )
    changes = _states(record)
    where = {"location_id": "L2", "chapter_index": 2, "scene_index": 3}
    assert [(each.kind, each.entity_id, each.entity_type, each.attribute, each.value) for each in changes] == [
        ("presence", "C1", "character", "presence", where),
        ("presence", "hero", "character", "presence", where),
        ("explicit", "C0", "character", "mood", "calm"),
        ("explicit", "C0", "character", "goals", ["a", "b"]),
        ("explicit", "I3", "item", "holder", None),
        ("explicit", "L1", "faction", "tension", 3),
    ]
    assert {(each.chapter_index, each.scene_index) for each in changes} == {(2, 3)}
    assert _states(record.model_copy(update={"is_flashback": True})) == []
    assert _states(None, "It rained.") == []


@pytest.mark.parametrize(
    ("made_by", "evidence", "expected"),
    [
        ("extracted", "the lamp went out", (True, (4, 21))),
        ("extracted", "the lamp was lit again", (False, None)),
        ("extracted", None, (False, None)),
        ("supplied", "the lamp was lit again", (False, None)),
        ("supplied", None, (True, None)),
        ("author", "the lamp was lit again", (True, None)),
        ("author", "the lamp went out", (True, (4, 21))),
    ],
)
def test_a_change_is_verified_by_its_quote(
    made_by: RecordOrigin, evidence: str | None, expected: tuple[bool, tuple[int, int] | None]
) -> None:
    """A model owes a quote for each change, what is supplied without one is given, and authors owe none."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 2,
            "scene_index": 3,
            "state_changes": [{"entity_id": "I0", "changes": {"state": "dark"}, "evidence": evidence}],
        }
    )
    [change] = _states(record, "And the lamp went out.", record_origin=made_by)
    assert (change.verified, change.source_span) == expected


def _entity(entity_id: str, name: str, **fields: Any) -> Entity:
    types = {"C": "character", "L": "location"}
    return Entity.model_validate({"entity_id": entity_id, "entity_type": types[entity_id[0]], "name": name, **fields})


ENTITIES = [
    _entity("C0", "Mary Grey", aliases=[{"alias": "the stranger"}]),
    _entity("C1", "Tom Hale", first_chapter=3, first_scene=2, aliases=[{"alias": "the stranger"}]),
    _entity("L0", "Baker Street"),
]


def test_presence_comes_from_the_text_without_a_record() -> None:
    """Who acts, at the place named or the one before; with a record its own count, and nobody of later is mentioned."""
    reading = SceneReading(
        _scene('In Baker Street Mary Grey said "Good evening." Mary Grey left.'), SceneSurroundings(ENTITIES)
    )
    assert (reading.participants, reading.location_id) == (["C0"], "L0")
    reading = SceneReading(_scene("Mary Grey said no."), SceneSurroundings(ENTITIES, previous_location_id="L0"))
    assert reading.location_id == "L0"
    record = SceneRecord(chapter_index=2, scene_index=1, characters_present=["C5", "C5"], location_id="L9")
    reading = SceneReading(_scene("Mary Grey said no.", record), SceneSurroundings(ENTITIES))
    assert (reading.participants, reading.location_id) == (["C5"], "L9")
    reading = SceneReading(_scene("Tom Hale and Mary Grey met."), SceneSurroundings(ENTITIES))
    assert [each.entity_id for each in reading.mentions_in("Tom Hale and Mary Grey met.")] == ["C0"]


def test_known_entities_include_the_scene_itself() -> None:
    """An alias counts from its own scene; a shared one is a mention of each bearer, later ones included."""
    late_alias = _entity("C0", "A", aliases=[{"alias": "B", "first_chapter": 5, "first_scene": 1}])
    assert [each.entity_id for each in known_in_scene(ENTITIES, 3, 1)] == ["C0", "L0"]
    assert [each.entity_id for each in known_in_scene(ENTITIES, 3, 2)] == ["C0", "C1", "L0"]
    assert known_in_scene([late_alias], 4, 9)[0].names() == ["A"]
    assert known_in_scene([late_alias], 5, 1)[0].names() == ["A", "B"]
    assert name_mentions("The stranger met Mary Grey.", ENTITIES) == [
        ("C0", "Mary Grey"),
        ("C0", "the stranger"),
        ("C1", "the stranger"),
    ]
    assert name_mentions("", ENTITIES) == []
