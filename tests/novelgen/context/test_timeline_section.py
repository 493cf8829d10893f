"""The timeline of a context."""

from dataclasses import replace
from typing import Any

import pytest

from novelgen.context.labels import labels_for
from novelgen.context.rendering import SECTION_ORDER, render_timeline_entry
from novelgen.context.timeline_section import (
    MAX_LISTED_THREADS,
    SCENES_OF_RECENT_CHANGES,
    AssembledTimeline,
    TimelineLine,
    assemble_timeline,
    fill_timeline,
)
from novelgen.language.language import estimate_tokens
from novelgen.memory.outline import StoryOutline
from novelgen.memory.pay_off import SceneAhead
from novelgen.memory.weights import NeedQuotas
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, Relationship, RelationshipEvent
from tests.support.stories import PROJECT, lighthouse_memory

ENGLISH = labels_for("en")

OUTLINE = lighthouse_memory().outline(PROJECT, as_of=StoryPosition(2, 2))
SNAPSHOTS = lighthouse_memory().get_recent_timeline(PROJECT, 2, as_of=StoryPosition(2, 2))


def assembled(outline: StoryOutline = OUTLINE, budget: int = 400, **changes: Any) -> AssembledTimeline:
    """Assemble the lighthouse timeline before 2:2."""
    arguments: dict[str, Any] = {"entity_ids": ["C0", "C1"], "shown_states": [], **changes}
    return assemble_timeline(
        outline,
        arguments.pop("snapshots", SNAPSHOTS),
        {"C0": "Ada", "C1": "Ben"},
        ahead=SceneAhead(entity_ids=frozenset(arguments.pop("entity_ids"))),
        labels=ENGLISH,
        budget_tokens=budget,
        count_tokens=estimate_tokens,
        **arguments,
    )


@pytest.mark.parametrize(
    ("scenes_since", "is_told"), [(SCENES_OF_RECENT_CHANGES - 1, True), (SCENES_OF_RECENT_CHANGES, False)]
)
def test_what_changed_long_ago_is_no_recent_change(scenes_since: int, is_told: bool) -> None:
    """Changes are told of the last scenes alone."""
    first = OUTLINE.scenes[-1]
    changed = SNAPSHOTS[0].model_copy(
        update={"chapter_index": first.chapter_index, "scene_index": first.scene_index, "state_data": {"status": "lit"}}
    )
    later = [replace(first, chapter_index=9, scene_index=number) for number in range(scenes_since)]
    outline = OUTLINE.model_copy(update={"scenes": [*OUTLINE.scenes, *later]})
    assert ("snapshots" in (assembled(outline, snapshots=[changed]).timeline or {})) is is_told


@pytest.mark.parametrize(
    ("state", "is_told"),
    [
        ({"location_id": "L1"}, False),
        ({"place": "inn", "mood": "ill"}, True),
        ({"holder": "C9"}, False),
        ({"holder": "C0"}, True),
    ],
)
def test_where_those_went_whom_the_plan_does_not_touch_is_no_recent_change(
    state: dict[str, str], is_told: bool
) -> None:
    """Of the people of a house that the story has left, that they are in it says nothing to the next scene."""
    last = OUTLINE.scenes[-1]
    place = {"chapter_index": last.chapter_index, "scene_index": last.scene_index}
    changed = SNAPSHOTS[0].model_copy(update={**place, "state_data": state})
    assert ("snapshots" in (assembled(snapshots=[changed]).timeline or {})) is is_told


def test_of_the_changes_of_one_thing_the_last_is_told() -> None:
    """What it was two chapters ago is over, or stands in what it was last."""
    places = [(each.chapter_index, each.scene_index) for each in OUTLINE.scenes[-2:]]
    changed = [
        SNAPSHOTS[0].model_copy(
            update={"chapter_index": chapter, "scene_index": scene, "state_data": {"condition": f"as in {scene}"}}
        )
        for chapter, scene in places
    ]
    told = (assembled(snapshots=changed).timeline or {})["snapshots"]
    assert [(each["chapter_index"], each["scene_index"]) for each in told] == places[-1:]


def test_a_section_without_entries_is_absent() -> None:
    """Whether nothing is there, one side is not on the plan or the states show it already; none at all is null."""
    timeline = assembled(snapshots=[]).timeline
    assert timeline is not None
    assert "snapshots" not in timeline
    assert assembled(StoryOutline(project_id=PROJECT), snapshots=[]).timeline is None
    timeline = assembled(entity_ids=["C0"]).timeline
    assert timeline is not None
    assert "relationships" not in timeline
    timeline = assembled(shown_states=SNAPSHOTS).timeline
    assert timeline is not None
    assert "snapshots" not in timeline


def test_relationships_of_the_point_of_view_come_first() -> None:
    """Seed 000.16: the point of view's pair is told first, and before weightier ones where only one has room."""
    event = RelationshipEvent(event="They met.", chapter_index=1, scene_index=1)
    pairs = [
        Relationship(
            relationship_id=f"R{number}",
            character_a=one,
            character_b=other,
            intensity=intensity,
            history=[event],
            chapter_index=2,
            scene_index=number,
        )
        for number, (one, other, intensity) in enumerate([("C0", "C1", 9), ("C1", "C2", 3)])
    ]
    outline = StoryOutline(project_id=PROJECT, relationships=pairs)

    def shown(pov_id: str | None, budget: int) -> list[tuple[str, str | None]]:
        ids = ["C0", "C1", "C2"]
        timeline = assembled(outline, budget, snapshots=[], entity_ids=ids, pov_id=pov_id).timeline
        assert timeline is not None
        assert all(each["latest_event_place"] == [1, 1] for each in timeline["relationships"])
        return [(each["relationship_id"], each.get("seen_by")) for each in timeline["relationships"]]

    assert (shown(None, 400), shown(None, 25)) == ([("R0", None), ("R1", None)], [("R0", None)])
    assert (shown("C2", 400), shown("C2", 25)) == ([("R1", "C2"), ("R0", None)], [("R1", "C2")])


def test_threads_stand_best_first_and_no_more_than_eight_of_them() -> None:
    """The thread of the scene's own people comes first wherever it was planted; the ninth says why it is not there."""
    loops = [OpenLoop(loop_id=f"OL{number}", description=f"riddle {number}") for number in range(8)]
    own = OpenLoop(loop_id="OL9", description="a vow", related_entities=["C0"], chapter_index=9)
    timeline = assembled(StoryOutline(project_id=PROJECT, open_loops=[*loops, own]), 4000, entity_ids=["C0"])
    assert timeline.timeline is not None
    listed = [each["loop_id"] for each in timeline.timeline["open_loops"]]
    assert (listed[0], len(listed)) == ("OL9", MAX_LISTED_THREADS)
    assert [(each.id, each.reason) for each in timeline.left_out] == [("open_loops:OL7", "more than 8 threads")]


def test_a_change_that_no_quote_proves_says_so() -> None:
    """Its line among the recent changes is marked as it is among the states; proven ones have no such key."""
    doubtful = SNAPSHOTS[0].model_copy(
        update={"state_data": {"status": "alive", "goals": ["sea"]}, "unverified": ["status"]}
    )
    (entry,) = (assembled(StoryOutline(project_id=PROJECT), snapshots=[doubtful]).timeline or {})["snapshots"]
    line = render_timeline_entry("snapshots", entry, {}, labels=ENGLISH)
    assert line.endswith("status: alive (unverified); wants: sea")
    (proven,) = (
        assembled(StoryOutline(project_id=PROJECT), snapshots=[doubtful.model_copy(update={"unverified": []})]).timeline
        or {}
    )["snapshots"]
    assert "unverified" not in proven


def lines(section: str, *tokens: int) -> list[TimelineLine]:
    """Return lines of a section that cost so much, most wanted first."""
    return [
        TimelineLine(section, depth, {"chapter_index": depth, "text": f"{section} {depth}"}, "", cost)
        for depth, cost in enumerate(tokens)
    ]


def filled(budget: int, *sections: list[TimelineLine], **quotas: float) -> AssembledTimeline:
    """Fill a timeline."""
    by_section = {each[0].section: each for each in sections}
    return fill_timeline(
        {section: by_section.get(section, []) for section in SECTION_ORDER},
        budget_tokens=budget,
        quotas=NeedQuotas(**quotas),
    )


def texts(timeline: AssembledTimeline) -> list[str]:
    """Return what was taken, section by section."""
    return [entry["text"] for entries in (timeline.timeline or {}).values() for entry in entries]


def test_threads_have_their_quota_first_and_over_it_wait_for_all_else() -> None:
    """A share of the budget is kept for open loops; what of them is over it comes after the others."""
    loops, changes = lines("open_loops", 20, 20, 20, 20), lines("snapshots", 20, 20, 20)
    free = filled(80, loops, changes, obligations=1)
    assert texts(free) == [f"open_loops {depth}" for depth in range(4)]
    bound = filled(80, loops, changes, obligations=0.25)
    assert texts(bound) == ["snapshots 0", "snapshots 1", "snapshots 2", "open_loops 0"]
    assert bound.left_out[0].reason == "over quotas.obligations=0.25, and does not fit what timeline_budget=80 has left"


def test_what_others_leave_unused_goes_to_who_is_over_its_quota() -> None:
    """Tokens add up per need, and no budget leaves everything out with its reason."""
    timeline = filled(80, lines("relationships", 20, 20, 20, 20), lines("snapshots", 20), relations=0)
    assert texts(timeline) == ["snapshots 0", "relationships 0", "relationships 1", "relationships 2"]
    timeline = filled(200, lines("open_loops", 10), lines("relationships", 20), lines("snapshots", 30, 5))
    assert timeline.tokens_per_need == {"obligations": 10, "relations": 20, "timeline": 35}
    timeline = filled(0, lines("open_loops", 5), lines("snapshots", 5))
    assert (timeline.timeline, len(timeline.left_out)) == (None, 2)
