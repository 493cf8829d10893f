"""Filling the timeline: rounds, quotas, and chapters that a part tells of."""

from __future__ import annotations

from typing import Any

import pytest

from novelgen.context.timeline import FilledTimeline, TimelineLine, fill_timeline
from novelgen.memory.weights import NeedQuotas


def lines(section: str, *tokens: int, **entry: Any) -> list[TimelineLine]:
    """Return lines of a section that cost so much, most wanted first; summaries are of chapters from 10 down."""
    return [
        TimelineLine(section, depth, {"chapter_index": 10 - depth, **entry}, f"{section} {depth}", cost)
        for depth, cost in enumerate(tokens)
    ]


def filled(budget: int, *sections: list[TimelineLine], **quotas: float) -> FilledTimeline:
    """Fill a timeline."""
    by_section = {each[0].section: each for each in sections}
    every = ("open_loops", "recent_events", "relationships", "chapter_summaries", "part_summaries", "snapshots")
    return fill_timeline(
        {section: by_section.get(section, []) for section in every}, budget_tokens=budget, quotas=NeedQuotas(**quotas)
    )


def texts(timeline: FilledTimeline) -> list[str]:
    """Return what was taken."""
    return [line.text for line in timeline.taken]


def test_threads_have_their_quota_first_and_over_it_wait_for_all_else() -> None:
    """A share of the budget is kept for open loops; what of them is over it comes after the others."""
    loops, changes = lines("open_loops", 20, 20, 20, 20), lines("snapshots", 20, 20, 20)
    free = filled(80, loops, changes, obligations=1)
    assert texts(free) == [f"open_loops {depth}" for depth in range(4)]
    bound = filled(80, loops, changes, obligations=0.25)
    assert texts(bound) == ["open_loops 0", "snapshots 0", "snapshots 1", "snapshots 2"]
    assert (
        bound.left_out[0][1].sentence
        == "over quotas.obligations=0.25, and does not fit what timeline_budget=80 has left"
    )


def test_what_others_leave_unused_goes_to_who_is_over_its_quota() -> None:
    """A quota never leaves tokens lie."""
    timeline = filled(80, lines("relationships", 20, 20, 20, 20), lines("snapshots", 20), relations=0)
    assert texts(timeline) == ["snapshots 0", "relationships 0", "relationships 1", "relationships 2"]


def test_tokens_are_counted_per_need() -> None:
    """Obligations, relations and the rest add up to what was taken."""
    timeline = filled(200, lines("open_loops", 10), lines("relationships", 20), lines("snapshots", 30, 5))
    assert timeline.tokens_per_need() == {"obligations": 10, "relations": 20, "timeline": 35}


def test_a_chapter_is_not_told_again_beside_its_part() -> None:
    """Only the last one is; the others say which part tells of them."""
    part = lines("part_summaries", 20, part_number=1, first_chapter=1, last_chapter=10)
    timeline = filled(200, lines("chapter_summaries", 20, 20, 20), part)
    assert texts(timeline) == ["chapter_summaries 0", "part_summaries 0"]
    assert [why.sentence for _, why in timeline.left_out] == ["told by the summary of part 1"] * 2


@pytest.mark.parametrize("budget", [59, 79])
def test_without_room_for_the_part_its_chapters_are_told(budget: int) -> None:
    """What stands for a chapter must be there."""
    part = lines("part_summaries", 60, part_number=1, first_chapter=1, last_chapter=10)
    timeline = filled(budget, lines("chapter_summaries", 20, 20), part)
    assert texts(timeline) == ["chapter_summaries 0", "chapter_summaries 1"]


def test_chapters_further_back_take_what_is_left() -> None:
    """The fourth chapter back comes after the fifth change."""
    timeline = filled(160, lines("chapter_summaries", 20, 20, 20, 20), lines("snapshots", *[20] * 5))
    assert texts(timeline)[-2:] == ["snapshots 3", "snapshots 4"]
    assert timeline.left_out[0][0].text == "chapter_summaries 3"


def test_no_budget_takes_nothing() -> None:
    """Everything is left out, with its reason."""
    timeline = filled(0, lines("open_loops", 5), lines("snapshots", 5))
    assert (timeline.taken, len(timeline.left_out)) == ((), 2)
