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
    """Without a plan's entities and without scenes there is no state to read."""
    assert entities_for_states([], outline(), limit=12) == []


def test_the_plan_comes_before_everyone_else() -> None:
    """The plan's entities keep their order and come before those who changed later."""
    story = outline(["C3"], stated=["C3", "C1", "C2"])
    assert entities_for_states(["C2", "C1"], story, limit=12) == ["C2", "C1", "C3"]


def test_who_changed_last_comes_first_among_those_on_stage() -> None:
    """Of the last scenes' participants the most recently changed leads, and before those off stage."""
    story = outline(["C1", "C2"], stated=["C9", "C2", "C1"])
    assert entities_for_states([], story, limit=12) == ["C2", "C1", "C9"]


def test_held_things_count_as_on_stage() -> None:
    """What a planned character or one on stage holds precedes what changed elsewhere."""
    story = outline(["C1"], holders={"C1": ["I1"], "C5": ["I5"]}, stated=["C9", "I5", "I1", "C1", "C5"])
    assert entities_for_states(["C5"], story, limit=12) == ["C5", "I5", "I1", "C1", "C9"]


def test_only_the_last_three_scenes_are_stage() -> None:
    """Who was last seen four scenes ago is not on stage any more."""
    story = outline(["C4"], ["C3"], ["C2"], ["C1"])
    assert entities_for_states([], story, limit=12) == ["C1", "C2", "C3"]
    assert recently_on_stage(story, scenes=0) == []


def test_the_unstated_come_last_but_for_the_plans_own() -> None:
    """Whom the plan names keeps its place though it was only ever seen; others who were only seen come last."""
    story = outline(["C1"], stated=["C8"])
    assert entities_for_states(["C0"], story, limit=12) == ["C0", "C8", "C1"]


def test_without_records_the_plan_and_the_stage_remain() -> None:
    """When nothing was ever stated, the plan's own come first, then the latest scene's participants."""
    story = outline(["C1"], ["C2"], holders={"C1": ["I1"]})
    assert entities_for_states(["C0"], story, limit=12) == ["C0", "C2", "C1", "I1"]


def test_the_limit_holds_and_nobody_comes_twice() -> None:
    """At most `limit` ids are returned, each once."""
    everyone = [f"C{number}" for number in range(30)]
    chosen = entities_for_states(["C7", "C7"], outline(everyone, stated=everyone), limit=12)
    assert len(chosen) == len(set(chosen)) == 12
    assert entities_for_states(["C7"], outline(everyone, stated=everyone), limit=1) == ["C7"]


def test_what_only_a_model_picked_takes_few_places() -> None:
    """Of the entities that the rules did not find, at most three are asked for, after all that they found."""
    plan = RetrievalPlan(entity_ids=["C1", "C5", "C6", "C7", "C8", "C2"], inferred_ids=["C5", "C6", "C7", "C8"])
    assert state_candidates(plan) == ["C1", "C2", "C5", "C6", "C7"]
