"""What the tools answer that store: what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from runtime.machine_paths import without_paths
from runtime.mcp_server.answers import PROBLEMS, Answer, ListedEntity, messages
from runtime.services.extraction import ExtractionReport
from runtime.services.ingest import IngestReport
from runtime.services.memories import AddedNote


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
