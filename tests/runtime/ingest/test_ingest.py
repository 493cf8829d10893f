"""Taking scenes in."""

from typing import Any

import pytest

from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import IngestResult, absent_scenes, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.runtime.ingest.made_up_story import ENTITIES, TEXTS, record, recorded_scenes, scene, stored_at


def _ingest(stores: MemoryStores, project: str, *scenes: SceneInput) -> IngestResult:
    return ingest_scenes(stores, project, scenes, index=False)


def _outcomes(result: IngestResult) -> list[str]:
    return [each.outcome for each in result.scenes]


def _mood(stores: MemoryStores, project: str, chapter: int | None, number: int | None) -> Any:
    with stores.database(project).read() as unit:
        (snapshot,) = unit.states.snapshots(["C0"], as_of=StoryPosition(chapter, number))
    return snapshot.state_data.get("mood")


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """A project with entities and three scenes with records."""
    store_entities(stores, project, ENTITIES)
    _ingest(stores, project, *recorded_scenes())
    return project


def test_text_alone_keeps_the_stored_record(stores: MemoryStores, story: str) -> None:
    """A new text without a record drops what the old one said, which speaks for its own text only."""
    assert _outcomes(_ingest(stores, story, scene(1, 2))) == ["unchanged"]
    assert _mood(stores, story, 2, 1) == "mood 12"
    assert _outcomes(_ingest(stores, story, scene(1, 2, "All was quiet."))) == ["replaced"]
    assert _mood(stores, story, 2, 1) == "mood 11"


def test_an_authors_record_outranks_an_extracted_one(stores: MemoryStores, project: str) -> None:
    """What a person wrote survives extraction, and a changed text is said aloud."""
    store_entities(stores, project, ENTITIES)
    _ingest(stores, project, scene(1, 1, record=record(1, 1), record_origin="author"))
    extracted = record(1, 1, state_changes=[{"entity_id": "C0", "changes": {"mood": "guessed"}}])
    _ingest(stores, project, scene(1, 1, record=extracted, record_origin="extracted"))
    assert _mood(stores, project, 2, 1) == "mood 11"
    (result,) = _ingest(stores, project, scene(1, 1, "A new text.")).scenes
    assert _mood(stores, project, 2, 1) == "mood 11"
    assert [issue.kind for issue in result.issues] == ["stale"]
    corrected = record(1, 1, state_changes=[{"entity_id": "C0", "changes": {"mood": "corrected"}}])
    _ingest(stores, project, scene(1, 1, "A new text.", record=corrected, record_origin="author"))
    assert _mood(stores, project, 2, 1) == "corrected"


def test_a_failed_extraction_is_stored_with_its_reason(stores: MemoryStores, project: str) -> None:
    """A scene whose record could not be made keeps its text and is marked; plain ingest leaves the mark."""
    failed = scene(1, 1, extraction_status="failed", failure_reason="the model is away")
    assert _outcomes(_ingest(stores, project, failed)) == ["added"]
    assert _outcomes(_ingest(stores, project, scene(1, 1))) == ["unchanged"]
    with stores.database(project).read() as unit:
        (stored,) = unit.scenes.list_as_of(statuses=["failed"])
    assert stored.failure_reason == "the model is away"


def test_presence_and_mentions_come_from_text_alone(stores: MemoryStores, project: str) -> None:
    """Without a record, who is on stage and where is told from the names in the text."""
    store_entities(stores, project, ENTITIES)
    _ingest(stores, project, *(scene(*place) for place in TEXTS))
    with stores.database(project).read() as unit:
        (mary,) = unit.states.snapshots(["C0"])
        first = unit.entities.first_mentions()
    where = {"location_id": "L0", "chapter_index": 2, "scene_index": 1, "guessed": True}
    assert mary.state_data == {"presence": where}
    assert first[("C1", "Tom Hale")] == (1, 2)


def test_chinese_text_is_taken_in_like_english(stores: MemoryStores, project: str) -> None:
    """Names are found without spaces, and the language is told from the first scene."""
    names = [
        entity.model_copy(update={"name": name})
        for entity, name in zip(ENTITIES[:3], ["阿青", "老周", "青石镇"], strict=True)
    ]
    store_entities(stores, project, names)
    _ingest(stores, project, scene(1, 1, "青石镇下着雨。阿青说道：“灯在哪里？”阿青走了。"))
    with stores.database(project).read() as unit:
        (presence,) = unit.states.snapshots(["C0"])
        assert unit.projects.require().language == "zh"
        hits = unit.lexical.search("青石镇", limit=5)
    assert presence.state_data["presence"]["location_id"] == "L0"
    assert len(hits) == 1


def test_names_that_come_later_are_looked_for_in_stored_scenes(stores: MemoryStores, project: str) -> None:
    """A new entity is found in scenes stored before it, and only the scenes that name it are touched."""
    _ingest(stores, project, *(scene(*place) for place in TEXTS))
    untouched = stored_at(stores, project, 2, 1)
    result = store_entities(stores, project, [ENTITIES[3]])
    assert (result.written, result.rescanned) == (["I0"], [(1, 1), (1, 2)])
    with stores.database(project).read() as unit:
        assert unit.entities.first_mentions() == {("I0", "the lamp"): (1, 1)}
        linked = unit.memories.by_entities(["I0"])
    assert {(each.chapter_index, each.scene_index) for each in linked} == {(1, 1), (1, 2)}
    assert stored_at(stores, project, 2, 1) == untouched
    assert store_entities(stores, project, [ENTITIES[3]]).written == []


def test_progress_counts_scenes(stores: MemoryStores, project: str) -> None:
    """Told after every one, without text too; a scene that its chapter lost is found, of other chapters none."""
    (result,) = ingest_scenes(
        stores, project, [SceneInput(chapter_index=1, scene_index=1, text="")], index=False
    ).scenes
    assert (result.outcome, result.added) == ("added", 0)
    told: list[tuple[int, int]] = []
    ingest_scenes(
        stores, project, recorded_scenes(), index=False, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    ingest_scenes(stores, project, recorded_scenes(), index=False)
    assert absent_scenes(stores, project, [scene(1, 1)]) == [StoryPosition(1, 2)]
    assert absent_scenes(stores, project, recorded_scenes()) == []
    assert absent_scenes(stores, project, []) == []


def test_a_scene_may_be_taken_in_where_another_moved_away(stores: MemoryStores, project: str) -> None:
    """The same text at the place that a moved scene left is a scene of its own."""
    _ingest(stores, project, scene(1, 1))
    with stores.database(project).write() as unit:
        unit.scenes.move_scene(StoryPosition(1, 1), StoryPosition(2, 1))
    assert _outcomes(_ingest(stores, project, scene(1, 1))) == ["added"]
    ids = {stored_at(stores, project, *place)["scene"]["scene_id"] for place in [(1, 1), (2, 1)]}
    assert len(ids) == 2


def _pact(chapter: int, number: int, memory_id: str, event_type: str, *entities: str) -> SceneInput:
    memory = {"memory_id": memory_id, "event_type": event_type, "content": f"{memory_id}.", "entities": entities}
    text = TEXTS.get((chapter, number), "Nothing happened.")
    return scene(chapter, number, text, record=record(chapter, number, memories=[memory]))


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ("promise_made", "promise_broken"),
        ("promise_made", "promise_kept"),
        ("alliance_formed", "alliance_broken"),
        ("trust_gained", "trust_lost"),
        ("secret_kept", "secret_revealed"),
    ],
)
def test_a_supplied_record_ends_what_it_says_no_more_of(
    stores: MemoryStores, project: str, begins: str, ends: str
) -> None:
    """Seed 002.29: pairs of the same people supersede in supplied records too, are reported, and both stay."""
    store_entities(stores, project, ENTITIES)
    scenes = [
        _pact(1, 1, "P1", begins, "C0", "C1"),
        _pact(1, 2, "P2", begins, "C0", "C2"),
        _pact(2, 1, "P3", ends, "C1", "C0"),
    ]
    result = _ingest(stores, project, *scenes)
    assert [each.ended for each in result.scenes] == [{}, {}, {"P3": "P1"}]
    assert _superseded(stores, project, StoryPosition(2, 2)) == {"P1": "P3", "P2": None, "P3": None}
    assert _superseded(stores, project, StoryPosition(2, 1)) == {"P1": None, "P2": None}
    assert _outcomes(_ingest(stores, project, *scenes)) == ["unchanged"] * 3
    with stores.database(project).read() as unit:
        kept = unit.scenes.require(StoryPosition(2, 1)).record
    assert kept is not None
    assert kept.memories[0].supersedes is None


def _superseded(stores: MemoryStores, project: str, as_of: StoryPosition) -> dict[str | None, str | None]:
    with stores.database(project).read() as unit:
        ids = [each.chunk.chunk_id for each in unit.memories.list_matching()]
        chunks = unit.memories.by_ids(ids, as_of=as_of)
    return {each.source_id: each.superseded_by for each in chunks if each.content_type == "memory"}


def test_a_record_may_say_names(stores: MemoryStores, project: str) -> None:
    """Names and aliases that one entity bears are its id in what is stored; taken in again, nothing has changed."""
    store_entities(stores, project, ENTITIES)
    first = ENTITIES[0]
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "characters_present": [first.name.upper()],
            "state_changes": [{"entity_id": first.name, "changes": {"mood": "calm"}}],
            "memories": [{"memory_id": "M1", "content": "She came.", "entities": [first.name], "known_by": ["reader"]}],
        }
    )
    given = SceneInput(chapter_index=1, scene_index=1, text="She came.", record=record)
    assert [_ingest(stores, project, given).scenes[0].outcome for _ in range(2)] == ["added", "unchanged"]
    with stores.database(project).read() as unit:
        stored = unit.scenes.require(StoryPosition(1, 1)).record
        (state,) = unit.states.snapshots([first.entity_id])
    assert stored is not None
    assert (stored.characters_present, stored.memories[0].entities) == ([first.entity_id], [first.entity_id])
    assert (stored.memories[0].known_by, state.state_data["mood"]) == (["reader"], "calm")


def test_what_a_record_names_in_vain_is_reported(stores: MemoryStores, story: str) -> None:
    """Seed 002.41: unknown entities with scene and remedy, and fields that are none of a record."""
    (result,) = _ingest(stores, story, _pact(3, 1, "P1", "event", "C0", "Zorblax")).scenes
    [issue] = result.issues
    assert "scene 3:1 names unknown entities ['Zorblax']" in issue.message
    memory = {"content": "She came.", "entities_mentioned": ["C0"]}
    record = SceneRecord.model_validate({"chapter_index": 3, "scene_index": 1, "mood": "grey", "memories": [memory]})
    given = SceneInput(chapter_index=3, scene_index=1, text="She came.", record=record)
    (issue,) = _ingest(stores, story, given).scenes[0].issues
    assert "scene 3:1 are not read: ['memories.entities_mentioned', 'record.mood']" in issue.message
