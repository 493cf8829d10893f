"""What the tools store: bodies that call a story and answer what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from novelgen.context.difference_block import difference_lines
from novelgen.models.position import GREATEST_INDEX, StoryPosition
from novelgen.models.state import LoopImportance
from novelgen.models.story_difference import StoryDifference
from runtime.doors.mcp.arguments import POSITION_PATTERN, Chapter, Name, Scene, position
from runtime.doors.mcp.outcomes import ExtractedAnswer, IngestedAnswer, NoteAnswer, ThreadAnswer, WaivedAnswer
from runtime.doors.mcp.shelf import OpenStory
from runtime.story.scenes import StoryScenes
from runtime.story.threads import StoryThreads


def add_note(
    here: OpenStory,
    *,
    text: Annotated[str, Field(min_length=1, max_length=20_000, description="One fact, in the story's language.")],
    about: Annotated[
        Sequence[Name],
        Field(
            max_length=100,
            description="Whom and what it is about: ids, names, chapter:3, or book. Default: whom it names.",
        ),
    ] = (),
    start: Annotated[
        str | None,
        Field(pattern=POSITION_PATTERN, description="Scene from which on it holds, such as 3:2. Default: everywhere."),
    ] = None,
    importance: Annotated[int | None, Field(ge=1, le=10, description="Weight. Default: 8.")] = None,
) -> NoteAnswer:
    """Store a fact of the author."""
    return NoteAnswer.of(here.story.note(text, attached_to=about, start=position(start), importance=importance))


def ingest_scene(
    here: OpenStory,
    *,
    chapter_index: Chapter,
    scene_index: Scene,
    text: Annotated[
        str, Field(min_length=1, max_length=2_000_000, description="The whole text of the finished scene.")
    ],
    title: Annotated[str, Field(max_length=500)] = "",
    record: Annotated[
        dict[str, Any] | None,
        Field(
            description="What it establishes, where you have read it out yourself, as docs/records-and-summaries.md has"
            " it: characters_present, summary, memories, state_changes, … Default: let extract_scene read it."
        ),
    ] = None,
) -> IngestedAnswer:
    """Take a finished scene in."""
    report = here.story.ingest(
        text=text, record=record, chapter_index=chapter_index, scene_index=scene_index, title=title
    )
    place = StoryPosition(chapter_index, scene_index)
    is_read = bool(report.scenes) and StoryScenes(*here.place).get_scene(position=place).scene.record is not None
    return IngestedAnswer.of(
        report,
        changed=_lines(_changes(here, place)) if is_read else [],
        next_step=""
        if is_read or not report.scenes
        else "only the text is stored; call extract_scene to let a model read out what it establishes",
    )


def extract_scene(here: OpenStory, *, chapter_index: Chapter, scene_index: Scene) -> ExtractedAnswer:
    """Let a model read out what a stored scene establishes."""
    report = here.story.extract(scenes=[(chapter_index, scene_index)])
    return ExtractedAnswer.of(report, changed=_lines(report.changes))


def add_thread(
    here: OpenStory,
    *,
    description: Annotated[str, Field(min_length=1, max_length=20_000, description="What the story leaves open.")],
    category: Annotated[
        str, Field(max_length=400, description="promise, question, threat, plan, debt, mystery, …")
    ] = "",
    importance: LoopImportance = "medium",
    characters: Annotated[Sequence[Name], Field(max_length=100, description="Whom it is about.")] = (),
) -> ThreadAnswer:
    """Plant a thread."""
    planted = StoryThreads(*here.place).add_thread(
        description=description, category=category, importance=importance, characters=characters
    )
    return ThreadAnswer(thread_id=planted.loop_id, description=planted.description, status=planted.status)


def end_thread(
    here: OpenStory,
    *,
    thread_id: Annotated[str, Field(min_length=1, max_length=400, description="Id such as OL0.")],
    summary: Annotated[
        str, Field(min_length=1, max_length=20_000, description="How it was answered, or why it was dropped.")
    ],
    how: Annotated[
        Literal["resolved", "abandoned"], Field(description="abandoned: dropped without an answer.")
    ] = "resolved",
) -> ThreadAnswer:
    """Say that a thread has ended."""
    end = StoryThreads.abandon_thread if how == "abandoned" else StoryThreads.resolve_thread
    ended = end(StoryThreads(*here.place), thread_id=thread_id, summary=summary)
    return ThreadAnswer(thread_id=ended.loop_id, description=ended.description, status=ended.status)


def waive_finding(
    here: OpenStory,
    *,
    finding_id: Annotated[str, Field(min_length=1, max_length=400, description="As check_draft tells it.")],
    note: Annotated[str, Field(max_length=2_000, description="Why the author means it so.")] = "",
) -> WaivedAnswer:
    """Mark a finding as meant so."""
    waived = here.story.waive_finding(finding_id, note=note)
    return WaivedAnswer(finding_id=waived.issue_id, note=waived.note)


def _changes(here: OpenStory, scene: StoryPosition) -> StoryDifference:
    number = scene.scene_index or 0
    after = StoryPosition(scene.chapter_index, number + 1) if number < GREATEST_INDEX else None
    return here.story.what_changed(since=scene, until=after)


def _lines(changes: StoryDifference | None) -> list[str]:
    return [] if changes is None else difference_lines(changes)
