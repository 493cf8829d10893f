"""The ledger of promises of a stored story: where every thread stands, and what its author should hear of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from novelgen.memory.board import ledger_warnings
from novelgen.memory.ledger import LedgerStory, Place, ThreadLedger, make_ledger
from novelgen.memory.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life
from novelgen.models.position import END_OF_STORY, StoryPosition, sort_key
from novelgen.models.state import StateChange
from runtime.services.references import known_entities, resolved_ids
from runtime.stores import MemoryStores


def thread_ledger(
    stores: MemoryStores, project_id: str, *, as_of: StoryPosition | None = None, on_stage: Sequence[str] = ()
) -> ThreadLedger:
    """Return where every thread stands at a position."""
    position = as_of or END_OF_STORY
    with stores.database(project_id).read() as unit:
        outline = unit.outline(as_of=position)
        events = unit.threads.events(as_of=position)
        characters = {
            each
            for moves in events.values()
            for event in moves
            for each in event.detail.get("related_characters") or ()
        }
        changes = unit.states.changes_of_attributes(STATUS_ATTRIBUTES, as_of=position) if characters else []
        here = resolved_ids(on_stage, known_entities(unit, position)) if on_stage else []
    last = outline.scenes[-1:]
    seen = [each for scene in last for each in (*scene.participants, scene.location_id) if each]
    story = LedgerStory(
        project_id=project_id,
        language="zh" if outline.language.lower().startswith("zh") else "en",
        scenes=outline.scenes,
        events=events,
        deaths=_deaths(each for each in changes if each.entity_id in characters),
        on_stage=frozenset(here or seen),
    )
    return make_ledger(story, as_of=position)


def thread_warnings(stores: MemoryStores, project_id: str, *, scenes: Iterable[Place]) -> list[str]:
    """Return what an author should hear of the story's threads after scenes were taken in, in its language."""
    taken = frozenset(scenes)
    if not taken:
        return []
    with stores.database(project_id).read() as unit:
        stored = unit.outline(as_of=END_OF_STORY).scenes[-len(taken) :]
    earlier = StoryPosition(stored[0].chapter_index, stored[0].scene_index) if stored else END_OF_STORY
    return ledger_warnings(
        thread_ledger(stores, project_id), taken, before=thread_ledger(stores, project_id, as_of=earlier)
    )


def _deaths(changes: Iterable[StateChange]) -> dict[str, Place]:
    """Return who is dead after changes given in the order in which they count, and since where."""
    deaths: dict[str, Place] = {}
    for change in changes:
        if is_death(change.attribute, change.value):
            deaths[change.entity_id] = sort_key(change.chapter_index, change.scene_index)
        elif is_return_to_life(change.attribute, change.value):
            deaths.pop(change.entity_id, None)
    return deaths
