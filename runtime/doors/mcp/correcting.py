"""What the tools correct, and what they let characters of a game remember: bodies that call a story."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from novelgen.errors import UserInputError
from novelgen.models.position import GREATEST_INDEX
from runtime.doors.mcp.arguments import EntityName
from runtime.doors.mcp.outcomes import (
    ChangedEntityAnswer,
    ChangedMemoryAnswer,
    EntityChangeAnswer,
    RecallAnswer,
    RememberedAnswer,
)
from runtime.doors.mcp.shelf import OpenStory
from runtime.story.entities import StoryEntities
from runtime.story.memories import StoryMemories

MemoryDecision = Literal["edit", "pin", "unpin", "ban", "unban", "delete"]

_DECISIONS = {
    "pin": StoryMemories.pin_memory,
    "unpin": StoryMemories.unpin_memory,
    "ban": StoryMemories.ban_memory,
    "unban": StoryMemories.unban_memory,
    "delete": StoryMemories.delete_memory,
}

ShortText = Annotated[str, Field(min_length=1, max_length=2_000)]


def correct_memory(
    here: OpenStory,
    *,
    memory_id: Annotated[str, Field(min_length=1, max_length=400, description="As search_story_memory tells it.")],
    how: Annotated[MemoryDecision, Field(description="ban hides it; unban also takes a deletion back.")] = "edit",
    text: Annotated[str | None, Field(min_length=1, max_length=20_000, description="New text, for edit.")] = None,
    importance: Annotated[int | None, Field(ge=1, le=10, description="New weight, for edit.")] = None,
) -> ChangedMemoryAnswer:
    """Change what is decided of a memory."""
    if how == "edit":
        changed = here.story.edit_memory(memory_id, content=text, importance=importance)
    elif text is not None or importance is not None:
        raise UserInputError(f"how={how!r} takes neither text nor importance; call with how='edit' for these")
    else:
        changed = _DECISIONS[how](StoryMemories(*here.place), memory_id=memory_id)
    return ChangedMemoryAnswer.of(changed)


def correct_entity(
    here: OpenStory,
    *,
    entity: EntityName,
    name: ShortText | None = None,
    alias: Annotated[ShortText | None, Field(description="One more name.")] = None,
    role: ShortText | None = None,
    description: Annotated[str | None, Field(min_length=1, max_length=20_000)] = None,
) -> ChangedEntityAnswer:
    """Change a card."""
    given = {"name": name, "alias": alias, "role": role, "description": description}
    edited = here.story.edit_entity(entity, {field: value for field, value in given.items() if value is not None})
    return ChangedEntityAnswer.of(edited)


def merge_entities(here: OpenStory, *, keep: EntityName, gone: EntityName) -> EntityChangeAnswer:
    """Make two entities one."""
    return EntityChangeAnswer.of(StoryEntities(*here.place).merge_entities(keep=keep, gone=gone))


def undo_change(
    here: OpenStory,
    *,
    change_id: Annotated[int | None, Field(ge=0, le=GREATEST_INDEX, description="Default: the last.")] = None,
) -> EntityChangeAnswer:
    """Take a change back, whatever it was."""
    return EntityChangeAnswer.of(here.story.undo(change_id))


def character_remember(
    here: OpenStory,
    *,
    character: EntityName,
    text: Annotated[str, Field(min_length=1, max_length=20_000, description="In the character's words.")],
    event_type: Annotated[str, Field(max_length=400, description="gift_received, betrayal, …")] = "",
    importance: Annotated[int | None, Field(ge=1, le=10)] = None,
) -> RememberedAnswer:
    """Let a character remember."""
    done = here.story.character(character).remember(text, event_type=event_type, importance=importance)
    return RememberedAnswer.of(done)


def character_recall(
    here: OpenStory,
    *,
    character: EntityName,
    said: Annotated[str, Field(max_length=20_000, description="What is said to the character, or happens.")] = "",
    to: Annotated[EntityName | None, Field(description="To whom it answers; default: no secret comes back.")] = None,
) -> RecallAnswer:
    """Tell what comes back to a character."""
    return RecallAnswer.of(here.story.character(character).recall(said, to=to))
