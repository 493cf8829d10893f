"""Reading the project folder of novel-gen: characters, chapters and what it remembered of each chapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.user_file import CharactersConfig, UserFileModel
from novelgen.names.resolver import NameResolver
from runtime.exchange.memory_folder_reading import IncomingStory
from runtime.ingest.character_entities import entities_of_characters
from runtime.ingest.scene_input import SceneInput, scenes_of_chapter
from runtime.projects.file_reading import read_json_file, validated
from runtime.projects.files import (
    chapter_files,
    load_chapter,
    load_chapter_plan,
    load_characters,
    load_settings_file,
)
from runtime.storage.transfer.records import (
    ExchangedEntity,
    ExchangedLoopEvent,
    ExchangedMemory,
    ExchangedState,
    ProjectContents,
)

CHAPTER_MEMORY_FILE = "chapter_memory.json"
STATUS_ATTRIBUTE = "status"
"""Attribute that holds what a chapter's memory says of a character in one text."""


class ChapterMemoryEntry(UserFileModel):
    """What novel-gen remembered of a chapter."""

    chapter_number: int = Field(ge=0)
    chapter_title: str = ""
    timeline_anchor: str | None = None
    location_summary: str | None = None
    key_events: list[str] = Field(default_factory=list)
    character_states: dict[str, str] = Field(default_factory=dict, description="Name to text.")
    unresolved_threads: list[str] = Field(default_factory=list)
    summary: str = ""


class _ChapterMemoryFile(UserFileModel):
    chapters: list[ChapterMemoryEntry] = Field(default_factory=list)

    @field_validator("chapters", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """`{"1": {…}}` stands for a list whose entries need not repeat their number."""
        if not isinstance(value, dict):
            return value
        return [
            {"chapter_number": int(number), **entry}
            if str(number).isdigit() and isinstance(entry, dict)
            else {"chapter_number": number, "entry": entry}
            for number, entry in value.items()
        ]


@dataclass(frozen=True, slots=True)
class NovelGenStory:
    """What was read.

    Args:
        story: What is to be imported.
        plan_files: Plans of chapters, which are no part of the memory.
        unresolved_names: Names in chapter_memory.json that no character bears.
    """

    story: IncomingStory
    plan_files: list[Path] = field(default_factory=list)
    unresolved_names: list[str] = field(default_factory=list)


def is_novel_gen_folder(folder: Path) -> bool:
    """Tell whether a folder looks like a project of novel-gen."""
    signs = ("characters.json", CHAPTER_MEMORY_FILE, "outline.json", "world.json")
    return bool(chapter_files(folder / "chapters")) or any((folder / sign).is_file() for sign in signs)


def read_novel_gen_folder(
    folder: Path, *, project_id: str, stored: ProjectContents, now: datetime
) -> NovelGenStory:
    """Read a project folder of novel-gen.

    What a chapter's memory says holds from the end of the chapter: its summary and key events are notes, the
    characters' states state changes, its unresolved threads open loops, each planted where it is first named.

    Args:
        folder: The folder.
        project_id: Project that it is read for.
        stored: What the project holds: characters and threads that are known there keep their ids.
        now: Moment that is stamped on what is new.

    Raises:
        InvalidFileError: When a file is wrong; names file, field and value.
    """
    settings = load_settings_file(folder / "settings.json")
    characters = load_characters(folder / "characters.json") or CharactersConfig()
    entities = _entities(characters, stored)
    entries = _entries(folder / CHAPTER_MEMORY_FILE)
    states, unresolved = _states(entries, entities, now)
    contents = ProjectContents(
        name=settings.project_name if settings else folder.resolve().name,
        language=settings.language if settings else "",
        entities=[_exchanged(entity) for entity in entities],
        memories=[memory for entry in entries for memory in _memories(entry, project_id, now)],
        states=states,
        loop_events=_threads(entries, stored),
        parts=settings.parts if settings else [],
    )
    scenes: list[SceneInput] = []
    for file in chapter_files(folder / "chapters").values():
        scenes += scenes_of_chapter(load_chapter(file))
    return NovelGenStory(IncomingStory(contents, scenes), _plan_files(folder / "chapters"), unresolved)


def _plan_files(folder: Path) -> list[Path]:
    """Find the plans of chapters, of either version; each must be readable, so that a context can be built by it."""
    files = sorted(folder.glob("chapter_*_plan.json"))
    for file in files:
        load_chapter_plan(file)
    return files


def _entries(file: Path) -> list[ChapterMemoryEntry]:
    if not file.exists():
        return []
    data = read_json_file(file)
    listed = {"chapters": data} if isinstance(data, list) else data
    entries = validated(_ChapterMemoryFile, listed, where=repr(str(file))).chapters
    return sorted(entries, key=lambda entry: entry.chapter_number)


def _entities(characters: CharactersConfig, stored: ProjectContents) -> list[Entity]:
    numbers = count(_first_free(stored, "C"))
    known = [each.entity for each in stored.entities]
    return entities_of_characters(characters, known=known, take_id=lambda: f"C{next(numbers)}")


def _exchanged(entity: Entity) -> ExchangedEntity:
    return ExchangedEntity(entity=entity, author_aliases=[alias.alias for alias in entity.aliases])


def _memories(entry: ChapterMemoryEntry, project_id: str, now: datetime) -> list[ExchangedMemory]:
    told = [("summary", 0, entry.summary, 7), ("timeline", 0, entry.timeline_anchor or "", 5)]
    told += [("place", 0, entry.location_summary or "", 5)]
    told += [("event", index, event, 6) for index, event in enumerate(entry.key_events)]
    return [
        ExchangedMemory(
            from_scene=False,
            chunk=StoryMemoryChunk(
                chunk_id=f"chapter-{entry.chapter_number}-{kind}-{index}",
                source_id=f"chapter-{entry.chapter_number}-{kind}-{index}",
                project_id=project_id,
                chapter_index=entry.chapter_number,
                content=text,
                content_type="note",
                tags=[f"chapter_{kind}"],
                importance=importance,
                origin="author",
                created_at=now,
            ),
        )
        for kind, index, text, importance in told
        if text.strip()
    ]


def _states(
    entries: Sequence[ChapterMemoryEntry], entities: Sequence[Entity], now: datetime
) -> tuple[list[ExchangedState], list[str]]:
    resolver = NameResolver(entities)
    states: list[ExchangedState] = []
    unresolved: list[str] = []
    for entry in entries:
        for name, text in entry.character_states.items():
            entity_id = resolver.resolve(name).entity_id
            if entity_id is None:
                unresolved.append(name)
                continue
            place = {"chapter_index": entry.chapter_number, "created_at": now}
            states.append(
                ExchangedState(entity_id=entity_id, attribute=STATUS_ATTRIBUTE, value=text, **place)
            )
    return states, list(dict.fromkeys(unresolved))


def _threads(entries: Sequence[ChapterMemoryEntry], stored: ProjectContents) -> list[ExchangedLoopEvent]:
    known = {
        each.detail.get("description"): each.loop_id for each in stored.loop_events if each.kind == "planted"
    }
    numbers = count(_first_free(stored, "OL"))
    first: dict[str, int] = {}
    for entry in entries:
        for thread in entry.unresolved_threads:
            first.setdefault(thread, entry.chapter_number)
    return [
        ExchangedLoopEvent(
            loop_id=known.get(thread) or f"OL{next(numbers)}",
            kind="planted",
            detail=_detail(thread),
            chapter_index=chapter,
        )
        for thread, chapter in first.items()
    ]


def _detail(description: str) -> dict[str, Any]:
    related: dict[str, Any] = {f"related_{kind}": [] for kind in ("characters", "locations", "items")}
    return {"category": "", "description": description, "importance": "medium", **related}


def _first_free(stored: ProjectContents, kind: str) -> int:
    return stored.counters.get(kind, 0)
