"""What is taken in: a finished scene at its place, with its record where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from novelgen.models.plan import GeneratedChapter
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.record import SceneRecord
from novelgen.text.scrub import require_size, scrub_text, scrub_tree
from runtime.files.bench_folder import Book
from runtime.files.chapter_text import SCENE_TITLE_FIELD
from runtime.storage.records import ExtractionStatus

RecordOrigin = Literal["author", "supplied", "extracted"]


class SceneInput(BaseModel):
    """A finished scene; without a record, what it established is derived from its text by rules."""

    model_config = ConfigDict(frozen=True)

    chapter_index: ChapterIndex
    scene_index: SceneIndex
    title: str = ""
    text: str
    record: SceneRecord | None = None
    record_origin: RecordOrigin = Field(
        default="supplied", description="Who made the record; ignored without one."
    )
    extraction_status: ExtractionStatus = Field(
        default="none", description="How the extraction of a record went; a scene with a record is done."
    )
    failure_reason: str | None = None

    def scrubbed(self) -> SceneInput:
        """Return the scene as every store accepts it.

        Raises:
            UserInputError: When the text is too long to be one scene.
        """
        require_size(self.text, f"scene {self.scene_index} of chapter {self.chapter_index}")
        record = None
        if self.record is not None:
            record = SceneRecord.model_validate(scrub_tree(self.record.model_dump()))
        return self.model_copy(
            update={"title": scrub_text(self.title), "text": scrub_text(self.text), "record": record}
        )


def scenes_of_chapter(chapter: GeneratedChapter, records: Iterable[SceneRecord] = ()) -> list[SceneInput]:
    """Return a chapter's scenes, each with its record where one stands at its position.

    Args:
        chapter: The chapter as it was written.
        records: Records of any scenes; those of other chapters and scenes are ignored.
    """
    by_position = {(record.chapter_index, record.scene_index): record for record in records}
    return [
        SceneInput(
            chapter_index=chapter.chapter_number,
            scene_index=scene.scene_number,
            title=str(scene.extra.get(SCENE_TITLE_FIELD) or ""),
            text=scene.content,
            record=by_position.get((chapter.chapter_number, scene.scene_number)),
        )
        for scene in chapter.scenes
    ]


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
