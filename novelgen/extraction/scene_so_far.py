"""What is known when a window of a scene is read: the story before the scene, and its earlier windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from novelgen.extraction.references import as_entity
from novelgen.extraction.request import ProposedEntity, SceneRecordRequest
from novelgen.models.entity import Entity
from novelgen.models.loop import OpenLoop
from novelgen.models.record import SceneRecord
from novelgen.models.relationship import Relationship


@dataclass(frozen=True, slots=True)
class SceneSoFar:
    """Entities, states, open threads and relationships, as the next window finds them.

    `proposed` holds the entities that the scene itself brought; they are among `entities`, too, under their
    temporary ids. `loops_created` counts the loops with temporary ids.
    """

    entities: tuple[Entity, ...]
    states: dict[str, dict[str, Any]]
    open_loops: tuple[OpenLoop, ...]
    relationships: tuple[Relationship, ...]
    present_ids: tuple[str, ...]
    proposed: tuple[ProposedEntity, ...] = ()
    loops_created: int = 0

    @classmethod
    def on_entering(cls, request: SceneRecordRequest) -> SceneSoFar:
        """Return what is known before the first window."""
        return cls(
            entities=tuple(request.entities),
            states={state.entity_id: dict(state.state_data) for state in request.states},
            open_loops=tuple(request.open_loops),
            relationships=tuple(request.relationships),
            present_ids=tuple(request.present_ids),
        )

    def after(self, record: SceneRecord, proposed: Sequence[ProposedEntity]) -> SceneSoFar:
        """Return what is known after a window.

        Args:
            record: What the window established.
            proposed: The entities that it brought.
        """
        ended = {loop.id for loop in record.open_loops_resolved}
        created = [
            OpenLoop(loop_id=loop.id, category=loop.category, description=loop.description)
            for loop in record.open_loops_created
        ]
        return replace(
            self,
            entities=(*self.entities, *map(as_entity, proposed)),
            states=_states_after(self.states, record),
            open_loops=(*(loop for loop in self.open_loops if loop.loop_id not in ended), *created),
            present_ids=tuple(dict.fromkeys([*record.characters_present, *self.present_ids])),
            proposed=(*self.proposed, *proposed),
            loops_created=self.loops_created + len(created),
        )


def _states_after(states: dict[str, dict[str, Any]], record: SceneRecord) -> dict[str, dict[str, Any]]:
    after = dict(states)
    for change in record.state_changes:
        after[change.entity_id] = {**after.get(change.entity_id, {}), **change.changes}
    return after
