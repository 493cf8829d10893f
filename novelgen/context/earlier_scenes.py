"""The story so far and how the scene before ended, within budgets."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from novelgen.context.labels import Labels
from novelgen.context.rendering import render_told_before
from novelgen.language.language import TokenCounter
from novelgen.language.sentences import as_sentence, join_sentences, split_sentences
from novelgen.memory.merge import spread
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.models.context import LeftOff, PointOfView, ToldBefore
from novelgen.models.position import StoryPosition, story_place

MOST_CHARACTERS_PER_TOKEN = 10
"""Of a long scene no more is looked at than could fit; English has four to five, Chinese one or two."""

SCENE_SHARE = 0.8
"""Of the room of the story so far its last scenes get so much; the chapters before them half of what is left where
there are parts, and the parts the rest."""

MAX_SENTENCES = 8
"""Of one summary; of a row of them, where they do not fit, fewer of each."""


def scene_before(
    scenes: Sequence[OutlineScene], view: PointOfView | None, *, as_of: StoryPosition
) -> OutlineScene | None:
    """Return the scene before the planned one, or the point of view's last scene."""
    is_cut = view is not None and view.mode != "mark"
    character_id = view.character_id if view is not None else None
    return next(
        (
            scene
            for scene in reversed(scenes)
            if as_of.admits(scene.chapter_index, scene.scene_index)
            and (not is_cut or character_id in scene.participants)
        ),
        None,
    )


def left_off(scene: OutlineScene, text: str, *, budget_tokens: int, count_tokens: TokenCounter) -> LeftOff | None:
    """Return the longest fitting end of a scene, or None."""
    tail = text[-budget_tokens * MOST_CHARACTERS_PER_TOKEN :]
    spans = split_sentences(tail)
    # Where the text was cut no sentence begins.
    first = 1 if len(tail) < len(text) else 0

    def cost_from(number: int) -> int:
        return count_tokens(tail[spans[number].start :].strip())

    def begins_paragraph(number: int) -> bool:
        return number == 0 or "\n" in tail[spans[number - 1].end : spans[number].start]

    begin = bisect_left(range(len(spans)), True, lo=first, key=lambda number: cost_from(number) <= budget_tokens)
    if begin >= len(spans):
        return None
    # What begins in the middle of somebody's speech reads as nobody's; half of the room is enough for paragraphs.
    paragraph = next((number for number in range(begin, len(spans)) if begins_paragraph(number)), begin)
    if cost_from(paragraph) * 2 >= budget_tokens:
        begin = paragraph
    return LeftOff(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        location_id=None if scene.is_place_guessed else scene.location_id,
        present=[] if scene.is_cast_guessed else list(scene.participants),
        story_time=scene.story_time,
        text=tail[spans[begin].start :].strip(),
        tokens=cost_from(begin),
    )


def story_so_far(
    story: StoryOutline,
    *,
    as_of: StoryPosition,
    budget_tokens: int,
    labels: Labels,
    count_tokens: TokenCounter,
    guessed_scenes: Sequence[tuple[int, int]] = (),
) -> list[ToldBefore]:
    """Summarise the past, oldest first: parts, chapters, then the last scenes.

    Lines of `guessed_scenes`, in which a guess alone has the point of view, are marked.
    """

    def marked(before: ToldBefore) -> ToldBefore:
        scenes = [
            (chapter, scene)
            for chapter, scene in guessed_scenes
            if before.first_chapter <= chapter <= before.chapter_index and before.scene_index in (None, scene)
        ]
        return before.model_copy(update={"guessed_in": scenes}) if scenes else before

    def worded(before: ToldBefore, sentences: Sequence[str]) -> ToldBefore:
        """Return the line with the chosen sentences and its cost."""
        notice = before.model_copy(update={"text": join_sentences(sentences)})
        return notice.model_copy(update={"tokens": count_tokens(render_told_before(notice, labels=labels))})

    def shortened(before: ToldBefore, most: int) -> ToldBefore:
        """Return it in so many of its sentences, spread over all of them."""
        return worded(before, spread(_sentences(before.text), most))

    def fitting(rows: Sequence[ToldBefore], room: int) -> list[ToldBefore]:
        """Shorten all lines until they fit, at last keeping the nearest alone."""
        for most in range(MAX_SENTENCES, 0, -1):
            notices = [notice for row in rows if (notice := shortened(row, most)).text]
            if sum(notice.tokens for notice in notices) <= room:
                return notices
        return list(reversed(list(_while_fitting(reversed(notices), room)))) if rows else []

    before = [scene for scene in story.scenes if as_of.admits(scene.chapter_index, scene.scene_index)]
    room = int(SCENE_SHARE * budget_tokens)
    whole = (shortened(marked(_of_scene(scene)), MAX_SENTENCES) for scene in reversed(before))
    scenes = list(reversed(list(_while_fitting((notice for notice in whole if notice.text), room))))
    remaining_tokens = budget_tokens - sum(notice.tokens for notice in scenes)
    places = {story_place(notice) for notice in scenes}
    untold_numbers = {scene.chapter_index for scene in before if story_place(scene) not in places}
    last_in_parts = max((part.last_chapter for part in story.part_summaries), default=-1)
    over = [summary for summary in story.chapter_summaries if as_of.admits(summary.chapter_index, None)]
    wanted_summaries = [
        summary for summary in over if summary.chapter_index in untold_numbers or summary.origin == "author"
    ]
    recent = [summary for summary in wanted_summaries if summary.chapter_index > last_in_parts] or wanted_summaries[-1:]
    finished = [part for part in story.part_summaries if as_of.admits(part.last_chapter, None)]
    rows = [
        marked(_recap_line("chapter", summary.chapter_index, summary.chapter_index, text=summary.summary))
        for summary in recent
    ]
    chapters = fitting(rows, remaining_tokens // 2 if finished else remaining_tokens)
    remaining_tokens -= sum(notice.tokens for notice in chapters)
    untold_numbers -= {notice.chapter_index for notice in chapters}
    rows = [
        marked(_recap_line("part", part.first_chapter, part.chapter_index, title=part.title, text=part.summary))
        for part in finished
        if part.origin == "author"
        or any(part.first_chapter <= number <= part.last_chapter for number in untold_numbers)
    ]
    # What the finer say is left out of the coarser.
    said_texts: set[str] = set()
    kept_notices: list[ToldBefore] = []
    for notice in reversed([*fitting(rows, remaining_tokens), *chapters, *scenes]):
        sentences = [sentence for sentence in _sentences(notice.text) if sentence not in said_texts]
        said_texts.update(sentences)
        if sentences:
            kept_notices.append(worded(notice, sentences))
    return kept_notices[::-1]


def _recap_line(level: Literal["part", "chapter", "scene"], first: int, last: int, **more: Any) -> ToldBefore:
    return ToldBefore(level=level, first_chapter=first, chapter_index=last, tokens=0, **more)


def _of_scene(scene: OutlineScene) -> ToldBefore:
    bullets = scene.summary or scene.key_events
    return _recap_line(
        "scene",
        scene.chapter_index,
        scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        story_time=scene.story_time,
        text=join_sentences(as_sentence(" ".join(bullet.split())) for bullet in bullets if bullet.strip()),
    )


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def _while_fitting(nearest_first: Iterable[ToldBefore], room: int) -> Iterator[ToldBefore]:
    for notice in nearest_first:
        if notice.tokens > room:
            return
        room -= notice.tokens
        yield notice
