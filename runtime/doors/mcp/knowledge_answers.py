"""What the tools answer of who knows what."""

from __future__ import annotations

from pydantic import BaseModel, Field

from novelgen.models.knowledge import CharacterKnowledge
from runtime.doors.mcp.answers import Answer, place_of
from runtime.story.knowledge import MemoryKnowers


class Knower(BaseModel):
    """Somebody who knows a memory."""

    character_id: str
    name: str
    how: str = Field(description="own_doing, witnessed, told, overheard, read, deduced or author.")
    learned_from: str | None
    since: str | None = Field(description="Scene in which it was learnt; null: from before the story.")
    certainty: float = Field(description="1 is sure, less a rumour.")


class Unaware(BaseModel):
    """Somebody who does not know a memory."""

    character_id: str
    name: str
    why: str
    might_know_from: str | None = Field(
        description="Id of somebody who could have told them since; nothing says that it happened."
    )


class KnowersAnswer(Answer):
    """Who knows a memory and who does not; `reader` is whoever reads the book."""

    memory_id: str
    text: str
    known_by: list[Knower]
    not_known_by: list[Unaware]

    @classmethod
    def of(cls, found: MemoryKnowers) -> KnowersAnswer:
        """Return what is told of those who know a memory."""
        return cls(
            memory_id=found.source_id,
            text=found.content,
            known_by=[
                Knower(
                    character_id=each.character_id,
                    name=each.name,
                    how=each.how,
                    learned_from=each.learned_from,
                    since=place_of(each.since_chapter, each.since_scene),
                    certainty=each.certainty,
                )
                for each in found.known_by
            ],
            not_known_by=[
                Unaware(
                    character_id=each.character_id, name=each.name, why=each.why, might_know_from=each.might_know_from
                )
                for each in found.not_known_by
            ],
        )


class KnownFact(BaseModel):
    """A memory that a character knows."""

    memory_id: str
    text: str
    how: str
    learned_from: str | None
    since: str | None


class UnknownFact(BaseModel):
    """A memory that a character does not know."""

    memory_id: str
    text: str
    why: str
    might_know_from: str | None


class CharacterKnowledgeAnswer(Answer):
    """What a character knows and what is true but unknown to it, the latest first."""

    character_id: str
    known: list[KnownFact]
    not_known: list[UnknownFact]
    known_in_all: int
    not_known_in_all: int

    @classmethod
    def of(cls, found: CharacterKnowledge, *, limit: int) -> CharacterKnowledgeAnswer:
        """Return what is told of what a character knows, so many of each at most."""
        return cls(
            character_id=found.character_id,
            known=[
                KnownFact(
                    memory_id=each.source_id,
                    text=each.content,
                    how=each.how,
                    learned_from=each.learned_from,
                    since=place_of(each.since_chapter, each.since_scene),
                )
                for each in reversed(found.known[-limit:])
            ],
            not_known=[
                UnknownFact(
                    memory_id=each.source_id, text=each.content, why=each.why, might_know_from=each.might_know_from
                )
                for each in reversed(found.not_known[-limit:])
            ],
            known_in_all=len(found.known),
            not_known_in_all=len(found.not_known),
        )
