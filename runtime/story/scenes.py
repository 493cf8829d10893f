"""Stored scenes and their records: looking at them, inserting, moving and deleting them, correcting a record."""

from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from novelgen.errors import InvalidFileError, InvalidPositionError, UserInputError
from novelgen.language.language import count_words
from novelgen.models.context import ReportIssue
from novelgen.models.record import SceneRecord
from novelgen.models.user_file import StoryPart
from runtime.storage.change import number_of
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult, MemoryFilter
from runtime.storage.records import Scene
from runtime.story.base import At, ChangeNumber, Count, SceneText, StoryBase, async_twin, story_position
from runtime.story.changes import Standing, keep_insertion, keep_move
from runtime.story.versions import Version, require_unchanged, scene_version

Offset = Annotated[int, Field(ge=0, le=100_000_000)]
"""Characters into a text."""


class ListedScene(BaseModel):
    """A stored scene with its cast's names."""

    scene: Scene
    on_stage: list[str] = Field(default_factory=list)
    guessed: list[str] = Field(
        default_factory=list, description="What of it only rules say: participants, location_id."
    )
    part: str = Field(default="", description="Title of the part, such as a volume, that its chapter stands in.")
    words: int = Field(default=0, description="Of its whole text, its 字数.")
    characters: int | None = Field(default=None, description="Of its whole text; null where that was not read.")
    version: str = Field(default="", description="Of a scene read by itself; a change may name it.")


class SceneChange(BaseModel):
    """The result of inserting, moving or deleting scenes."""

    position: str
    change_id: ChangeNumber = None
    moved: int = Field(default=0, description="Scenes that have another place than before.")
    removed: int = Field(default=0, description="Memories that went with the scene.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class SceneRecordView(BaseModel):
    """A scene's record, possibly empty, with unproven facts."""

    record: SceneRecord
    is_stored: bool
    extraction_status: str
    failure_reason: str = ""
    unverified: list[str] = Field(default_factory=list)


class RecordReplacement(BaseModel):
    """A replaced record."""

    position: str
    change_id: ChangeNumber = None
    issues: list[ReportIssue] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryScenes(StoryBase):
    """Stored scenes and their records: looking at them, inserting, moving and deleting them, correcting a record."""

    def get(self, position: At, *, begin: Offset = 0, length: Offset | None = None) -> ListedScene:
        """Return a stored scene with its text.

        Args:
            position: The scene, as `3:2`.
            begin: First character of the text that is told.
            length: At most so many characters of it.
        """
        with self._stores.database(self.project_id).read() as unit:
            scene = unit.scenes.require(story_position(position))
            listed_scene = _list_scene(scene, _names(unit), _parts(unit), count_words(scene.text or ""))
        text = listed_scene.scene.text or ""
        part = text[begin : None if length is None else begin + length]
        rendered_scene = listed_scene.scene.model_copy(update={"text": part if text else listed_scene.scene.text})
        version = scene_version(listed_scene.scene)
        return listed_scene.model_copy(update={"scene": rendered_scene, "characters": len(text), "version": version})

    def insert(self, position: At, *, text: SceneText | None = None, title: str = "") -> SceneChange:
        """Make room at a place and store a new scene there; those from there on move by one.

        Args:
            position: Place of the new scene; with a chapter alone, room is made for a chapter.
            text: The scene's text; without it only room is made.
            title: The scene's title.

        Raises:
            InvalidPositionError: When a text is given for a whole chapter.
            UserInputError: When the text is empty; nothing is moved then.
        """
        position = story_position(position)
        from runtime.ingest.ingest import take_in
        from runtime.ingest.scene_input import SceneInput

        if text is not None and position.scene_index is None:
            raise InvalidPositionError(f"{str(position)!r} is a chapter; name the place of the scene: {position}:1")
        if text is not None and not text.strip():
            raise UserInputError(f"the new scene {str(position)!r} holds no text; nothing was moved")
        chapter_index, scene_index, scene = position.chapter_index or 0, position.scene_index or 0, None
        with self._stores.database(self.project_id).write() as unit:
            order_before = Standing.of(unit)
            moved_count = unit.scenes.insert_gap(position)
            if text is not None:
                rendered_scene = SceneInput(
                    chapter_index=chapter_index, scene_index=scene_index, title=title, text=text.strip()
                )
                take_in(unit, rendered_scene, project_id=self.project_id, stores=self._stores)
                scene = unit.scenes.require(position)
            change = keep_insertion(unit, scene, order_before)
        return SceneChange(
            position=str(position), change_id=number_of(change), moved=moved_count, indexing=self._follow_edit()
        )

    def move(self, source: At, target: At) -> SceneChange:
        """Move a scene, or a whole chapter; the others close up and make room. `undo` takes it back."""
        target = story_position(target)
        source = story_position(source)
        if (source.scene_index is None) != (target.scene_index is None):
            raise InvalidPositionError(
                f"{str(source)!r} and {str(target)!r} are not alike; move a scene to a scene's place (3:2 5:1) or a "
                "chapter to a chapter's (3 5)"
            )
        with self._stores.database(self.project_id).write() as unit:
            order_before = Standing.of(unit)
            if source.scene_index is None:
                chapters = source.chapter_index or 0, target.chapter_index or 0
                moved_count = unit.scenes.move_chapter(*chapters)
            else:
                moved_count = unit.scenes.move_scene(source, target)
            change = keep_move(unit, source, target, order_before)
        indexing = self._follow_edit()
        return SceneChange(position=str(target), change_id=number_of(change), moved=moved_count, indexing=indexing)

    def delete(self, position: At, *, expected_version: Version | None = None) -> SceneChange:
        """Delete a scene with everything that came from it; the author's notes stay. `undo` takes it back.

        Args:
            position: The scene, as `3:2`.
            expected_version: The `version` that was read; None deletes whatever stands.

        Raises:
            StaleVersionError: When the scene was changed since that version was read.
        """
        position = story_position(position)
        with self._stores.database(self.project_id).write() as unit:
            scene = unit.scenes.require(position)
            require_unchanged(expected_version, scene_version(scene), subject=f"scene {position}")
            with unit.journal.recording_scene(scene.scene_id) as rows:
                removed = unit.scenes.delete_scene(position)
            change = unit.journal.keep("delete", scene.scene_id, "", rows, subject="scene")
        return SceneChange(
            position=str(position), change_id=change.change_id, removed=len(removed), indexing=self._follow_edit()
        )

    def get_record(self, position: At) -> SceneRecordView:
        """Return a scene's record, with unproven facts.

        Args:
            position: The scene, as `3:2`.
        """
        with self._stores.database(self.project_id).read() as unit:
            scene = unit.scenes.require(story_position(position))
            memories = unit.memories.list_matching(MemoryFilter(unverified_only=True))
            changes = unit.states.unverified(scene_id=scene.scene_id)
            facts = [
                f"memory {stored_memory.chunk.source_id}: {stored_memory.chunk.content}"
                for stored_memory in memories
                if stored_memory.scene_id == scene.scene_id
            ]
            unverified = facts + [f"state {change.entity_id}.{change.attribute}: {change.value}" for change in changes]
        empty = SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index, title=scene.title)
        return SceneRecordView(
            record=scene.record or empty,
            is_stored=scene.record is not None,
            extraction_status=scene.extraction_status,
            failure_reason=scene.failure_reason or "",
            unverified=unverified,
        )

    def list(self, *, limit: Count | None = None) -> list[ListedScene]:
        """Return the stored scenes in story order, without their texts and records.

        Args:
            limit: At most so many, the last ones.
        """
        with self._stores.database(self.project_id).read() as unit:
            scenes = unit.scenes.list_as_of()
            names = _names(unit)
            parts = _parts(unit)
            words = unit.scenes.words()
        return [
            _list_scene(scene, names, parts, words.get((scene.chapter_index, scene.scene_index), 0))
            for scene in scenes[-(limit or 0) :]
        ]

    alist = async_twin(list)
    aget = async_twin(get)
    ainsert = async_twin(insert)
    amove = async_twin(move)
    adelete = async_twin(delete)
    aget_record = async_twin(get_record)


class StoryRecordFiles(StoryScenes):
    """Scenes whose records are written in files."""

    def replace_record(self, *, position: At, written: str, source_name: str) -> RecordReplacement:
        """Store an author's record in place of the old one.

        `undo` restores it.
        """
        position = story_position(position)
        from runtime.ingest.ingest import take_in
        from runtime.ingest.scene_input import SceneInput

        with self._stores.database(self.project_id).write() as unit:
            scene = unit.scenes.require(position)
            before, record = unit.scenes.image(scene), _parsed_record(written, scene, source_name)
            replacement = SceneInput.of_stored(scene, record=record, record_origin="author")
            result = take_in(unit, replacement, project_id=self.project_id, stores=self._stores)
            after = unit.scenes.image(unit.scenes.require(position))
            change = unit.journal.keep_fields("scene", "record", scene.scene_id, before, after)
        return RecordReplacement(
            position=str(position), change_id=number_of(change), issues=result.issues, indexing=self._follow_edit()
        )


def _names(unit: UnitOfWork) -> dict[str, str]:
    return {entity.entity.entity_id: entity.entity.name for entity in unit.entities.list_all()}


def _parts(unit: UnitOfWork) -> list[StoryPart]:
    return [StoryPart.model_validate(part) for part in unit.projects.require().settings.get("parts", ())]


def _list_scene(scene: Scene, names: dict[str, str], parts: list[StoryPart], words: int) -> ListedScene:
    holding = (
        story_part for story_part in parts if story_part.first_chapter <= scene.chapter_index <= story_part.last_chapter
    )
    return ListedScene(
        scene=scene,
        on_stage=[names.get(participant_id, participant_id) for participant_id in scene.participants],
        guessed=scene.guessed,
        part=next((story_part.title for story_part in holding), ""),
        words=words,
    )


def _parsed_record(text: str, scene: Scene, name: str) -> SceneRecord:
    try:
        record = SceneRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidFileError(f"{name!r} is no scene record: {field}: {first['msg']}; nothing was changed") from error
    # A record belongs to the scene that it is given for, wherever that stood when it was written.
    place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
    return record.model_copy(update=place)
