"""Where the story left off: the end of the scene before, word for word, and what came before, coarser with distance."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from novelgen.context.lines import Labels, render_told_before
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
    """Return the scene that a planned one follows: the last, for a point of view the last that they were in."""
    is_cut = view is not None and view.mode != "mark"
    character_id = view.character_id if view is not None else None
    return next(
        (
            each
            for each in reversed(scenes)
            if as_of.admits(each.chapter_index, each.scene_index) and (not is_cut or character_id in each.participants)
        ),
        None,
    )


def left_off(scene: OutlineScene, text: str, *, budget_tokens: int, count_tokens: TokenCounter) -> LeftOff | None:
    """Return the end of a scene from the first sentence on that fits a budget; None where not even the last fits."""
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
    paragraph = next((each for each in range(begin, len(spans)) if begins_paragraph(each)), begin)
    if cost_from(paragraph) * 2 >= budget_tokens:
        begin = paragraph
    return LeftOff(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        location_id=None if scene.is_guessed else scene.location_id,
        present=[] if scene.is_guessed else list(scene.participants),
        story_time=scene.story_time,
        text=tail[spans[begin].start :].strip(),
        tokens=cost_from(begin),
    )


def story_so_far(
    story: StoryOutline, *, as_of: StoryPosition, budget_tokens: int, labels: Labels, count_tokens: TokenCounter
) -> list[ToldBefore]:
    """Tell what came before, oldest first: the last scenes, chapters where those do not tell all, parts before them."""

    def worded(before: ToldBefore, sentences: Sequence[str]) -> ToldBefore:
        """Return it in these of its sentences, with what its line costs."""
        cut = before.model_copy(update={"text": join_sentences(sentences)})
        return cut.model_copy(update={"tokens": count_tokens(render_told_before(cut, labels=labels))})

    def shortened(before: ToldBefore, most: int) -> ToldBefore:
        """Return it in so many of its sentences, spread over all of them."""
        return worded(before, spread(_sentences(before.text), most))

    def fitting(rows: Sequence[ToldBefore], room: int) -> list[ToldBefore]:
        """Tell each in fewer sentences, where they do not fit; where one of each is too much, the nearest."""
        for most in range(MAX_SENTENCES, 0, -1):
            told = [cut for each in rows if (cut := shortened(each, most)).text]
            if sum(each.tokens for each in told) <= room:
                return told
        return list(reversed(list(_while_fitting(reversed(told), room)))) if rows else []

    before = [each for each in story.scenes if as_of.admits(each.chapter_index, each.scene_index)]
    room = int(SCENE_SHARE * budget_tokens)
    whole = (shortened(_of_scene(each), MAX_SENTENCES) for each in reversed(before))
    scenes = list(reversed(list(_while_fitting((each for each in whole if each.text), room))))
    left = budget_tokens - sum(each.tokens for each in scenes)
    places = {story_place(each) for each in scenes}
    untold = {each.chapter_index for each in before if story_place(each) not in places}
    last_in_parts = max((each.last_chapter for each in story.part_summaries), default=-1)
    over = [each for each in story.chapter_summaries if as_of.admits(each.chapter_index, None)]
    wanted = [each for each in over if each.chapter_index in untold or each.origin == "author"]
    recent = [each for each in wanted if each.chapter_index > last_in_parts] or wanted[-1:]
    finished = [each for each in story.part_summaries if as_of.admits(each.last_chapter, None)]
    rows = [_told("chapter", each.chapter_index, each.chapter_index, text=each.summary) for each in recent]
    chapters = fitting(rows, left // 2 if finished else left)
    left -= sum(each.tokens for each in chapters)
    untold -= {each.chapter_index for each in chapters}
    rows = [
        _told("part", part.first_chapter, part.chapter_index, title=part.title, text=part.summary)
        for part in finished
        if part.origin == "author" or any(part.first_chapter <= each <= part.last_chapter for each in untold)
    ]
    # What the finer say is left out of the coarser.
    said: set[str] = set()
    kept: list[ToldBefore] = []
    for each in reversed([*fitting(rows, left), *chapters, *scenes]):
        sentences = [sentence for sentence in _sentences(each.text) if sentence not in said]
        said.update(sentences)
        if sentences:
            kept.append(worded(each, sentences))
    return kept[::-1]


def _told(level: Literal["part", "chapter", "scene"], first: int, last: int, **more: Any) -> ToldBefore:
    return ToldBefore(level=level, first_chapter=first, chapter_index=last, tokens=0, **more)


def _of_scene(scene: OutlineScene) -> ToldBefore:
    bullets = scene.summary or scene.key_events
    return _told(
        "scene",
        scene.chapter_index,
        scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        story_time=scene.story_time,
        text=join_sentences(as_sentence(" ".join(each.split())) for each in bullets if each.strip()),
    )


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def _while_fitting(nearest_first: Iterable[ToldBefore], room: int) -> Iterator[ToldBefore]:
    for each in nearest_first:
        if each.tokens > room:
            return
        room -= each.tokens
        yield each
