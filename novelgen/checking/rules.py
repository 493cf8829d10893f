"""The rules of a draft's continuity that need no model, among them that of the time with which it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from novelgen.checking.absent import absent_act, dead_act, never_there
from novelgen.checking.figures import contradicted_quantities
from novelgen.checking.findings import SUBJECT, finding, merge_issues
from novelgen.checking.holders import wrong_hands
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.chronology import opening_words
from novelgen.language.contradictions import Contradiction, contradictions_of
from novelgen.language.reading import read_story_time
from novelgen.language.sentences import Span
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.story_time import SceneTime
from novelgen.words import words

Rule = Callable[[Draft, StoryBefore], Iterable[ContinuityIssue]]


def impossible_opening_time(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Yield a finding where a draft's first words tell a time that contradicts what was told before.

    Only the first words count: further on it may be somebody's memory, plan or lie. A plan that says what the scene
    shows of the past explains nothing here, since such a scene opens with its own time.
    """
    found = opening_words(draft.text)
    if found is None or not story.story_times:
        return
    opening, span = found
    told = read_story_time(opening)
    if told.tells_of_past:
        return
    times = list(story.story_times)
    named = {mention.entity_id for mention in draft.mentions}
    place = story.as_of
    now = SceneTime(
        chapter_index=place.chapter_index or 0,
        scene_index=place.scene_index or 0,
        told=told,
        said_in="text",
        told_order=len(times) + 1,
        participants=sorted(named),
    )
    times.append(now.model_copy(update={"since_previous": told.shift}))
    for each in contradictions_of(times, len(times) - 1):
        if each.first != each.second:
            yield _issue(each, times[each.first], Span(*span), draft, story)
            return


def _issue(each: Contradiction, before: SceneTime, span: Span, draft: Draft, story: StoryBefore) -> ContinuityIssue:
    told = before.told.text if before.told is not None else ""
    evidence = ContinuityEvidence(
        source="passage",
        source_id=f"{before.chapter_index}:{before.scene_index}.story_time",
        chapter_index=before.chapter_index,
        scene_index=before.scene_index,
        text=told,
        quote=told,
    )
    return finding(
        "time", draft, story, span, [evidence],
        kind="story_time", rule=f"story_time.{each.rule}", confidence=0.8,
        now=draft.text[span.start : span.end], expected=words(SUBJECT, story.language)[f"time.expected.{each.rule}"],
    )  # fmt: skip


RULES: tuple[Rule, ...] = (
    dead_act,
    absent_act,
    never_there,
    wrong_hands,
    contradicted_quantities,
    impossible_opening_time,
)


def find_by_rules(draft: Draft, story: StoryBefore) -> list[ContinuityIssue]:
    """Return what a draft certainly contradicts of the story before it, worst first, one finding per place."""
    return merge_issues(each for rule in RULES for each in rule(draft, story))
