"""character_remember and character_recall as LangChain tools: the memory of one character for a model that plays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field

from novelgen.characters.given_event import GivenEvent
from novelgen.models.position import StoryPosition, require_project_id
from runtime.agents.structured_tool import Answer, structured_tool
from runtime.stores import MemoryStores
from runtime.story.characters import StoryCharacters


class RememberArguments(BaseModel):
    """Arguments of character_remember."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(pattern=r"\S", description="What happened, as the character would tell it.")
    event_type: str = Field(default="", description="conversation, gift_received, promise_made, betrayal, …")
    participants: list[str] = Field(default_factory=list, description="Names of those who took part.")
    emotion: str = Field(default="", description="What the character felt.")
    location: str = Field(default="", description="Where it was.")


class RecallArguments(BaseModel):
    """Arguments of character_recall."""

    model_config = ConfigDict(extra="forbid")

    said: str = Field(description="What was said to the character, or what happens.")
    budget_tokens: int | None = Field(default=None, ge=0, description="Most tokens of the answer.")


def build_character_tools(
    stores: MemoryStores,
    project_id: str,
    character_id: str,
    *,
    clock: Callable[[], datetime] | None = None,
    to: str | None = None,
    story_as_of: StoryPosition | None = None,
) -> list[BaseTool]:
    """Build the tools with which a model plays one character; they reach nobody else's memory."""
    bodies = _CharacterToolBodies(
        stores, require_project_id(project_id), character_id, clock or stores.clock, to, story_as_of
    )
    return [
        structured_tool(
            "character_remember",
            "Keep an event in the memory of the character that you play, in the character's own words. Use it for"
            " what the character would still know in a week: names, promises, gifts, threats, secrets.",
            bodies.remember,
            RememberArguments,
        ),
        structured_tool(
            "character_recall",
            "Look up what the character that you play remembers and that bears on what was just said. Use it before"
            " you answer. What is not in the answer the character does not know.",
            bodies.recall,
            RecallArguments,
        ),
    ]


class _CharacterToolBodies:
    def __init__(
        self,
        stores: MemoryStores,
        project_id: str,
        character_id: str,
        clock: Callable[[], datetime],
        to: str | None,
        story_as_of: StoryPosition | None,
    ) -> None:
        self._stores = stores
        self._project_id = project_id
        self._character_id = character_id
        self._clock = clock
        self._to = to
        self._story_as_of = story_as_of

    def remember(
        self, *, text: str, event_type: str, participants: Sequence[str], emotion: str, location: str
    ) -> Answer:
        event = GivenEvent(
            text=text, event_type=event_type, participants=tuple(participants), emotion=emotion, location=location
        )
        done = StoryCharacters(self._stores, self._project_id).remember_event(
            character_id=self._character_id, event=event, now=self._clock()
        )
        answer: Answer = {"success": True, "memory_id": done.memory.memory_id, "ended": done.ended}
        return answer | _told([each.message for each in done.issues])

    def recall(self, *, said: str, budget_tokens: int | None = None) -> Answer:
        found = StoryCharacters(self._stores, self._project_id).recall_memories(
            character_id=self._character_id,
            said=said,
            budget_tokens=budget_tokens,
            now=self._clock(),
            to=self._to,
            story_as_of=self._story_as_of,
        )
        answer: Answer = {
            "success": True,
            "remembered": found.as_prompt(),
            "memory_ids": [each.memory.memory_id for each in found.items],
        }
        return answer | _told([each.message for each in found.issues])


def _told(issues: list[str]) -> Answer:
    return {"issues": issues} if issues else {}
