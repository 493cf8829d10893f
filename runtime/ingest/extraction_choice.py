"""Which stored scenes a model is to read."""

from __future__ import annotations

from dataclasses import dataclass

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from runtime.storage.records import ExtractionStatus, StoredScene
from runtime.storage.unit import UnitOfWork

OPEN_STATUSES: tuple[ExtractionStatus, ...] = ("none", "pending")


@dataclass(frozen=True, slots=True)
class ExtractionChoice:
    """What is asked for; by itself, the scenes of all chapters that have no record and were not tried yet.

    Args:
        scenes: Only these, whatever a model made of them before; the other arguments do not count then.
        chapter_index: Only this chapter; None means all.
        retry_failed: Also scenes whose extraction failed before.
        again: Also scenes whose record a model made.
    """

    scenes: tuple[StoryPosition, ...] = ()
    chapter_index: int | None = None
    retry_failed: bool = False
    again: bool = False


def chosen_scenes(unit: UnitOfWork, project_id: str, choice: ExtractionChoice) -> list[StoryPosition]:
    """Return the scenes to read in story order, each once; those with a record of a person are never among them.

    Raises:
        UnknownSceneError: When one that is named is not stored.
        UserInputError: When one that is named has a record that no model made.
    """
    if choice.scenes:
        return [_require_readable(unit.scenes.require(place)) for place in sorted(set(choice.scenes))]
    return [
        scene.position
        for scene in unit.scenes.list_as_of()
        if choice.chapter_index in (None, scene.chapter_index) and _is_due(scene, choice)
    ]


def _is_due(scene: StoredScene, choice: ExtractionChoice) -> bool:
    if scene.record is not None:
        return choice.again and scene.record_origin == "extracted"
    return scene.extraction_status in OPEN_STATUSES or (
        choice.retry_failed and scene.extraction_status == "failed"
    )


def _require_readable(scene: StoredScene) -> StoryPosition:
    if scene.record is not None and scene.record_origin != "extracted":
        raise UserInputError(
            f"scene {str(scene.position)!r} has a record that was {_made(scene.record_origin)}, which no model"
            f" replaces; change it with `novelgen record edit {scene.project_id} {scene.position}`"
        )
    return scene.position


def _made(origin: str) -> str:
    return "written by its author" if origin == "author" else "supplied"
