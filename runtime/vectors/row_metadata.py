"""How an index row is written into Chroma's metadata, and which stored rows may be shown.

Chroma drops None values and its filters also match rows that lack a key, so every key is always
written, with a sentinel where there is nothing, and a row that lacks one is never shown.
"""

from __future__ import annotations

from typing import Any

from novelgen.models.position import SCENES_PER_CHAPTER, StoryPosition, packed_place

NO_POSITION = -1
NO_SOURCE = ""
STORY_KEY = "story_key"

_TEXT_KEYS = ("project_id", "source_id", "content_type")
_NUMBER_KEYS = ("chapter_index", "scene_index", STORY_KEY)


def encode_metadata(
    *,
    project_id: str,
    chapter_index: int | None,
    scene_index: int | None,
    source_id: str | None,
    content_type: str,
) -> dict[str, str | int]:
    """Write what a row carries beside its text, every key always present.

    Returns:
        Flat metadata of strings and integers.
    """
    return {
        "project_id": project_id,
        "chapter_index": NO_POSITION if chapter_index is None else chapter_index,
        "scene_index": NO_POSITION if scene_index is None else scene_index,
        "source_id": source_id or NO_SOURCE,
        "content_type": content_type,
        STORY_KEY: story_key(chapter_index, scene_index),
    }


def story_key(chapter_index: int | None, scene_index: int | None) -> int:
    """Number a row's position so that one comparison cuts the story.

    Returns:
        A whole number that grows with the story; below 0 for rows without a position.
    """
    if chapter_index is None:
        return NO_POSITION
    return packed_place(chapter_index, SCENES_PER_CHAPTER - 1 if scene_index is None else scene_index)


def cut_key(as_of: StoryPosition | None) -> int | None:
    """Number the position of a reader: rows with a smaller story key lie strictly before it.

    Returns:
        A whole number, or None when nothing is cut.
    """
    if as_of is None or as_of.chapter_index is None:
        return None
    return packed_place(as_of.chapter_index, as_of.scene_index or 0)


def may_be_shown(metadata: dict[str, Any], *, project_id: str, before_key: int | None) -> bool:
    """Tell whether a stored row is whole, of the project, and before the reader.

    Args:
        metadata: What Chroma returned for the row.
        project_id: Project that was asked for.
        before_key: Result of `cut_key`; None cuts nothing.

    Returns:
        False for foreign rows, later rows, and rows that lack a key or have one of the wrong type.
    """
    if not all(isinstance(metadata.get(key), str) for key in _TEXT_KEYS):
        return False
    if not all(type(metadata.get(key)) is int for key in _NUMBER_KEYS):
        return False
    if metadata["project_id"] != project_id:
        return False
    # The key is computed again: a row whose stored key disagrees with its position must not slip through.
    position = decode_position(metadata)
    return before_key is None or story_key(*position) < before_key


def decode_position(metadata: dict[str, Any]) -> tuple[int | None, int | None]:
    """Read chapter and scene of a row that `may_be_shown` found whole.

    Returns:
        Chapter and scene, None where the row has none.
    """
    chapter_index, scene_index = metadata["chapter_index"], metadata["scene_index"]
    return (
        None if chapter_index == NO_POSITION else chapter_index,
        None if scene_index == NO_POSITION else scene_index,
    )
