"""Summaries that roll up from scenes to chapters, each cut by position, without a model.

A summary is made of whole bullets of the level below; none is cut in its middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from novelgen.memory.outline import ChapterSummary, OutlineScene
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.records.merge import spread
from novelgen.text.cjk import has_cjk

CHAPTER_BULLETS = 6
SUMMARY_CHARACTERS = 900

_SENTENCE_ENDS = ("。", "！", "？", "…", ".", "!", "?", "”", "」", '"')


def chapter_summaries(
    scenes: Sequence[OutlineScene],
    *,
    as_of: StoryPosition = END_OF_STORY,
    written: Mapping[int, str] | None = None,
    max_bullets: int = CHAPTER_BULLETS,
    max_characters: int = SUMMARY_CHARACTERS,
) -> list[ChapterSummary]:
    """Sum up the chapters that are over at a position.

    Args:
        scenes: Stored scenes of the story; those of chapters that are not over do not count.
        as_of: Position of the read. A chapter is over in a later one: whether more scenes of it will be
            stored then changes nothing.
        written: Summaries that a person or a model wrote, by chapter; they stand as they are.
        max_bullets: Most bullets of a made summary.
        max_characters: Longest made summary.

    Returns:
        Summaries in story order; a chapter of which nothing is known but its text has none.
    """
    found = []
    for chapter_index, chapter in groupby(sorted(scenes, key=_place), key=lambda scene: scene.chapter_index):
        told = list(chapter)
        last = told[-1]
        summary = (written or {}).get(chapter_index) or _summed_up(told, max_bullets, max_characters)
        if summary and as_of.admits(chapter_index, None):
            found.append(
                ChapterSummary(chapter_index=chapter_index, scene_index=last.scene_index, summary=summary)
            )
    return found


def _summed_up(scenes: Sequence[OutlineScene], max_bullets: int, max_characters: int) -> str:
    """Key events tell a chapter shortest; a scene that has none speaks through its summary."""
    bullets = [bullet for scene in scenes for bullet in (scene.key_events or scene.summary)]
    return _bounded(bullets, max_bullets, max_characters)


def _bounded(bullets: Sequence[str], max_bullets: int, max_characters: int) -> str:
    told = [" ".join(bullet.split()) for bullet in dict.fromkeys(bullets) if bullet.strip()]
    for count in range(min(max_bullets, len(told)), 0, -1):
        text = _joined(spread(told, count))
        if len(text) <= max_characters:
            return text
    return ""


def _joined(bullets: Sequence[str]) -> str:
    is_chinese = any(map(has_cjk, bullets))
    stop = "。" if is_chinese else "."
    ended = [bullet if bullet.endswith(_SENTENCE_ENDS) else f"{bullet}{stop}" for bullet in bullets]
    return ("" if is_chinese else " ").join(ended)


def _place(scene: OutlineScene) -> tuple[int, int]:
    return (scene.chapter_index, scene.scene_index)
