"""Reader of a novel-gen project folder."""

from collections.abc import Iterator, Sequence
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
from runtime.files.file_reading import is_within, read_json_file, validated
from runtime.ingest.entities import entities_of_characters
from runtime.ingest.scene_input import SceneInput, scenes_of_chapter
from runtime.storage import models, records
from runtime.storage.transfer import ProjectContents

CHAPTER_MEMORY_FILE = "chapter_memory.json"
STATUS_ATTRIBUTE = "status"
"""Attribute that holds what a chapter's memory says of a character in one text."""


class ChapterMemoryEntry(UserFileModel):
    """novel-gen's memory of a chapter, with counts in version 2."""

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
    def _as_list(cls, value: Any) -> Any:
        """Return a mapping by number as a list with numbers."""
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
    """The contents of a novel-gen folder."""

    story: IncomingStory
    plan_files: list[Path] = field(default_factory=list)
    unresolved_names: list[str] = field(default_factory=list)


def is_novel_gen_folder(folder: Path) -> bool:
    """Tell whether a folder looks like a project of novel-gen."""
    signs = ("characters.json", CHAPTER_MEMORY_FILE, "outline.json", "world.json")
    return bool(project_files.chapter_files(folder / "chapters")) or any((folder / sign).is_file() for sign in signs)


def read_novel_gen_folder(
    folder: Path, *, project_id: str, stored_contents: ProjectContents, now: datetime
) -> NovelGenStory:
    """Read a project folder of novel-gen.

    What a chapter's memory says holds from the end of the chapter: its summary and key events are notes, the
    characters' states state changes, its unresolved threads open loops, each planted where it is first named. Its
    anchor in time is that of its scenes. Who is in a scene and where it plays comes from the scene or its plan;
    places become locations of the story. The characters' relationships hold from the beginning.
    """
    settings = project_files.load_settings_file(folder / "settings.json")
    characters = _characters(folder)
    numbers = _free_ids(stored_contents, "C")
    known_entities = [entity.entity for entity in stored_contents.entities]
    people = entities_of_characters(characters, entities=known_entities, take_id=lambda: next(numbers))
    reading = _Reading(people, stored_contents, _entries(folder / CHAPTER_MEMORY_FILE), project_id=project_id, now=now)
    scenes = [
        scene
        for file in project_files.chapter_files(folder / "chapters").values()
        for scene in reading.scenes(
            project_files.load_chapter(file), project_files.load_chapter_plan(file.with_name(f"{file.stem}_plan.json"))
        )
    ]
    contents = reading.remembered(characters).model_copy(
        update={
            "name": settings.project_name if settings else folder.resolve().name,
            "language": settings.language if settings else "",
            "entities": [
                models.StoredEntity(entity=entity, author_aliases=[alias.alias for alias in entity.aliases])
                for entity in [*people, *reading.places]
            ],
            "parts": settings.parts if settings else [],
        }
    )
    # The plans of chapters, of either version: each must be readable, so that a context can be built by it.
    files = [file for file in sorted((folder / "chapters").glob("chapter_*_plan.json")) if is_within(file, folder)]
    for file in files:
        project_files.load_chapter_plan(file)
    return NovelGenStory(IncomingStory(contents, scenes), files, list(reading.strangers))


def read_chapter_memory(
    folder: Path, *, project_id: str, stored_contents: ProjectContents, now: datetime
) -> NovelGenStory | None:
    """Read novel-gen's chapter memories for a stored story."""
    characters, entries = _characters(folder), _entries(folder / CHAPTER_MEMORY_FILE)
    if not entries and not any(character.relationships for character in characters.everyone()):
        return None
    people = [entity.entity for entity in stored_contents.entities if entity.entity.entity_type == "character"]
    reading = _Reading(people, stored_contents, entries, project_id=project_id, now=now)
    contents = reading.remembered(characters)
    return NovelGenStory(IncomingStory(contents), unresolved_names=list(reading.strangers))


MAX_TYPE_CHARACTERS = 12
"""A relationship in so many characters is its type; a longer text only says how one side sees it."""


class _Reading:
    """A folder's statements in story ids.

    `strangers` are unknown names.
    """

    def __init__(
        self,
        people: Sequence[Entity],
        stored_contents: ProjectContents,
        entries: Sequence[ChapterMemoryEntry],
        *,
        project_id: str,
        now: datetime,
    ) -> None:
        self.places: list[Entity] = []
        self.strangers: dict[str, None] = {}
        self._stored, self._entries = stored_contents, entries
        self._project_id, self._now = project_id, now
        self._resolver = NameResolver(people)
        here = [one.entity for one in stored_contents.entities if one.entity.entity_type in ("item", "location")]
        # A ship has its one card; a location of the same name goes before it.
        here.sort(key=lambda entity: entity.entity_type == "location")
        self._place_ids = {name: entity.entity_id for entity in here for name in entity.names()}
        self._new_place_ids = _free_ids(stored_contents, "L")

    def _id_of(self, name: str) -> str | None:
        entity_id = self._resolver.resolve(name).entity_id
        if entity_id is None:
            self.strangers[name] = None
        return entity_id

    def scenes(self, chapter: GeneratedChapter, plan: ChapterPlan | None) -> list[SceneInput]:
        """Return a chapter's scenes with their cast, place and time, by themselves or by their plans."""
        times = {
            chapter_memory_entry.chapter_number: chapter_memory_entry.timeline_anchor
            for chapter_memory_entry in self._entries
        }
        taken_in = scenes_of_chapter(chapter)
        for index, (scene, written_generated_scene) in enumerate(zip(taken_in, chapter.scenes, strict=True)):
            scene_plan = plan.scene(written_generated_scene.scene_number) if plan is not None else None
            names = written_generated_scene.extra.get("characters") or (scene_plan.characters if scene_plan else [])
            place = written_generated_scene.extra.get("location") or (scene_plan.location if scene_plan else "")
            results = dict.fromkeys(self._id_of(str(name)) for name in (names if isinstance(names, list) else []))
            taken_in[index] = scene.model_copy(
                update={
                    "cast": [entity_id for entity_id in results if entity_id is not None],
                    "planned_location_id": self._place(place if isinstance(place, str) else "", scene),
                    "story_time": times.get(scene.chapter_index) or None,
                }
            )
        return taken_in

    def _place(self, name: str, scene: SceneInput) -> str | None:
        """Return the id of a place, which the story knows from the first scene on that plays there."""
        if name.strip() and name not in self._place_ids:
            entity_id = self._place_ids[name] = next(self._new_place_ids)
            place = {"first_chapter": scene.chapter_index, "first_scene": scene.scene_index}
            self.places.append(Entity(entity_id=entity_id, entity_type="location", name=name, **place))
        return self._place_ids.get(name)

    def remembered(self, characters: CharactersConfig) -> ProjectContents:
        """Return the statements on chapters and characters."""
        states = list(self._states())
        pairs, changes = self._relationships(characters)
        return ProjectContents(
            memories=[memory for entry in self._entries for memory in self._memories(entry)],
            states=states,
            loop_events=self._threads(),
            pairs=pairs,
            relationship_changes=changes,
        )

    def _relationships(
        self, characters: CharactersConfig
    ) -> tuple[list[records.Pair], list[records.RelationshipChange]]:
        """Return the unstored pairs of characters.json, with both sides."""
        stored_pairs = {(pair.character_a, pair.character_b) for pair in self._stored.pairs}
        fields: dict[tuple[str, str], dict[str, Any]] = {}
        for character in characters.everyone():
            this = self._resolver.resolve(character.name).entity_id
            for name, text in (character.relationships or {}).items():
                other = self._id_of(name)
                if this is not None and other is not None and this != other:
                    pair = (min(this, other), max(this, other))
                    fields.setdefault(pair, {})["perspective_a" if this == pair[0] else "perspective_b"] = text
        new = {pair: sides for pair, sides in fields.items() if pair not in stored_pairs}
        ids = dict(zip(new, _free_ids(self._stored, "R"), strict=False))
        pairs = [records.Pair(relationship_id=ids[one, two], character_a=one, character_b=two) for one, two in new]
        changes = []
        for pair, sides in new.items():
            short = next((text for text in sides.values() if len(text) <= MAX_TYPE_CHARACTERS), None)
            changes.append(records.RelationshipChange(relationship_id=ids[pair], relationship_type=short, **sides))
        return pairs, changes

    def _memories(self, entry: ChapterMemoryEntry) -> Iterator[models.StoredMemory]:
        lines = [("summary", 0, entry.summary, 7)]
        lines += [("place", 0, entry.location_summary or "", 5)]
        lines += [("event", index, event, 6) for index, event in enumerate(entry.key_events)]
        for kind, index, text, importance in lines:
            if text.strip():
                memory_id = f"chapter-{entry.chapter_number}-{kind}-{index}"
                chunk = StoryMemoryChunk(
                    chunk_id=memory_id,
                    source_id=memory_id,
                    project_id=self._project_id,
                    chapter_index=entry.chapter_number,
                    content=text,
                    content_type="note",
                    tags=[f"chapter_{kind}"],
                    importance=importance,
                    origin="author",
                    created_at=self._now,
                )
                yield models.StoredMemory(from_scene=False, chunk=chunk)

    def _states(self) -> Iterator[records.State]:
        for entry in self._entries:
            place: dict[str, Any] = {"chapter_index": entry.chapter_number, "created_at": self._now}
            for name, text in entry.character_states.items():
                entity_id = self._id_of(name)
                if entity_id is not None:
                    yield records.State(entity_id=entity_id, attribute=STATUS_ATTRIBUTE, value=text, **place)

    def _threads(self) -> list[records.LoopEvent]:
        """Return each thread, planted where it is first named."""
        stored_events = self._stored.loop_events
        thread_values = {
            event.detail.get("description"): event.loop_id for event in stored_events if event.kind == "planted"
        }
        new_ids = _free_ids(self._stored, "OL")
        first: dict[str, int] = {}
        for entry in self._entries:
            for thread in entry.unresolved_threads:
                first.setdefault(thread, entry.chapter_number)
        planting_fields: dict[str, Any] = {f"related_{kind}": [] for kind in ("characters", "locations", "items")}
        planting_fields |= {"category": "", "importance": "medium"}
        return [
            records.LoopEvent(
                loop_id=thread_values.get(thread) or next(new_ids),
                kind="planted",
                detail={**planting_fields, "description": thread},
                chapter_index=chapter,
            )
            for thread, chapter in first.items()
        ]


def _characters(folder: Path) -> CharactersConfig:
    return project_files.load_characters(folder / "characters.json") or CharactersConfig()


def _entries(file: Path) -> list[ChapterMemoryEntry]:
    if not file.exists():
        return []
    data = read_json_file(file, within=file.parent)
    document_data = {"chapters": data} if isinstance(data, list) else data
    entries = validated(_ChapterMemoryFile, document_data, where=repr(str(file))).chapters
    return sorted(entries, key=lambda entry: entry.chapter_number)


def _free_ids(stored_contents: ProjectContents, kind: str) -> Iterator[str]:
    return (f"{kind}{number}" for number in count(stored_contents.counters.get(kind, 0)))
