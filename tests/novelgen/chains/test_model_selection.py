"""The memories that a model chooses from the list of all before the scene, through the whole chain."""

import json
import re

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.model_selector import list_memories
from novelgen.language.language import estimate_tokens
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.settings import ContextSettings
from tests.support.scripted_chat_model import ScriptedChatModel, answering
from tests.support.stored_story import patient
from tests.support.stories import PROJECT, lighthouse_memory, lighthouse_request

BY_MODEL = ContextSettings(selector="model", full_report=True)


def context_with(
    model: ScriptedChatModel, *, settings: ContextSettings = BY_MODEL, request: MemoryContextRequest | None = None
) -> SceneMemoryContext:
    """Build a context that rules plan and a model selects."""
    chain = MemoryContextChain(
        lighthouse_memory(), selector_model=model, settings=patient(settings), propagate_bugs=True
    )
    return chain.invoke(request or lighthouse_request())


def list_of(model: ScriptedChatModel) -> list[tuple[int, int, str]]:
    """The chapter, the scene and the text of every numbered line of the last prompt."""
    prompt = str(model.prompts[-1][-1].content)
    lines = re.findall(r"^\d+\. \[(\d+):(\d+)\] (.*)$", prompt, re.MULTILINE)
    return [(int(chapter), int(scene), text) for chapter, scene, text in lines]


def content_of(context: SceneMemoryContext) -> dict[str, object]:
    """A context without what the clock gave it."""
    return context.model_dump(exclude={"retrieval_timestamp": True, "report": {"timings_s", "issues", "selector"}})


def test_the_list_is_in_story_order_and_ends_before_the_scene() -> None:
    model = answering('{"numbers": [1]}')
    context_with(model)
    places = [(chapter, scene) for chapter, scene, _ in list_of(model)]
    assert len(places) > 1
    assert places == sorted(places)
    assert max(places) < (2, 2)


def test_chosen_memories_come_first_in_full_and_in_the_order_of_the_answer() -> None:
    first = answering('{"numbers": [1]}')
    context_with(first)
    listed = list_of(first)
    last = len(listed)
    context = context_with(answering(json.dumps({"numbers": [last, 1]})))
    assert context.report is not None
    chosen = context.report.items[:2]
    assert [item.text for item in chosen] == [listed[-1][2], listed[0][2]]
    assert [item.reasons[0] for item in chosen] == ["chosen by the model: rank 1", "chosen by the model: rank 2"]
    assert all(item.form == "full" for item in chosen)


def test_unknown_and_repeated_numbers_are_dropped_and_counted() -> None:
    context = context_with(answering('{"numbers": [1, 999, 1, 0, 2]}'))
    assert context.report is not None
    report = context.report.selector
    assert report is not None
    assert (report.used, report.chosen, report.unknown, report.repeated) == ("llm", 2, 2, 1)
    assert report.prompt_tokens > 0
    assert not [issue for issue in context.report.issues if issue.stage == "select"]


@pytest.mark.parametrize("answer", ["no idea", '{"numbers": [999]}', '{"numbers": []}', ""])
def test_an_answer_that_cannot_be_used_leaves_the_choice_of_the_rules(answer: str) -> None:
    by_rules = MemoryContextChain(
        lighthouse_memory(), settings=patient(ContextSettings(full_report=True)), propagate_bugs=True
    ).invoke(lighthouse_request())
    context = context_with(answering(answer))
    assert context.report is not None
    assert context.report.selector is not None
    assert context.report.selector.used == "rules"
    assert [issue.stage for issue in context.report.issues if "the rules chose alone" in issue.message] == ["select"]
    assert content_of(context) == content_of(by_rules)


def test_a_model_that_cannot_be_reached_leaves_the_choice_of_the_rules() -> None:
    def refuse(_: object) -> str:
        raise ConnectionError("nobody listens")

    context = context_with(ScriptedChatModel(answer=refuse))
    assert context.report is not None
    assert context.relevant_memories
    assert "unavailable" in [issue.kind for issue in context.report.issues if issue.stage == "select"]


def test_rules_ask_no_model_and_report_no_selection() -> None:
    model = answering('{"numbers": [1]}')
    context = context_with(model, settings=ContextSettings())
    assert model.prompts == []
    assert context.report is not None
    assert "selector" not in context.report.model_dump()


def test_a_request_decides_over_the_settings() -> None:
    """Both ways: a model that the settings leave out, and rules where they have one."""
    model = answering('{"numbers": [1]}')
    asked = lighthouse_request().model_copy(update={"selector": "model"})
    context_with(model, settings=ContextSettings(), request=asked)
    assert len(model.prompts) == 1
    context_with(model, request=asked.model_copy(update={"selector": "rules"}))
    assert len(model.prompts) == 1


def test_a_selection_without_a_model_is_reported() -> None:
    chain = MemoryContextChain(lighthouse_memory(), settings=patient(BY_MODEL), propagate_bugs=True)
    context = chain.invoke(lighthouse_request())
    assert context.report is not None
    assert context.relevant_memories
    assert [issue.kind for issue in context.report.issues if issue.stage == "select"] == ["unavailable"]


def test_the_list_lacks_what_the_point_of_view_does_not_know() -> None:
    everything, known = answering('{"numbers": [1]}'), answering('{"numbers": [1]}')
    context_with(everything)
    request = lighthouse_request().model_copy(update={"knowledge": "exclude"})
    plan = request.scene_plan.model_copy(update={"pov": "Ben"})
    context = context_with(known, request=request.model_copy(update={"scene_plan": plan}))
    assert context.report is not None
    listed = {text for _, _, text in list_of(known)}
    assert listed
    assert listed < {text for _, _, text in list_of(everything)}
    assert {memory.content for memory in context.relevant_memories} >= listed


def test_a_list_without_room_keeps_the_best_of_the_ranking_in_story_order() -> None:
    ranked = list(lighthouse_memory().search_story_memory(PROJECT, "the brass key"))[:3]
    room = sum(estimate_tokens(f"3. [1:1] {memory.content}") for memory in ranked[:2])
    listed = list_memories(ranked, budget_tokens=room, count_tokens=estimate_tokens)
    assert {memory.chunk_id for memory in listed} == {memory.chunk_id for memory in ranked[:2]}
    assert list_memories(ranked, budget_tokens=0, count_tokens=estimate_tokens) == []
