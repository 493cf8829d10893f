"""The rules planner."""

from itertools import combinations

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import MAX_ACTION_QUERIES, MAX_RULE_QUERIES, plan_by_rules
from novelgen.language.resolver import NameResolver
from novelgen.models.plan import ScenePlan
from novelgen.models.user_file import Character, CharactersConfig
from tests.novelgen.context.sample_scenes import FERRY, SALT_GATE, SampleScene, known


def planned(scene: SampleScene) -> RetrievalPlan:
    """Plan a sample scene by rules."""
    return plan_by_rules(scene.scene_plan, entities=scene.entities, names=scene.names)


def texts_of(plan: RetrievalPlan, purpose: str) -> list[str]:
    """Return the texts of the queries for that purpose."""
    return [query.text for query in plan.queries if query.purpose == purpose]


def test_entities_come_from_every_part_of_the_plan() -> None:
    """Characters first, then place, purpose and actions; nobody else; in Chinese text, too."""
    assert planned(SALT_GATE).entity_ids == ["C1", "C2", "L2", "F1", "I1", "C3", "L1"]
    assert planned(FERRY).entity_ids == ["C1", "C2", "C6", "L1", "I2", "C4", "F2", "I1"]


def test_one_query_for_each_part() -> None:
    """Whole plan, purpose, actions, place, characters at the place and pairs, in this order, by display name."""
    plan = planned(SALT_GATE)
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
