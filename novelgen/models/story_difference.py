"""The changes of a stretch of the story."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue
from novelgen.models.entity import EntityType
from novelgen.models.knowledge import KnowledgeKind, KnowledgeSource
from novelgen.models.position import Place
from novelgen.models.record import ThreadEnding, is_unsaid
from novelgen.models.shown import Shown
from novelgen.models.state import LoopImportance, RelationshipDimension

ThreadTurnKind = Literal["planted", "moved", "overdue"] | ThreadEnding

Side = Literal["both", "a", "b"]
"""Who feels it: both alike, or one of a pair."""


class ToldScene(BaseModel):
    """A scene of the stretch."""

    chapter_index: int
    scene_index: int
    title: str = Field(default="", exclude_if=is_unsaid)
    has_record: bool = Field(default=True, description="False: it is text alone, and tells nothing here.")


class NewFact(BaseModel):
    """A fact that the stretch established and that holds at its end."""

    source_id: str
    chapter_index: int | None = None
    scene_index: int | None = None
    content: str
    short: str = Field(default="", exclude_if=is_unsaid)
    importance: int = 5
    verified: bool = True
    replaces: str = Field(default="", exclude_if=is_unsaid, description="Text of the earlier fact that it ends.")


class StateTurn(BaseModel):
    """An attribute with another value after the stretch.

    None means no value.
    """

    entity_id: str
    attribute: str
    was: Any = None
    now: Any = None
    verified: bool = True


class Handover(BaseModel):
    """A thing with another holder.

    None means nobody.
    """

    item_id: str
    was: Any = None
    now: Any = None


class ThreadTurn(BaseModel):
    """A thread's last event in the stretch, preferring its end."""

    loop_id: str
    kind: ThreadTurnKind
    description: str
    importance: LoopImportance = "medium"
    note: str = Field(default="", exclude_if=is_unsaid, description="How it moved or ended.")
    age_scenes: int | None = None


class Learning(BaseModel):
    """A character's new knowledge of an earlier memory, or its concealment."""

    character_ids: list[str]
    source_id: str = Field(description="Of the memory; `*`: everything that `from_id` has lived through.")
    content: str = Field(default="", description="The memory; empty for a whole tale.")
    kind: KnowledgeKind = "knows"
    how: KnowledgeSource = "author"
    from_id: str | None = None


class FeelingTurn(BaseModel):
    """A changed relationship dimension.

    None means never stated.
    """

    side: Side
    dimension: RelationshipDimension
    was: int | None = None
    now: int | None = None


class RelationshipTurn(BaseModel):
    """A relationship before and after the stretch, with its events."""

    character_a: str
    character_b: str
    type_was: str = ""
    type_now: str = ""
    type_reads_back: bool = Field(
        default=False, exclude_if=is_unsaid, description="The types read from character_b to character_a."
    )
    status_was: str = ""
    status_now: str = ""
    feelings: list[FeelingTurn] = Field(default_factory=list)
    events: list[str] = Field(default_factory=list)


class Newcomer(BaseModel):
    """An entity shown or on stage for the first time."""

    entity_id: str
    entity_type: EntityType
    was_known: bool = Field(default=False, exclude_if=is_unsaid, description="Spoken of before, and now on stage.")
    is_guessed: bool = Field(default=False, exclude_if=is_unsaid, description="Only rules say that it is on stage.")


class IdentityTurn(BaseModel):
    """An entity with a new name or a revealed identity."""

    entity_id: str = Field(description="Who it turns out to be.")
    was: str = Field(description="The name by which they were known before; empty where they had none.")
    now: str


class StretchTotals(BaseModel):
    """How much a longer stretch changed, of which only the last scene is told."""

    scenes: int
    facts: int = 0
    newcomers: int = 0
    threads_planted: int = 0
    threads_ended: int = 0
    deaths: int = 0

    @property
    def has_changes(self) -> bool:
        """Whether any of its scenes is known to have changed something."""
        return any((self.facts, self.newcomers, self.threads_planted, self.threads_ended, self.deaths))


class StoryDifference(Shown, BaseModel):
    """The changes between two positions of a story.

    Fields that have nothing to say are left out of JSON.
    """

    project_id: str
    language: Literal["en", "zh"] = "en"
    first: Place | None = Field(default=None, description="Chapter and scene of the first scene told of.")
    last: Place | None = Field(default=None, description="Of the last one.")
    scenes: list[ToldScene] = Field(default_factory=list)
    facts: list[NewFact] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Best first, so many of each scene."
    )
    facts_in_all: int = Field(default=0, exclude_if=is_unsaid)
    states: list[StateTurn] = Field(default_factory=list, exclude_if=is_unsaid)
    handovers: list[Handover] = Field(default_factory=list, exclude_if=is_unsaid)
    threads: list[ThreadTurn] = Field(default_factory=list, exclude_if=is_unsaid)
    learnt: list[Learning] = Field(default_factory=list, exclude_if=is_unsaid)
    relationships: list[RelationshipTurn] = Field(default_factory=list, exclude_if=is_unsaid)
    newcomers: list[Newcomer] = Field(default_factory=list, exclude_if=is_unsaid)
    identities: list[IdentityTurn] = Field(default_factory=list, exclude_if=is_unsaid)
    deaths: list[StateTurn] = Field(default_factory=list, exclude_if=is_unsaid)
    totals: StretchTotals | None = Field(
        default=None, exclude_if=is_unsaid, description="Of all scenes that were taken in with the last."
    )
    issues: list[ReportIssue] = Field(
        default_factory=list, exclude_if=is_unsaid, description="What kept it from being told."
    )
    names: Mapping[str, str] = Field(
        default_factory=dict, exclude_if=is_unsaid, description="Id to name, as known at the end."
    )

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        difference_parts = (self.facts, self.states, self.handovers, self.threads, self.learnt, self.relationships)
        return not any((*difference_parts, self.newcomers, self.identities, self.deaths))
