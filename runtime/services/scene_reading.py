"""Reading a scene beside what it established: every fact with the words of the scene that prove it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from novelgen.errors import UnknownSceneError
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.lines import render_value
from runtime.services.references import known_entities
from runtime.storage.records import StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

FactKind = Literal["memory", "state", "thread_planted", "thread_moved", "thread_ended", "relationship"]


class EstablishedFact(BaseModel):
    """Something that a scene established, as it is read at a position."""

    kind: FactKind
    source_id: str = Field(description="Of a memory or thread its id; of a state C3.status; of a pair C0-C3.")
    about: str = Field(default="", description="Whom a state or relationship is of, by name.")
    text: str
    span: tuple[int, int] | None = Field(
        default=None,
        description="Characters [start, end) of the scene that prove it; None: no quote is known.",
    )
    is_verified: bool = True
    importance: int | None = Field(default=None, description="Of a memory, from 1 to 10.")
    is_pinned: bool = False
    replaced_by: str = Field(default="", description="Memory that has taken its place by the position.")


class ReadScene(BaseModel):
    """A scene with its text and what it established."""

    scene: StoredScene
    on_stage: list[str] = Field(default_factory=list, description="Names as of the position.")
    location: str = ""
    summary: list[str] = Field(default_factory=list)
    facts: list[EstablishedFact] = Field(
        default_factory=list, description="In the order of their quotes; those without one come last."
    )


def read_scene(
    stores: MemoryStores, project_id: str, *, position: StoryPosition, as_of: StoryPosition | None = None
) -> ReadScene:
    """Return a scene's text and what it established.

    Args:
        stores: The stores.
        project_id: The project.
        position: The scene.
        as_of: Position of the read: names are those known by then, and what replaced a fact later is not told. None
            means the end of the story.

    Raises:
        UnknownSceneError: When no scene is stored there, or it does not lie before `as_of`.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    cut = as_of or END_OF_STORY
    if not cut.admits(position.chapter_index, position.scene_index):
        raise UnknownSceneError(
            f"scene {str(position)!r} does not lie before {str(cut)!r}; read at a later position"
        )
    with stores.database(project_id).read() as unit:
        scene = unit.scenes.require(position)
        names = {each.entity_id: each.name for each in known_entities(unit, as_of)}
        facts = [*_memories(unit, scene, cut), *_states(unit, scene, names)]
    record = scene.record
    if record is not None:
        facts += [*_threads(record), *_relationships(record, names)]
    return ReadScene(
        scene=scene,
        on_stage=[names.get(each, each) for each in scene.participants],
        location=names.get(scene.location_id or "", scene.location_id or ""),
        summary=[] if record is None else record.summary,
        facts=sorted(facts, key=lambda fact: (fact.span is None, fact.span or (0, 0))),
    )


def _memories(unit: UnitOfWork, scene: StoredScene, cut: StoryPosition) -> list[EstablishedFact]:
    place = (scene.chapter_index, scene.scene_index)
    return [
        EstablishedFact(
            kind="memory",
            source_id=each.source_id or each.chunk_id,
            text=each.content,
            span=each.source_span,
            is_verified=each.verified,
            importance=each.importance,
            is_pinned=each.tier == "pinned",
            replaced_by=each.superseded_by or "",
        )
        for each in unit.memories.of_scenes([place], as_of=cut, content_types=DISTILLED_TYPES)
    ]


def _states(unit: UnitOfWork, scene: StoredScene, names: dict[str, str]) -> list[EstablishedFact]:
    record = scene.record
    changed = [] if record is None else list(dict.fromkeys(each.entity_id for each in record.state_changes))
    if not changed:
        return []
    labels = labels_for(unit.projects.require().language)
    place = (scene.chapter_index, scene.scene_index)
    just_after = StoryPosition(scene.chapter_index, scene.scene_index + 1)
    return [
        EstablishedFact(
            kind="state",
            source_id=f"{each.entity_id}.{each.attribute}",
            about=names.get(each.entity_id, each.entity_id),
            text=f"{labels.attribute(each.attribute)}{labels.colon}{_value(each, names, labels)}",
            span=each.source_span,
            is_verified=each.verified,
        )
        for each in unit.states.changes_before(just_after, entity_ids=changed)
        if (each.chapter_index, each.scene_index) == place and each.kind == "explicit"
    ]


def _value(change: StateChange, names: dict[str, str], labels: Labels) -> str:
    return "—" if change.value in (None, [], "") else render_value(change.value, names, labels)


def _threads(record: SceneRecord) -> list[EstablishedFact]:
    told: list[tuple[FactKind, str, str]] = [
        *(("thread_planted", each.id, each.description) for each in record.open_loops_created),
        *(("thread_moved", each.id, each.note) for each in record.open_loops_advanced),
        *(("thread_ended", each.id, each.resolution_summary) for each in record.open_loops_resolved),
    ]
    return [EstablishedFact(kind=kind, source_id=thread_id, text=text) for kind, thread_id, text in told]


def _relationships(record: SceneRecord, names: dict[str, str]) -> list[EstablishedFact]:
    return [
        EstablishedFact(
            kind="relationship",
            source_id=f"{each.character_a}-{each.character_b}",
            about=f"{names.get(each.character_a, each.character_a)} – {names.get(each.character_b, each.character_b)}",
            text=each.event or each.relationship_type or each.status,
        )
        for each in record.relationship_changes
    ]
