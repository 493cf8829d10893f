"""A draft that opens with a time which cannot follow on the times of the scenes before it."""

from __future__ import annotations

from collections.abc import Iterator

from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.contradictions import Contradiction, contradictions_of
from novelgen.language.opening import opening_words
from novelgen.language.reading import read_story_time
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.story_time import SceneTime

_MESSAGES = {
    "en": "The draft opens with {now!r}, but {before!r} is told of scene {place}{expected}.",
    "zh": "草稿以“{now}”开篇，但第{place}场写的是“{before}”{expected}。",
}
_EXPECTED = {
    "en": {
        "weekday": ", and the days between lead to another weekday",
        "date": ", and the time that has passed leads to another date",
        "hour": ", which is later on the same day",
        "season": ", too short a time before for the season to turn",
    },
    "zh": {
        "weekday": "，按其间的天数不会是这个星期几",
        "date": "，按所经过的时间不会是这个日期",
        "hour": "，同一天里已经更晚",
        "season": "，其间太短，季节不会变成这样",
    },
}
_FIXES = {
    "en": "Say how much time has passed, or change the time with which the scene opens.",
    "zh": "写明其间过了多久，或改掉开篇的时间。",
}


def impossible_opening_time(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Yield a finding where a draft's first words tell a time that contradicts what was told before.

    Only the first words count: further on it may be somebody's memory, plan or lie. A plan that says what the scene
    shows of the past explains nothing here, since such a scene opens with its own time.
    """
    found = opening_words(draft.text)
    if found is None or not story.story_times:
        return
    words, span = found
    told = read_story_time(words)
    if told.tells_of_past:
        return
    times = list(story.story_times)
    named = {mention.entity_id for mention in draft.mentions}
    place = story.as_of
    opening = SceneTime(
        chapter_index=place.chapter_index or 0,
        scene_index=place.scene_index or 0,
        told=told,
        said_in="text",
        told_order=len(times) + 1,
        participants=sorted(named),
    )
    times.append(opening.model_copy(update={"since_previous": told.shift}))
    for each in contradictions_of(times, len(times) - 1):
        if each.first != each.second:
            yield _issue(each, times[each.first], words, span, story)
            return


def _issue(
    each: Contradiction, before: SceneTime, words: str, span: tuple[int, int], story: StoryBefore
) -> ContinuityIssue:
    language = "zh" if story.language == "zh" else "en"
    told = before.told.text if before.told is not None else ""
    place = f"{before.chapter_index}:{before.scene_index}"
    return ContinuityIssue(
        kind="story_time",
        severity="medium",
        draft_quote=words,
        draft_span=span,
        message=_MESSAGES[language].format(
            now=words, before=told, place=place, expected=_EXPECTED[language][each.rule]
        ),
        entity_ids=[],
        evidence=[
            ContinuityEvidence(
                source="passage",
                source_id=f"{place}.story_time",
                chapter_index=before.chapter_index,
                scene_index=before.scene_index,
                text=told,
                quote=told,
            )
        ],
        rule=f"story_time.{each.rule}",
        confidence=0.8,
        fix=_FIXES[language],
    )
