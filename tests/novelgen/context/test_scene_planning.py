"""From a request and the story so far to the plan of what to look up: the rules planner, and whose states are read."""

from itertools import combinations

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import (
    MAX_ACTION_QUERIES,
    MAX_RULE_QUERIES,
    entities_for_states,
    plan_by_rules,
    plan_scene,
    recently_on_stage,
    state_candidates,
)
from novelgen.language.resolver import NameResolver
from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ScenePlan
from novelgen.models.user_file import Character, CharactersConfig
from tests.novelgen.context.sample_scenes import FERRY, SALT_GATE, SampleScene, known


def by_rules(scene: SampleScene) -> RetrievalPlan:
    """Plan a sample scene by rules."""
    return plan_by_rules(scene.scene_plan, entities=scene.entities, names=scene.names)


def texts_of(plan: RetrievalPlan, purpose: str) -> list[str]:
    """Return the texts of the queries for that purpose."""
    return [query.text for query in plan.queries if query.purpose == purpose]


def test_entities_come_from_every_part_of_the_plan() -> None:
    """Characters first, then place, purpose and actions; nobody else; in Chinese text, too."""
    assert by_rules(SALT_GATE).entity_ids == ["C1", "C2", "L2", "F1", "I1", "C3", "L1"]
    assert by_rules(FERRY).entity_ids == ["C1", "C2", "C6", "L1", "I2", "C4", "F2", "I1"]


def test_one_query_for_each_part() -> None:
    """Whole plan, purpose, actions, place, characters at the place and pairs, in this order, by display name."""
    plan = by_rules(SALT_GATE)
    scene = SALT_GATE.scene_plan
    assert [query.purpose for query in plan.queries] == [
        *("whole", "purpose", "action", "action", "place", "character", "character", "pair")
    ]
    assert texts_of(plan, "purpose") == [scene.purpose]
    assert texts_of(plan, "action") == scene.key_actions
    assert texts_of(plan, "place") == [scene.location]
    assert texts_of(plan, "character") == [f"Mara Venn {scene.location}", f"Tobias Crake {scene.location}"]
    assert texts_of(plan, "pair") == ["Mara Venn Tobias Crake"]
    for part in (scene.location, scene.purpose, *scene.key_actions):
        assert part in texts_of(plan, "whole")[0]
    assert {query.origin for query in plan.queries} == {"rules"}


def test_names_that_nobody_bears_are_query_words() -> None:
    """Searched for and listed as unresolved; an id in a plan becomes a name in the queries."""
    scene_plan = ScenePlan(scene_number=1, location="the keep", characters=["Mara", "Quillon Hask"])
    plan = plan_by_rules(scene_plan, entities=SALT_GATE.entities, names=SALT_GATE.names)
    assert plan.entity_ids == ["C1", "L1"]
    assert plan.unresolved_names == ["Quillon Hask"]
    assert texts_of(plan, "pair") == ["Mara Venn Quillon Hask"]
    assert plan.issues == []
    scene_plan = ScenePlan(scene_number=1, location="a boat", characters=["C1", "c4"])
    plan = plan_by_rules(scene_plan, entities=SALT_GATE.entities, names=SALT_GATE.names)
    assert plan.entity_ids == ["C1", "C4"]
    assert texts_of(plan, "pair") == ["Mara Venn Lord Aldous Kerrin"]


def test_ambiguous_name_is_said_and_not_guessed() -> None:
    """Unless the author's cast picks among known bearers; an alias that only its cards know resolves nobody."""
    entities = [known("C1", "character", "Ada Holm", "the Captain"), known("C2", "character", "Bo Falk", "the Captain")]
    scene_plan = ScenePlan(scene_number=1, characters=["the Captain"])
    plan = plan_by_rules(scene_plan, entities=entities, names=NameResolver(entities))
    assert plan.entity_ids == []
    assert [(issue.kind, "C1, C2" in issue.message) for issue in plan.issues] == [("unresolved", True)]
    cast = CharactersConfig(protagonist=Character(name="Bo Falk", aliases=["the masked man"]))
    scene_plan = ScenePlan(scene_number=1, characters=["the Captain", "the masked man"])
    plan = plan_by_rules(scene_plan, entities=entities, names=NameResolver(entities), characters=cast)
    assert plan.entity_ids == ["C2"]
    assert plan.unresolved_names == ["the masked man"]


def test_hints_are_searched_and_a_blank_plan_asks_nothing() -> None:
    """A hint is a query of its own and its names count; without any text there are no queries."""
    plan = plan_by_rules(
        ScenePlan(scene_number=1), entities=FERRY.entities, names=FERRY.names, hints=["厉无咎的信", " "]
    )
    assert texts_of(plan, "hint") == ["厉无咎的信"]
    assert plan.entity_ids == ["C5"]
    scene_plan = ScenePlan(scene_number=1, location=" ", characters=[""], key_actions=["", "\n"])
    plan = plan_by_rules(scene_plan, entities=FERRY.entities, names=FERRY.names)
    assert (plan.entity_ids, plan.queries, plan.unresolved_names) == ([], [], [])


def test_huge_plan_stays_bounded() -> None:
    """However much a plan holds, the number and length of queries stay bounded and nothing is asked twice."""
    people = [f"Person{number}" for number in range(30)]
    scene_plan = ScenePlan(
        scene_number=1,
        location="somewhere " * 5000,
        characters=[*people, *people],
        purpose="p " * 5000,
        key_actions=[f"action {number}" for number in range(50)] * 2,
    )
    plan = plan_by_rules(scene_plan, entities=[], names=NameResolver([]))
    texts = [query.text for query in plan.queries]
    assert len(texts) == len(set(texts)) <= MAX_RULE_QUERIES
    assert len(texts_of(plan, "action")) == MAX_ACTION_QUERIES
    assert max(map(len, texts)) <= 1000
    assert set(texts_of(plan, "pair")) <= {f"{one} {other}" for one, other in combinations(people, 2)}


def test_the_point_of_view_is_one_of_the_characters() -> None:
    """Seed 000.16: by alias, named among them or not; a name that nobody bears is searched for and reported."""
    scene_plan = ScenePlan(scene_number=1, location="the keep", characters=["Mara"], pov="Tobias")
    plan = plan_by_rules(scene_plan, entities=SALT_GATE.entities, names=SALT_GATE.names)
    assert (plan.pov_id, plan.entity_ids) == ("C2", ["C1", "C2", "L1"])
    again = scene_plan.model_copy(update={"characters": ["Tobias Crake", "Mara"]})
    plan = plan_by_rules(again, entities=SALT_GATE.entities, names=SALT_GATE.names)
    assert (plan.pov_id, plan.entity_ids) == ("C2", ["C2", "C1", "L1"])
    scene_plan = ScenePlan(scene_number=1, location="the keep", pov="Quillon Hask")
    plan = plan_by_rules(scene_plan, entities=SALT_GATE.entities, names=SALT_GATE.names)
    assert (plan.pov_id, plan.unresolved_names) == (None, ["Quillon Hask"])
    assert ScenePlan.model_validate({"pov": None}).pov == ""
    assert "pov" not in ScenePlan(scene_number=1).model_dump()


CAST = CharactersConfig(protagonist=Character(name="Zoe Marsh", aliases=["the ferrywoman"]))


def planned(*names: str, outline: StoryOutline | None, cast: CharactersConfig | None = None) -> RetrievalPlan:
    """Plan a scene with these characters by rules."""
    request = MemoryContextRequest(
        project_id="p",
        chapter_index=2,
        scene_index=1,
        scene_plan=ScenePlan(scene_number=1, characters=list(names), purpose="They meet the ferrywoman"),
        characters=cast,
    )
    return plan_scene(request, outline, planner=None).plan


def story(entities: bool = True) -> StoryOutline:
    """An outline with the sample's entities, or with none."""
    return StoryOutline(project_id="p", entities=SALT_GATE.entities if entities else [])


def test_a_name_that_nobody_bears_is_said() -> None:
    """By name, as a search word only; nothing is said where nobody can be known."""
    (issue,) = planned("Mara", "Qillon Hask", outline=story()).issues
    assert (issue.stage, issue.kind) == ("plan", "unresolved")
    assert "'Qillon Hask'" in issue.message
    assert planned("Mara", outline=None).issues == []
    assert planned("Mara", outline=story(entities=False)).issues == []


def test_people_of_the_authors_cards_are_known_names() -> None:
    """Seed 001.3: also in a project without entities, by alias too, and without an id; other names are unresolved."""
    plan = planned("Zoe Marsh", "the ferrywoman", "Nobody", outline=story(entities=False), cast=CAST)
    assert plan.unresolved_names == ["Nobody"]
    assert plan.entity_ids == []
    assert "Zoe Marsh Nobody" in {query.text for query in plan.queries if query.purpose == "pair"}
    assert planned("Zoe Marsh", outline=story(), cast=CAST).issues == []


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
