"""Character knowledge: statements of scenes, and knowledge at a position."""

from collections.abc import Sequence
from operator import not_
from typing import Annotated, Literal, get_args

from pydantic import Field

from novelgen.models.base import Model

KnowledgeSource = Literal["own_doing", "witnessed", "told", "overheard", "read", "deduced", "author"]
"""How somebody came to know: `author` when nobody says more than that it is so."""

KNOWLEDGE_SOURCES: tuple[KnowledgeSource, ...] = get_args(KnowledgeSource)

KnowledgeKind = Literal["knows", "hidden", "deceived", "doubts"]
"""What an event says: it is known; it is not; the contrary is believed; it is a rumour, or not believed."""

KNOWLEDGE_KINDS: tuple[KnowledgeKind, ...] = ("knows", "hidden", "deceived", "doubts")

KnowledgeMode = Literal["mark", "separate", "exclude"]
"""What a context does with what its point of view does not know: say it, set it apart, or leave it out."""

READER = "reader"
"""Stands for whoever reads the book, where a character's id is asked."""

ALL_LIVED = "*"
"""In place of a memory's id: everything that the one who tells has lived through."""

GUESSED_PRESENCE_CERTAINTY = 0.6
"""Of what somebody knows by a scene in which only a guess has them."""

Certainty = Annotated[float, Field(ge=0.0, le=1.0)]


class Learnt(Model):
    """Somebody came to know a memory, or was kept from it."""

    character_id: str
    source_id: str = Field(description="Of the memory; `*`: everything that `learned_from` has lived through.")
    kind: KnowledgeKind = "knows"
    how: KnowledgeSource = "author"
    learned_from: str | None = Field(default=None, description="Id of whom it was learnt from.")
    certainty: Certainty = 1.0
    quote: str = ""


class KnowledgeEvent(Learnt):
    """A statement on a character's knowledge of a memory, at a scene."""

    chapter_index: int
    scene_index: int
    by_author: bool = False
    adds_knower: bool = False
    """One more knower; else a note lists all of its first knowers."""


class KnownMemory(Model):
    """A memory that a character knows."""

    source_id: str
    content: str
    how: KnowledgeSource
    learned_from: str | None = Field(default=None, serialization_alias="from", description="Character id.")
    since_chapter: int | None = Field(default=None, description="None: from before the story, or always.")
    since_scene: int | None = None
    certainty: Certainty = 1.0
    is_guess: bool = Field(default=False, exclude_if=not_, description="Rules inferred it; nobody says it.")
    quote: str = ""


class UnknownMemory(Model):
    """A memory that a character does not know, and why that is thought."""

    source_id: str
    content: str
    why: str
    kind: Literal["unknown", "hidden", "deceived", "doubts"] = "unknown"
    is_guess: bool = Field(default=False, exclude_if=not_, description="Rules inferred it; nobody says it.")
    might_know: bool = Field(default=False, description="Has met somebody since who knows it: offered, never assumed.")
    might_know_from: str | None = Field(default=None, description="Id of one who could have told.")


class CharacterKnowledge(Model):
    """Every memory before a position, in story order, in one of two lists."""

    character_id: str
    known: Sequence[KnownMemory] = ()
    not_known: Sequence[UnknownMemory] = ()
    more_known: int = Field(default=0, description="How many it knows from before those that are told.")
    more_not_known: int = 0
