"""Folding of changes into states, threads and relationships at a position."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from novelgen.models.position import Placed, StoryPosition, story_place
from novelgen.models.record import (
    RecordedLoop,
    RecordedLoopAdvance,
    RecordedLoopResolution,
    RecordedRelationshipChange,
    SceneRecord,
)
from novelgen.models.state import (
    GUESSED,
    PRESENCE_ATTRIBUTE,
    EntityStateSnapshot,
    LoopStatus,
    OpenLoop,
    Relationship,
    RelationshipDimension,
    RelationshipEvent,
    StateChange,
    ThreadStep,
)

HOLDER_ATTRIBUTE = "holder"
"""Attribute of an item: who has it."""

FOLDED_RELATIONSHIP_FIELDS = ("relationship_type", "status", "perspective_a", "perspective_b", "intensity")
"""Fields of a relationship whose last value that was said holds."""

_STATUS_AFTER: dict[str, LoopStatus] = {
    "planted": "open",
    "advanced": "advanced",
    "resolved": "resolved",
    "abandoned": "abandoned",
}


class Event(Placed, Protocol):
    """A change with a position, by a scene's record or by the author."""

    @property
    def origin(self) -> str: ...


class LoopEvent(Placed, Protocol):
    """Something that happened to a thread: planted, advanced, resolved or abandoned."""

    @property
    def loop_id(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def note(self) -> str: ...

    @property
    def detail(self) -> Mapping[str, Any]: ...


class RelationshipChange(Placed, Protocol):
    """A pair's status after a scene.

    None leaves the earlier value.
    """

    @property
    def relationship_type(self) -> str | None: ...

    @property
    def type_reads_back(self) -> bool: ...

    @property
    def status(self) -> str | None: ...

    @property
    def event(self) -> str: ...

    @property
    def dimensions(self) -> Mapping[RelationshipDimension, int]: ...

    @property
    def dimensions_a(self) -> Mapping[RelationshipDimension, int] | None: ...

    @property
    def dimensions_b(self) -> Mapping[RelationshipDimension, int] | None: ...


AnyEvent = TypeVar("AnyEvent", bound=Event)
AnyLoopEvent = TypeVar("AnyLoopEvent", bound=LoopEvent)


def in_force(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Return events in the order in which they count: by place, at one place the author's last."""
    return sorted(events, key=lambda event: (*story_place(event), event.origin == "author"))


def fold_state_changes(
    changes: Iterable[StateChange], as_of: StoryPosition
) -> tuple[dict[str, Any], int | None, int | None]:
    """Fold an entity's changes before a position: the last value of each attribute wins, None and "" clear it."""
    visible = [change for change in changes if as_of.admits(change.chapter_index, change.scene_index)]
    ordered = sorted(visible, key=story_place)
    state: dict[str, Any] = {}
    for change in ordered:
        if change.kind == "presence":
            state[PRESENCE_ATTRIBUTE] = change.value
        elif change.value is None or change.value == "":
            state.pop(change.attribute, None)
        else:
            state[change.attribute] = change.value
    explicit = [change for change in ordered if change.kind == "explicit"]
    last = (explicit or ordered)[-1] if ordered else None
    return state, last.chapter_index if last else None, last.scene_index if last else None


def ending_change(change: StateChange, changes: Sequence[StateChange]) -> StateChange | None:
    """Return the change that ends a stated value.

    Args:
        change: It states the value.
        changes: All of its bearer, in the order in which they count. A list that still has all of the value ends none.
    """
    later = changes[next(number for number, one in enumerate(changes) if one is change) + 1 :]
    return next(
        (one for one in later if one.attribute == change.attribute and not _has_all(one.value, change.value)), None
    )


def _has_all(value: Any, earlier: Any) -> bool:
    """Tell whether a value has all of an earlier one."""
    if isinstance(value, list) and isinstance(earlier, list):
        return all(item in value for item in earlier)
    return bool(value == earlier)


def snapshot_of(
    project_id: str,
    changes: Iterable[StateChange],
    *,
    as_of: StoryPosition,
    timestamp: datetime,
    doubted: Collection[str] = (),
) -> EntityStateSnapshot | None:
    """Fold one entity's earlier changes into a snapshot, None without any.

    Args:
        project_id: The project.
        changes: In the order in which they count.
        as_of: The position.
        timestamp: The moment of the last write of them.
        doubted: Attributes whose value a guess ends.
    """
    visible = [change for change in changes if as_of.admits(change.chapter_index, change.scene_index)]
    if not visible:
        return None
    state, chapter_index, scene_index = fold_state_changes(visible, as_of)
    stated = [change for change in sorted(visible, key=story_place) if change.kind == "explicit"]
    last = {change.attribute: change for change in stated if change.attribute in state}
    return EntityStateSnapshot(
        project_id=project_id,
        entity_type=visible[0].entity_type,
        entity_id=visible[0].entity_id,
        chapter_index=chapter_index,
        scene_index=scene_index,
        timestamp=timestamp,
        state_data=state,
        unverified=[name for name, change in last.items() if not change.verified],
        guessed=[
            name
            for name, value in state.items()
            if name in doubted or (name == PRESENCE_ATTRIBUTE and is_guessed_presence(value))
        ],
        since={
            name: (change.chapter_index, change.scene_index)
            for name, change in last.items()
            if change.chapter_index is not None
        },
    )


def is_guessed_presence(value: Any) -> bool:
    """Tell whether only rules say that somebody was somewhere."""
    return isinstance(value, Mapping) and bool(value.get(GUESSED))


def chapters_of_change(changes: Iterable[StateChange], *, first: int, last: int) -> list[int]:
    """Return the chapters of an entity's statements, else of its presence."""
    listed_changes = list(changes)
    stated = [change for change in listed_changes if change.kind == "explicit"]
    chapters = {change.chapter_index for change in stated or listed_changes}
    return sorted(chapter for chapter in chapters if chapter is not None and first <= chapter <= last)


def snapshot_order(snapshot: EntityStateSnapshot) -> tuple[int, int, str]:
    """Return the key that sorts snapshots in story order, then by entity id."""
    return (*story_place(snapshot), snapshot.entity_id)


def fold_holders(stated: Iterable[tuple[str, Any]]) -> dict[str, list[str]]:
    """Return the ids of the things that each holder has, by holder."""
    holders: dict[str, list[str]] = {}
    for item_id, holder in sorted(dict(stated).items()):
        if isinstance(holder, str):
            holders.setdefault(holder, []).append(item_id)
    return holders


def last_changed_first(entity_ids: Sequence[str]) -> list[str]:
    """Return the ids of stated changes, given in the order in which they count, last changed first, each once."""
    return list(dict.fromkeys(reversed(entity_ids)))


class LoopFold(NamedTuple, Generic[AnyLoopEvent]):
    """The folded events of a thread.

    `planted` is None for an unknown beginning.
    """

    planted: AnyLoopEvent | None
    last: AnyLoopEvent
    status: LoopStatus

    @property
    def is_over(self) -> bool:
        """Whether the thread was resolved or abandoned."""
        return self.status in ("resolved", "abandoned")


def fold_loop_events(events: Sequence[AnyLoopEvent]) -> LoopFold[AnyLoopEvent]:
    """Fold the events of one thread: the first planting, of two at one place the later, and the last move."""
    plantings = [event for event in events if event.kind == "planted"]
    first_place = story_place(plantings[0]) if plantings else None
    planted_event = next((event for event in reversed(plantings) if story_place(event) == first_place), None)
    moves = [event for event in events if event.kind != "planted"]
    last = moves[-1] if moves else events[0]
    return LoopFold(planted_event, last, _STATUS_AFTER[last.kind])


def fold_relationship_changes(changes: Iterable[RelationshipChange]) -> dict[str, Any]:
    """Fold the changes of one pair."""
    pair_fields: dict[str, Any] = {name: Relationship.model_fields[name].default for name in FOLDED_RELATIONSHIP_FIELDS}
    pair_fields |= {"type_reads_back": False, "dimensions": {}, "dimensions_a": {}, "dimensions_b": {}}
    for change in changes:
        if change.relationship_type:
            pair_fields["type_reads_back"] = change.type_reads_back
        stated_fields = {name: getattr(change, name) for name in FOLDED_RELATIONSHIP_FIELDS}
        pair_fields |= {name: value for name, value in stated_fields.items() if value is not None}
        pair_fields |= feelings_after(change, pair_fields)
    return pair_fields


def feelings_after(
    change: RelationshipChange | RecordedRelationshipChange, before: Mapping[str, Any]
) -> dict[str, dict[str, int]]:
    """Return a pair's dimensions after a change.

    Common values replace both sides.
    """

    def side(name: str) -> dict[str, int]:
        unchanged_feelings = {item: value for item, value in before[name].items() if item not in change.dimensions}
        return unchanged_feelings | (getattr(change, name) or {})

    both = {**before["dimensions"], **change.dimensions}
    return {"dimensions": both, "dimensions_a": side("dimensions_a"), "dimensions_b": side("dimensions_b")}


OWN_WORDS = "own_words"
"""In the detail of a planting: its author worded the thread, and no record words it otherwise."""


def _last_said(events: Sequence[AnyLoopEvent], name: str) -> AnyLoopEvent | None:
    """Return the last move of a thread that says something anew of it: its `description`, its `pay_off`."""
    return next((event for event in reversed(events) if event.kind == "advanced" and event.detail.get(name)), None)


def said_pay_off(events: Sequence[AnyLoopEvent]) -> str:
    """Return a thread's due time: the author's, its planting's or a later move's."""
    planted_event, later = fold_loop_events(events).planted, _last_said(events, "pay_off")
    detail = planted_event.detail if planted_event else {}
    return str(
        detail.get("pay_off")
        or (detail.get("expected") or {}).get("pay_off")
        or (later.detail["pay_off"] if later else "")
    )


def folded_loop(events: Sequence[AnyLoopEvent], *, age_scenes: Callable[[AnyLoopEvent], int | None]) -> OpenLoop | None:
    """Return a thread as its events leave it, or None when they do not tell how it began."""
    fold = fold_loop_events(events)
    if fold.planted is None:
        return None
    detail = fold.planted.detail
    reworded = None if detail.get(OWN_WORDS) else _last_said(events, "description")
    return OpenLoop(
        loop_id=fold.planted.loop_id,
        category=detail["category"],
        description=reworded.detail["description"] if reworded else detail["description"],
        worded_in=(reworded.chapter_index, reworded.scene_index) if reworded else None,
        first_worded=detail["description"] if reworded else "",
        importance=detail["importance"],
        related_entities=[*detail["related_characters"], *detail["related_locations"], *detail["related_items"]],
        status=fold.status,
        chapter_index=fold.planted.chapter_index,
        scene_index=fold.planted.scene_index,
        said_from=detail.get("said_from"),
        last_chapter_index=fold.last.chapter_index,
        last_scene_index=fold.last.scene_index,
        resolution_summary=fold.last.note if fold.is_over else None,
        age_scenes=age_scenes(fold.planted),
        steps=[
            ThreadStep(
                note=event.note,
                chapter_index=event.chapter_index,
                scene_index=event.scene_index,
                said_from=event.detail.get("said_from"),
            )
            for event in events
            if event.kind != "planted"
        ],
    )


def folded_relationship(
    changes: Sequence[RelationshipChange], *, relationship_id: str, character_a: str, character_b: str
) -> Relationship:
    """Return a pair's relationship after its ordered, nonempty changes."""
    history = [
        RelationshipEvent(
            event=change.event,
            status=change.status or "",
            chapter_index=change.chapter_index,
            scene_index=change.scene_index,
        )
        for change in changes
    ]
    return Relationship(
        relationship_id=relationship_id,
        character_a=character_a,
        character_b=character_b,
        history=history,
        chapter_index=changes[-1].chapter_index,
        scene_index=changes[-1].scene_index,
        **fold_relationship_changes(changes),
    )


def standing_after(change: RecordedRelationshipChange, before: Relationship | None) -> Relationship:
    """Return how a pair stands after a change, in the order of its ids."""
    ordered = change.in_order()
    known_relationship = before or Relationship(
        relationship_id="", character_a=ordered.character_a, character_b=ordered.character_b
    )
    views: dict[str, Any] = {
        name: getattr(ordered, name) or getattr(known_relationship, name)
        for name in ("relationship_type", "perspective_a", "perspective_b")
    }
    views["type_reads_back"] = (ordered if ordered.relationship_type else known_relationship).type_reads_back
    feelings = feelings_after(ordered, vars(known_relationship))
    return known_relationship.model_copy(
        update={**views, **feelings, "status": ordered.status, "intensity": ordered.intensity}
    )


RecordedLoopEvent = RecordedLoop | RecordedLoopAdvance | RecordedLoopResolution


def recorded_loop_events(record: SceneRecord) -> list[RecordedLoopEvent]:
    """Return a scene's thread events in their order."""
    return [*record.open_loops_created, *record.open_loops_advanced, *record.open_loops_resolved]


EXPECTED_FIELDS = {"pay_off", "due_from", "due_by"}
"""What a record expects of a thread's pay-off; it stands apart in the detail, since the author's word goes before."""


def loop_event_values(event: RecordedLoopEvent) -> dict[str, Any]:
    """Return a recorded thread event as `LoopEvent` values without a position."""
    kind, note, detail = "planted", "", {}
    if isinstance(event, RecordedLoop):
        detail = event.model_dump(exclude={"id", "extra", *EXPECTED_FIELDS})
        if expectations := event.model_dump(mode="json", include=EXPECTED_FIELDS):
            detail["expected"] = expectations
    elif isinstance(event, RecordedLoopAdvance):
        kind, note = "advanced", event.note
        detail = event.model_dump(exclude={"id", "note", "extra"})
    else:
        kind, note = "abandoned" if event.abandoned else "resolved", event.resolution_summary
        detail = {"ending": event.ending} if event.ending else {}
    return {"loop_id": event.id, "kind": kind, "note": note, "detail": detail}


def relationship_change_values(change: RecordedRelationshipChange) -> dict[str, Any]:
    """Return a recorded pair change as values without a position.

    `character_a` sorts first, and missing values are None.
    """
    ordered = change.in_order()
    given_names = change.model_fields_set
    return {
        "relationship_type": ordered.relationship_type or None,
        "type_reads_back": ordered.type_reads_back,
        "status": change.status if "status" in given_names else None,
        "perspective_a": ordered.perspective_a or None,
        "perspective_b": ordered.perspective_b or None,
        "intensity": change.intensity if "intensity" in given_names else None,
        "dimensions": dict(change.dimensions),
        "dimensions_a": dict(ordered.dimensions_a),
        "dimensions_b": dict(ordered.dimensions_b),
        "event": change.event,
    }
