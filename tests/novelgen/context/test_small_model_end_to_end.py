"""The model planner with a real small model; such a model plans badly, so only structure is asserted."""

import pytest
from langchain_openai import ChatOpenAI

from novelgen.context.model_planner import ModelPlanner
from novelgen.context.planner_prompt import StorySoFar
from novelgen.context.retrieval_plan import MAX_QUERIES, merge_plans
from novelgen.context.scene_planning import plan_by_rules
from novelgen.memory.outline import StoryOutline
from tests.novelgen.context.sample_scenes import FERRY, SALT_GATE, SampleScene
from tests.support.scripted_chat_model import ScriptedChatModel
from tests.support.small_model_server import DEADLINE_S, MISSING, is_installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not is_installed(), reason=f"needs a small model: {MISSING}"),
]


@pytest.mark.parametrize(("scene", "way"), [(SALT_GATE, "json_schema"), (FERRY, "json_schema"), (SALT_GATE, "prompt")])
def test_plan_is_grounded_or_refused_aloud(chat_model: ChatOpenAI, scene: SampleScene, way: str) -> None:
    """Whatever the model writes, the plan holds only what is known and never loses what the rules found."""
    model = chat_model if way == "json_schema" else ScriptedChatModel(answer=chat_model.invoke)
    rules = plan_by_rules(scene.scene_plan, entities=scene.entities, names=scene.names)
    plan = (
        ModelPlanner(model, timeout_s=DEADLINE_S)
        .plan(
            scene.request,
            entities=scene.entities,
            names=scene.names,
            language=scene.language,
            story=StorySoFar(StoryOutline(project_id="samples"), touched_ids=rules.entity_ids),
        )
        .plan
    )
    assert set(plan.entity_ids) <= {entity.entity_id for entity in scene.entities}
    assert len(plan.queries) <= MAX_QUERIES
    if plan.planner.used == "llm":
        assert plan.entity_ids or plan.queries
    else:
        assert (plan.entity_ids, plan.queries) == ([], [])
        assert [issue.stage for issue in plan.issues] == ["plan"]
    merged = merge_plans(rules, plan)
    assert merged.entity_ids[: len(rules.entity_ids)] == rules.entity_ids
    assert merged.queries[: len(rules.queries)] == rules.queries
