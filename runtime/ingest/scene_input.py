"""Ingest input: a finished scene with its record, participants and place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from novelgen.language.language import has_cjk
from novelgen.language.matching import name_finder
from novelgen.language.normalise import name_key, require_size, scrub_text, scrub_tree
from novelgen.language.resolver import Mention, NameResolver
from novelgen.language.speech import presence_of
from novelgen.models.base import with_texts
from novelgen.models.entity import Entity
from novelgen.models.knowledge import READER
from novelgen.models.plan import GeneratedChapter, GeneratedScene
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.files.chapter_text import SCENE_TITLE_FIELD
from runtime.files.project_files import Book
from runtime.storage.columns import ExtractionStatus
from runtime.storage.entities import is_unmasked
from runtime.storage.records import MEANINGS, Scene

RecordOrigin = Literal["author", "supplied", "extracted"]


class SceneInput(BaseModel):
    """A finished scene.

    Without a record, rules derive facts from its text.
    """

    model_config = ConfigDict(frozen=True)

    chapter_index: ChapterIndex
    scene_index: SceneIndex
    label: str = Field(default="", description="Id of a new scene, kept where it is free.")
    title: str = ""
    text: str
    record: SceneRecord | None = None
    record_origin: RecordOrigin = Field(default="supplied", description="Who made the record; ignored without one.")
    extraction_status: ExtractionStatus = Field(
        default="none", description="How the extraction of a record went; a scene with a record is done."
    )
    failure_reason: str | None = None
    cast: list[str] = Field(
        default_factory=list, description="Entity ids that a plan puts on stage; a record outranks them."
    )
    planned_location_id: str | None = Field(default=None, description="Where a plan lets it play; likewise.")
    staged: dict[str, Any] = Field(
        default_factory=dict, description="What the author says of who is there and where; it outranks a record."
    )
    story_time: str | None = Field(default=None, description="When it plays, in the story's words; likewise.")
    file_version: dict[str, str] | None = Field(
        default=None, description="As `Scene.file_version`; None keeps what is stored."
    )

    @classmethod
    def of_stored(cls, scene: Scene, **changes: Any) -> SceneInput:
        """Return a stored scene as it would come again, with changes."""
        names = [
            *("chapter_index", "scene_index", "title", "record", "extraction_status", "failure_reason"),
            *("story_time", "staged", "file_version"),
        ]
        fields = {name: getattr(scene, name) for name in names}
        origin = record_origin_of(scene)
        return cls.model_validate({**fields, "text": scene.text or "", "record_origin": origin, **changes})

    def scrubbed(self) -> SceneInput:
        """Return the scene as every store accepts it."""
        require_size(self.text, f"scene {self.scene_index} of chapter {self.chapter_index}")
        record = None
        if self.record is not None:
            record = SceneRecord.model_validate(scrub_tree(self.record.model_dump()))
        return self.model_copy(
            update={"title": scrub_text(self.title), "text": scrub_text(self.text), "record": record}
        )


def record_origin_of(scene: Scene) -> RecordOrigin:
    """Return the origin of a scene's record, "supplied" without one."""
    return "supplied" if scene.record_origin == "rules" else scene.record_origin


_ID_FIELDS = frozenset(
    (
        *("pov_character_id", "location_id", "characters_present", "entity_id", "character_id", "from_id"),
        *("character_a", "character_b", "related_characters", "related_locations", "related_items"),
        *("entities", "known_by", "hidden_from"),
    )
)
"""Fields of a record that hold ids of entities."""


def record_with_ids(record: SceneRecord, entities: Iterable[Entity]) -> SceneRecord:
    """Return a record with ids in place of names that exactly one entity bears."""
    ids = {READER}
    bearer_ids: dict[str, set[str]] = {}
    for entity in entities:
        ids.add(entity.entity_id)
        for name in entity.names():
            bearer_ids.setdefault(name_key(name), set()).add(entity.entity_id)

    def id_for(field: str, value: str) -> str:
        matches = bearer_ids.get(name_key(value), ()) if field in _ID_FIELDS and value not in ids else ()
        return next(iter(matches)) if len(matches) == 1 else value

    return with_texts(record, id_for)


def bare_text(text: str) -> str:
    """Return a text for comparison, without line breaks and indentation."""
    return ("" if has_cjk(text) else " ").join(text.split())


def scenes_of_chapter(chapter: GeneratedChapter, records: Iterable[SceneRecord] = ()) -> list[SceneInput]:
    """Return a chapter's scenes, titled by it, each with its record where one stands at its position."""
    by_position = {(record.chapter_index, record.scene_index): record for record in records}
    return [
        SceneInput(
            chapter_index=chapter.chapter_number,
            scene_index=scene.scene_number,
            title=_title(chapter, scene, by_position.get((chapter.chapter_number, scene.scene_number))),
            text=scene.content,
            record=by_position.get((chapter.chapter_number, scene.scene_number)),
        )
        for scene in chapter.scenes
    ]


def _title(chapter: GeneratedChapter, scene: GeneratedScene, record: SceneRecord | None) -> str:
    """Return a scene's title after its chapter's, a record's title alone."""
    own = str(scene.extra.get(SCENE_TITLE_FIELD) or "")
    if record is not None and record.title and not own:
        return ""
    return " · ".join(title for title in (chapter.chapter_title, own) if title)


def scenes_of_book(book: Book) -> list[SceneInput]:
    """Return a book's scenes in story order, each with its record where the book has one."""
    return [
        SceneInput(
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            title=scene.title,
            text=scene.text,
            record=book.records.get((scene.chapter_index, scene.scene_index)),
        )
        for scene in book.scenes
    ]


@dataclass(frozen=True, slots=True)
class SceneSurroundings:
    """The knowledge on entering a scene."""

    entities: Sequence[Entity] = ()
    recent_ids: Sequence[str] = ()
    previous_location_id: str | None = None


class SceneReading:
    """Reads a scene as of its own place in the story."""

    def __init__(self, scene: SceneInput, surroundings: SceneSurroundings) -> None:
        known_entities = known_in_scene(surroundings.entities, scene.chapter_index, scene.scene_index)
        self._resolver = NameResolver(
            known_entities, present_ids=surroundings.recent_ids, meanings=scene.staged.get(MEANINGS) or {}
        )
        participants, location_id = self._read_staging(scene, surroundings, known_entities)
        self.participants: list[str] = scene.staged.get("participants", participants)
        self.location_id: str | None = scene.staged.get("location_id", location_id) or None

    def _read_staging(
        self, scene: SceneInput, surroundings: SceneSurroundings, known_entities: Sequence[Entity]
    ) -> tuple[list[str], str | None]:
        """Return who is there and where by the record, the plan or the text."""
        if scene.record is not None:
            return list(dict.fromkeys(scene.record.characters_present)), scene.record.location_id
        presence = presence_of(
            scene.text,
            self._resolver.find_mentions(scene.text),
            known_entities,
            previous_location_id=surroundings.previous_location_id,
        )
        known_ids = {entity.entity_id for entity in known_entities}
        cast = [entity_id for entity_id in scene.cast if entity_id in known_ids]
        location_id = scene.planned_location_id
        participants = list(dict.fromkeys([*cast, *presence.participant_ids]))
        return participants, location_id if location_id in known_ids else presence.location_id

    def mentions_in(self, text: str) -> list[Mention]:
        """Find the entities that a part of the scene, or of its record, names."""
        return self._resolver.find_mentions(text, also_present=self.participants)


def known_in_scene(entities: Sequence[Entity], chapter_index: int, scene_index: int) -> list[Entity]:
    """Return the entities shown by the end of a scene, with their names."""
    after = StoryPosition(chapter_index, scene_index + 1)
    return [
        entity.model_copy(
            update={
                "aliases": [
                    alias for alias in entity.aliases if after.admits(alias.first_chapter, alias.first_scene or 0)
                ]
            }
        )
        for entity in entities
        if after.admits(entity.first_chapter, entity.first_scene or 0) and not is_unmasked(entity, after)
    ]


def name_mentions(
    text: str, entities: Sequence[Entity], meanings: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[str, str]]:
    """Find which names of which entities a text contains, wherever in the story they are first used.

    A name with a meaning in the scene is that one's alone.
    """
    bearers: dict[str, list[str]] = {}
    for entity in entities:
        for name in entity.names():
            bearers.setdefault(name, []).append(entity.entity_id)
    bearers |= {name: [entity_id] for name, entity_id in meanings.items() if entity_id}
    found_ids = {match.name for match in name_finder(frozenset(bearers)).find(text)}
    return sorted({(entity_id, name) for name in found_ids for entity_id in bearers[name]})
