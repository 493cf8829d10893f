"""What Python programs take in: finished scenes as texts, files and records, readings by a model, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ValidationError

from novelgen.errors import UserInputError
from novelgen.models.given import given_record
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.async_twins import async_twin
from runtime.files.file_reading import described
from runtime.files.project_files import chapter_files
from runtime.services import memories as memory_services
from runtime.services.extraction import ExtractionReport, extract_project
from runtime.services.ingest import IngestReport, ingest_finished_scene, ingest_project
from runtime.services.memories import AddedNote
from runtime.story_base import Place, StoryBase, position_of, required_position

Progress = Callable[[int, int], Any]
Model = TypeVar("Model", bound=BaseModel)


class StoryFilling(StoryBase):
    """The part of a `Story` that takes in what is written; see there."""

    def ingest(
        self,
        files: str | Path | Sequence[str | Path] = (),
        *,
        text: str | None = None,
        record: SceneRecord | Mapping[str, Any] | None = None,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        title: str = "",
        records: bool | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take finished scenes in: a text, files, or what the project's folder holds.

        What is stored already and has not changed is left alone; a changed scene takes the place of what came from
        it before, and of nothing else.

        Args:
            files: Chapter files or folders of them, in place of those in the project's `chapters` folder.
            text: One scene's text, at `chapter_index` and `scene_index`.
            record: What that scene established; without `text`, of the scene that is stored there.
            chapter_index: Chapter of the text; with files, only this chapter.
            scene_index: Scene of the text within its chapter.
            title: Title of that scene.
            records: Of files: True wants their records, False leaves them, None takes those that are there.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene. Parts that are wrong stand in `failures` and do not stop the others.

        Raises:
            UserInputError: When a text comes without its place, or the record is none.
            DatabaseError: When the database fails.
        """
        if text is None and record is None:
            return ingest_project(
                self._stores,
                self.project_id,
                files=_chapter_files(files),
                records=records,
                chapter_index=chapter_index,
                progress=progress,
            )
        if files:
            raise UserInputError("ingest takes either files, or one scene's text and record; leave one of them out")
        if chapter_index is None or scene_index is None:
            raise UserInputError("a scene's text or record needs its place; pass chapter_index and scene_index")
        return ingest_finished_scene(
            self._stores,
            self.project_id,
            position=StoryPosition(chapter_index, scene_index),
            text=text,
            record=None if record is None else _record(record, chapter_index, scene_index),
            title=title,
        )

    def extract(
        self,
        *,
        scenes: Sequence[StoryPosition | tuple[int, int]] = (),
        chapter_index: int | None = None,
        retry_failed: bool = False,
        again: bool = False,
        model: BaseChatModel | str | None = None,
        progress: Progress | None = None,
    ) -> ExtractionReport:
        """Let a chat model read the scenes that have no record and store what they establish.

        Args:
            scenes: Only these.
            chapter_index: Only this chapter; None means all.
            retry_failed: Also scenes whose extraction failed before.
            again: Also scenes that a model read before.
            model: Chat model or its name; None takes that of `novelgen.open`, else that of the settings.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene; a failed one keeps its text.

        Raises:
            ConfigurationError: When there is no model, or it cannot be built.
            UnknownSceneError: When a scene that is named is not stored.
            DatabaseError: When the database fails.
        """
        return extract_project(
            self._stores,
            self.project_id,
            scenes=[required_position(each) for each in scenes],
            chapter_index=chapter_index,
            retry_failed=retry_failed,
            again=again,
            model=model or self._chat_model,
            progress=progress,
        )

    def note(
        self,
        text: str,
        *,
        entities: Sequence[str] = (),
        attached_to: Sequence[str] = (),
        start: Place = None,
        short: str | None = None,
        importance: int | None = None,
        tags: Sequence[str] = (),
    ) -> AddedNote:
        """Store a fact of the author, attached to what is said and to whom its text names.

        Args:
            text: What holds in the story.
            entities: Whom it is about.
            attached_to: What it is attached to besides: entities, chapters as `chapter:3`, or `book`.
            start: It is read from this position on; None means everywhere.
            short: Short form that may stand for the text.
            importance: Weight, 1 to 10; None takes that of notes.
            tags: Tags.

        Raises:
            UserInputError: When the text is empty.
            UnknownEntityError: When it is about somebody unknown.
            UnknownSceneError: When no scene of a chapter is stored.
        """
        return memory_services.add_note(
            self._stores,
            self.project_id,
            text=text,
            entities=list(entities),
            attached_to=list(attached_to),
            start=position_of(start),
            short=short,
            importance=importance,
            tags=list(tags),
        )

    aingest = async_twin(ingest)
    aextract = async_twin(extract)
    anote = async_twin(note)


def _chapter_files(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return chapter files, those of a folder in its place."""
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(each) for each in files]
    found: list[Path] = []
    for path in paths:
        in_folder = list(chapter_files(path).values()) if path.is_dir() else [path]
        if not in_folder:
            raise UserInputError(f"there are no chapters in {str(path)!r}; name them chapter_001.json, .txt or .md")
        found += in_folder
    return found


def _record(record: Any, chapter_index: int, scene_index: int) -> SceneRecord:
    try:
        fields = given_record(record, chapter_index=chapter_index, scene_index=scene_index)
    except ValueError as error:
        raise UserInputError(str(error)) from error
    return read_given(SceneRecord, fields)


def read_given(model: type[Model], given: Any) -> Model:
    """Read what a caller holds; what is wrong in it is told as any other wrong argument."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        reason = error.errors()[0].get("ctx", {}).get("error")
        raise UserInputError(str(reason) if reason is not None else described(error)) from error
