"""A story that is played: characters who remember by themselves, flags, and events of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from novelgen.characters.memory import as_moment
from runtime.async_twins import async_twin
from runtime.character import Character, given_event
from runtime.services import character_news as news_services
from runtime.services import characters as character_services
from runtime.services import secrets as secret_services
from runtime.services.character_news import WorldEvent
from runtime.story_base import StoryBase


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
        entity = character_services.open_character(self._stores, self.project_id, name=name, create=create)
        return Character(self._stores, self.project_id, entity, clock=clock)

    def set_flag(
        self,
        name: str,
        value: Any = True,
        *,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Let a flag of a game take a value, which may unlock what characters keep secret.

        Args:
            name: The flag.
            value: Anything that JSON holds.
            at: When: session and turn, or a datetime; None means now.
            clock: Tells the present moment of the game; None takes the computer's.

        Raises:
            UserInputError: When the name is empty, or JSON cannot hold the value.
        """
        secret_services.set_flag(
            self._stores, self.project_id, name=name, value=value, at=as_moment(at), now=(clock or self._stores.clock)()
        )

    def flags(self, *, as_of: tuple[int, int] | datetime | None = None) -> dict[str, Any]:
        """Return the flags of a game with their values.

        Args:
            as_of: The values that they had then: session and turn, or a datetime; None means now.
        """
        return secret_services.read_flags(self._stores, self.project_id, as_of=as_moment(as_of))

    def world_event(
        self,
        text: str,
        *,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
        told_to: Mapping[str, float] | Sequence[str] | str = (),
        heard_from: str | None = None,
        delay: timedelta | int = timedelta(0),
        delay_per_distance: timedelta | int | None = None,
        max_distance: float | None = None,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
        **event: Any,
    ) -> WorldEvent:
        """Let an event of the world be remembered by those who see it, and by others once the news reaches them.

        Args:
            text: What happened.
            witnesses: Who sees it; a mapping tells what each of them remembers, in their own words.
            told_to: Who hears of it; a mapping tells how far away each of them is, in a measure of your own.
            heard_from: Who brings the news.
            delay: How long the news takes to anybody: a time, or turns of the game with `at=(session, turn)`.
            delay_per_distance: How long it takes for each step of distance; None takes as long as `delay`.
            max_distance: Beyond it the news never comes.
            at: When it happens: a pair of session and turn, a datetime, or None for now.
            clock: Tells the present moment of the game; None takes the computer's.
            **event: What else there is to say of it, as for `Character.remember`: event_type, importance, …

        Raises:
            UnknownEntityError: When somebody is unknown; nothing is stored then.
            UserInputError: When an argument is wrong, or nobody is named.
        """
        return news_services.spread_event(
            self._stores,
            self.project_id,
            event=given_event(text=text, **event),
            witnesses=witnesses,
            told_to=told_to,
            heard_from=heard_from,
            delay=delay,
            delay_per_distance=delay_per_distance,
            max_distance=max_distance,
            at=as_moment(at),
            now=(clock or self._stores.clock)(),
        )

    acharacter = async_twin(character)
    aset_flag = async_twin(set_flag)
    aflags = async_twin(flags)
    aworld_event = async_twin(world_event)
