"""Any story: what hypothesis fills projects with, to export and import them."""

from typing import Any

from hypothesis import strategies as st

from novelgen.memory.consolidation import ConsolidatedText, consolidated_memory
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition, utc_now
from novelgen.models.record import RecordedLoop, RecordedLoopResolution, RecordedRelationshipChange, SceneRecord
from novelgen.models.state import StateChange
from runtime.storage.database import UnitOfWork
from runtime.storage.models import SceneWrite
from runtime.storage.records import Knowledge

PEOPLE = ("C0", "C1", "C2")
PLACES = ((1, 1), (1, 2), (2, 1))

_word = st.sampled_from(["mood", "goals", "name", "id", "恐惧", "history", "a.b", "type", "status"])
_text = st.text("ab 漢字'\"\\\n{}*:é🗺", max_size=12)
_value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 99), _text, st.sampled_from(PEOPLE)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_word, inner, max_size=3)),
    max_leaves=4,
)
_place = st.sampled_from([*PLACES, (1, None), (9, 9), (None, None)])
_pair = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)).filter(lambda pair: pair[0] != pair[1])
_relation = st.builds(
    lambda pair, said: {"character_a": pair[0], "character_b": pair[1], **said},
    _pair,
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["close", "strained"]),
            "perspective_a": _text,
            "intensity": st.integers(0, 10),
            "dimensions": st.fixed_dictionaries({"trust": st.integers(-100, 100)}),
            "event": _text,
        },
    ),
)
_knowledge = st.builds(
    Knowledge,
    character_id=st.sampled_from([*PEOPLE, "reader"]),
    source_id=st.sampled_from(["K110", "K121", "*"]),
    kind=st.sampled_from(["knows", "hidden", "deceived", "doubts"]),
    how=st.sampled_from(["told", "author"]),
    learned_from=st.sampled_from([None, "C1"]),
    certainty=st.sampled_from([1.0, 0.5]),
    quote=_text,
    source_span=st.sampled_from([None, (0, 3)]),
    verified=st.booleans(),
)
_state = st.tuples(st.sampled_from(PEOPLE), _word, _value, st.sampled_from(["explicit", "presence"]))
_alias = st.builds(
    EntityAlias,
    alias=st.sampled_from(["Mary", "the stranger", "玛丽"]),
    language=st.sampled_from([None, "zh"]),
    first_chapter=st.sampled_from([None, 1]),
)
_entity = st.fixed_dictionaries(
    {
        "origin": st.sampled_from(["author", "supplied", "extracted"]),
        "description": _text,
        "profile": st.dictionaries(_word, _value, max_size=3),
        "aliases": st.lists(_alias, max_size=2, unique_by=lambda alias: alias.alias),
        "first_chapter": st.sampled_from([None, 1]),
    }
)
_chunk = st.fixed_dictionaries(
    {
        "content": _text,
        "short": st.sampled_from([None, "short"]),
        "tier": st.sampled_from(["important", "regular"]),
        "importance": st.integers(1, 10),
        "entities_mentioned": st.lists(st.sampled_from(PEOPLE), unique=True, max_size=2),
        "tags": st.lists(st.sampled_from(["oath", "map"]), unique=True),
        "slot_type": st.sampled_from([None, "C0.identity"]),
        "source_span": st.sampled_from([None, (0, 3)]),
        "deed": st.sampled_from(["", "pin", "ban", "delete", "attach", "detach"]),
    }
)
_scene = st.fixed_dictionaries(
    {
        "text": _text,
        "title": _text,
        "chunks": st.lists(_chunk, max_size=2),
        "states": st.lists(_state, max_size=3),
        "relations": st.lists(_relation, max_size=2),
        "knowledge": st.lists(_knowledge, max_size=2),
        "participants": st.lists(st.sampled_from(PEOPLE), unique=True, max_size=3),
        "has_record": st.booleans(),
    }
)
_summary = st.tuples(
    st.sampled_from(["chapter", "part"]), st.integers(1, 2), _text, st.sampled_from(["author", "model"])
)
STORIES = st.fixed_dictionaries(
    {
        "entities": st.lists(_entity, min_size=3, max_size=3),
        "scenes": st.lists(_scene, max_size=3),
        "states": st.lists(st.tuples(_state, _place), max_size=3),
        "relations": st.lists(st.tuples(_relation, _place), max_size=2),
        "knowledge": st.lists(st.tuples(_knowledge, _place), max_size=2),
        "loops": st.lists(st.tuples(_text, _place, st.booleans()), max_size=2),
        "notes": st.lists(st.tuples(_text, _place), max_size=2),
        "is_consolidated": st.booleans(),
        "summaries": st.lists(_summary, max_size=3),
        "parts": st.sampled_from([[], [{"title": "卷一", "first_chapter": 1, "last_chapter": 1}]]),
        "moves": st.booleans(),
    }
)


_BARE_SCENE: dict[str, Any] = {
    **{key: [] for key in ("chunks", "states", "relations", "knowledge", "participants")},
    "text": "a",
    "title": "",
    "has_record": False,
}
_BARE_ENTITY = {"origin": "author", "description": "", "profile": {}, "aliases": [], "first_chapter": None}
_AFTER_CHAPTER, _SCENE_THAT_MOVES = (1, None), (1, 2)


def _said_twice(said: Any) -> list[tuple[Any, tuple[int, int | None]]]:
    return [(said, _AFTER_CHAPTER), (said, _SCENE_THAT_MOVES)]


MOVED_TO_ONE_PLACE: dict[str, Any] = {
    "entities": [_BARE_ENTITY] * len(PEOPLE),
    "scenes": [_BARE_SCENE] * len(PLACES),
    "states": [
        (("C0", "mood", "free", "explicit"), _AFTER_CHAPTER),
        (("C0", "mood", 1, "explicit"), _SCENE_THAT_MOVES),
    ],
    "relations": _said_twice({"character_a": "C0", "character_b": "C1", "status": "close"}),
    "knowledge": [
        (Knowledge(character_id="C0", source_id="*", kind=kind, how="author"), place)
        for kind, place in (("knows", _AFTER_CHAPTER), ("doubts", _SCENE_THAT_MOVES))
    ],
    "loops": [],
    "notes": [],
    "is_consolidated": False,
    "summaries": [],
    "parts": [],
    "moves": True,
}
"""What the author says after a chapter stands first at the place to which the chapter's last scene brings its own."""


def tell(unit: UnitOfWork, project_id: str, story: dict[str, Any]) -> None:
    """Store a story by the ways in which stories are stored."""
    for entity_id, given in zip(PEOPLE, story["entities"], strict=True):
        entity = Entity(
            entity_id=entity_id,
            entity_type="character",
            name=f"Person {entity_id}",
            **{name: value for name, value in given.items() if name != "origin"},
        )
        unit.entities.upsert(entity, origin=given["origin"])
        late = entity.model_copy(update={"aliases": [EntityAlias(alias="late")]})
        unit.entities.upsert(late, origin="extracted")
    for place, told in zip(PLACES, story["scenes"], strict=False):
        _tell_scene(unit, project_id, place, told)
    for state, (chapter, number) in story["states"]:
        unit.states.append([_change(state, chapter, number)])
    for relation, place in story["relations"]:
        change = RecordedRelationshipChange.model_validate(relation)
        unit.relationships.append(change, at=StoryPosition(*place))
    for said, (chapter, number) in story["knowledge"]:
        unit.knowledge.say(said.model_copy(update={"chapter_index": chapter, "scene_index": number}))
    for description, place, is_dropped in story["loops"]:
        loop = RecordedLoop(id=unit.threads.next_id(), description=description)
        unit.threads.append(loop, at=StoryPosition(*place))
        if is_dropped:
            dropped = RecordedLoopResolution(id=loop.id, resolution_summary="no", abandoned=True)
            unit.threads.append(dropped, at=StoryPosition(*place))
    if story["is_consolidated"]:
        _consolidate(unit, project_id)
    for content, place in story["notes"]:
        unit.memories.add_note(content, at=StoryPosition(*place), entities=["C0"], tags=["map"])
    unit.projects.update(settings={"parts": story["parts"]})
    for level, number, text, origin in story["summaries"]:
        unit.summaries.write(level, number, text, chapters=(number, number), origin=origin)
    if story["moves"] and len(story["scenes"]) == len(PLACES):
        unit.scenes.move_scene(StoryPosition(1, 2), StoryPosition(2, 1))


def _consolidate(unit: UnitOfWork, project_id: str) -> None:
    """Let one memory stand for all that no author touched."""
    live = unit.memories.list_matching()
    untouched = [each.chunk for each in live if each.from_scene and not each.pinned]
    free = [
        chunk
        for chunk in untouched
        if not any(link.origin == "manual" for link in unit.attachments.attachments_of(chunk.chunk_id))
    ]
    if free:
        text = ConsolidatedText(content="All of it. 全部。")
        unit.consolidations.add(consolidated_memory(text, free, created_at=utc_now()), free)


def _tell_scene(unit: UnitOfWork, project_id: str, place: tuple[int, int], told: dict[str, Any]) -> None:
    chapter, number = place
    name = f"{chapter}{number}"
    chunks = [
        StoryMemoryChunk(
            chunk_id=f"K{name}{index}",
            project_id=project_id,
            **{field: value for field, value in given.items() if field != "deed"},
        )
        for index, given in enumerate(told["chunks"])
    ]
    record = SceneRecord(
        chapter_index=chapter,
        scene_index=number,
        title=told["title"],
        summary=[told["text"]],
        relationship_changes=told["relations"],
        open_loops_created=[RecordedLoop(id=f"OL{name}", description="why?")],
        extra={"weather": "rain"},
    )
    unit.scenes.replace_scene(
        SceneWrite(
            project_id=project_id,
            chapter_index=chapter,
            scene_index=number,
            title=told["title"],
            text=told["text"],
            participants=told["participants"],
            pov="C0",
            record=record if told["has_record"] else None,
            record_origin="extracted" if told["has_record"] else "rules",
            chunks=chunks,
            states=[_change(state, chapter, number) for state in told["states"]],
            knowledge=told["knowledge"],
            mentions=[("C0", "Mary"), ("C1", "Mary")],
        )
    )
    for chunk, given in zip(chunks, told["chunks"], strict=True):
        if given["deed"] in ("attach", "detach"):
            getattr(unit.attachments, given["deed"])([chunk.chunk_id], ["C0"])
        elif given["deed"]:
            unit.memories.decide(chunk.chunk_id, given["deed"])


def _change(state: tuple[str, str, Any, Any], chapter: int | None, number: int | None) -> StateChange:
    entity_id, attribute, value, kind = state
    return StateChange(
        entity_id=entity_id, attribute=attribute, value=value, kind=kind, chapter_index=chapter, scene_index=number
    )
