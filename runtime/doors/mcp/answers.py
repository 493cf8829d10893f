"""What the tools answer: short, with ids for the next call; fields that have nothing to say are null or empty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from novelgen.memory.ledger import LedgerEntry
from novelgen.memory.search import RankedMemory
from novelgen.models.context import ReportIssue, SceneMemoryContext
from novelgen.models.continuity import ContinuityIssue, DraftCheck
from novelgen.models.entity import Entity
from novelgen.models.state import EntityStateSnapshot
from runtime.files.machine_paths import without_paths
from runtime.story.entities import EntityCard
from runtime.story.projects import ProjectOverview
from runtime.story.scenes import ListedScene

EVIDENCE_OF_FINDING = 3
"""So many pieces of evidence are told of a contradiction."""

PROBLEMS = "What was missing or failed while this was answered; empty when all went well."


class Answer(BaseModel):
    """What a tool answers."""

    def as_text(self) -> str:
        """Return what a model reads of it."""
        return self.model_dump_json(exclude_none=True)


class ProjectsAnswer(Answer):
    """The projects that can be reached."""

    projects: list[ProjectOverview]


class SceneContextAnswer(Answer):
    """What the next scene must not contradict and should pick up."""

    chapter_index: int
    scene_index: int
    block: str = Field(description="The context as text, in the story's language; empty: nothing is known yet.")
    tokens: int = Field(description="Estimated, of the memories in it.")
    story_version: str | None = Field(description="Changes exactly when the story before the scene does.")
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, context: SceneMemoryContext) -> SceneContextAnswer:
        """Return what is told of a context."""
        report = context.report
        return cls(
            chapter_index=context.chapter_index,
            scene_index=context.scene_index,
            block=context.as_prompt(),
            tokens=sum(report.tokens.values()) if report else 0,
            story_version=report.story_version if report else None,
            problems=messages(report.issues if report else ()),
        )

    def as_text(self) -> str:
        """Return the block itself, and after it what was missing."""
        problems = [f"(missing: {each})" for each in self.problems]
        return "\n".join([self.block.rstrip() or "(nothing is known before this scene)", *problems])


class FoundMemory(BaseModel):
    """One memory."""

    memory_id: str
    text: str
    place: str | None = Field(description="Scene that established it, such as 3:2; null: it holds everywhere.")
    kind: str = Field(description="memory, note, summary, or a passage of the text: scene, dialogue, description.")
    event_type: str | None
    about: list[str] = Field(description="Ids of whom and what it is about.")
    importance: int
    held_by: str | None = Field(
        description="memory_id of what holds now in its place; null: it holds itself, or nothing does."
    )
    is_outdated: bool
    is_proven: bool = Field(description="Whether a quote of the scene proves it.")

    @classmethod
    def of(cls, memory: RankedMemory) -> FoundMemory:
        """Return what is told of a memory that was found."""
        chunk = memory.chunk
        return cls(
            memory_id=chunk.source_id or chunk.chunk_id,
            text=chunk.content,
            place=place_of(chunk.chapter_index, chunk.scene_index),
            kind=chunk.content_type,
            event_type=chunk.event_type,
            about=chunk.entities_mentioned,
            importance=chunk.importance,
            held_by=(memory.held_by.source_id or memory.held_by.chunk_id) if memory.held_by else None,
            is_outdated=memory.is_outdated,
            is_proven=chunk.verified,
        )


class SearchAnswer(Answer):
    """Memories that fit a query, best first."""

    memories: list[FoundMemory]
    problems: list[str] = Field(description=PROBLEMS)


class EntityState(BaseModel):
    """How somebody or something stands."""

    entity_id: str
    as_of: str | None = Field(description="Scene of the last change in it, such as 3:2.")
    state: dict[str, Any] = Field(description="Attribute to value: location, goal, injury, holder, …")
    unproven: list[str] = Field(description="Attributes whose value no quote of the text proves.")
    holds: list[str] = Field(description="Ids of the things that it has.")

    @classmethod
    def of(cls, snapshot: EntityStateSnapshot) -> EntityState:
        """Return what is told of a state."""
        return cls(
            entity_id=snapshot.entity_id,
            as_of=place_of(snapshot.chapter_index, snapshot.scene_index),
            state=snapshot.state_data,
            unproven=snapshot.unverified,
            holds=snapshot.holds,
        )


class EntityStateAnswer(Answer):
    """How somebody or something stands at a point of the story."""

    state: EntityState | None = Field(description="Null: nothing is known of it by then.")
    names: dict[str, str] = Field(description="Ids to names.")

    def as_text(self) -> str:
        """Return it, or that nothing is known."""
        if self.state is None:
            return "Nothing is known of it by then; list_entities tells who and what there is."
        return super().as_text()


class TimelineAnswer(Answer):
    """How everybody and everything stood at the end of chapters, in story order."""

    states: list[EntityState]
    names: dict[str, str] = Field(description="Ids to names.")


class ListedEntity(BaseModel):
    """Somebody or something of the story."""

    entity_id: str
    entity_type: str
    name: str
    aliases: list[str]
    role: str

    @classmethod
    def of(cls, entity: Entity) -> ListedEntity:
        """Return what is told of an entity in a list."""
        return cls(
            entity_id=entity.entity_id,
            entity_type=entity.entity_type,
            name=entity.name,
            aliases=entity.names()[1:],
            role=entity.role,
        )


class EntitiesAnswer(Answer):
    """Who and what is in the story, in the order of their ids."""

    entities: list[ListedEntity]
    in_all: int


class CardAnswer(Answer):
    """Who somebody or what something is, and how it stands."""

    entity_id: str
    entity_type: str
    name: str
    aliases: list[str]
    role: str
    description: str
    profile: dict[str, Any] = Field(description="Traits, goals, looks, …: what the author says of it.")
    first_seen: str | None = Field(description="Scene in which the story first shows it; null: from the start.")
    state: EntityState | None

    @classmethod
    def of(cls, card: EntityCard) -> CardAnswer:
        """Return what is told of a card."""
        entity = card.entity
        return cls(
            **dict(ListedEntity.of(entity)),
            description=entity.description,
            profile=entity.profile,
            first_seen=place_of(entity.first_chapter, entity.first_scene),
            state=EntityState.of(card.state) if card.state else None,
        )


class Evidence(BaseModel):
    """What the story established before."""

    text: str
    quote: str
    place: str | None
    source_id: str


class Finding(BaseModel):
    """A contradiction between a draft and the story before it."""

    finding_id: str
    kind: str
    severity: str
    draft_quote: str = Field(description="Verbatim from the draft.")
    message: str
    fix: str
    by: str = Field(description="rule or model.")
    confidence: float
    evidence: list[Evidence]

    @classmethod
    def of(cls, issue: ContinuityIssue) -> Finding:
        """Return what is told of a contradiction."""
        return cls(
            finding_id=issue.issue_id,
            **issue.model_dump(include={"kind", "severity", "draft_quote", "message", "fix", "by", "confidence"}),
            evidence=[
                Evidence(
                    text=each.text,
                    quote=each.quote,
                    place=place_of(each.chapter_index, each.scene_index),
                    source_id=each.source_id,
                )
                for each in issue.evidence[:EVIDENCE_OF_FINDING]
            ],
        )


class CheckAnswer(Answer):
    """The contradictions between a draft and the story before it, worst first; none found is no proof of none."""

    chapter_index: int
    scene_index: int
    findings: list[Finding]
    waived: int = Field(description="Findings that the author means to be so, which are not told.")
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, check: DraftCheck) -> CheckAnswer:
        """Return what is told of a check."""
        return cls(
            chapter_index=check.chapter_index,
            scene_index=check.scene_index,
            findings=[Finding.of(each) for each in check.issues],
            waived=len(check.waived),
            problems=messages(check.report.issues),
        )


class Thread(BaseModel):
    """A question, promise or threat that the story has opened."""

    thread_id: str
    description: str
    category: str
    importance: str
    stage: str = Field(description="planted, moved, due, overdue or over.")
    pressure: float = Field(description="How much it presses now.")
    planted: str | None
    silent_scenes: int | None = Field(description="Scenes since it last moved.")
    pay_off: str = Field(description="What its end needs, where somebody said so.")
    about: list[str] = Field(description="Ids of whom and what it is about.")

    @classmethod
    def of(cls, entry: LedgerEntry) -> Thread:
        """Return what is told of a thread."""
        return cls(
            thread_id=entry.loop_id,
            description=entry.description,
            category=entry.category,
            importance=entry.importance,
            stage=entry.stage,
            pressure=round(entry.pressure, 3),
            planted=place_of(entry.chapter_index, entry.scene_index),
            silent_scenes=entry.silent_scenes,
            pay_off=entry.pay_off,
            about=entry.related_entities,
        )


class ThreadsAnswer(Answer):
    """Threads, those first that press most."""

    threads: list[Thread]
    waiting_in_all: int


class ChangesAnswer(Answer):
    """What scenes changed, in lines in the story's language."""

    lines: list[str]
    is_empty: bool

    def as_text(self) -> str:
        """Return the lines."""
        return "\n".join(self.lines)


class SceneLine(BaseModel):
    """A stored scene without its text."""

    chapter_index: int
    scene_index: int
    title: str
    on_stage: list[str]
    summary: list[str]
    has_record: bool = Field(description="Whether it was told what the scene establishes.")

    @classmethod
    def of(cls, listed: ListedScene) -> SceneLine:
        """Return what is told of a scene in a list."""
        scene = listed.scene
        return cls(
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            title=scene.title,
            on_stage=listed.on_stage,
            summary=scene.record.summary if scene.record else [],
            has_record=scene.record is not None,
        )


class ScenesAnswer(Answer):
    """The last stored scenes, in story order."""

    scenes: list[SceneLine]
    in_all: int


class SceneTextAnswer(Answer):
    """The text of a stored scene, or a part of it."""

    chapter_index: int
    scene_index: int
    title: str
    text: str
    characters_in_all: int

    def as_text(self) -> str:
        """Return the text itself, and after it how much there is, where not all is told."""
        if len(self.text) == self.characters_in_all:
            return self.text
        return f"{self.text}\n(… {len(self.text):,} of {self.characters_in_all:,} characters)"


def place_of(chapter_index: int | None, scene_index: int | None) -> str | None:
    """Return a place as it is told and asked for, such as 3:2; None where there is none."""
    if chapter_index is None:
        return None
    return str(chapter_index) if scene_index is None else f"{chapter_index}:{scene_index}"


def messages(issues: Iterable[ReportIssue]) -> list[str]:
    """Return what went wrong or is missing, in words, without paths of this machine."""
    return [without_paths(f"{each.stage}: {each.message}") for each in issues]
