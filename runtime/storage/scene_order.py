"""Where scenes stand after an insertion, a move or a renumbering: pure arithmetic on positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from novelgen.errors import InvalidPositionError, UnknownSceneError

ScenePlace = tuple[int, int]
"""Chapter and scene."""


class Relocation(NamedTuple):
    """Where everything goes that stands at a scene's place, or, for whole chapters, in a chapter."""

    places: Mapping[ScenePlace, ScenePlace]
    chapter_of: Callable[[int], int]

    def of(self, chapter: int, scene: int | None) -> tuple[int, int | None]:
        """Return the new place of something without a scene of its own that stands there."""
        if scene is not None and (chapter, scene) in self.places:
            return self.places[chapter, scene]
        return self.chapter_of(chapter), scene


def scene_gap(places: Iterable[ScenePlace], at: ScenePlace) -> Relocation:
    """Make room for a scene: when one stands there, it and the later ones of its chapter move up by one."""
    listed = set(places)
    later = [place for place in listed if place[0] == at[0] and place[1] >= at[1]]
    moved = {place: (place[0], place[1] + 1) for place in later} if at in listed else {}
    return _relocation(moved)


def chapter_gap(places: Iterable[ScenePlace], at: int) -> Relocation:
    """Make room for a chapter: when one stands there, it and all later ones move up by one."""
    listed = list(places)
    occupied = any(chapter == at for chapter, _ in listed)
    return _chapters(listed, lambda chapter: chapter + 1 if occupied and chapter >= at else chapter)


def scene_move(places: Iterable[ScenePlace], source: ScenePlace, target: ScenePlace) -> Relocation:
    """Move a scene so that it stands at the target: the ranks close behind it and open before it.

    Raises:
        UnknownSceneError: When no scene stands at the source.
    """
    listed = list(places)
    if source not in listed:
        raise UnknownSceneError(
            f"no scene stands at {source[0]}:{source[1]}; list them with `novelgen scene list`"
        )
    closed = {place: _closed(place, source) for place in listed if place != source}
    opens = target in closed.values()
    final = {
        place: (new[0], new[1] + 1) if opens and new[0] == target[0] and new[1] >= target[1] else new
        for place, new in closed.items()
    }
    return _relocation(final | {source: target})


def chapter_move(places: Iterable[ScenePlace], source: int, target: int) -> Relocation:
    """Move a chapter so that it becomes the target; the chapters between move by one.

    Raises:
        UnknownSceneError: When the source chapter has no scene.
    """
    listed = list(places)
    if all(chapter != source for chapter, _ in listed):
        raise UnknownSceneError(f"chapter {source!r} has no scene; list them with `novelgen scene list`")

    def chapter_of(chapter: int) -> int:
        if chapter == source:
            return target
        if source < chapter <= target:
            return chapter - 1
        return chapter + 1 if target <= chapter < source else chapter

    return _chapters(listed, chapter_of)


def renumbering(places: Iterable[ScenePlace]) -> Relocation:
    """Number the scenes of each chapter without gaps, from 1, or from 0 in a story that has a scene 0."""
    by_chapter: dict[int, list[int]] = defaultdict(list)
    for chapter, scene in places:
        by_chapter[chapter].append(scene)
    first = 0 if any(0 in scenes for scenes in by_chapter.values()) else 1
    return _relocation(
        {
            (chapter, scene): (chapter, first + rank)
            for chapter, scenes in by_chapter.items()
            for rank, scene in enumerate(sorted(scenes))
        }
    )


def require_place(place: ScenePlace) -> ScenePlace:
    """Return a place that a scene can have.

    Raises:
        InvalidPositionError: When chapter or scene are negative.
    """
    if min(place) < 0:
        raise InvalidPositionError(f"a scene cannot stand at {place[0]}:{place[1]}; count from 0 up")
    return place


def _closed(place: ScenePlace, source: ScenePlace) -> ScenePlace:
    return (place[0], place[1] - 1) if place[0] == source[0] and place[1] > source[1] else place


def _chapters(places: Iterable[ScenePlace], chapter_of: Callable[[int], int]) -> Relocation:
    moved = {(chapter, scene): (chapter_of(chapter), scene) for chapter, scene in places}
    return _relocation(moved, chapter_of)


def _relocation(
    places: Mapping[ScenePlace, ScenePlace], chapter_of: Callable[[int], int] = lambda chapter: chapter
) -> Relocation:
    return Relocation({old: new for old, new in places.items() if old != new}, chapter_of)
