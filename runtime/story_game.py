"""A story that is played: characters who remember by themselves, flags, and events of the world."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from runtime.async_twins import async_twin
from runtime.character import Character
from runtime.story.base import StoryBase
from runtime.story.characters import StoryCharacters


class StoryGame(StoryBase):
    """The part of a `Story` that is played; see there."""

    def character(self, name: str, *, create: bool = False, clock: Callable[[], datetime] | None = None) -> Character:
        """Return a character who remembers and recalls by itself, for games and role-play.

        Args:
            name: Id, name or alias.
            create: Make a character of that name where there is none; the project, too.
            clock: Tells the present moment of the game; None takes the computer's.

        Raises:
            UnknownEntityError: When nobody bears the name and `create` is not set; names who is near.
        """
        entity = StoryCharacters(self._stores, self.project_id).open_character(name=name, create=create)
        return Character(self._stores, self.project_id, entity, clock=clock)

    acharacter = async_twin(character)
