"""From a request and the story so far to the plan of what to look up."""

from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import plan_scene
from novelgen.memory.outline import StoryOutline
from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ScenePlan
from novelgen.models.user_file import Character, CharactersConfig
from tests.novelgen.context.sample_scenes import SALT_GATE

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
