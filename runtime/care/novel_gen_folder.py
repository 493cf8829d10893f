"""Reading the project folder of novel-gen: characters, chapters and what it remembered of each chapter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from novelgen.language.resolver import NameResolver
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ChapterPlan, GeneratedChapter
from novelgen.models.user_file import CharactersConfig, UserFileModel
from runtime.care.reading import IncomingStory
from runtime.files import project_files
from runtime.files.file_reading import read_json_file, validated
from runtime.ingest.entities import entities_of_characters
from runtime.ingest.scene_input import SceneInput, scenes_of_chapter
from runtime.storage import records
from runtime.storage.transfer import ProjectContents

CHAPTER_MEMORY_FILE = "chapter_memory.json"
STATUS_ATTRIBUTE = "status"
"""Attribute that holds what a chapter's memory says of a character in one text."""


class ChapterMemoryEntry(UserFileModel):
    """What novel-gen remembered of a chapter; its second version counts scenes and words instead."""

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
    """What was read."""

    story: IncomingStory
    plan_files: list[Path] = field(default_factory=list)
    unresolved_names: list[str] = field(default_factory=list)


def is_novel_gen_folder(folder: Path) -> bool:
    """Tell whether a folder looks like a project of novel-gen."""
    signs = ("characters.json", CHAPTER_MEMORY_FILE, "outline.json", "world.json")
    return bool(project_files.chapter_files(folder / "chapters")) or any((folder / sign).is_file() for sign in signs)


def read_novel_gen_folder(folder: Path, *, project_id: str, stored: ProjectContents, now: datetime) -> NovelGenStory:
    """Read a project folder of novel-gen.

    What a chapter's memory says holds from the end of the chapter: its summary and key events are notes, the
    characters' states state changes, its unresolved threads open loops, each planted where it is first named. Its
    anchor in time is that of its scenes. Who is in a scene and where it plays comes from the scene or its plan;
    places become locations of the story. The characters' relationships hold from the beginning.
    """
    settings = project_files.load_settings_file(folder / "settings.json")
    characters = project_files.load_characters(folder / "characters.json") or CharactersConfig()
    numbers = count(_first_free(stored, "C"))
    known = [each.entity for each in stored.entities]
    people = entities_of_characters(characters, known=known, take_id=lambda: f"C{next(numbers)}")
    entries = _entries(folder / CHAPTER_MEMORY_FILE)
    staged = _Stage(people, stored, times={each.chapter_number: each.timeline_anchor or "" for each in entries})
    scenes = [
        scene
        for file in project_files.chapter_files(folder / "chapters").values()
        for scene in staged.scenes(
            project_files.load_chapter(file), project_files.load_chapter_plan(file.with_name(f"{file.stem}_plan.json"))
        )
    ]
    contents, strangers = _remembered(entries, characters, people, project_id=project_id, stored=stored, now=now)
    contents = contents.model_copy(
        update={
            "name": settings.project_name if settings else folder.resolve().name,
            "language": settings.language if settings else "",
            "entities": [
                records.StoredEntity(entity=each, author_aliases=[alias.alias for alias in each.aliases])
                for each in [*people, *staged.places]
            ],
            "parts": settings.parts if settings else [],
        }
    )
    unresolved = list(dict.fromkeys([*staged.unresolved_names, *strangers]))
    # The plans of chapters, of either version: each must be readable, so that a context can be built by it.
    files = sorted((folder / "chapters").glob("chapter_*_plan.json"))
    for file in files:
        project_files.load_chapter_plan(file)
    return NovelGenStory(IncomingStory(contents, scenes), files, unresolved)


def read_chapter_memory(
    folder: Path, *, project_id: str, stored: ProjectContents, now: datetime
) -> NovelGenStory | None:
    """Read what novel-gen remembered of a project's chapters, for a story whose chapters and characters are stored."""
    characters = project_files.load_characters(folder / "characters.json") or CharactersConfig()
    entries = _entries(folder / CHAPTER_MEMORY_FILE)
    if not entries and not any(each.relationships for each in characters.everyone()):
        return None
    people = [each.entity for each in stored.entities if each.entity.entity_type == "character"]
    contents, strangers = _remembered(entries, characters, people, project_id=project_id, stored=stored, now=now)
    return NovelGenStory(IncomingStory(contents), unresolved_names=strangers)


def _remembered(
    entries: Sequence[ChapterMemoryEntry],
    characters: CharactersConfig,
    people: Sequence[Entity],
    *,
    project_id: str,
    stored: ProjectContents,
    now: datetime,
) -> tuple[ProjectContents, list[str]]:
    """Return what is said of chapters and characters, and the names in it that nobody bears."""
    states, unresolved = _states(entries, people, now)
    pairs, changes, strangers = _relationships(characters, people, stored)
    contents = ProjectContents(
        memories=[memory for entry in entries for memory in _memories(entry, project_id, now)],
        states=states,
        loop_events=_threads(entries, stored),
        pairs=pairs,
        relationship_changes=changes,
    )
    return contents, list(dict.fromkeys([*unresolved, *strangers]))


class _Stage:
    """Who is in the written scenes, and where they play, by the scenes themselves or by their plans."""

    def __init__(self, people: Sequence[Entity], stored: ProjectContents, times: Mapping[int, str]) -> None:
        self.places: list[Entity] = []
        self.unresolved_names: list[str] = []
        self._resolver = NameResolver(people)
        self._times = times
        here = [each.entity for each in stored.entities if each.entity.entity_type == "location"]
        self._place_ids = {name: each.entity_id for each in here for name in each.names()}
        self._numbers = count(_first_free(stored, "L"))

    def scenes(self, chapter: GeneratedChapter, plan: ChapterPlan | None) -> list[SceneInput]:
        """Return a chapter's scenes with their cast, place and time."""
        taken_in = scenes_of_chapter(chapter)
        for index, (scene, written) in enumerate(zip(taken_in, chapter.scenes, strict=True)):
            planned = plan.scene(written.scene_number) if plan is not None else None
            names = written.extra.get("characters") or (planned.characters if planned else [])
            place = written.extra.get("location") or (planned.location if planned else "")
            found = {
                str(name): self._resolver.resolve(str(name)).entity_id
                for name in (names if isinstance(names, list) else [])
            }
            self.unresolved_names += [name for name, entity_id in found.items() if entity_id is None]
            taken_in[index] = scene.model_copy(
                update={
                    "cast": [entity_id for entity_id in found.values() if entity_id is not None],
                    "planned_location_id": self._place(place if isinstance(place, str) else "", scene),
                    "story_time": self._times.get(scene.chapter_index) or None,
                }
            )
        return taken_in

    def _place(self, name: str, scene: SceneInput) -> str | None:
        """Return the id of a place, which the story knows from the first scene on that plays there."""
        if not name.strip():
            return None
        if name not in self._place_ids:
            self._place_ids[name] = f"L{next(self._numbers)}"
            self.places.append(
                Entity(
                    entity_id=self._place_ids[name],
                    entity_type="location",
                    name=name,
                    first_chapter=scene.chapter_index,
                    first_scene=scene.scene_index,
                )
            )
        return self._place_ids[name]


MAX_TYPE_CHARACTERS = 12
"""A relationship in so many characters is its type; a longer text only says how one side sees it."""


def _relationships(
    characters: CharactersConfig, people: Sequence[Entity], stored: ProjectContents
) -> tuple[list[records.StoredPair], list[records.StoredRelationshipChange], list[str]]:
    """Return the pairs of characters.json that are not stored yet, with what each side says of the other."""
    resolver = NameResolver(people)
    known = {(pair.character_a, pair.character_b) for pair in stored.pairs}
    told: dict[tuple[str, str], dict[str, str]] = {}
    strangers: list[str] = []
    for character in characters.everyone():
        this = resolver.resolve(character.name).entity_id
        for name, text in (character.relationships or {}).items():
            other = resolver.resolve(name).entity_id
            if this is None or other is None or this == other:
                strangers += [name] if other is None else []
                continue
            pair = (min(this, other), max(this, other))
            told.setdefault(pair, {})["perspective_a" if this == pair[0] else "perspective_b"] = text
    numbers = count(_first_free(stored, "R"))
    pairs: list[records.StoredPair] = []
    changes: list[records.StoredRelationshipChange] = []
    for (one, two), sides in told.items():
        if (one, two) in known:
            continue
        relationship_id = f"R{next(numbers)}"
        short = [text for text in sides.values() if len(text) <= MAX_TYPE_CHARACTERS]
        pairs.append(records.StoredPair(relationship_id=relationship_id, character_a=one, character_b=two))
        changes.append(
            records.StoredRelationshipChange(
                relationship_id=relationship_id, relationship_type=short[0] if short else None, **sides
            )
        )
    return pairs, changes, strangers


def _entries(file: Path) -> list[ChapterMemoryEntry]:
    if not file.exists():
        return []
    data = read_json_file(file)
    listed = {"chapters": data} if isinstance(data, list) else data
    entries = validated(_ChapterMemoryFile, listed, where=repr(str(file))).chapters
    return sorted(entries, key=lambda entry: entry.chapter_number)


def _memories(entry: ChapterMemoryEntry, project_id: str, now: datetime) -> list[records.StoredMemory]:
    told = [("summary", 0, entry.summary, 7)]
    told += [("place", 0, entry.location_summary or "", 5)]
    told += [("event", index, event, 6) for index, event in enumerate(entry.key_events)]
    return [
        records.StoredMemory(
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
) -> tuple[list[records.StoredState], list[str]]:
    resolver = NameResolver(entities)
    states: list[records.StoredState] = []
    unresolved: list[str] = []
    for entry in entries:
        for name, text in entry.character_states.items():
            entity_id = resolver.resolve(name).entity_id
            if entity_id is None:
                unresolved.append(name)
                continue
            place = {"chapter_index": entry.chapter_number, "created_at": now}
            states.append(records.StoredState(entity_id=entity_id, attribute=STATUS_ATTRIBUTE, value=text, **place))
    return states, list(dict.fromkeys(unresolved))


def _threads(entries: Sequence[ChapterMemoryEntry], stored: ProjectContents) -> list[records.StoredLoopEvent]:
    known = {each.detail.get("description"): each.loop_id for each in stored.loop_events if each.kind == "planted"}
    numbers = count(_first_free(stored, "OL"))
    first: dict[str, int] = {}
    for entry in entries:
        for thread in entry.unresolved_threads:
            first.setdefault(thread, entry.chapter_number)
    planted: dict[str, Any] = {f"related_{kind}": [] for kind in ("characters", "locations", "items")}
    planted |= {"category": "", "importance": "medium"}
    return [
        records.StoredLoopEvent(
            loop_id=known.get(thread) or f"OL{next(numbers)}",
            kind="planted",
            detail={**planted, "description": thread},
            chapter_index=chapter,
        )
        for thread, chapter in first.items()
    ]


def _first_free(stored: ProjectContents, kind: str) -> int:
    return stored.counters.get(kind, 0)
