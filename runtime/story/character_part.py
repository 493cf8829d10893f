"""What all parts of a character work on."""

from collections.abc import Callable
from datetime import datetime

from novelgen.characters.mind import Mind
from novelgen.models.entity import Entity
from runtime.ingest.character_events import vectors_model
from runtime.storage.database import UnitOfWork
from runtime.stores import MemoryStores
from runtime.story.base import ReadsArguments

When = tuple[int, int] | datetime | None
"""When: a pair of session and turn, a datetime, or None for now."""


class CharacterPart(ReadsArguments):
    """What every part of a `Character` works on.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        entity: The character.
        clock: Tells the present moment; None takes that of the stores. A game with a calendar of its own passes its
            own.
    """

    def __init__(
        self, stores: MemoryStores, project_id: str, entity: Entity, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        self._stores = stores
        self._clock = clock or stores.clock
        self.project_id = project_id
        self.character_id = entity.entity_id
        self.name = entity.name

    def _mind(self, unit: UnitOfWork) -> Mind:
        return self._stores.minds.mind(unit.characters, self.character_id, model=vectors_model(self._stores))
