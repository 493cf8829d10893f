"""Tests of the choice of entities whose state a scene needs."""

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import entities_for_states, recently_on_stage, state_candidates
from novelgen.memory.outline import OutlineScene, StoryOutline


def outline(
    *participants: list[str], holders: dict[str, list[str]] | None = None, stated: list[str] | None = None
) -> StoryOutline:
    """An outline of one chapter whose scenes have these participants."""
    scenes = [
        OutlineScene(chapter_index=1, scene_index=index, participants=names)
        for index, names in enumerate(participants, start=1)
    ]
    return StoryOutline(project_id="p", scenes=scenes, holders=holders or {}, stated_ids=stated or [])


def test_an_empty_story_needs_nothing() -> None:
    """Without records the plan's own come first, then the latest scene's participants."""
    assert entities_for_states([], outline(), limit=12) == []
    story = outline(["C1"], ["C2"], holders={"C1": ["I1"]})
    assert entities_for_states(["C0"], story, limit=12) == ["C0", "C2", "C1", "I1"]


def test_the_plan_comes_before_the_stage_and_the_stage_before_the_rest() -> None:
    """Who changed last first, held things with their holders, three scenes far, the unstated last."""
    story = outline(["C3"], stated=["C3", "C1", "C2"])
    assert entities_for_states(["C2", "C1"], story, limit=12) == ["C2", "C1", "C3"]
    story = outline(["C1", "C2"], stated=["C9", "C2", "C1"])
    assert entities_for_states([], story, limit=12) == ["C2", "C1", "C9"]
    story = outline(["C1"], holders={"C1": ["I1"], "C5": ["I5"]}, stated=["C9", "I5", "I1", "C1", "C5"])
    assert entities_for_states(["C5"], story, limit=12) == ["C5", "I5", "I1", "C1", "C9"]
    story = outline(["C4"], ["C3"], ["C2"], ["C1"])
    assert entities_for_states([], story, limit=12) == ["C1", "C2", "C3"]
    assert recently_on_stage(story, scenes=0) == []
    story = outline(["C1"], stated=["C8"])
    assert entities_for_states(["C0"], story, limit=12) == ["C0", "C8", "C1"]


def test_the_limit_holds_and_nobody_comes_twice() -> None:
    """Of entities that a model alone picked at most three are asked for, after all that rules found."""
    everyone = [f"C{number}" for number in range(30)]
    chosen = entities_for_states(["C7", "C7"], outline(everyone, stated=everyone), limit=12)
    assert len(chosen) == len(set(chosen)) == 12
    assert entities_for_states(["C7"], outline(everyone, stated=everyone), limit=1) == ["C7"]
    plan = RetrievalPlan(entity_ids=["C1", "C5", "C6", "C7", "C8", "C2"], inferred_ids=["C5", "C6", "C7", "C8"])
    assert state_candidates(plan) == ["C1", "C2", "C5", "C6", "C7"]
