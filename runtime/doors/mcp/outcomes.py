"""What the tools answer that store: what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from novelgen.characters.recall import Recall
from runtime.doors.mcp.answers import PROBLEMS, Answer, ListedEntity, messages
from runtime.files.machine_paths import without_paths
from runtime.story.characters import Remembered
from runtime.story.entities import EditedEntity, EntityChangeResult
from runtime.story.extraction import ExtractionReport
from runtime.story.ingest import IngestReport
from runtime.story.memories import AddedNote, MemoryChange


class WaivedAnswer(Answer):
    """A finding that stays silent from now on."""

    finding_id: str
    note: str


class ThreadAnswer(Answer):
    """A thread that was planted or ended."""

    thread_id: str
    description: str
    status: str


class NoteAnswer(Answer):
    """A note that was stored."""

    memory_id: str
    text: str
    about: list[str] = Field(description="Ids of whom and what it hangs on.")

    @classmethod
    def of(cls, added: AddedNote) -> NoteAnswer:
        """Return what is told of a note."""
        note = added.note
        return cls(memory_id=note.source_id or note.chunk_id, text=note.content, about=added.named)


class IngestedAnswer(Answer):
    """What became of a scene that was taken in."""

    outcome: str = Field(description="added, replaced or unchanged; empty when it was refused.")
    memories_of_scene: int
    memories: int = Field(description="Of the whole story.")
    changed: list[str] = Field(description="What the scene changed, in the story's language.")
    warnings: list[str]
    problems: list[str] = Field(description=PROBLEMS)
    next_step: str

    @classmethod
    def of(cls, report: IngestReport, *, changed: Sequence[str], next_step: str) -> IngestedAnswer:
        """Return what is told of a scene that was taken in."""
        scene = report.scenes[0] if report.scenes else None
        return cls(
            outcome=scene.outcome if scene else "",
            memories_of_scene=scene.added + scene.changed + scene.unchanged + scene.kept if scene else 0,
            memories=report.memories,
            changed=list(changed),
            warnings=[without_paths(each) for each in report.warnings],
            problems=[
                *map(without_paths, report.failures),
                *messages(scene.issues if scene else ()),
                *messages(report.indexing.issues),
            ],
            next_step=next_step,
        )


class ExtractedAnswer(Answer):
    """What a model read out of a scene."""

    outcome: str = Field(description="done, failed or overtaken (the scene changed meanwhile).")
    reason: str | None = Field(description="Why it failed.")
    memories: int
    new_entities: list[ListedEntity]
    unproven: int = Field(description="Facts without a quote of the text that proves them.")
    changed: list[str] = Field(description="What the scene changed, in the story's language.")
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, report: ExtractionReport, *, changed: Sequence[str]) -> ExtractedAnswer:
        """Return what is told of a scene that a model read."""
        scene = report.scenes[0] if report.scenes else None
        return cls(
            outcome=scene.outcome if scene else "failed",
            reason=without_paths((scene.reason if scene else None) or report.stopped or "") or None,
            memories=scene.memories if scene else 0,
            new_entities=[ListedEntity.of(each) for each in scene.new_entities] if scene else [],
            unproven=len(scene.unverified) if scene else 0,
            changed=list(changed),
            problems=[
                *messages(scene.issues if scene else ()),
                *messages(report.indexing.issues),
                *report.thread_warnings,
            ],
        )


class ChangedMemoryAnswer(Answer):
    """A memory after a correction."""

    memory_id: str
    text: str
    importance: int
    status: str = Field(description="active, banned or deleted.")
    is_pinned: bool
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, change: MemoryChange) -> ChangedMemoryAnswer:
        """Return what is told of a memory that was corrected."""
        chunk = change.memory.chunk
        return cls(
            memory_id=chunk.source_id or chunk.chunk_id,
            text=chunk.content,
            importance=chunk.importance,
            status=change.memory.status,
            is_pinned=change.memory.pinned,
            problems=messages(change.indexing.issues),
        )


class ChangedEntityAnswer(Answer):
    """A card after a correction."""

    entity: ListedEntity
    changed: list[str] = Field(description="Fields that were given.")

    @classmethod
    def of(cls, edited: EditedEntity) -> ChangedEntityAnswer:
        """Return what is told of a card that was corrected."""
        return cls(entity=ListedEntity.of(edited.entity), changed=edited.updated_fields)


class EntityChangeAnswer(Answer):
    """A merge, or one that was taken back."""

    change_id: int = Field(description="undo_change takes it back.")
    entity: ListedEntity | None = Field(description="Who stayed.")
    other: ListedEntity | None = Field(description="Who became part of it, or came out again.")

    @classmethod
    def of(cls, result: EntityChangeResult) -> EntityChangeAnswer:
        """Return what is told of a change."""
        return cls(
            change_id=result.change.change_id,
            entity=None if result.entity is None else ListedEntity.of(result.entity),
            other=None if result.other is None else ListedEntity.of(result.other),
        )


class RememberedAnswer(Answer):
    """What a character remembers from now on."""

    memory_id: str
    ended: list[str] = Field(description="Ids of memories to which it put an end.")
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, done: Remembered) -> RememberedAnswer:
        """Return what is told of an event that is remembered."""
        return cls(memory_id=done.memory.memory_id, ended=done.ended, problems=messages(done.issues))


class RecallAnswer(Answer):
    """What comes back to a character; what is not in it the character does not know."""

    block: str = Field(description="Empty: nothing comes back.")
    memory_ids: list[str]
    problems: list[str] = Field(description=PROBLEMS)

    @classmethod
    def of(cls, recall: Recall) -> RecallAnswer:
        """Return what is told of a recall."""
        return cls(
            block=recall.as_prompt(),
            memory_ids=[each.memory.memory_id for each in recall.items],
            problems=messages(recall.issues),
        )

    def as_text(self) -> str:
        """Return the block itself, and after it what was missing."""
        problems = [f"(missing: {each})" for each in self.problems]
        return "\n".join([self.block.rstrip() or "(nothing comes back)", *problems])
