"""The ledger of promises of a stored story: where every thread stands, and what its author should hear of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from novelgen.memory.board import ledger_warnings
from novelgen.memory.ledger import LedgerStory, ThreadLedger, ThreadStage, make_ledger
from novelgen.memory.ledger import Place as ScenePlace
from novelgen.memory.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life
from novelgen.models.position import END_OF_STORY, StoryPosition, sort_key
from novelgen.models.state import StateChange
from runtime.story.async_twins import async_twin
from runtime.story.base import Count, Place, StoryBase, position_of
from runtime.story.references import known_entities, resolved_ids


class StoryThreadLedger(StoryBase):
    """The ledger of promises of a stored story: where every thread stands, and what its author should hear of."""

    def thread_ledger(
        self,
        on_stage: Sequence[str] = (),
        *,
        category: str = "",
        stages: Sequence[ThreadStage] = (),
        limit: Count | None = None,
        as_of: Place = None,
    ) -> ThreadLedger:
        """Tell where every thread stands: planted, moved, due, overdue or over, and which presses most.

        Args:
            on_stage: Whom and what the next scene has on stage; empty takes the last scene's.
            category: Only of this kind: promise, question, threat, plan, debt, mystery, …
            stages: Only those planted, moved, due, overdue or over; empty means all.
            limit: At most so many; `more` tells how many are left off.
            as_of: As they stand at this position.
        """
        as_of = position_of(as_of)
        on_stage = list(on_stage)
        position = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
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
            project_id=self.project_id,
            language="zh" if outline.language.lower().startswith("zh") else "en",
            scenes=outline.scenes,
            events=events,
            deaths=_deaths(each for each in changes if each.entity_id in characters),
            on_stage=frozenset(here or seen),
        )
        ledger = make_ledger(story, as_of=position)
        ledger = ledger.of_category(category) if category else ledger
        entries = ledger.at(*stages) if stages else ledger.entries
        return ledger.model_copy(update={"entries": entries[:limit], "more": len(entries) - len(entries[:limit])})

    def thread_warnings(self, *, scenes: Iterable[ScenePlace]) -> list[str]:
        """Return what an author should hear of the story's threads after scenes were taken in, in its language."""
        taken = frozenset(scenes)
        if not taken:
            return []
        with self._stores.database(self.project_id).read() as unit:
            stored = unit.outline(as_of=END_OF_STORY).scenes[-len(taken) :]
        earlier = StoryPosition(stored[0].chapter_index, stored[0].scene_index) if stored else END_OF_STORY
        return ledger_warnings(self.thread_ledger(), taken, before=self.thread_ledger(as_of=earlier))

    athread_ledger = async_twin(thread_ledger)
    athread_warnings = async_twin(thread_warnings)


def _deaths(changes: Iterable[StateChange]) -> dict[str, ScenePlace]:
    """Return who is dead after changes given in the order in which they count, and since where."""
    deaths: dict[str, ScenePlace] = {}
    for change in changes:
        if is_death(change.attribute, change.value):
            deaths[change.entity_id] = sort_key(change.chapter_index, change.scene_index)
        elif is_return_to_life(change.attribute, change.value):
            deaths.pop(change.entity_id, None)
    return deaths
