"""One character of a story or a game, who remembers: the services as methods, each with an async twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from novelgen.characters.memory import CharacterChange, CharacterMemory, HowLearnt, as_moment
from novelgen.characters.recall import ProtectedLine, Recall
from novelgen.models.entity import Entity
from novelgen.models.shown import ShownList
from runtime.stores import MemoryStores
from runtime.story.base import Count, Number, Place, Text, Weight, async_twin, position_of
from runtime.story.character_news import StoryCharacterNews, Told
from runtime.story.character_talk import CharacterTalk
from runtime.story.characters import (
    CharacterConsolidation,
    EditedMemory,
    Remembered,
    StoryCharacterCare,
    StoryCharacters,
    given_event,
)

Moment = tuple[int, int] | datetime | None
"""When: a pair of session and turn, a datetime, or None for now."""


class Character(CharacterTalk):
    """A character with a memory of its own; safe to share between threads. `Story.character` gives it.

    Nobody recalls what another learnt. Moments are pairs of session and turn, which order what is played as chapters
    and scenes order a book, or datetimes; what is read as of a moment was learnt strictly before it.

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

    def __repr__(self) -> str:
        return f"Character({self.name!r}, {self.character_id!r}, project {self.project_id!r})"

    def remember(
        self,
        text: Text,
        *,
        event_type: str = "",
        importance: Weight | None = None,
        participants: Sequence[str] | str = (),
        emotion: str = "",
        location: str = "",
        slot: str | None = None,
        at: Moment = None,
        short: str | None = None,
        interaction_type: str | None = None,
        is_milestone: bool = False,
        state_deltas: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        how: HowLearnt = "own_doing",
        heard_from: str | None = None,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
        details: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Remember an event.

        Args:
            text: What happened, as the character would tell it: "The player told me that her name is Ines."
            event_type: What kind of event it was: conversation, gift_received, betrayal, a type of the game's own, ….
            importance: 1 to 10; None derives it from the type and `state_deltas`.
            participants: Who took part; names of characters are known again under every alias. The player is
                "player", whatever the player is called.
            emotion: What the character felt.
            location: Where it was.
            slot: It is the one current value of this slot from now on: `player_name`, `npc_death_status:Mira`.
            at: When it happened.
            short: The same in a sentence; None takes one of the text.
            interaction_type: What a model called the interaction; one that is not valid is taken for the nearest.
            is_milestone: Whether it is one, whatever its type.
            state_deltas: What it changed: trust_change, secret_revealed, npc_died, ….
            supersedes: Id of a memory that it puts an end to.
            how: own_doing, witnessed, told, overheard or read.
            heard_from: Who told it.
            witnesses: Other characters who were there and remember it, too; a mapping tells each one's own words.
            details: What the program wants to keep with it.

        Returns:
            The memory, and what it put an end to. What went wrong on the way stands in `issues`.

        Raises:
            UserInputError: When an argument is wrong; says which.
            UnknownEntityError: When a witness is unknown.
        """
        event = given_event(
            text=text,
            short=short,
            event_type=event_type,
            interaction_type=interaction_type,
            importance=importance,
            is_milestone=is_milestone,
            participants=participants,
            emotion=emotion,
            location=location,
            slot=slot,
            supersedes=supersedes,
            state_deltas=dict(state_deltas or {}),
            details=dict(details or {}),
        )
        return StoryCharacters(self._stores, self.project_id).remember_event(
            character_id=self.character_id,
            event=event,
            at=as_moment(at),
            now=self._clock(),
            how="told" if heard_from is not None and how == "own_doing" else how,
            heard_from=heard_from,
            witnesses=witnesses,
        )

    def recall(
        self,
        said: str = "",
        *,
        budget_tokens: int | None = None,
        as_of: Moment = None,
        protected: Sequence[ProtectedLine] = (),
        to: str | None = None,
        story_as_of: Place = None,
    ) -> Recall:
        """Return what comes back at a remark, within a budget; `as_prompt()` renders it.

        Args:
            said: What was said to the character, or what happens; empty asks for what weighs most by itself.
            budget_tokens: Hard limit of the block; None takes the setting `recall_budget_tokens`.
            as_of: Only what the character knew strictly before; None means everything so far.
            protected: Lines that stand above the recall, outside of the competition.
            to: To whom the character will speak: how the two stand is told above the recall, and secrets that this
                one may not hear are left out. None leaves out every secret; the character's own name leaves out none.
            story_as_of: Of the story what it let the character know strictly before this place may come back, too,
                marked as told, read, … and by whom: `(5, 1)`, `5`. None leaves the story out.
        """
        return StoryCharacters(self._stores, self.project_id).recall_memories(
            character_id=self.character_id,
            said=said,
            budget_tokens=budget_tokens,
            as_of=as_moment(as_of),
            now=self._clock(),
            protected=protected,
            to=to,
            story_as_of=position_of(story_as_of),
        )

    def memories(self, *, as_of: Moment = None, with_former: bool = True) -> list[CharacterMemory]:
        """Return what the character knows, in the order of storing.

        Args:
            as_of: Only what it knew strictly before; None means everything so far.
            with_former: Whether to return what something later put an end to.
        """
        return ShownList(
            StoryCharacters(self._stores, self.project_id).list_character_memories(
                character_id=self.character_id, as_of=as_moment(as_of), now=self._clock(), with_former=with_former
            )
        )

    def tell(
        self,
        listener: str | Character,
        what: str | Sequence[str],
        *,
        wording: str | None = None,
        how: HowLearnt = "told",
        limit: Count = 1,
        at: Moment = None,
    ) -> Told:
        """Tell another character of what this one remembers; there it is marked as heard from this one.

        Args:
            listener: Who is told: a character, its name or id.
            what: Ids of memories, or one text: what comes back at it is told.
            wording: What the listener is told in place of the memory's own words.
            how: told, or overheard where the listener was not meant.
            limit: At most so many of what comes back at a text.
            at: When.

        Raises:
            UnknownEntityError: When the listener is unknown.
            UnknownMemoryError: When there is no such memory.
        """
        named = [what] if isinstance(what, str) else list(what)
        is_query = isinstance(what, str) and not any(each.memory_id == what for each in self.memories(as_of=at))
        return StoryCharacterNews(self._stores, self.project_id).tell_memories(
            character_id=self.character_id,
            listener=listener.character_id if isinstance(listener, Character) else listener,
            memory_ids=[] if is_query else named,
            about=named[0] if is_query else "",
            limit=limit,
            wording=wording,
            how=how,
            at=as_moment(at),
            now=self._clock(),
        )

    def edit(self, memory_id: str, changes: Mapping[str, Any] | None = None, **fields: Any) -> EditedMemory:
        """Correct a memory: content, short, importance, tier, participants, ….

        Args:
            memory_id: Its id.
            changes: Fields to their new values.
            **fields: The same by keyword.

        Raises:
            UnknownMemoryError: When there is no such memory.
            UserInputError: When a field is none, or a value does not fit.
        """
        return StoryCharacterCare(self._stores, self.project_id).edit_character_memory(
            character_id=self.character_id, memory_id=memory_id, changes={**(changes or {}), **fields}
        )

    def delete(self, memory_id: str) -> CharacterChange:
        """Delete a memory; what it had put an end to, or stood for, holds again.

        Raises:
            UnknownMemoryError: When there is no such memory.
        """
        return StoryCharacterCare(self._stores, self.project_id).delete_character_memory(
            character_id=self.character_id, memory_id=memory_id
        )

    def consolidate(
        self, *, target: Number | None = None, model: BaseChatModel | None = None, dry_run: bool = False
    ) -> CharacterConsolidation:
        """Let one memory stand for several where there are too many; `undo` takes it back.

        Args:
            target: Live memories to leave, whatever the limit; None takes the settings', beyond their limit only.
            model: Chat model that writes the memories; None joins their own sentences.
            dry_run: Only tell what would become one.
        """
        return StoryCharacterCare(self._stores, self.project_id).consolidate_character(
            character_id=self.character_id, target=target, model=model, dry_run=dry_run, now=self._clock()
        )

    def changes(self) -> list[CharacterChange]:
        """Return what was done to the character's memories, the oldest first."""
        return StoryCharacters(self._stores, self.project_id).list_character_changes(character_id=self.character_id)

    def undo(self, change_id: Number | None = None) -> CharacterChange:
        """Undo a change of the character's memories.

        Args:
            change_id: Its number; None takes the last one that is not undone.

        Raises:
            UserInputError: When there is none, or something of it changed again since.
        """
        return StoryCharacters(self._stores, self.project_id).undo_character_change(
            character_id=self.character_id, change_id=change_id
        )

    def tools(self, *, to: str | None = None, story_as_of: Place = None) -> list[BaseTool]:
        """Return LangChain tools for a model that plays this character: character_remember and character_recall.

        Args:
            to: To whom it speaks, as for `recall`; None keeps every secret back.
            story_as_of: What the story let the character know strictly before this place is recalled, too.
        """
        # Tools are a door: they stand above the story that they are made of.
        from runtime.doors.langchain import build_character_tools  # noqa: PLC0415

        return build_character_tools(self._stores, self, to=to, story_as_of=position_of(story_as_of))

    aremember = async_twin(remember)
    arecall = async_twin(recall)
    amemories = async_twin(memories)
    atell = async_twin(tell)
    aedit = async_twin(edit)
    adelete = async_twin(delete)
    aconsolidate = async_twin(consolidate)
    achanges = async_twin(changes)
    aundo = async_twin(undo)
