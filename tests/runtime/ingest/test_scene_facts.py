"""What a scene brings: its memories and its states."""

from datetime import UTC, datetime

import pytest

from novelgen.language.resolver import NameResolver
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.record import SceneRecord
from runtime.ingest.scene_input import RecordOrigin, SceneInput
from runtime.ingest.scene_writes import ChunkScope, passage_chunks, presence_states, record_chunks, recorded_states

SCOPE = ChunkScope(project_id="p", scene_id="s1", created_at=datetime(2026, 1, 1, tzinfo=UTC))
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


def _passages(scene: SceneInput, scope: ChunkScope = SCOPE) -> list[StoryMemoryChunk]:
    return passage_chunks(scene, scope, mentions_in=RESOLVER.find_mentions)


def _from_record(scene: SceneInput, record: SceneRecord = RECORD, scope: ChunkScope = SCOPE) -> list[StoryMemoryChunk]:
    return record_chunks(scene, record, scope, mentions_in=RESOLVER.find_mentions)


def test_a_recorded_memory_keeps_all_that_the_record_says() -> None:
    """With its id as source; bullets name their place in the record, and an extracted one says so."""
    memory = _from_record(_scene(record=RECORD))[0]
    assert (memory.content_type, memory.source_id, memory.event_type) == ("memory", "M7", "promise_made")
    assert (memory.chapter_index, memory.scene_index) == (2, 3)
    assert (memory.short, memory.importance, memory.tags) == ("Mary keeps the lamp lit", 8, ["promise"])
    assert (memory.supersedes, memory.slot_type, memory.origin) == ("M3", "I0.holder", "record")
    assert memory.entities_mentioned == ["C0", "I0"]
    chunks = [each for each in _from_record(_scene(record=RECORD)) if each.content_type == "summary"]
    assert [(each.source_id, each.entities_mentioned, each.tags) for each in chunks] == [
        ("2:3:summary:0", ["C0", "I0"], []),
        ("2:3:summary:2", [], []),
        ("2:3:key_events:0", ["I0"], ["key_event"]),
    ]
    assert _from_record(_scene(record=RECORD, record_origin="extracted"))[0].origin == "extracted"
    assert _from_record(_scene(record=RECORD, record_origin="author"))[0].origin == "record"


def test_what_is_embedded_beside_a_record_is_a_setting() -> None:
    """Without a record a passage speaks for itself, with its weightiest sentence as short form."""
    scene = _scene(record=RECORD)
    chunks = _from_record(scene) + _passages(scene)
    assert [each.content for each in chunks if not each.is_indexed] == ["the lamp is lit", "Mary Grey came."]
    everything = SCOPE.model_copy(update={"embed_passages": True, "embed_key_events": True})
    chunks = _from_record(scene, scope=everything) + _passages(scene, everything)
    assert all(each.embedding_id == each.chunk_id for each in chunks)
    text = "阿青答应守住灯火。" + "风吹过山谷，落叶满地，远处有人在唱一支很老的歌。" * 30
    first, *rest = _passages(_scene(text))
    assert (first.embedding_id, first.short, first.entities_mentioned) == (first.chunk_id, "阿青答应守住灯火。", ["C1"])
    assert first.origin == "text"
    assert [text[slice(*each.source_span)] for each in [first, *rest] if each.source_span] == [
        each.content for each in [first, *rest]
    ]
    assert len(rest) >= 1
    assert _passages(_scene(" \n ")) == []


def test_ids_are_the_same_every_time_and_differ_between_scenes_and_projects() -> None:
    """Equal texts of a scene have their own, and a passage keeps its id when others come before it."""
    scene = _scene(record=RECORD)
    ids = [each.chunk_id for each in _from_record(scene) + _passages(scene)]
    assert ids == [each.chunk_id for each in _from_record(scene) + _passages(scene)]
    assert len(set(ids)) == len(ids)
    for change in ({"scene_id": "s2"}, {"project_id": "q"}):
        assert not set(ids) & {each.chunk_id for each in _passages(scene, SCOPE.model_copy(update=change))}
    record = RECORD.model_copy(update={"summary": ["It rained.", "It rained."], "key_events": ["It rained."]})
    ids = [each.chunk_id for each in _from_record(_scene(record=record), record)]
    assert len(set(ids)) == len(ids) == 5
    later = "The storm took the roof. " * 20
    before = _passages(_scene(later))
    after = _passages(_scene("She came home and told nobody. " * 14 + "\n\n" + later))
    assert {each.chunk_id for each in before} <= {each.chunk_id for each in after}


def test_every_recorded_attribute_is_an_explicit_change() -> None:
    """A record's changes come one per attribute, in order, None included."""
    record = SceneRecord.model_validate(
        {
            "chapter_index": 4,
            "scene_index": 2,
            "state_changes": [
                {"entity_id": "C0", "changes": {"mood": "calm", "goals": ["a", "b"]}},
                {"entity_id": "I3", "changes": {"holder": None}},
                {"entity_id": "L1", "changes": {"tension": 3}},
            ],
        }
    )
    changes = recorded_states(record, text="", made_by="supplied", entity_types={"L1": "faction"})
    assert [(each.entity_id, each.entity_type, each.attribute, each.value) for each in changes] == [
        ("C0", "character", "mood", "calm"),
        ("C0", "character", "goals", ["a", "b"]),
        ("I3", "item", "holder", None),
        ("L1", "faction", "tension", 3),
    ]
    assert {(each.kind, each.chapter_index, each.scene_index) for each in changes} == {("explicit", 4, 2)}


def test_presence_says_where_and_when() -> None:
    """Everybody on stage gets one presence with place and position; an empty stage changes nothing."""
    changes = presence_states(["C1", "hero", "C1"], location_id="L2", chapter_index=1, scene_index=5, entity_types={})
    assert [(each.entity_id, each.entity_type, each.kind) for each in changes] == [
        ("C1", "character", "presence"),
        ("hero", "character", "presence"),
    ]
    assert changes[0].attribute == "presence"
    assert changes[0].value == {"location_id": "L2", "chapter_index": 1, "scene_index": 5}
    assert presence_states([], location_id="L2", chapter_index=1, scene_index=5, entity_types={}) == []


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
            "chapter_index": 1,
            "scene_index": 1,
            "state_changes": [{"entity_id": "I0", "changes": {"state": "dark"}, "evidence": evidence}],
        }
    )
    [change] = recorded_states(record, text="And the lamp went out.", made_by=made_by, entity_types={})
    assert (change.verified, change.source_span) == expected
