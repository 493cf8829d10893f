"""Stored scenes that their chapter has no more."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.models.position import StoryPosition
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores


def absent_scenes(stores: MemoryStores, project_id: str, scenes: Sequence[SceneInput]) -> list[StoryPosition]:
    """Find what is still stored of chapters although they have lost it; what to do is the author's to say.

    Args:
        stores: The stores.
        project_id: The project.
        scenes: Whole chapters as they are now; stored chapters that are not among them do not count.

    Returns:
        Positions of stored scenes in story order; empty when every one is still there.

    Raises:
        UnknownProjectError: When no such project is stored.
    """
    present = {(scene.chapter_index, scene.scene_index) for scene in scenes}
    chapters = {chapter_index for chapter_index, _ in present}
    with stores.database(project_id).read() as unit:
        stored = unit.scenes.list_as_of()
    return [
        scene.position
        for scene in stored
        if scene.chapter_index in chapters and (scene.chapter_index, scene.scene_index) not in present
    ]
