"""Chapter files of novel-gen's second version, brought to the field names of its first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CHAPTER_NAMES = {"chapter_id": "chapter_number", "title": "chapter_title", "word_count": "total_words"}
_SCENE_ID = re.compile(r"(?P<chapter>\d{1,7})_(?P<scene>\d{1,7})")


def in_first_shape(data: Any) -> Any:
    """Return a chapter, or a chapter's plan, under the names of novel-gen's first version.

    The second one has `chapter_id`, `title` and `word_count` for `chapter_number`, `chapter_title` and
    `total_words`, and names a scene by a `scene_id` such as "3_1" in place of its `scene_number`. Every other
    field stays under its name, such as a plan's pov, goal, conflict, turn, reveal, threads_advance, must_include
    and must_avoid.

    Args:
        data: What a file holds, of either version or of no shape at all.

    Returns:
        The data of the second version in the shape of the first; all other data as it is. A scene whose id is
        not one of the chapter gets no number, which the validation will miss.
    """
    if not isinstance(data, Mapping) or "chapter_id" not in data or "chapter_number" in data:
        return data
    renamed = _renamed(data, _CHAPTER_NAMES)
    scenes = renamed.get("scenes")
    if isinstance(scenes, list):
        renamed["scenes"] = [_scene(each, data["chapter_id"]) for each in scenes]
    return renamed


def _scene(data: Any, chapter_id: Any) -> Any:
    if not isinstance(data, Mapping) or "scene_number" in data:
        return data
    match = _SCENE_ID.fullmatch(str(data.get("scene_id")))
    if match is None or match["chapter"] != str(chapter_id):
        return data
    return {**_renamed(data, {"scene_id": "scene_number"}), "scene_number": int(match["scene"])}


def _renamed(data: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rename fields, but for those whose new name is taken."""
    return {
        new if (new := names.get(name, name)) == name or new not in data else name: value
        for name, value in data.items()
    }
